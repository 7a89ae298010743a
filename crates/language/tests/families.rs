//! Families of languages: the tree, what descends from it, and what the pair A and B keeps.

use crate::common;
use crate::common::small;
use invitro_language::*;
use proptest::prelude::*;
use std::collections::HashSet;

fn entry(name: &str) -> LanguageEntry {
    LanguageEntry::new(name)
}

fn child(name: &str, parent: &str, distance: f64) -> LanguageEntry {
    LanguageEntry { parent: Some(parent.into()), distance: Some(distance), ..entry(name) }
}

fn masked(entry: LanguageEntry) -> LanguageEntry {
    LanguageEntry { mask_share: 0.3, ..entry }
}

fn family(list: &[LanguageEntry], seed: u64) -> Languages {
    Languages::of_family(&small(), list, seed).unwrap()
}

/// A larger world, whose distances have a small error.
fn large(list: &[LanguageEntry], seed: u64) -> Languages {
    let config = LanguageConfig { properties: 80, values: 20, ..small() };
    Languages::of_family(&config, list, seed).unwrap()
}

fn forms(languages: &Languages, name: &str) -> Vec<String> {
    let language = languages.language(name).unwrap();
    languages.world.symbols().map(|symbol| languages.form(symbol, language).to_owned()).collect()
}

fn rows(languages: &Languages, count: u64) -> Vec<String> {
    let mut source = Source::training(languages, &MixtureConfig::default(), 8, 1);
    (0..count).map(|row| source.draw(row / 8, row % 8).unwrap().text(languages)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A tree of two leaves is the pair, word for word and row for row, whatever the world.
    #[test]
    fn two_leaves_are_the_pair(config in common::worlds(), seed in 0u64..1000) {
        let list = [entry("A"), LanguageEntry { mask_share: config.mask_share, ..entry("B") }];
        match (Languages::new(&config, seed), Languages::of_family(&config, &list, seed)) {
            (Ok(pair), Ok(tree)) => {
                prop_assert_eq!(pair.lexicon_tsv(), tree.lexicon_tsv());
                prop_assert_eq!(rows(&pair, 40), rows(&tree, 40));
            }
            (pair, tree) => prop_assert!(pair.is_err() && tree.is_err()),
        }
    }

    /// Every edge is as long as was asked, and every language farther from the first than the one before it.
    #[test]
    fn distances_grow_along_a_chain(step in 0.12f64..0.5, seed in 0u64..1000) {
        let chain = [child0("A"), child("B", "A", step), child("C", "B", step), masked(child("D", "C", step))];
        let languages = large(&chain, seed);
        let distances = languages.lexicon.distances();
        for (of, measured, asked) in languages.calibrated_distances() {
            prop_assert!((measured - asked).abs() < 0.03, "{}: {} for {}", of, measured, asked);
        }
        let [a, b, c, d] = ["A", "B", "C", "D"].map(|name| languages.language(name).unwrap());
        let from_a = [b, c, d].map(|other| distances.stems(a, other).relative);
        prop_assert!(from_a[0] < from_a[1] && from_a[1] < from_a[2], "{:?}", from_a);
        prop_assert!(distances.stems(b, c).relative < distances.stems(b, d).relative);
        prop_assert_eq!(distances.stems(a, d), distances.stems(d, a));
        prop_assert_eq!(distances.stems(a, a).relative, 0.0);
    }
}

/// A language that is the proto-language itself.
fn child0(name: &str) -> LanguageEntry {
    LanguageEntry { distance: Some(0.0), ..entry(name) }
}

#[test]
fn siblings_are_as_far_apart_as_the_pair() {
    let list = [entry("A"), masked(entry("B")), entry("C"), entry("D")];
    let languages = large(&list, 1);
    let distances = languages.lexicon.distances();
    for one in languages.all() {
        for other in languages.all().iter().filter(|other| *other != one) {
            let measured = distances.stems(*one, *other).relative;
            assert!((measured - 0.25).abs() < 0.05, "{} {}: {measured}", one.name(), other.name());
        }
    }
}

#[test]
fn others_do_not_change_a_language() {
    let list = [entry("A"), entry("B"), masked(child("C", "B", 0.3))];
    let whole = family(&list, 7);
    // Set aside, or joined by siblings and by a cousin.
    let silent = family(&[entry("A"), LanguageEntry { spoken: false, ..entry("B") }, list[2].clone()], 7);
    let copies = LanguageEntry { copies: 3, ..entry("L") };
    let joined = family(&[list.as_slice(), &[copies, child("K", "A", 0.9)]].concat(), 7);
    for name in ["A", "C"] {
        assert_eq!(forms(&whole, name), forms(&silent, name), "{name}");
        assert_eq!(forms(&whole, name), forms(&joined, name), "{name}");
    }
    assert_eq!(silent.all().iter().map(|l| l.name()).collect::<Vec<_>>(), ["A", "C"]);
    let names: Vec<&str> = joined.all().iter().map(|l| l.name()).collect();
    assert_eq!(names, ["A", "B", "C", "L1", "L2", "L3", "K"]);
    let mask = |languages: &Languages| languages.mask(languages.language("C").unwrap()).symbols().to_vec();
    assert_eq!(mask(&whole), mask(&silent));
}

/// Masked words must be unlike those of all others; where others are many and near, they are the ones to give way.
#[test]
fn a_pair_stays_what_it_is_among_many_near_siblings() {
    let config = LanguageConfig { distance: 0.05, ..small() };
    let pair = Languages::new(&config, 4).unwrap();
    let siblings = LanguageEntry { copies: 14, ..entry("L") };
    let list = [entry("A"), LanguageEntry { mask_share: config.mask_share, ..entry("B") }, siblings];
    let many = Languages::of_family(&config, &list, 4).unwrap();
    for name in ["A", "B"] {
        assert_eq!(forms(&pair, name), forms(&many, name), "{name}");
    }
    let b = many.language("B").unwrap();
    for &symbol in many.mask(b).symbols() {
        let form = many.form(symbol, b);
        assert!(many.all().iter().all(|&other| other == b || many.lexicon.symbol(form, other).is_none()), "{form}");
    }
}

#[test]
fn scripts_have_no_letter_in_common_and_names_keep_theirs() {
    let script = |name, script| LanguageEntry { script, ..entry(name) };
    let list = [entry("A"), masked(script("B", 1)), script("C", 5), script("D", 5)];
    let languages = family(&list, 3);
    let one_script = family(&[entry("A"), masked(entry("B")), entry("C"), entry("D")], 3);
    let letters = |name: &str, names: bool| -> HashSet<char> {
        let language = languages.language(name).unwrap();
        let is_name = |symbol: &Symbol| languages.world.category(*symbol) == Category::Name;
        let of = languages.world.symbols().filter(|symbol| is_name(symbol) == names);
        of.flat_map(|symbol| languages.form(symbol, language).chars()).collect()
    };
    let common = |one: &str, other: &str| letters(one, false).intersection(&letters(other, false)).count();
    assert_eq!((common("A", "B"), common("A", "C"), common("B", "C")), (0, 0, 0));
    assert!(common("C", "D") > 0);
    assert!(letters("B", true).iter().all(char::is_ascii_alphabetic));
    // Only how words are written differs: they are as far apart as before, and fall into the same morphemes.
    let b = languages.language("B").unwrap();
    let distance = |languages: &Languages| languages.lexicon.distances().stems(Language::A, b);
    assert_eq!(distance(&languages), distance(&one_script));
    for symbol in languages.world.symbols() {
        let [written, one_script] = [&languages, &one_script].map(|l| l.lexicon.word(symbol, b));
        let lengths = |w: &Word| [w.prefix(), w.stem(), w.suffix()].map(|part| part.chars().count());
        assert_eq!(lengths(written), lengths(one_script));
        assert_eq!([written.prefix(), written.stem(), written.suffix()].concat(), written.form());
    }
}

/// Every sentence passes its own language's checks, in every other order the other's, and in its own not the other's.
#[test]
fn word_orders_are_each_languages_own() {
    let orders = ["svo", "sov", "vso", "vos"];
    let of = |order: &str| LanguageEntry { grammar: Some(order.into()), ..entry(&order.to_uppercase()) };
    let mut list: Vec<LanguageEntry> = orders.map(of).into();
    list[1].mask_share = 0.3;
    let languages = family(&list, 5);
    let (mut sampler, mut checker) = (languages.sampler(), languages.checker());
    let stream = Stream::new(5, "test/orders");
    let modified = |symbols: &[Symbol]| -> HashSet<[Symbol; 2]> {
        let pairs = symbols.windows(2).map(|pair| [pair[0], pair[1]]);
        pairs.filter(|pair| languages.world.category(pair[0]).is_modifier()).collect()
    };
    for &own in languages.all() {
        for row in 0..300 {
            let sentence = sampler.sentence(own, &mut stream.at(0, row));
            assert!(checker.symbols(&sentence.symbols, own).facts);
            let held_out = languages.is_held_out(&sentence.symbols);
            for &other in languages.all().iter().filter(|&&other| other != own) {
                let moved = languages.reordered(&sentence, own, other);
                assert!(checker.symbols(&moved, other).facts, "{} to {}", own.name(), other.name());
                assert!(!checker.symbols(&sentence.symbols, other).grammatical, "{} {}", own.name(), other.name());
                assert_eq!(languages.is_held_out(&moved), held_out, "in every order, or in none");
                let sorted = |symbols: &[Symbol]| {
                    let mut symbols = symbols.to_vec();
                    symbols.sort_unstable();
                    symbols
                };
                assert_eq!(sorted(&moved), sorted(&sentence.symbols), "word for word");
                assert_eq!(modified(&moved), modified(&sentence.symbols), "modifiers go with their words");
            }
        }
    }
    let entity = languages.world.entities().next().unwrap();
    let openings = languages.all().iter().map(|&language| languages.opening(entity, language));
    let copula = languages.world.copula();
    assert_eq!(
        openings.collect::<Vec<_>>(),
        [Some(vec![entity, copula]), Some(vec![entity]), Some(vec![copula, entity]), None]
    );
}

#[test]
fn rows_come_in_their_shares_and_none_has_a_masked_word() {
    let share = |name, share| LanguageEntry { share: Some(share), ..entry(name) };
    let list = [entry("A"), masked(share("B", 0.5)), masked(LanguageEntry { script: 1, ..share("C", 0.1) })];
    let languages = family(&list, 2);
    let [a, b, c] = languages.all() else { unreachable!() };
    assert_ne!(languages.mask(*b).symbols(), languages.mask(*c).symbols());
    let n = 40_000;
    for sampling in [1.0, 0.3, 0.0] {
        let mixture = MixtureConfig { sampling, ..Default::default() };
        let shares = languages.family.shares(&mixture);
        let process = Process::new(&languages);
        let left = |language: &Language| shares[language.index()] * (1.0 - process.masked_share(*language));
        let all: f64 = [a, b, c].map(left).iter().sum();
        let mut counts = [0usize; 3];
        let mut source = Source::training(&languages, &mixture, 64, 1);
        let mut sequence = Sequence::default();
        for row in 0..n {
            source.draw_into(row / 64, row % 64, |_| true, &mut sequence).unwrap();
            let mask = languages.mask(sequence.language);
            assert!(!mask.touches(&sequence.sentence.symbols) && !mask.touches(&sequence.prompt));
            assert!(!languages.is_held_out(&sequence.sentence.symbols));
            counts[sequence.language.index()] += 1;
        }
        for language in [a, b, c] {
            let (expected, found) = (left(language) / all, counts[language.index()] as f64 / n as f64);
            let error = (expected * (1.0 - expected) / n as f64).sqrt();
            assert!((found - expected).abs() < 5.0 * error + 0.003, "{}: {found} for {expected}", language.name());
        }
    }
    let half = MixtureConfig { sampling: 0.5, ..Default::default() };
    let sizes = [1.0, 0.5f64.sqrt(), 0.1f64.sqrt()];
    let sum: f64 = sizes.iter().sum();
    for (share, size) in languages.family.shares(&half).iter().zip(sizes) {
        assert!((share - size / sum).abs() < 1e-12);
    }
    // What is masked in one language is seen in another.
    for symbol in languages.world.descriptors() {
        assert!(languages.all().iter().any(|&language| !languages.mask(language).contains(symbol)));
    }
}

#[test]
fn masked_words_are_no_words_of_any_other_language() {
    let list = [entry("A"), entry("B"), masked(child("C", "A", 0.0)), masked(child("D", "C", 0.05))];
    let languages = large(&list, 9);
    for masked in languages.masked() {
        for &symbol in languages.mask(masked).symbols() {
            let form = languages.form(symbol, masked);
            let elsewhere = languages.all().iter().filter(|&&other| other != masked);
            assert!(elsewhere.into_iter().all(|&other| languages.lexicon.symbol(form, other).is_none()), "{form}");
        }
    }
}

#[test]
fn lists_that_cannot_be_are_refused_in_a_sentence() {
    let fault = |list: &[LanguageEntry]| Languages::of_family(&small(), list, 0).unwrap_err().to_string();
    let share = |share| LanguageEntry { share: Some(share), ..masked(entry("B")) };
    let many: Vec<LanguageEntry> = (0..65).map(|i| entry(&format!("L{i}"))).collect();
    let both = [("A", 0.6), ("B", 0.6)].map(|(name, mask_share)| LanguageEntry { mask_share, ..entry(name) });
    for (list, wanted) in [
        (&[child("A", "C", 0.1), child("B", "A", 0.1), masked(child("C", "B", 0.1)), entry("D")][..], "circle"),
        (&[entry("A"), masked(child("B", "X", 0.1))], "`languages.B.parent` is `X`, but must be one of A"),
        (&[entry("A"), masked(child("B", "B", 0.1))], "`languages.B.parent` is `B`, but must be one of A"),
        (&[entry("A"), share(0.0)], "`languages.B.share` is 0, but must be above 0"),
        (&[entry("A"), share(-1.0)], "`languages.B.share` is -1"),
        (&[entry("A"), share(f64::NAN)], "`languages.B.share` is NaN"),
        (&many, "`languages` is a list of 65, but must be at most 64 languages"),
        (&[entry("A"), LanguageEntry { copies: usize::MAX, ..masked(entry("B")) }], "at most 64 languages"),
        (&[entry("A"), masked(entry("a"))], "a name that no other language has"),
        (&[entry("A"), masked(entry("B_masked"))], "letters and digits"),
        (&[entry("A"), masked(entry("all"))], "not `all`"),
        (&[entry("A"), LanguageEntry { script: 9, ..masked(entry("B")) }], "`languages.B.script` is 9"),
        (&[entry("A"), LanguageEntry { mask_share: 1.0, ..entry("B") }], "`languages.B.mask_share` is 1"),
        (&[entry("A"), entry("B")], "no language of `languages` that is spoken has a `mask_share` above 0"),
        (&both, "would be masked in every language (A, B)"),
        (&[LanguageEntry { grammar: Some("svx".into()), ..entry("A") }, masked(entry("B"))], "svx"),
    ] {
        let fault = fault(list);
        assert!(fault.contains(wanted), "{fault}");
    }
    let circle = fault(&[child("A", "C", 0.1), child("B", "A", 0.1), masked(child("C", "B", 0.1))]);
    assert_eq!(circle, "`languages` goes in a circle: A descends from C, C from B, B from A");
}

#[test]
fn the_lexicon_names_what_is_masked_where() {
    let head = |list: &[LanguageEntry]| family(list, 0).lexicon_tsv().lines().next().unwrap().to_owned();
    let symbol = "symbol\tcategory\tclass\tproperty\tvalue";
    let two = head(&[entry("A"), masked(entry("B"))]);
    assert_eq!(two, format!("{symbol}\tform_A\tform_B\tstem_A\tstem_B\tmasked"));
    let three = head(&[entry("A"), masked(entry("B")), masked(entry("C"))]);
    assert_eq!(three, format!("{symbol}\tform_A\tform_B\tform_C\tstem_A\tstem_B\tstem_C\tmasked_B\tmasked_C"));
}
