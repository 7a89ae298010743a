//! The lexicons: distance calibrated, lengths kept, forms unique, names shared, all from the seed.

use crate::common::small;
use invitro_language::*;
use std::collections::HashMap;

fn at(distance: f64, seed: u64) -> Languages {
    Languages::new(&LanguageConfig { distance, ..Default::default() }, seed).unwrap()
}

/// The stems are as far apart as was asked, and the words as long, in both languages.
fn keeps_its_word(config: LanguageConfig, seed: u64) {
    let languages = Languages::new(&config, seed).unwrap();
    let (asked, measured) = (config.distance, languages.lexicon.distances().stems(Language::A, Language::B));
    assert!((measured.relative - asked).abs() < 0.02, "asked {asked}, measured {measured:?}");
    for language in [Language::A, Language::B] {
        let length = languages.lexicon.mean_length(&languages.world, language);
        assert!((length - 9.0).abs() < 0.5, "at {asked} words of {} have {length} letters", language.name());
    }
}

#[test]
fn distance_is_calibrated_and_words_keep_their_length() {
    for tenth in 0..=10 {
        keeps_its_word(LanguageConfig { distance: tenth as f64 / 10.0, ..Default::default() }, 7);
    }
}

#[test]
fn small_worlds_are_calibrated_too() {
    for seed in 0..40 {
        for distance in [0.0, 0.25, 0.5, 0.75, 1.0] {
            keeps_its_word(LanguageConfig { distance, ..small() }, seed);
        }
    }
}

#[test]
fn forms_are_unique_and_a_shared_form_is_one_symbol() {
    for d in [0.0, 0.5, 1.0] {
        let languages = at(d, 3);
        let mut owner: HashMap<&str, Symbol> = HashMap::new();
        for language in [Language::A, Language::B] {
            let mut seen = std::collections::HashSet::new();
            for symbol in languages.world.symbols() {
                let form = languages.form(symbol, language);
                assert!(seen.insert(form), "{form} twice in {}", language.name());
                assert_eq!(*owner.entry(form).or_insert(symbol), symbol, "{form} in both languages");
                assert_eq!(languages.lexicon.symbol(form, language), Some(symbol));
                let word = languages.lexicon.word(symbol, language);
                assert_eq!([word.prefix(), word.stem(), word.suffix()].concat(), form);
            }
        }
    }
}

/// At any distance, with affixes or without: else A trains the string that is said to be unseen in B. Only languages of
/// equal stems and no affixes have nothing to differ in.
#[test]
fn a_masked_words_form_in_b_is_never_a_form_of_a() {
    for (distance, affix_rate) in [(0.0, 0.5), (0.0, 0.05), (0.2, 0.0), (0.25, 0.5), (1.0, 0.5)] {
        let languages = Languages::new(&LanguageConfig { distance, affix_rate, ..Default::default() }, 3).unwrap();
        for &symbol in languages.mask(Language::B).symbols() {
            let form = languages.form(symbol, Language::B);
            assert_eq!(languages.lexicon.symbol(form, Language::A), None, "{form} at {distance}, {affix_rate}");
        }
        let measured = languages.lexicon.distances().stems(Language::A, Language::B).relative;
        assert!((measured - distance).abs() < 0.02, "asked {distance}, measured {measured}");
    }
    let clones = Languages::new(&LanguageConfig { distance: 0.0, affix_rate: 0.0, ..small() }, 3).unwrap();
    assert!(clones.world.symbols().all(|s| clones.form(s, Language::A) == clones.form(s, Language::B)));
}

#[test]
fn names_are_shared_and_capitalised_and_function_words_short() {
    let languages = at(0.75, 1);
    let world = &languages.world;
    for name in world.of_category(Category::Name) {
        let form = languages.form(name, Language::A);
        assert_eq!(form, languages.form(name, Language::B));
        assert!(form.starts_with(char::is_uppercase) && form[1..].chars().all(char::is_lowercase), "{form}");
    }
    for symbol in world.symbols().filter(|&s| world.category(s) != Category::Name) {
        let lower = |language| languages.form(symbol, language).bytes().all(|b| b.is_ascii_lowercase());
        assert!([Language::A, Language::B].into_iter().all(lower));
    }
    for word in [world.copula(), world.preposition(), world.conjunction()] {
        for language in [Language::A, Language::B] {
            assert!((1..=5).contains(&languages.form(word, language).len()));
        }
    }
}

#[test]
fn at_distance_0_stems_and_affixes_are_the_same_and_each_word_draws_its_own() {
    let languages = at(0.0, 2);
    let (mut same, mut other) = (0, 0);
    for symbol in languages.world.symbols() {
        let [a, b] = [Language::A, Language::B].map(|language| languages.lexicon.word(symbol, language));
        assert_eq!(a.stem(), b.stem());
        if a.form() == b.form() { same += 1 } else { other += 1 }
    }
    assert!(same > 1000 && other > 10_000, "{same} forms the same, {other} not");
    for category in AFFIXED {
        let [a, b] = [Language::A, Language::B]
            .map(|language| languages.lexicon.affixes().inventory(category, language).unwrap());
        assert_eq!(a, b);
    }
}

#[test]
fn proto_stems_do_not_depend_on_the_distance() {
    let (near, far) = (at(0.1, 5), at(0.2, 5));
    let names = |l: &Languages| -> Vec<String> {
        l.world.of_category(Category::Name).map(|s| l.form(s, Language::A).to_owned()).collect()
    };
    assert_eq!(names(&near), names(&far));
    assert_eq!(near.mask(Language::B).symbols(), far.mask(Language::B).symbols());
}

#[test]
fn more_words_than_the_phonology_can_make_is_an_error() {
    let config = LanguageConfig { word_length: 3.0, affix_rate: 0.0, ..Default::default() };
    let error = Languages::new(&config, 0).unwrap_err();
    assert!(matches!(error, Error::Exhausted { wanted: 18_843, .. }), "{error}");
    let config = LanguageConfig { word_length: 4.0, ..Default::default() };
    let error = Languages::new(&config, 0).unwrap_err().to_string();
    assert!(error.starts_with("`language.word_length` is 4, but must be at least"), "{error}");
}

#[test]
fn a_words_own_distance_has_the_languages_distance_as_its_mean() {
    let config = LanguageConfig { distance: 0.3, ..small() };
    let [plain, written] = [0, 2].map(|script| {
        let of_b = LanguageEntry { distance: Some(0.3), script, mask_share: 0.25, ..LanguageEntry::new("B") };
        let list = [LanguageEntry::new("A"), of_b];
        let languages = Languages::of_family(&config, &list, 5).unwrap();
        let compared = |&symbol: &Symbol| {
            let category = languages.world.category(symbol);
            category.is_open() && category != Category::Name
        };
        let [a, b] = [0, 1].map(|at| languages.all()[at]);
        let of = |symbol: Symbol| languages.lexicon.distance(symbol, a, b);
        let all: Vec<f64> = languages.world.symbols().filter(compared).map(of).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let measured = languages.lexicon.distances().words(a, b).pairs;
        assert!((mean - measured).abs() < 1e-12, "{mean} and {measured}");
        mean
    });
    assert_eq!(plain, written, "whatever the script");
}

/// The relative distance of the stems of A and B, over the masked or the unmasked descriptors.
fn stem_distance(languages: &Languages, masked: bool) -> f64 {
    let mask = languages.mask(Language::B);
    let stem = |symbol, language| languages.lexicon.word(symbol, language).stem();
    let chosen: Vec<Symbol> = languages.world.descriptors().filter(|&s| mask.contains(s) == masked).collect();
    let apart = |one: Symbol, other: Symbol| {
        crate::levenshtein::normalised(stem(one, Language::A).as_bytes(), stem(other, Language::B).as_bytes())
    };
    let next = chosen.iter().cycle().skip(1);
    let unrelated: f64 = chosen.iter().zip(next).map(|(&one, &other)| apart(one, other)).sum();
    chosen.iter().map(|&symbol| apart(symbol, symbol)).sum::<f64>() / unrelated
}

#[test]
fn masked_stems_are_at_the_distance_asked_for_without_affixes_too() {
    let languages =
        |distance, affix_rate| Languages::new(&LanguageConfig { distance, affix_rate, ..Default::default() }, 3);
    for (distance, affix_rate) in [(0.2, 0.0), (0.25, 0.0), (0.5, 0.0), (0.05, 0.5), (0.05, 0.1)] {
        let languages = languages(distance, affix_rate).unwrap();
        for masked in [true, false] {
            let measured = stem_distance(&languages, masked);
            assert!((measured - distance).abs() < 0.02, "{measured} at {distance}, affixes {affix_rate}: {masked}");
        }
    }
    for distance in [0.05, 0.1] {
        let refused = languages(distance, 0.0).unwrap_err().to_string();
        assert!(refused.contains("the masked stems of A and B are 0.1"), "{refused}");
        assert!(refused.contains(&format!("instead of {distance}")), "{refused}");
    }
}
