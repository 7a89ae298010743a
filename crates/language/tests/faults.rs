//! Each kind of single fault gets exactly the verdict it deserves.

use crate::common::small;
use invitro_language::*;
use proptest::prelude::*;
use std::sync::LazyLock;

/// A sentence with at least one word in each wanted terminal, and with modifiers.
fn sentence(languages: &Languages, wanted: &[Terminal], row: u64) -> Sentence {
    let stream = Stream::new(languages.seed, "test/faults");
    let mut rng = stream.at(0, row);
    let mut sampler = languages.sampler();
    loop {
        let sentence = sampler.sentence(Language::A, &mut rng);
        if wanted.iter().all(|&terminal| sentence.positions(terminal).next().is_some()) {
            return sentence;
        }
    }
}

/// One small world under each word order, built once.
fn languages(grammar: &str) -> &'static Languages {
    static LANGUAGES: LazyLock<[Languages; 4]> = LazyLock::new(|| {
        ORDERS.map(|order| Languages::new(&LanguageConfig { grammar: order.into(), ..small() }, 3).unwrap())
    });
    &LANGUAGES[ORDERS.iter().position(|&o| o == grammar).unwrap()]
}

/// How far the checks went, and the failure's kind.
fn outcome(languages: &Languages, symbols: &[Symbol]) -> ([bool; 4], &'static str) {
    let verdict = languages.checker().symbols(symbols, Language::A);
    let failure = verdict.failure.map_or("none", |f| f.kind());
    ([verdict.valid, verdict.grammatical, verdict.types, verdict.facts], failure)
}

const ORDERS: [&str; 4] = ["svo", "sov", "vso", "vos"];
const UNGRAMMATICAL: [bool; 4] = [true, false, false, false];
const MISTYPED: [bool; 4] = [true, true, false, false];
const UNTRUE: [bool; 4] = [true, true, true, false];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn an_unknown_word(order in prop::sample::select(ORDERS.to_vec()), row in 0u64..10_000) {
        let languages = languages(order);
        let sentence = sentence(languages, &[], row);
        let mut words: Vec<String> =
            sentence.symbols.iter().map(|&s| languages.form(s, Language::A).to_owned()).collect();
        let at = row as usize % words.len();
        words[at] = "zzzzqqqq".into();
        let text = words.join(" ");
        let mut checker = languages.checker();
        let verdict = checker.text(&text, Language::A);
        prop_assert!(!verdict.valid && !verdict.grammatical && !verdict.types && !verdict.facts);
        prop_assert_eq!(verdict.unknown, vec![at]);
        prop_assert_eq!(verdict.failure, Some(Failure::UnknownWord { at }));
        let reason = checker.reason(&verdict.failure.unwrap(), &text, Language::A);
        prop_assert!(reason.contains("`zzzzqqqq` is not a word of A"), "{}", reason);
    }

    #[test]
    fn swapped_categories(order in prop::sample::select(ORDERS.to_vec()), row in 0u64..10_000) {
        let languages = languages(order);
        let mut symbols = sentence(languages, &[Terminal::Relation], row).symbols;
        let world = &languages.world;
        let verb = symbols.iter().position(|&s| world.category(s) == Category::Relation).unwrap();
        let preposition = symbols.iter().position(|&s| s == world.preposition()).unwrap();
        symbols.swap(verb, preposition);
        prop_assert_eq!(outcome(languages, &symbols), (UNGRAMMATICAL, "ungrammatical"));
    }

    #[test]
    fn a_descriptor_of_another_class(order in prop::sample::select(ORDERS.to_vec()), row in 0u64..10_000) {
        let languages = languages(order);
        let mut sentence = sentence(languages, &[Terminal::Descriptor], row);
        let at = sentence.positions(Terminal::Descriptor).next().unwrap();
        let subject = sentence.symbols[sentence.places[at].head.unwrap() as usize];
        let foreign = languages.world.foreign(subject);
        sentence.symbols[at] = foreign[row as usize % foreign.len()];
        prop_assert_eq!(outcome(languages, &sentence.symbols), (MISTYPED, "descriptor_class"));
        let verdict = languages.checker().symbols(&sentence.symbols, Language::A);
        prop_assert_eq!(verdict.descriptor.of - verdict.descriptor.held, 1);
        prop_assert!(verdict.relation.all() && verdict.adjective.all() && verdict.adverb.all());
    }

    #[test]
    fn a_subject_of_another_class(order in prop::sample::select(ORDERS.to_vec()), row in 0u64..10_000) {
        let languages = languages(order);
        let mut sentence = sentence(languages, &[Terminal::Relation], row);
        let world = &languages.world;
        let at = sentence.positions(Terminal::Subject).next().unwrap();
        let class = world.class(sentence.symbols[at]).unwrap();
        sentence.symbols[at] = match world.category(sentence.symbols[at]) {
            Category::Name => world.entity(Class(1 - class.0), world.noun_count()),
            _ => world.noun(Class(1 - class.0), 0),
        };
        let (passed, kind) = outcome(languages, &sentence.symbols);
        prop_assert_eq!(passed, MISTYPED);
        // The last subject's descriptors lose their class too, and may come first.
        prop_assert!(kind == "subject_class" || kind == "descriptor_class", "{}", kind);
        let verdict = languages.checker().symbols(&sentence.symbols, Language::A);
        prop_assert_eq!(verdict.relation.held, 0, "every relation verb of the phrase sees the wrong subject");
    }

    #[test]
    fn an_object_of_another_class_or_a_name(order in prop::sample::select(ORDERS.to_vec()), row in 0u64..10_000) {
        let languages = languages(order);
        let mut sentence = sentence(languages, &[Terminal::Object], row);
        let world = &languages.world;
        let at = sentence.positions(Terminal::Object).next().unwrap();
        let class = world.class(sentence.symbols[at]).unwrap();
        sentence.symbols[at] = world.noun(Class(5 - class.0), 0);
        prop_assert_eq!(outcome(languages, &sentence.symbols), (MISTYPED, "object_class"));
        let verdict = languages.checker().symbols(&sentence.symbols, Language::A);
        prop_assert_eq!(verdict.relation.of - verdict.relation.held, 1, "only its own verb minds");
        // A name as object: grammatical, but objects are nouns. Its adjective, if any, minds as well.
        sentence.symbols[at] = world.entity(Class(0), world.noun_count());
        let (passed, kind) = outcome(languages, &sentence.symbols);
        prop_assert_eq!(passed, MISTYPED);
        prop_assert!(kind == "object_class" || kind == "modifier");
    }

    #[test]
    fn a_wrong_modifier(order in prop::sample::select(ORDERS.to_vec()), row in 0u64..10_000) {
        let languages = languages(order);
        let world = &languages.world;
        let sentence = sentence(languages, &[Terminal::Descriptor, Terminal::Relation], row);
        let is = |role: Role| sentence.places.iter().position(|p| p.role == role);
        if let Some(at) = is(Role::Adjective) {
            let mut symbols = sentence.symbols.clone();
            symbols[at] = world.adverb(0);
            prop_assert_eq!(outcome(languages, &symbols), (MISTYPED, "modifier"));
            // Two adjectives before one word: one too many.
            let mut symbols = sentence.symbols.clone();
            symbols.insert(at, world.adjective(1));
            prop_assert_eq!(outcome(languages, &symbols), (MISTYPED, "modifier"));
        }
        if let Some(at) = is(Role::Adverb) {
            let mut symbols = sentence.symbols.clone();
            symbols[at] = world.adjective(0);
            prop_assert_eq!(outcome(languages, &symbols), (MISTYPED, "modifier"));
            let verdict = languages.checker().symbols(&symbols, Language::A);
            prop_assert_eq!(verdict.adjective.of - verdict.adjective.held, 1);
        }
        let mut symbols = sentence.symbols.clone();
        symbols.push(world.adjective(0));
        prop_assert_eq!(outcome(languages, &symbols), (MISTYPED, "modifier"));
    }

    #[test]
    fn a_value_outside_gamma(order in prop::sample::select(ORDERS.to_vec()), row in 0u64..10_000) {
        let languages = languages(order);
        let mut sentence = sentence(languages, &[Terminal::Descriptor], row);
        let at = sentence.positions(Terminal::Descriptor).last().unwrap();
        let subject = sentence.places[at].head.unwrap() as usize;
        let forbidden = languages.world.forbidden(sentence.symbols[subject]);
        sentence.symbols[at] = forbidden[row as usize % forbidden.len()];
        prop_assert_eq!(outcome(languages, &sentence.symbols), (UNTRUE, "fact"));
        let verdict = languages.checker().symbols(&sentence.symbols, Language::A);
        prop_assert_eq!(verdict.failure, Some(Failure::Fact { at, subject }));
        prop_assert_eq!(verdict.gamma.of - verdict.gamma.held, 1);
    }
}

#[test]
fn nothing_at_all() {
    let languages = languages("svo");
    let mut checker = languages.checker();
    let verdict = checker.text("  ", Language::A);
    assert!(!verdict.valid && verdict.failure == Some(Failure::Empty));
    assert_eq!(checker.reason(&Failure::Empty, "", Language::A), "there are no words");
}

#[test]
fn a_sentence_that_stops_too_early_and_one_that_goes_on() {
    let languages = languages("svo");
    let world = &languages.world;
    let (noun, copula) = (world.noun(Class(0), 0), world.copula());
    let failure = |symbols: &[Symbol]| languages.checker().symbols(symbols, Language::A).failure;
    assert_eq!(failure(&[noun, copula]), Some(Failure::Ungrammatical { at: 2 }));
    assert_eq!(failure(&[world.adjective(0), copula]), Some(Failure::Ungrammatical { at: 1 }));
    let good = world.allowed(noun)[0];
    assert_eq!(failure(&[noun, copula, good]), None);
    assert_eq!(failure(&[noun, copula, good, noun]), Some(Failure::Ungrammatical { at: 3 }));
}

#[test]
fn every_reason_reads_as_a_sentence_and_names_the_words() {
    let languages = languages("svo");
    let world = &languages.world;
    let (copula, preposition) = (world.copula(), world.preposition());
    let (noun, other) = (world.noun(Class(0), 0), world.noun(Class(1), 0));
    let verb = world.relations(Class(0))[0];
    let object = world.noun(Class(2), 1);
    let cases: Vec<Vec<Symbol>> = vec![
        vec![noun, noun],
        vec![noun, copula],
        vec![noun, copula, world.foreign(noun)[0]],
        vec![other, verb, preposition, object],
        vec![noun, verb, preposition, other],
        vec![world.adverb(0), noun, copula, world.allowed(noun)[0]],
        vec![noun, copula, world.forbidden(noun)[0]],
    ];
    let mut checker = languages.checker();
    let reasons: Vec<String> = cases
        .iter()
        .map(|symbols| {
            let text = languages.text(symbols, Language::A);
            let failure = checker.text(&text, Language::A).failure.expect("every case fails");
            checker.reason(&failure, &text, Language::A)
        })
        .collect();
    let form = |s| languages.form(s, Language::A);
    assert_eq!(reasons[0], format!("the grammar does not allow word 2 `{}`, a noun, here", form(noun)));
    assert!(reasons[1].contains("not yet its end"));
    assert!(reasons[2].contains("its subject") && reasons[2].contains("is of class 0"));
    assert_eq!(
        reasons[3],
        format!("the relation verb `{}` takes subjects of class 0, but `{}` is of class 1", form(verb), form(other))
    );
    assert!(reasons[4].ends_with(&format!("`{}` is a noun of class 1", form(other))), "{}", reasons[4]);
    assert!(reasons[5].ends_with(&format!("stands before `{}` (a noun), which it cannot modify", form(noun))));
    assert!(reasons[6].ends_with(&format!("is not true of `{}`", form(noun))));
}
