//! Kinds of words, loans and false friends: in random worlds every sentence passes every check, and words are what they
//! should be.

use crate::common::{small, worlds};
use invitro_language::*;
use proptest::prelude::*;
use std::collections::HashSet;

/// The settings of words' histories, over a random world.
fn histories() -> impl Strategy<Value = LanguageConfig> {
    let kinds = prop::sample::select(Morphology::ALL.to_vec());
    let changes = prop::sample::select(vec!["edits", "rules"]);
    (worlds(), kinds, any::<bool>(), changes, 0.0f64..0.5, 0.0f64..0.5).prop_map(
        |(world, morphology, harmony, change, loans, false_friends)| LanguageConfig {
            // Laws reach no greater distances, and masked words of one stem need something to differ in.
            distance: 0.2 + 0.4 * world.distance,
            morphology,
            harmony,
            change: change.into(),
            loans,
            false_friends,
            ..world
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_sentence_passes_every_check_under_each_kind(config in histories(), seed in 0u64..1000) {
        let languages = match Languages::new(&config, seed) {
            Ok(languages) => languages,
            Err(error) => {
                let error = error.to_string();
                let known = ["mask_share", "valid_share", "loans", "sound laws", "distinct words", "masked stems"];
                prop_assert!(known.iter().any(|known| error.contains(known)), "{}", error);
                return Ok(());
            }
        };
        let (mut sampler, mut checker) = (languages.sampler(), languages.checker());
        let stream = Stream::new(seed, "test/kinds");
        for row in 0..20 {
            let sentence = sampler.sentence(Language::A, &mut stream.at(0, row));
            for language in [Language::A, Language::B] {
                let verdict = checker.text(&languages.text(&sentence.symbols, language), language);
                prop_assert!(verdict.facts && verdict.failure.is_none(), "{:?}", verdict);
            }
        }
        words_are_well_formed(&languages);
    }
}

/// One form is one symbol within a language; between languages too, but for false friends; masked words have forms of their
/// own, but for false friends.
fn words_are_well_formed(languages: &Languages) {
    let b = Language::B;
    for &language in languages.all() {
        let forms: HashSet<&str> = languages.world.symbols().map(|symbol| languages.form(symbol, language)).collect();
        assert_eq!(forms.len(), languages.world.len(), "homophones in {}", language.name());
    }
    for symbol in languages.world.symbols() {
        let word = languages.lexicon.word(symbol, b);
        let in_a = languages.lexicon.symbol(word.form(), Language::A);
        if languages.friend(symbol, b).is_some() {
            assert_eq!(in_a, languages.friend(symbol, b));
        } else if languages.mask(b).contains(symbol) {
            assert_eq!(in_a, None, "{}", word.form());
        }
        assert_eq!([word.prefix(), word.stem(), word.suffix()].concat(), word.form());
        let spans: Vec<_> = word.stem_spans();
        assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}

fn of_kind(morphology: Morphology) -> Languages {
    Languages::new(&LanguageConfig { morphology, ..Default::default() }, 0).unwrap()
}

#[test]
fn words_of_each_kind_have_the_length_and_the_distance_that_were_asked_for() {
    for morphology in Morphology::ALL {
        let languages = of_kind(morphology);
        let measured = languages.lexicon.distances().stems(Language::A, Language::B).relative;
        let nouns = || languages.world.of_category(Category::Noun).step_by(83).take(10);
        for language in [Language::A, Language::B] {
            println!(
                "{} {}",
                morphology.name(),
                nouns().map(|s| languages.form(s, language)).collect::<Vec<_>>().join(" ")
            );
        }
        assert!((measured - 0.25).abs() < 0.02, "{}: {measured}", morphology.name());
        for language in [Language::A, Language::B] {
            let length = languages.lexicon.mean_length(&languages.world, language);
            assert!((length - 9.0).abs() < 0.5, "{}: {length} letters", morphology.name());
        }
        words_are_well_formed(&languages);
    }
}

#[test]
fn fusional_words_of_a_category_and_class_share_their_ending() {
    let languages = of_kind(Morphology::Fusional);
    let suffix = |symbol| languages.lexicon.word(symbol, Language::A).suffix();
    let nouns: Vec<Symbol> = languages.world.of_category(Category::Noun).collect();
    for &noun in &nouns {
        let of_class =
            nouns.iter().find(|&&other| languages.world.class(other) == languages.world.class(noun)).unwrap();
        assert_eq!(suffix(noun), suffix(*of_class));
        assert!(!suffix(noun).is_empty() && languages.lexicon.word(noun, Language::A).prefix().is_empty());
    }
    let endings: HashSet<&str> = nouns.iter().map(|&noun| suffix(noun)).collect();
    assert_eq!(endings.len(), languages.config.classes);
}

#[test]
fn a_templatic_words_stem_is_its_consonants_and_nothing_is_concatenated() {
    let languages = of_kind(Morphology::Templatic);
    let is_vowel = |c: char| "aeiou".contains(c);
    for symbol in languages.world.descriptors() {
        let word = languages.lexicon.word(symbol, Language::B);
        let consonants: String = word.form().chars().filter(|&c| !is_vowel(c)).collect();
        assert_eq!(word.stem_letters(), consonants);
        assert_eq!(word.boundaries().count(), 0);
        assert!(word.is_templatic() && word.stem() == word.form());
    }
    let agglutinative = of_kind(Morphology::Agglutinative);
    let word = agglutinative.lexicon.word(Symbol(0), Language::A);
    assert_eq!(word.stem_letters(), word.stem());
}

#[test]
fn reduplicating_words_begin_with_how_their_stem_begins() {
    let languages = of_kind(Morphology::Reduplicating);
    let words = || languages.world.descriptors().map(|symbol| languages.lexicon.word(symbol, Language::A));
    assert!(words().all(|word| word.stem().starts_with(word.prefix())));
    let copies = words().filter(|word| !word.prefix().is_empty()).count();
    let share = copies as f64 / words().count() as f64;
    assert!((share - 0.5).abs() < 0.05, "{share}");
}

#[test]
fn affixes_in_harmony_have_no_vowel_that_disagrees_with_the_stem() {
    let languages = Languages::new(&LanguageConfig { harmony: true, ..small() }, 1).unwrap();
    for symbol in languages.world.descriptors() {
        let word = languages.lexicon.word(symbol, Language::B);
        let Some(last) = word.stem().chars().rev().find(|&c| "eiou".contains(c)) else { continue };
        let disagrees = |c: char| if "ei".contains(last) { "ou".contains(c) } else { "ei".contains(c) };
        assert!(!word.suffix().chars().any(disagrees), "{} {}", word.stem(), word.suffix());
    }
}

fn with_contact(loans: f64, false_friends: f64) -> Languages {
    Languages::new(&LanguageConfig { loans, false_friends, ..small() }, 2).unwrap()
}

#[test]
fn loans_have_the_stem_of_the_first_language_and_their_share_is_exact() {
    let languages = with_contact(0.3, 0.0);
    let plain = with_contact(0.0, 0.0);
    let world = &languages.world;
    let loans: Vec<Symbol> = world.symbols().filter(|&symbol| languages.is_loan(symbol, Language::B)).collect();
    for category in [Category::Noun, Category::Descriptor] {
        let all = world.of_category(category).count() as f64;
        let of_category = loans.iter().filter(|&&loan| world.category(loan) == category).count();
        assert_eq!(of_category, (0.3 * all).round() as usize);
    }
    for symbol in world.symbols() {
        let [a, b] = [Language::A, Language::B].map(|language| languages.lexicon.word(symbol, language));
        assert_eq!(a, plain.lexicon.word(symbol, Language::A));
        match loans.contains(&symbol) {
            true => assert_eq!(a.stem(), b.stem()),
            false => assert_eq!(b, plain.lexicon.word(symbol, Language::B)),
        }
    }
    words_are_well_formed(&languages);
}

#[test]
fn false_friends_exchange_the_forms_of_the_first_language() {
    for degree in [0.2, 1.0] {
        let languages = with_contact(0.0, degree);
        let world = &languages.world;
        let friends = |symbol| languages.friend(symbol, Language::B);
        let descriptors: Vec<Symbol> = world.descriptors().filter(|&symbol| friends(symbol).is_some()).collect();
        assert_eq!(descriptors.len(), (degree * world.descriptors().count() as f64).round() as usize);
        for &symbol in &descriptors {
            let friend = friends(symbol).unwrap();
            assert!(friend != symbol && world.category(friend) == world.category(symbol));
            assert_eq!(languages.form(symbol, Language::B), languages.form(friend, Language::A));
        }
        words_are_well_formed(&languages);
        assert!(world.symbols().all(|symbol| languages.friend(symbol, Language::A).is_none()));
    }
}

#[test]
fn each_language_of_a_family_has_its_own_history() {
    let entry = |name: &str| LanguageEntry { distance: Some(0.3), ..LanguageEntry::new(name) };
    let list = [
        entry("A"),
        LanguageEntry { mask_share: 0.25, change: Some("rules".into()), ..entry("B") },
        LanguageEntry { morphology: Some(Morphology::Templatic), ..entry("C") },
        LanguageEntry { loans: Some(0.5), harmony: Some(true), parent: Some("B".into()), ..entry("D") },
    ];
    let languages = Languages::of_family(&small(), &list, 4).unwrap();
    let [_, b, c, d] = languages.all() else { panic!("four languages") };
    assert!(languages.lexicon.laws(1).is_some() && languages.lexicon.laws(0).is_none());
    assert!(languages.lexicon.word(languages.world.descriptors().next().unwrap(), *c).is_templatic());
    assert!(languages.world.symbols().any(|symbol| languages.is_loan(symbol, *d)));
    assert!(!languages.world.symbols().any(|symbol| languages.is_loan(symbol, *b)));
    for (names, measured, asked) in languages.calibrated_distances() {
        assert!((measured - asked).abs() < 0.02, "{names}: {measured} instead of {asked}");
    }
}

#[test]
fn descendants_inherit_what_was_there_before_loans() {
    let entry = |name: &str| LanguageEntry { distance: Some(0.3), ..LanguageEntry::new(name) };
    let list = [
        entry("A"),
        LanguageEntry { mask_share: 0.25, loans: Some(0.5), false_friends: Some(0.3), ..entry("B") },
        LanguageEntry { change: Some("rules".into()), parent: Some("B".into()), ..entry("C") },
    ];
    let languages = Languages::of_family(&small(), &list, 4).unwrap();
    let plain =
        [list[0].clone(), LanguageEntry { loans: None, false_friends: None, ..list[1].clone() }, list[2].clone()];
    let plain = Languages::of_family(&small(), &plain, 4).unwrap();
    let [_, b, c] = languages.all() else { panic!("three languages") };
    for symbol in languages.world.symbols() {
        assert_eq!(languages.form(symbol, *c), plain.form(symbol, *c));
        assert_eq!(languages.derivation(symbol, *c), plain.derivation(symbol, *c));
        let of_b = languages.derivation(symbol, *b);
        let has = |start: &str| of_b.iter().any(|step| step.change.starts_with(start));
        assert_eq!(has("loan"), languages.is_loan(symbol, *b));
        assert_eq!(has("false friend"), languages.friend(symbol, *b).is_some());
    }
    for (names, measured, asked) in languages.calibrated_distances() {
        assert!((measured - asked).abs() < 0.02, "{names}: {measured} instead of {asked}");
    }
}

#[test]
fn settings_that_cannot_be_are_refused_with_a_sentence() {
    let entry = |name: &str| LanguageEntry { distance: Some(0.3), ..LanguageEntry::new(name) };
    let masked = LanguageEntry { mask_share: 0.25, ..entry("B") };
    let refused = |config: LanguageConfig, list: &[LanguageEntry]| {
        Languages::of_family(&config, list, 0).map(drop).expect_err("a refusal").to_string()
    };
    let first = [LanguageEntry { loans: Some(0.1), ..entry("A") }, masked.clone()];
    assert!(refused(small(), &first).contains("`languages.A.loans` is 0.1, but must be 0"));
    let scripts = [entry("A"), LanguageEntry { script: 1, false_friends: Some(0.5), ..masked.clone() }];
    assert!(refused(small(), &scripts).contains("different scripts"));
    let mixed = [
        LanguageEntry::new("A"),
        LanguageEntry { change: Some("rules".into()), mask_share: 0.25, ..LanguageEntry::new("B") },
    ];
    assert!(refused(small(), &mixed).contains("give each a `distance`"));
    let missing = LanguageConfig { change: "no/such/file".into(), ..small() };
    assert!(refused(missing, &[]).contains("neither edits nor rules nor a readable file"));
}

#[test]
fn the_cldf_tables_are_read_back_with_their_cognate_sets() {
    let languages = with_contact(0.2, 0.2);
    let files = languages.cldf().unwrap();
    let text = |name: &str| &files.iter().find(|(file, _)| *file == name).unwrap().1;
    let list = lexicon::wordlist::Wordlist::parse(text("forms.csv"), Some(text("cognates.csv"))).unwrap();
    assert_eq!(list.languages, ["A", "B"]);
    let world = &languages.world;
    let listed = world.symbols().filter(|&symbol| world.category(symbol) != Category::Name).count();
    assert_eq!((list.concepts.len(), list.forms.len()), (listed, 2 * listed));
    let friends = world.symbols().filter(|&symbol| languages.friend(symbol, Language::B).is_some()).count();
    let loans = world.symbols().filter(|&symbol| languages.is_loan(symbol, Language::B)).count();
    assert!(friends > 0 && loans > 0);
    assert_eq!(text("borrowings.csv").lines().count(), 1 + friends + loans);
    let of = |language: usize, concept: usize| {
        list.forms.iter().find(|form| form.language == language && form.concept == concept).unwrap()
    };
    let other_sets = (0..listed).filter(|&concept| of(0, concept).sets != of(1, concept).sets).count();
    assert_eq!(other_sets, friends);
    let far = Languages::new(&LanguageConfig { distance: 1.0, ..small() }, 0).unwrap();
    assert!(far.cldf().unwrap_err().to_string().contains("cognate sets are not known"));
}
