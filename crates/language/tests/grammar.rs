//! Grammars: each fault named, and the CYK parser and its probabilities against a brute-force enumeration of derivations.

use invitro_language::grammar::analysis::Analysis;
use invitro_language::grammar::cyk::Cyk;
use invitro_language::grammar::{BUILT_IN, RuleItem};
use invitro_language::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// Every category sequence of at most `longest` words with its probability: all leftmost derivations, rule by rule,
/// those that have come to the same point taken together, until all but `1e-12` of the probability is accounted for. None
/// where that is too much to enumerate: grammars that can put one silent word beside the other without end.
fn enumerate(grammar: &Grammar, longest: usize) -> Option<HashMap<Vec<WordClass>, f64>> {
    let mut found = HashMap::new();
    // What has been said, and what is left to expand, last first.
    let mut open: HashMap<(Vec<WordClass>, Vec<u8>), f64> = HashMap::new();
    let code = |item: &RuleItem| match item {
        RuleItem::Nonterminal(n) => 100 + *n as u8,
        RuleItem::Word(terminal) => *terminal as u8,
        RuleItem::Silent => 99,
    };
    let terminals = [
        Terminal::Subject,
        Terminal::Object,
        Terminal::Relation,
        Terminal::Descriptor,
        Terminal::Copula,
        Terminal::Preposition,
        Terminal::Conjunction,
        Terminal::Separator,
    ];
    open.insert((Vec::new(), vec![100]), 1.0);
    while open.values().sum::<f64>() > 1e-12 {
        let mut next = HashMap::new();
        for ((words, mut remaining), p) in open {
            match remaining.pop() {
                None => *found.entry(words).or_insert(0.0) += p,
                Some(99) => *next.entry((words, remaining)).or_insert(0.0) += p,
                Some(word @ 0..99) => {
                    let words: Vec<WordClass> = words.into_iter().chain([terminals[word as usize].part()]).collect();
                    if words.len() <= longest {
                        *next.entry((words, remaining)).or_insert(0.0) += p;
                    }
                }
                Some(n) => {
                    for production in grammar.productions((n - 100) as usize) {
                        let remaining: Vec<u8> =
                            remaining.iter().copied().chain(production.items.iter().rev().map(code)).collect();
                        // Too long already, silent marks and nonterminals aside.
                        if words.len() + remaining.iter().filter(|&&c| c < 99).count() <= longest {
                            *next.entry((words.clone(), remaining)).or_insert(0.0) += p * production.probability;
                        }
                    }
                }
            }
        }
        if next.len() > 20_000 {
            return None;
        }
        open = next;
    }
    Some(found)
}

/// All sequences over a few parts, up to a length.
fn sequences(parts: &[WordClass], longest: usize) -> Vec<Vec<WordClass>> {
    let mut all: Vec<Vec<WordClass>> = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..longest {
        last = last.iter().flat_map(|s| parts.iter().map(move |&p| s.iter().copied().chain([p]).collect())).collect();
        all.extend(last.clone());
    }
    all
}

fn agrees(text: &str, parts: &[WordClass], longest: usize) -> std::result::Result<(), TestCaseError> {
    let Ok(grammar) = Grammar::parse("test", text) else { return Ok(()) };
    let cyk = Cyk::new(&grammar);
    let truth = enumerate(&grammar, longest);
    prop_assume!(truth.is_some());
    let truth = truth.expect("just seen");
    for sequence in sequences(parts, longest).iter().filter(|s| !s.is_empty()) {
        let p = cyk.log_probability(sequence).exp();
        let expected = truth.get(sequence).copied().unwrap_or(0.0);
        prop_assert!((p - expected).abs() < 1e-9, "{:?}: {} but {} in\n{}", sequence, p, expected, text);
        let parsed = cyk.parse(sequence, &mut Analysis::default()).is_ok();
        prop_assert_eq!(parsed, p > 0.0);
        prop_assert!(parsed || expected == 0.0);
    }
    Ok(())
}

#[test]
fn ambiguous_recursive_unit_and_silent_rules() {
    use WordClass::*;
    for text in [
        // The paper's noun phrase: doubly recursive, Catalan-many parses.
        "NP -> 'subjectID' [0.8] | NP 'conj' NP [0.2]",
        // Left and right recursion at once.
        "S -> S 'conj' [0.2] | 'conj' S [0.2] | 'relV' [0.6]",
        // Unit chains that close on themselves.
        "S -> T [0.5] | 'relV' [0.5]\nT -> S [0.4] | 'conj' T [0.1] | 'relV' [0.5]",
        // Nonterminals that may be silent, alone and side by side.
        "S -> M M 'relV' M [1.0]\nM -> '[P]' [0.5] | 'conj' [0.3] | M M [0.2]",
        "S -> X S [0.3] | 'relV' [0.7]\nX -> '<eos>' [0.9] | 'conj' [0.1]",
    ] {
        let parts: &[WordClass] =
            if text.starts_with("NP") { &[Entity, Conjunction] } else { &[Relation, Conjunction] };
        agrees(text, parts, 5).unwrap();
    }
}

#[test]
fn the_papers_grammar_against_enumeration() {
    let grammar = Grammar::load("svo").unwrap();
    let cyk = Cyk::new(&grammar);
    let truth = enumerate(&grammar, 8).expect("few enough derivations");
    assert!(truth.len() > 10);
    let mut sum = 0.0;
    for (sequence, &p) in &truth {
        let ours = cyk.log_probability(sequence).exp();
        assert!((ours - p).abs() < 1e-9, "{sequence:?}: {ours} but {p}");
        sum += p;
    }
    assert!(sum > 0.5 && sum < 1.0);
    // "Entity copula descriptor" has one parse: one subject (0.8), one descriptor (0.4).
    let short = [WordClass::Entity, WordClass::Copula, WordClass::Descriptor];
    assert!((cyk.log_probability(&short) - (0.8f64 * 0.4).ln()).abs() < 1e-12);
    // Three subjects: two bracketings of 0.2² · 0.8³.
    use WordClass::*;
    let three = [Entity, Conjunction, Entity, Conjunction, Entity, Copula, Descriptor];
    assert!((cyk.log_probability(&three).exp() - 2.0 * 0.04 * 0.512 * 0.4).abs() < 1e-12);
}

#[test]
fn the_four_word_orders_are_equally_probable() {
    let probability = |name: &str, parts: &[WordClass]| Cyk::new(&Grammar::load(name).unwrap()).log_probability(parts);
    use WordClass::*;
    let svo = probability("svo", &[Entity, Relation, Preposition, Entity, Conjunction, Copula, Descriptor]);
    for (name, parts) in [
        ("sov", [Entity, Entity, Preposition, Relation, Conjunction, Descriptor, Copula]),
        ("vso", [Relation, Entity, Preposition, Entity, Conjunction, Copula, Descriptor]),
        ("vos", [Relation, Preposition, Entity, Conjunction, Copula, Descriptor, Entity]),
    ] {
        assert!((probability(name, &parts) - svo).abs() < 1e-12, "{name}");
    }
}

/// A random grammar over two nonterminals and two words.
fn grammars() -> impl Strategy<Value = String> {
    let item = prop::sample::select(vec!["S", "T", "'relV'", "'relV'", "'conj'", "'conj'", "'[P]'"]);
    let rule = prop::collection::vec(item, 1..4).prop_map(|items| items.join(" "));
    let rules = prop::collection::vec(rule, 1..3);
    (rules.clone(), rules, 0.5f64..0.9).prop_map(|(s, t, end)| {
        let list = |rules: &[String], last: &str| {
            let share = (1.0 - end) / rules.len() as f64;
            let all: Vec<String> = rules.iter().map(|r| format!("{r} [{share}]")).collect();
            format!("{} | {last} [{end}]", all.join(" | "))
        };
        format!("S -> {}\nT -> {}", list(&s, "'relV'"), list(&t, "'conj'"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_grammars_against_enumeration(text in grammars()) {
        agrees(&text, &[WordClass::Relation, WordClass::Conjunction], 4)?;
    }
}

#[test]
fn each_fault_is_named_with_its_line() {
    let word = "W -> 'relV' [1.0]";
    for (text, line, says) in [
        ("S -> W [0.5]\nW -> 'relV' [1.0]".into(), 1, "the probabilities of `S` sum to 0.5, not to 1"),
        (format!("S -> W X [1.0]\n{word}"), 1, "`X` is not defined"),
        (format!("S -> W\n{word}"), 1, "probability"),
        (format!("S -> W [1.5]\n{word}"), 1, "1.5"),
        (format!("S -> W ['a'] [1.0]\n{word}"), 1, "probability"),
        (format!("S -> W [1.0]\n{word}\nS -> W W [1.0]"), 3, "`S` is already defined in line 1"),
        (format!("\nS -> W [0.5] | S S [0.5]\n{word}"), 2, "no finite expected length"),
        (format!("S -> W T [1.0]\nT -> W T [1.0]\n{word}"), 1, "`S` never ends"),
        ("S -> 'verb' [1.0]".into(), 1, "'verb' is not a terminal"),
        ("S -> 'relV [1.0]".into(), 1, "quote"),
        ("S -> '[P]' [0.5] | 'relV' [0.5]".into(), 1, "without words"),
        ("# nothing".into(), 1, "no rule"),
        ("| W [1.0]".into(), 1, "before any rule"),
        ("S W [1.0]".into(), 1, "->"),
    ] {
        let message = Grammar::parse("test", &text).unwrap_err().to_string();
        assert!(message.starts_with(&format!("grammar `test`, line {line}: ")), "{text}: {message}");
        assert!(message.contains(says), "{text}: {message}");
    }
}

#[test]
fn the_built_in_grammars_are_valid_and_never_join_phrases() {
    for (name, _) in BUILT_IN {
        let grammar = Grammar::load(name).unwrap();
        assert!(!grammar.can_make(Terminal::Separator));
        let raised = grammar.text().replacen("[1.0]", "[0.7]", 1).replacen("[0.0]", "[0.3]", 1);
        assert!(Grammar::parse("raised", &raised).unwrap().can_make(Terminal::Separator));
    }
    let missing = Grammar::load("ovs").unwrap_err().to_string();
    assert!(missing.contains("`ovs`") && missing.contains("svo, sov, vso or vos"), "{missing}");
}

/// Grammars that no parser or sampler could handle, and the limit that the message names.
#[test]
fn grammars_beyond_the_limits_are_refused() {
    let phrase = "P -> 'subjectID' 'descPreP' 'descV' [1.0]";
    let chain = |n: usize| (0..n).map(|i| format!("N{i} -> N{} [1.0]\n", i + 1)).collect::<String>();
    let doubled: String = (0..60).map(|i| format!("N{i} -> N{} N{} [1.0]\n", i + 1, i + 1)).collect();
    let optional = "O -> '[P]' [0.5] | 'conj' [0.5]";
    for (text, expected) in [
        (
            format!("{}N100000 -> P [1.0]\n{phrase}", chain(100_000)),
            "line 201: `N200` is nonterminal 201; a grammar may have at most 200",
        ),
        (format!("S -> {}[1.0]\n{phrase}", "P ".repeat(1000)), "line 1: the rules up to `S` have 1000 symbols"),
        (format!("S -> P {}[1.0]\n{optional}\n{phrase}", "O ".repeat(40)), "counting a rule once for every choice"),
        (
            format!("{doubled}N60 -> P [1.0]\n{phrase}"),
            "line 1: the sentences of `N0` have on average 3458764513820540928 words; at most 100",
        ),
        (
            format!("S -> S 'conj' S [0.4999] | P [0.5001]\n{phrase}"),
            "have on average 10001 words; at most 100 are allowed",
        ),
        (
            format!("S -> '[P]' S [0.99999] | P [0.00001]\n{phrase}"),
            "symbols in their derivation; at most 1000 are allowed",
        ),
    ] {
        let error = Grammar::parse("own.txt", &text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// The general parser takes long rules and sentences, up to its limit; what is longer is not called ungrammatical.
#[test]
fn long_rules_and_sentences_of_ones_own_grammar() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.txt");
    let long_rule = format!("L -> {}'subjectID' [1.0]", "'subjectID' 'conj' ".repeat(50));
    std::fs::write(
        &path,
        format!("S -> NP 'descPreP' 'descV' [0.999] | L 'descPreP' 'descV' [0.001]\nNP -> 'subjectID' [0.8] | NP 'conj' NP [0.2]\n{long_rule}"),
    )
    .unwrap();
    let languages =
        Languages::new(&LanguageConfig { grammar: path.to_str().unwrap().into(), ..crate::common::small() }, 0)
            .unwrap();
    let mut checker = languages.checker();
    let mut sentence = |subjects: usize| {
        let subject = languages.form(languages.world.entity(Class(0), 0), Language::A).to_owned();
        let conjunction = languages.form(languages.world.conjunction(), Language::A);
        let descriptor = languages.world.valid_descriptor(0, languages.world.properties(Class(0))[0], 0);
        let copula = languages.form(languages.world.copula(), Language::A);
        let subjects = vec![subject; subjects].join(&format!(" {conjunction} "));
        let text = format!("{subjects} {copula} {}", languages.form(descriptor, Language::A));
        let verdict = checker.text(&text, Language::A);
        let reason = verdict.failure.map(|failure| checker.reason(&failure, &text, Language::A));
        (verdict.valid, verdict.grammatical, reason)
    };
    assert_eq!(sentence(149), (true, true, None));
    let (valid, grammatical, reason) = sentence(150);
    assert_eq!((valid, grammatical), (true, false));
    let reason = reason.unwrap();
    assert!(reason.starts_with("the sentence has 301 words without its modifiers"), "{reason}");
    assert!(reason.ends_with("sentences of at most 300 can be parsed"), "{reason}");
    assert!(sentence(40_000).2.unwrap().contains("has 80001 words"));
}
