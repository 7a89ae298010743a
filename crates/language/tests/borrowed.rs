//! Real words in the lexicons: assigned by the seed, as stems, under the same rules as all words.

use crate::common::small;
use invitro_language::*;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

fn listed() -> LanguageConfig {
    LanguageConfig { lexicon: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wordlist.tsv").into(), ..small() }
}

/// The symbols that have real words, with their concepts.
fn borrowed(languages: &Languages) -> Vec<(Symbol, &str)> {
    let borrowed = languages.lexicon.borrowed().unwrap();
    languages.world.symbols().filter_map(|symbol| Some((symbol, borrowed.concept(symbol)?))).collect()
}

fn forms() -> HashMap<&'static str, [&'static str; 2]> {
    let lines = include_str!("wordlist.tsv").lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    lines.map(|fields| (fields[0], [fields[1], fields[2]])).collect()
}

#[test]
fn concepts_are_dealt_as_stems_and_the_rest_stays() {
    for affix_rate in [0.0, 0.5] {
        for seed in 0..8 {
            let config = LanguageConfig { affix_rate, ..listed() };
            let languages = Languages::new(&config, seed).unwrap();
            let made = Languages::new(&LanguageConfig { lexicon: String::new(), ..config }, seed).unwrap();
            let assigned = borrowed(&languages);
            // Of 44, one is no word, one has no form in B, `mond` and `stark` are each of two concepts.
            assert_eq!(assigned.len(), 40, "{:?}", languages.lexicon.borrowed().unwrap().report());
            let mut owner: HashMap<&str, Symbol> = HashMap::new();
            for symbol in languages.world.symbols() {
                for language in [Language::A, Language::B] {
                    let (word, before) =
                        (languages.lexicon.word(symbol, language), made.lexicon.word(symbol, language));
                    assert_eq!((word.prefix(), word.suffix()), (before.prefix(), before.suffix()));
                    match assigned.iter().find(|(borrowed, _)| *borrowed == symbol) {
                        Some((_, concept)) => assert_eq!(word.stem(), forms()[concept][language.index()]),
                        // Without affixes masked stems are calibrated by themselves, but not among real words.
                        None if affix_rate == 0.0 && languages.mask(Language::B).contains(symbol) => {}
                        None => assert_eq!(word, before),
                    }
                    assert_eq!([word.prefix(), word.stem(), word.suffix()].concat(), word.form());
                    assert_eq!(*owner.entry(word.form()).or_insert(symbol), symbol, "{}", word.form());
                    assert_eq!(languages.lexicon.symbol(word.form(), language), Some(symbol));
                }
                if languages.mask(Language::B).contains(symbol) {
                    assert_ne!(languages.form(symbol, Language::A), languages.form(symbol, Language::B));
                }
            }
            assert!(assigned.iter().all(|&(symbol, _)| languages.world.category(symbol) != Category::Name));
        }
    }
}

#[test]
fn the_seed_deals_and_the_letters_count() {
    let build = |seed| Languages::new(&listed(), seed).unwrap();
    let (one, same, other) = (build(1), build(1), build(2));
    assert_eq!(one.lexicon_tsv(), same.lexicon_tsv());
    assert_ne!(borrowed(&one), borrowed(&other));
    assert!(one.alphabet(Language::A).contains('ß') && !one.alphabet(Language::B).contains('ß'));
    let table = one.lexicon_tsv();
    let (head, rows) = table.split_once('\n').unwrap();
    assert!(head.ends_with("\tmasked\tconcept"), "{head}");
    let concepts: BTreeSet<&str> =
        rows.lines().filter_map(|row| row.rsplit('\t').next()).filter(|c| !c.is_empty()).collect();
    assert_eq!(concepts.len(), 40);

    // Sampled sentences use these words and pass the checks.
    let mut sampler = one.sampler();
    for row in 0..50 {
        let sentence = sampler.sentence(Language::B, &mut Stream::new(0, "test").at(0, row));
        assert!(one.checker().text(&one.text(&sentence.symbols, Language::B), Language::B).facts);
    }
}

/// The distance is measured letter by letter, on the words as they are.
#[test]
fn distances_are_of_the_real_words() {
    let only = LanguageConfig { affix_rate: 0.0, distance: 0.0, ..listed() };
    let languages = Languages::new(&only, 3).unwrap();
    let distance_of = |concept: &str| {
        let (symbol, _) = borrowed(&languages).into_iter().find(|(_, one)| *one == concept).unwrap();
        languages.lexicon.distance(symbol, Language::A, Language::B)
    };
    // `day` differs in one letter of three; `ß` is one letter, not two bytes.
    for (concept, distance) in [("day", 1.0 / 3.0), ("big", 2.0 / 5.0), ("foot", 1.0), ("bird", 0.0)] {
        assert!((distance_of(concept) - distance).abs() < 1e-12, "{concept}: {}", distance_of(concept));
    }
    let compared = languages.world.symbols().filter(|&s| AFFIXED.contains(&languages.world.category(s)));
    let pairs: Vec<f64> = compared.map(|s| languages.lexicon.distance(s, Language::A, Language::B)).collect();
    let measured = languages.lexicon.distances().stems(Language::A, Language::B);
    assert!((measured.pairs - pairs.iter().sum::<f64>() / pairs.len() as f64).abs() < 1e-9);
    assert!(measured.pairs > 0.0, "without them the languages have the same stems");
    assert_eq!(measured, languages.lexicon.distances().words(Language::A, Language::B));
}

#[test]
fn other_names_and_tables_that_do_not_fit() {
    let named = |names: &[&str]| {
        let lexicon_languages = names.iter().map(|name| (*name).to_owned()).collect();
        Languages::new(&LanguageConfig { lexicon_languages, ..listed() }, 0)
    };
    let languages = named(&["deu", "nld"]).unwrap();
    let (hand, _) = borrowed(&languages).into_iter().find(|(_, concept)| *concept == "hand").unwrap();
    let stem = |language| languages.lexicon.word(hand, language).stem();
    assert_eq!((stem(Language::A), stem(Language::B)), ("Hand", "hand"));
    let report = languages.lexicon.borrowed().unwrap().report();
    assert!(report[0].starts_with("41 of ") && report[0].contains("which has 44 concepts"), "{report:?}");
    assert!(report.iter().any(|line| line.ends_with("1 concept left out, without a form in every language: shell")));
    assert!(report.iter().any(|line| line.ends_with("a form is also one of another concept: force")), "{report:?}");
    assert!(report.iter().any(|line| line.ends_with("a form is not one word of 1 to 50 letters: thank")), "{report:?}");

    let fault = |result: Result<Languages>| result.err().unwrap().to_string();
    let one = fault(named(&["deu"]));
    assert!(
        one.starts_with("`language.lexicon_languages` is [deu], but must be one for each of the languages A, B"),
        "{one}"
    );
    let missing = fault(named(&["deu", "dan"]));
    assert!(missing.contains("it has no words of `dan`; its languages: "), "{missing}");
    let of_file = |lexicon: &Path| {
        fault(Languages::new(&LanguageConfig { lexicon: lexicon.display().to_string(), ..small() }, 0))
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("words.csv");
    assert!(of_file(&file).starts_with("`language.lexicon` is `"), "{}", of_file(&file));
    std::fs::write(&file, [0xff, 0xfe]).unwrap();
    assert!(of_file(&file).ends_with("which cannot be used: it is not text"), "{}", of_file(&file));

    // More concepts than symbols: the report counts the others.
    let all: String = ('a'..='z').flat_map(|x| ('a'..='z').map(move |y| format!("{x}{y},{x}{y}a,{x}{y}e\n"))).collect();
    std::fs::write(&file, format!("concept,A,B\n{all}")).unwrap();
    let config = LanguageConfig { lexicon: file.display().to_string(), ..small() };
    let full = Languages::new(&config, 0).unwrap();
    let report = full.lexicon.borrowed().unwrap().report();
    assert!(report.last().unwrap().contains("no symbol is left that it could be a word of"), "{report:?}");
}
