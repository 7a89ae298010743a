//! Sound laws: their notation, their application, and languages that changed by them.

use crate::common::{small, worlds};
use invitro_language::*;
use proptest::prelude::*;

fn laws(text: &str) -> Laws {
    Laws::parse("test", text).unwrap()
}

/// The path of an example beside the experiments.
fn portuguese() -> String {
    format!("{}/../../experiments/laws/portuguese.txt", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn latin_becomes_portuguese() {
    let laws = Laws::load(&portuguese()).unwrap();
    let latin = "lector doctor focus jocus districtus civitatem adoptare opera secundus".split(' ');
    let after: Vec<String> = latin.map(|word| laws.apply(word)).collect();
    assert_eq!(after.join(" "), "leitor doutor fogo jogo distrito cidade adotar obra segundo");
}

#[test]
fn the_notation_has_its_meaning() {
    for (text, word, after) in [
        ("p > f / #_", "papap", "fapap"),
        ("{p t k} > {b d g} / V_V", "kapatak", "kabadak"),
        ("V > 0 / _#", "mapato", "mapat"),
        ("V > ∅ / _#", "mapato", "mapat"),
        ("0 > e / #_sC", "spa", "espa"),
        ("0 > a / _#", "spa", "spaa"),
        ("k > c / _{e i} // s_", "keskike", "ceskice"),
        ("kt → it", "oktokt", "oitoit"),
        ("K = p t k\nG = b d g\nK > G / V_V", "apata", "abada"),
        ("K = p t k\nL = K ts\nL > 0 / _#", "apats", "apa"),
        ("a > e / _(r)t", "atartarkt", "etertarkt"),
        ("t > 0 / _{C #}", "atkat", "aka"),
        ("t > d / a_, _a", "itatoti", "idadoti"),
        ("{pp tt} > {p t}", "appatta", "apata"),
        ("{s ts} > {z c}", "tsas", "caz"),
        ("n > m / _{p, b}; before labials", "anpanba", "ampamba"),
        ("aa > a", "aaaa", "aa"),
        ("Cr > C", "", ""),
        ("V > i / C_C#", "tatat", "tatit"),
        // At once, so that the new e changes nothing; left to right it would.
        ("a > e / e_", "eaa", "eea"),
        ("a > b\nb > a", "ab", "aa"),
    ] {
        if !word.is_empty() {
            assert_eq!(laws(text).apply(word), after, "{text}");
        }
    }
}

#[test]
fn an_error_points_at_the_wrong_token() {
    for (text, line, column, part) in [
        ("p > f\np f", 2, 4, "`>` after the target"),
        ("p > f / #", 1, 10, "`_`"),
        ("p > f / a_b_", 1, 12, "one `_` in a context"),
        ("p > f / K_", 1, 9, "there is no class `K`; the classes above this line are C, V"),
        ("{p t} > {b d g}", 1, 9, "3 alternatives, but the target's has 2"),
        ("p > f / a#_", 1, 10, "nothing stands beyond it"),
        ("p > f / _#a", 1, 11, "nothing stands beyond it"),
        ("p > f / _{# s}a", 1, 15, "nothing stands beyond it"),
        ("p > {b d}", 1, 5, "the target has no set"),
        ("{p t > b", 1, 6, "letters a to z or a class"),
        ("{p t", 1, 1, "no `}`"),
        ("p > š", 1, 5, "`š` is not of the notation"),
        ("> f", 1, 1, "a target"),
        ("p >", 1, 4, "an outcome"),
        ("K =", 1, 4, "the letters of the class"),
        ("k = p", 1, 1, "a class: one letter, A to Z"),
        ("p > f /", 1, 8, "`_`"),
        ("p > f / _ )", 1, 11, "the end of the law"),
        ("p > f / _(a", 1, 12, "`)`"),
    ] {
        let error = Laws::parse("mine.txt", text).unwrap_err();
        let message = error.to_string();
        let Error::Laws { line: found, column: at, .. } = error else { panic!("{message}") };
        assert_eq!((found, at), (line, column), "{text}: {message}");
        assert!(message.contains(part) && message.contains("mine.txt"), "{text}: {message}");
    }
}

fn by_rules(distance: f64) -> LanguageConfig {
    LanguageConfig { distance, change: "rules".into(), ..small() }
}

/// Whether every stem of a language but names is the proto-stem after its laws. Equal contexts then change equally.
fn is_regular(languages: &Languages) -> bool {
    let proto = |symbol| languages.lexicon.proto_stem(symbol).as_str();
    languages.all().iter().enumerate().all(|(node, &language)| {
        let laws = languages.lexicon.laws(node).unwrap();
        let follows = |&symbol: &Symbol| languages.lexicon.word(symbol, language).stem() == laws.apply(proto(symbol));
        languages.world.symbols().filter(|&s| languages.world.category(s) != Category::Name).all(|s| follows(&s))
    })
}

fn is_well_formed(languages: &Languages) {
    let mut owner = std::collections::HashMap::new();
    for &language in languages.all() {
        let mut seen = std::collections::HashSet::new();
        for symbol in languages.world.symbols() {
            let form = languages.form(symbol, language);
            assert!(seen.insert(form), "{form} twice in {}", language.name());
            assert_eq!(*owner.entry(form).or_insert(symbol), symbol, "{form} in two languages");
        }
    }
    for &symbol in languages.mask(Language::B).symbols() {
        assert_eq!(languages.lexicon.symbol(languages.form(symbol, Language::B), Language::A), None);
    }
}

#[test]
fn drawn_laws_have_no_exceptions_and_the_distance_that_was_asked_for() {
    for seed in 0..6 {
        for distance in [0.0, 0.1, 0.25, 0.5, 0.75] {
            let languages = Languages::new(&by_rules(distance), seed).unwrap();
            let measured = languages.lexicon.distances().stems(Language::A, Language::B).relative;
            assert!((measured - distance).abs() < 0.02, "asked {distance}, measured {measured}");
            assert_eq!(distance == 0.0, (0..2).all(|node| languages.lexicon.laws(node).unwrap().laws().is_empty()));
            assert!(is_regular(&languages));
            is_well_formed(&languages);
        }
    }
}

#[test]
fn the_papers_world_changes_by_laws_too() {
    let config = LanguageConfig { distance: 0.5, change: "rules".into(), ..Default::default() };
    let languages = Languages::new(&config, 0).unwrap();
    let measured = languages.lexicon.distances().stems(Language::A, Language::B).relative;
    assert!((measured - 0.5).abs() < 0.02, "measured {measured}");
    assert!(is_regular(&languages));
    is_well_formed(&languages);
    for language in [Language::A, Language::B] {
        let length = languages.lexicon.mean_length(&languages.world, language);
        assert!((length - 9.0).abs() < 0.5, "{length} letters in {}", language.name());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn equal_contexts_change_equally_in_random_worlds(world in worlds(), seed in 0u64..1000) {
        let config = LanguageConfig { change: "rules".into(), distance: 0.6 * world.distance, ..world };
        match Languages::new(&config, seed) {
            Ok(languages) => {
                prop_assert!(is_regular(&languages));
                let measured = languages.lexicon.distances().stems(Language::A, Language::B).relative;
                prop_assert!((measured - config.distance).abs() <= 0.02, "asked {}, measured {}", config.distance, measured);
            }
            Err(error) => {
                let error = error.to_string();
                let known = ["mask_share", "valid_share", "sound laws", "masked stems"];
                prop_assert!(known.iter().any(|known| error.contains(known)), "{}", error);
            }
        }
    }
}

#[test]
fn laws_are_more_regular_than_edits_at_the_same_distance() {
    let entropy = |change: &str| {
        let languages =
            Languages::new(&LanguageConfig { change: change.into(), distance: 0.25, ..small() }, 0).unwrap();
        languages.lexicon.regularity(&languages.world, 0, 1).entropy
    };
    let [edits, rules] = ["edits", "rules"].map(entropy);
    assert!(rules < edits, "{rules} {edits}");
    let clones = Languages::new(&LanguageConfig { distance: 0.0, ..small() }, 0).unwrap();
    let same = clones.lexicon.regularity(&clones.world, 0, 1);
    assert_eq!((same.entropy, same.regular_sites > 0.9), (0.0, true));
}

#[test]
fn a_file_of_laws_makes_b_of_the_proto_stems_that_a_preserves() {
    let config = LanguageConfig { change: portuguese(), ..small() };
    let languages = Languages::new(&config, 3).unwrap();
    let laws = Laws::load(&portuguese()).unwrap();
    for symbol in languages.world.descriptors() {
        let proto = languages.lexicon.proto_stem(symbol).as_str();
        assert_eq!(languages.lexicon.word(symbol, Language::A).stem(), proto);
        assert_eq!(languages.lexicon.word(symbol, Language::B).stem(), laws.apply(proto));
    }
    is_well_formed(&languages);
    let reread = Laws::parse("exported", &languages.law_files()[0].1).unwrap();
    assert_eq!((reread.laws().len(), reread.apply("focus")), (12, "fogo".to_owned()));
    assert!(languages.calibrated_distances().iter().all(|(names, _, _)| !names.contains('B')));
}

#[test]
fn a_derivation_has_every_law_that_changed_the_word() {
    let languages = Languages::new(&by_rules(0.5), 1).unwrap();
    for symbol in languages.world.descriptors().take(40) {
        let steps = languages.derivation(symbol, Language::B);
        assert_eq!(steps[0].form, languages.lexicon.proto_stem(symbol).as_str());
        let word = languages.lexicon.word(symbol, Language::B);
        let last = &steps[steps.len() - 1];
        assert_eq!(last.form.replace('·', ""), word.form());
        for pair in steps.windows(2).filter(|pair| pair[1].change.contains('>')) {
            assert_eq!(laws(&pair[1].change).apply(&pair[0].form), pair[1].form, "{}", pair[1].change);
        }
    }
}

#[test]
fn regularity_is_the_same_to_the_last_bit() {
    let languages = Languages::new(&LanguageConfig { distance: 0.25, ..small() }, 0).unwrap();
    let entropy = || languages.lexicon.regularity(&languages.world, 0, 1).entropy.to_bits();
    let first = entropy();
    assert!((0..8).all(|_| entropy() == first));
}

#[test]
fn laws_that_words_cannot_bear_are_refused() {
    let refused = |config: LanguageConfig| Languages::new(&config, 0).unwrap_err().to_string();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("laws.txt");
    std::fs::write(&file, "V > aaaa\nV > aaaa\nV > aaaa\n").unwrap();
    let error = refused(LanguageConfig { change: file.display().to_string(), ..small() });
    assert!(error.contains("letters long; at most 31"), "{error}");
    // Without affixes a masked word must be changed by the laws, and is another kind of word than others.
    let error = refused(LanguageConfig { change: portuguese(), affix_rate: 0.0, ..small() });
    assert!(error.contains("masked stems") && error.contains("other laws"), "{error}");
}
