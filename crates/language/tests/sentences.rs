//! Every sampled sentence satisfies the grammar, the types and Γ, and carries its structure, under every word order,
//! with phrases joined or not, in random small worlds and in the paper's.

use crate::common::{small, worlds};
use invitro_language::grammar::BUILT_IN;
use invitro_language::grammar::analysis::{Analysis, NONE};
use invitro_language::grammar::cyk::Cyk;
use invitro_language::grammar::parser::Parser;
use invitro_language::*;
use proptest::prelude::*;

fn all_hold(languages: &Languages, n: u64) -> std::result::Result<(), TestCaseError> {
    let (mut sampler, mut checker) = (languages.sampler(), languages.checker());
    let stream = Stream::new(languages.seed, "test/sentences");
    for row in 0..n {
        let sentence = sampler.sentence(Language::A, &mut stream.at(0, row));
        let verdict = checker.symbols(&sentence.symbols, Language::A);
        prop_assert!(verdict.facts && verdict.failure.is_none(), "{:?}: {:?}", sentence, verdict);
        for language in [Language::A, Language::B] {
            let text = languages.text(&sentence.symbols, language);
            prop_assert_eq!(&checker.text(&text, language), &verdict);
        }
        structure_holds(languages, &sentence)?;
    }
    Ok(())
}

/// What the sentence says of itself agrees with the world.
fn structure_holds(languages: &Languages, sentence: &Sentence) -> std::result::Result<(), TestCaseError> {
    let world = &languages.world;
    prop_assert_eq!(sentence.symbols.len(), sentence.places.len());
    for (i, place) in sentence.places.iter().enumerate() {
        let symbol = sentence.symbols[i];
        let head = place.head.map(|h| (h as usize, sentence.symbols[h as usize]));
        match place.role {
            Role::Terminal(Terminal::Descriptor) => {
                let (at, subject) = head.expect("a descriptor has a subject");
                prop_assert!(world.allows(subject, symbol));
                let last =
                    sentence.positions(Terminal::Subject).filter(|&p| sentence.places[p].phrase == place.phrase).last();
                prop_assert_eq!(last, Some(at));
            }
            Role::Terminal(Terminal::Object) => {
                let (_, verb) = head.expect("an object has a verb");
                prop_assert!(world.fits_object(verb, symbol));
            }
            Role::Adjective | Role::Adverb => {
                let (at, modified) = head.expect("a modifier modifies");
                prop_assert_eq!(at, i + 1);
                prop_assert!(world.modifies(world.category(symbol), world.category(modified)));
            }
            _ => prop_assert!(head.is_none()),
        }
    }
    Ok(())
}

/// Every part of speech there is.
fn every_part() -> Vec<WordClass> {
    Category::ALL
        .into_iter()
        .filter_map(Category::part)
        .collect::<std::collections::BTreeSet<WordClass>>()
        .into_iter()
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_sampled_sentence_passes_every_check(config in worlds(), seed in 0u64..1000) {
        // A world this small may leave an entity without masked or unmasked descriptors: then it is refused.
        match Languages::new(&config, seed) {
            Ok(languages) => all_hold(&languages, 60)?,
            Err(e) => prop_assert!(e.to_string().contains("mask_share") || e.to_string().contains("valid_share"), "{}", e),
        }
    }
}

#[test]
fn in_the_papers_world_a_descriptor_speaks_of_the_nearest_subject_before_it() {
    let languages = Languages::new(&LanguageConfig::default(), 1).unwrap();
    all_hold(&languages, 2000).unwrap();
    let mut sampler = languages.sampler();
    let stream = Stream::new(1, "test/nearest");
    for row in 0..2000 {
        let sentence = sampler.sentence(Language::A, &mut stream.at(0, row));
        for at in sentence.positions(Terminal::Descriptor) {
            let nearest = sentence.positions(Terminal::Subject).filter(|&s| s < at).last();
            assert_eq!(sentence.places[at].head.map(usize::from), nearest);
        }
    }
}

/// Each built-in grammar with phrases joined, written to a file as a user would.
pub fn joined(name: &str, share: f64) -> (tempfile::NamedTempFile, LanguageConfig) {
    let text = BUILT_IN.iter().find(|(n, _)| *n == name).unwrap().1;
    let text = text.replacen("[1.0]", &format!("[{}]", 1.0 - share), 1).replacen("[0.0]", &format!("[{share}]"), 1);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let config = LanguageConfig { grammar: file.path().to_str().unwrap().into(), ..small() };
    (file, config)
}

#[test]
fn phrases_can_be_joined() {
    for (name, _) in BUILT_IN {
        let (_file, config) = joined(name, 0.4);
        let languages = Languages::new(&config, 2).unwrap();
        assert!(languages.world.separator().is_some());
        all_hold(&languages, 300).unwrap();
        let stream = Stream::new(2, "test/joined");
        let sentences: Vec<Sentence> =
            (0..300).map(|r| languages.sampler().sentence(Language::A, &mut stream.at(0, r))).collect();
        let phrases: usize = sentences.iter().map(|s| s.places.last().unwrap().phrase as usize + 1).sum();
        let mean = phrases as f64 / 300.0;
        assert!((1.5..1.85).contains(&mean), "{name}: {mean} phrases a sentence, 1 / 0.6 expected");
        let classes = |s: &Sentence| {
            let mut of: Vec<_> = s
                .positions(Terminal::Subject)
                .map(|i| (s.places[i].phrase, languages.world.class(s.symbols[i])))
                .collect();
            of.dedup();
            of
        };
        assert!(sentences.iter().any(|s| classes(s).windows(2).any(|w| w[0].1 != w[1].1)), "phrases are independent");
    }
}

#[test]
fn a_separator_is_ungrammatical_where_phrases_are_not_joined() {
    let (_file, config) = joined("svo", 0.4);
    let languages = Languages::new(&config, 2).unwrap();
    let stream = Stream::new(2, "test/joined");
    let separator = languages.world.separator().unwrap();
    let sentence = (0..).map(|r| languages.sampler().sentence(Language::A, &mut stream.at(0, r)));
    let sentence = sentence.into_iter().find(|s| s.symbols.contains(&separator)).unwrap();
    let parts: Vec<WordClass> = sentence.symbols.iter().filter_map(|&s| languages.world.category(s).part()).collect();
    let plain = Grammar::load("svo").unwrap();
    assert!(Parser::new(&plain).parse(&parts, &mut Analysis::default()).is_err());
    assert!(Parser::new(languages.grammar(Language::A)).parse(&parts, &mut Analysis::default()).is_ok());
}

#[test]
fn word_orders_really_differ() {
    let order = |name: &str| {
        let languages = Languages::new(&LanguageConfig { grammar: name.into(), ..small() }, 0).unwrap();
        let stream = Stream::new(0, "test/order");
        let mut seen = std::collections::BTreeSet::new();
        for row in 0..400 {
            let sentence = languages.sampler().sentence(Language::A, &mut stream.at(0, row));
            // A second verb follows the subjects under vso too, so only sentences of one verb tell.
            if sentence.positions(Terminal::Descriptor).next().is_some() {
                continue;
            }
            let one = |terminal| {
                (sentence.positions(terminal).count() == 1).then(|| sentence.positions(terminal).next().unwrap())
            };
            if let (Some(s), Some(o), Some(v)) =
                (one(Terminal::Subject), one(Terminal::Object), one(Terminal::Relation))
            {
                let mut letters = [(s, 's'), (o, 'o'), (v, 'v')];
                letters.sort_unstable();
                seen.insert(letters.map(|(_, l)| l).iter().collect::<String>());
            }
        }
        seen.into_iter().collect::<Vec<_>>()
    };
    for (name, _) in BUILT_IN {
        assert_eq!(order(name), [name]);
    }
}

proptest! {
    /// The one-pass parser and the general one agree on every category sequence, grammatical or not.
    #[test]
    fn fast_and_general_analysis_agree(
        name in prop::sample::select(vec!["svo", "sov", "vso", "vos"]),
        share in prop::sample::select(vec![0.0, 0.4]),
        random in prop::collection::vec(prop::sample::select(every_part()), 0..9),
        row in 0u64..1_000_000,
        noise in prop::option::of((0usize..20, prop::sample::select(every_part()))),
    ) {
        let (_file, config) = joined(name, share);
        let grammar = Grammar::load(&config.grammar).unwrap();
        let fast = Parser::new(&grammar);
        prop_assert!(matches!(fast, Parser::Fast(_)));
        let general = Cyk::new(&grammar);
        let (mut stack, mut terminals) = (Vec::new(), Vec::new());
        grammar.sample(&mut Stream::new(0, "test/agree").at(0, row), &mut stack, &mut terminals);
        let mut sampled: Vec<WordClass> = terminals.iter().map(|s| s.part()).collect();
        if let Some((at, part)) = noise {
            let at = at % sampled.len();
            sampled[at] = part;
        }
        for parts in [sampled, random] {
            let (mut a, mut b) = (Analysis::default(), Analysis::default());
            let (x, y) = (fast.parse(&parts, &mut a), general.parse(&parts, &mut b));
            prop_assert_eq!(x.is_ok(), y.is_ok(), "{:?}", parts);
            if x.is_ok() {
                prop_assert_eq!(a, b);
            }
        }
    }
}

#[test]
fn a_users_own_grammar_is_sampled_and_checked() {
    // Topic first: descriptors and relations before or after, ambiguous on purpose.
    let text = "S -> NP VP [0.5] | VP NP [0.5]\n\
                NP -> 'subjectID' [0.6] | NP 'conj' NP [0.4]\n\
                VP -> 'descPreP' 'descV' [0.4] | 'relV' 'relPreP' ON [0.4] | VP 'conj' VP [0.2]\n\
                ON -> 'objectID' [0.7] | ON 'conj' ON [0.3]";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let config = LanguageConfig { grammar: file.path().to_str().unwrap().into(), ..small() };
    let languages = Languages::new(&config, 0).unwrap();
    assert!(matches!(Parser::new(languages.grammar(Language::A)), Parser::Cyk(_)));
    all_hold(&languages, 300).unwrap();
}

#[test]
fn a_grammar_whose_phrases_cannot_be_filled_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "S -> 'descPreP' 'descV' [1.0]").unwrap();
    let config = LanguageConfig { grammar: file.path().to_str().unwrap().into(), ..small() };
    let error = Languages::new(&config, 0).unwrap_err().to_string();
    assert!(error.contains("nothing can fill") && error.contains("[Copula, Descriptor]"), "{error}");
}

#[test]
fn heads_of_the_general_analysis_are_none_where_nothing_is_attached() {
    let cyk = Cyk::new(&Grammar::load("svo").unwrap());
    let mut analysis = Analysis::default();
    use WordClass::*;
    cyk.parse(&[Entity, Relation, Preposition, Entity, Conjunction, Copula, Descriptor], &mut analysis).unwrap();
    assert_eq!(analysis.head, [NONE, NONE, NONE, 1, NONE, NONE, 0]);
}

#[test]
fn descriptors_are_said_as_often_as_expected() {
    let config = LanguageConfig { entities: 13, ..small() };
    let languages = Languages::new(&config, 3).unwrap();
    let (world, frequencies) = (&languages.world, Frequencies::new(&languages, Language::A));
    let (stream, mut sampler) = (Stream::new(3, "test/frequencies"), languages.sampler());
    const SENTENCES: u64 = 200_000;
    let mut counts = vec![0.0; world.len()];
    for row in 0..SENTENCES {
        for symbol in sampler.sentence(Language::A, &mut stream.at(0, row)).symbols {
            counts[symbol.index()] += 1.0;
        }
    }
    let (mut levels, mut largest) = (std::collections::BTreeSet::new(), 0.0f64);
    for symbol in world.descriptors() {
        let expected = frequencies.per_sentence(symbol).unwrap() * SENTENCES as f64;
        levels.insert(expected as u64);
        largest = largest.max((counts[symbol.index()] - expected).abs() / expected.max(1.0).sqrt());
    }
    assert!(levels.len() > 3, "words of classes and of values that differ in how many entities have them");
    // Of some two hundred words the largest of as many normal deviates, with room for the sample behind the expectation.
    assert!(largest < 5.0, "{largest}");
    assert_eq!(frequencies.per_sentence(world.copula()), None);
}
