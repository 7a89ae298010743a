//! Measures and bridges against the plain loops that their definitions say, for every kind of tokenizer.

use crate::common;
use invitro_language::{Category, Language, LanguageCondition, LanguageConfig, Languages, Source, Symbol, Task};
use invitro_tokenizer::measure::bridge::{Bridge, Candidate, Similarity, candidates};
use invitro_tokenizer::measure::{ALPHA, Fragmentation, LanguageMeasures};
use invitro_tokenizer::{Boundary, Bridges, Kind, Measures, Regime, Segmentation, TokenizerConfig, WordCounts};
use std::collections::{BTreeMap, BTreeSet};

/// A text word by word: each with its language.
type Text = Vec<(Symbol, Language)>;

/// What a text comes to, counted word by word.
fn fragmentation(segmentation: &Segmentation, languages: &Languages, text: &Text) -> Fragmentation {
    let (mut pieces, mut continued, mut cuts, mut seams, mut hits) = (0, 0, 0, 0, 0);
    let mut used: BTreeMap<u32, u64> = BTreeMap::new();
    for &(symbol, language) in text {
        let core = segmentation.core(symbol, language);
        let word = languages.lexicon.word(symbol, language);
        let ends: Vec<usize> = core
            .iter()
            .scan(0, |end, &piece| {
                *end += segmentation.letters(piece).len();
                Some(*end)
            })
            .collect();
        let seams_of: Vec<usize> = word.boundaries().collect();
        pieces += core.len() as u64;
        continued += u64::from(core.len() > 1);
        cuts += core.len() as u64 - 1;
        seams += seams_of.len() as u64;
        hits += ends[..ends.len() - 1].iter().filter(|end| seams_of.contains(end)).count() as u64;
        core.iter().for_each(|&piece| *used.entry(piece).or_default() += 1);
    }
    let words = text.len() as u64;
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    // Special tokens and the boundary are no pieces of words.
    let available = (segmentation.vocab_size() - segmentation.special().count() as usize - 1) as f64;
    let power: f64 = used.values().map(|&count| share(count, pieces).powf(ALPHA)).sum();
    Fragmentation {
        words,
        pieces,
        fertility: share(pieces, words),
        continuation: share(continued, words),
        one_piece: share(words - continued, words),
        renyi: power.ln() / (1.0 - ALPHA) / available.ln(),
        utilisation: used.len() as f64 / available,
        boundary_precision: share(hits, cuts),
        boundary_recall: share(hits, seams),
    }
}

fn agrees(measured: &Fragmentation, counted: &Fragmentation, of: &str) {
    assert_eq!((measured.words, measured.pieces), (counted.words, counted.pieces), "{of}");
    let shares = |f: &Fragmentation| {
        let boundaries = [f.boundary_precision, f.boundary_recall];
        [&[f.fertility, f.continuation, f.one_piece, f.renyi, f.utilisation][..], &boundaries].concat()
    };
    for (one, other) in shares(measured).into_iter().zip(shares(counted)) {
        assert!((one - other).abs() < 1e-12 || (one.is_nan() && other.is_nan()), "{of}: {measured:?}, {counted:?}");
    }
}

/// A panel is what its texts, by condition, come to.
fn panel_agrees(
    panel: &LanguageMeasures,
    segmentation: &Segmentation,
    languages: &Languages,
    texts: &[(LanguageCondition, Text)],
) {
    for (condition, text) in texts {
        let counted = fragmentation(segmentation, languages, text);
        agrees(&panel.conditions[condition], &counted, &condition.to_string());
    }
    let unmasked = texts.iter().filter(|(condition, _)| !condition.masked);
    let both: Text = unmasked.flat_map(|(_, text)| text.iter().copied()).collect();
    agrees(&panel.both, &fragmentation(segmentation, languages, &both), "A and B");
    // Of B's words, in both languages.
    let (_, of_b) = texts.iter().find(|(condition, _)| *condition == LanguageCondition::B).unwrap();
    let pieces = [Language::A, Language::B].map(|language| -> Vec<u32> {
        of_b.iter().flat_map(|&(symbol, _)| segmentation.core(symbol, language)).copied().collect()
    });
    let [a, b] = pieces.each_ref().map(|pieces| pieces.iter().collect::<BTreeSet<_>>());
    assert_eq!(panel.overlap.only(), Some((&a & &b).len() as f64 / (&a | &b).len() as f64));
    assert_eq!(panel.parity.only(), Some(pieces[0].len() as f64 / pieces[1].len() as f64));
}

#[test]
fn measures_are_those_counted_word_by_word() {
    let languages = common::small(5);
    let mask = languages.mask(Language::B);
    let texts: Vec<(LanguageCondition, Text)> = languages
        .conditions()
        .into_iter()
        .map(|condition| {
            // The sentences of A are those of B.
            let drawn = LanguageCondition { language: Language::B, ..condition };
            let mut source = Source::condition(&languages, "tokenizer/measure", drawn, Task::T0);
            let words = (0..50).flat_map(|row| source.draw(0, row).unwrap().sentence.symbols);
            (condition, words.map(|symbol| (symbol, condition.language)).collect())
        })
        .collect();
    // Every word once: all of A's; B's that are not masked and, apart, those that are.
    let once = |condition: LanguageCondition| -> Text {
        let in_it = |symbol: &Symbol| (condition.language == Language::B && mask.contains(*symbol)) == condition.masked;
        languages.world.symbols().filter(in_it).map(|symbol| (symbol, condition.language)).collect()
    };
    let lexicon: Vec<(LanguageCondition, Text)> = languages.conditions().into_iter().map(|c| (c, once(c))).collect();
    for config in common::all() {
        let segmentation = Segmentation::new(&common::train(&languages, &config), &languages).unwrap();
        let counts = WordCounts::text(&languages, 50).unwrap();
        let measures = Measures::new(&segmentation, &languages, &counts);
        panel_agrees(&measures.text, &segmentation, &languages, &texts);
        panel_agrees(&measures.lexicon, &segmentation, &languages, &lexicon);
    }
}

/// Where every letter is a piece, the measures follow from the lengths of the words.
#[test]
fn the_measures_of_letters_follow_from_the_words() {
    let languages = common::small(5);
    let config = common::config(Kind::Character, Regime::Vanilla, Boundary::Token);
    let segmentation = Segmentation::new(&common::train(&languages, &config), &languages).unwrap();
    let none = WordCounts::text(&languages, 0).unwrap();
    let Measures { text, lexicon } = Measures::new(&segmentation, &languages, &none);
    let a = lexicon.conditions[&LanguageCondition::A];
    let words: Vec<_> = languages.world.symbols().map(|s| languages.lexicon.word(s, Language::A)).collect();
    let letters: usize = words.iter().map(|word| word.form().len()).sum();
    assert_eq!((a.words, a.pieces), (words.len() as u64, letters as u64));
    assert_eq!((a.continuation, a.one_piece, a.boundary_recall), (1.0, 0.0, 1.0));
    let seams: usize = words.iter().map(|word| word.boundaries().count()).sum();
    assert_eq!(a.boundary_precision, seams as f64 / (letters - words.len()) as f64);
    // Of a text without words, every share is one of nothing.
    assert!(
        text.both.fertility.is_nan()
            && text.both.boundary_precision.is_nan()
            && text.overlap.only().is_some_and(f64::is_nan)
    );
    assert!(serde_json::to_string(&text).unwrap().contains("\"boundary_precision\":null"));
}

/// Of two multisets: what they have in common is taken out one by one.
fn similarity(v: &[u32], u: &[u32]) -> Similarity {
    let mut left = u.to_vec();
    let is_common =
        |piece: &&u32| left.iter().position(|other| other == *piece).map(|at| left.swap_remove(at)).is_some();
    let common = v.iter().filter(is_common).count() as f64;
    let (v, u) = (v.len() as f64, u.len() as f64);
    Similarity { jaccard: common / (v + u - common), dice: 2.0 * common / (v + u), containment: common / v }
}

#[test]
fn similarities_of_multisets() {
    let s = similarity(&[1, 5, 5], &[5, 5, 7]);
    assert_eq!((s.jaccard, s.dice, s.containment), (2.0 / 4.0, 4.0 / 6.0, 2.0 / 3.0));
    let s = similarity(&[5], &[5, 5, 7]);
    assert_eq!((s.jaccard, s.dice, s.containment), (1.0 / 3.0, 2.0 / 4.0, 1.0));
    assert_eq!(similarity(&[1], &[2]), Similarity::default());
}

/// The bridge of a masked word by the plain double loop.
fn bridge(segmentation: &Segmentation, languages: &Languages, v: Symbol) -> (Similarity, Option<Candidate>) {
    let mut largest = Similarity::default();
    let mut best = None;
    for candidate in candidates(languages, Language::B) {
        let pieces = segmentation.core(candidate.symbol, candidate.language);
        let s = similarity(segmentation.core(v, Language::B), pieces);
        if s.jaccard > largest.jaccard {
            best = Some(candidate);
        }
        largest = Similarity {
            jaccard: largest.jaccard.max(s.jaccard),
            dice: largest.dice.max(s.dice),
            containment: largest.containment.max(s.containment),
        };
    }
    (largest, best)
}

#[test]
fn the_index_finds_what_the_double_loop_finds() {
    for (seed, distance) in [(0, 0.0), (1, 0.25), (2, 1.0)] {
        let languages = Languages::new(&LanguageConfig { distance, ..common::small_config() }, seed).unwrap();
        for (kind, boundary, vocab) in [
            (Kind::Bpe, Boundary::Token, 200),
            (Kind::Bpe, Boundary::First, 800),
            (Kind::Character, Boundary::Token, 1),
            (Kind::Byte, Boundary::Last, 1),
        ] {
            let config = TokenizerConfig { vocab, ..common::config(kind, Regime::Vanilla, boundary) };
            let segmentation = Segmentation::new(&common::train(&languages, &config), &languages).unwrap();
            let bridges = Bridges::new(&segmentation, &languages, Language::B);
            assert_eq!(bridges.0.len(), languages.mask(Language::B).symbols().len());
            for found in &bridges.0 {
                let (largest, candidate) = bridge(&segmentation, &languages, found.symbol);
                assert_eq!((found.similarity, found.candidate), (largest, candidate), "{kind:?} {boundary:?}");
                let [b, a] = [Language::B, Language::A].map(|language| segmentation.core(found.symbol, language));
                assert_eq!(found.cognate(), similarity(b, a));
            }
        }
    }
}

/// Every pair of languages, each once.
fn pairs(languages: &Languages) -> Vec<[Language; 2]> {
    let all = languages.all();
    (0..all.len()).flat_map(|i| (i + 1..all.len()).map(move |j| [all[i], all[j]])).collect()
}

/// What the pieces of some words come to in two languages: overlap, without names where scripts differ, and parity.
fn slow_pair(
    segmentation: &Segmentation,
    languages: &Languages,
    pair: [Language; 2],
    words: &[(Symbol, u64)],
) -> (f64, f64) {
    let script = |language: Language| languages.family.node(language).script;
    let mut used = [BTreeSet::new(), BTreeSet::new()];
    let mut pieces = [0u64; 2];
    for &(symbol, count) in words {
        for (at, language) in pair.into_iter().enumerate() {
            let core = segmentation.core(symbol, language);
            pieces[at] += core.len() as u64 * count;
            if script(pair[0]) == script(pair[1]) || languages.world.category(symbol) != Category::Name {
                used[at].extend(core.iter().copied());
            }
        }
    }
    let [one, other] = &used;
    ((one & other).len() as f64 / (one | other).len() as f64, pieces[0] as f64 / pieces[1] as f64)
}

#[test]
fn overlap_and_parity_of_a_family_are_counted_for_every_pair() {
    let languages = common::family(5);
    let mut source = Source::condition(&languages, "tokenizer/measure", languages.conditions()[2], Task::T0);
    let mut occurrences: BTreeMap<Symbol, u64> = BTreeMap::new();
    for row in 0..60 {
        let unmasked = |s: &invitro_language::Sequence| !s.sentence.symbols.iter().any(|&x| languages.is_masked(x));
        for symbol in source.draw_where(0, row, unmasked).unwrap().sentence.symbols {
            *occurrences.entry(symbol).or_default() += 1;
        }
    }
    let occurrences: Vec<(Symbol, u64)> = occurrences.into_iter().collect();
    for config in common::all() {
        let segmentation = Segmentation::new(&common::train(&languages, &config), &languages).unwrap();
        let measures = Measures::new(&segmentation, &languages, &WordCounts::text(&languages, 60).unwrap());
        for (at, pair) in pairs(&languages).into_iter().enumerate() {
            let seen = |s: &Symbol| pair.iter().all(|&language| !languages.mask(language).contains(*s));
            let lexicon: Vec<(Symbol, u64)> = languages.world.symbols().filter(seen).map(|s| (s, 1)).collect();
            for (panel, words) in [(&measures.text, &occurrences), (&measures.lexicon, &lexicon)] {
                let (overlap, parity) = slow_pair(&segmentation, &languages, pair, words);
                assert_eq!(panel.overlap.0[at], (pair, overlap), "{}", common::name(&config));
                assert_eq!(panel.parity.0[at], (pair, parity), "{}", common::name(&config));
                let disjoint = pair.map(|language| languages.family.node(language).script);
                if disjoint[0] != disjoint[1] && config.kind != Kind::Byte {
                    assert_eq!(overlap, 0.0, "{pair:?} {}", common::name(&config));
                }
            }
        }
        let names = measures.text.overlap.0.len();
        assert_eq!((names, measures.text.overlap.only()), (6, None));
    }
}

/// Where every letter is a piece, fertility is letters per word, however many bytes they have, and every cut between
/// morphemes is found.
#[test]
fn letters_of_several_bytes_are_letters() {
    let languages = common::family(5);
    for kind in [Kind::Character, Kind::Byte] {
        let config = common::config(kind, Regime::Vanilla, Boundary::Token);
        let segmentation = Segmentation::new(&common::train(&languages, &config), &languages).unwrap();
        let none = WordCounts::text(&languages, 0).unwrap();
        let Measures { lexicon, .. } = Measures::new(&segmentation, &languages, &none);
        for condition in languages.conditions() {
            let language = condition.language;
            let is_of = |s: &Symbol| languages.mask(language).contains(*s) == condition.masked;
            let forms: Vec<&str> =
                languages.world.symbols().filter(is_of).map(|s| languages.form(s, language)).collect();
            let length = |form: &&str| if kind == Kind::Byte { form.len() } else { form.chars().count() };
            let pieces: usize = forms.iter().map(length).sum();
            let measured = lexicon.conditions[&condition];
            assert_eq!(measured.fertility, pieces as f64 / forms.len() as f64, "{kind:?} {condition}");
            assert_eq!(measured.boundary_recall, 1.0, "{kind:?} {condition}");
            let seams = languages.world.symbols().filter(is_of);
            let seams: usize = seams.map(|s| languages.lexicon.word(s, language).boundaries().count()).sum();
            assert_eq!(measured.boundary_precision, seams as f64 / (pieces - forms.len()) as f64);
        }
    }
}

fn largest(one: Similarity, other: Similarity) -> Similarity {
    Similarity {
        jaccard: one.jaccard.max(other.jaccard),
        dice: one.dice.max(other.dice),
        containment: one.containment.max(other.containment),
    }
}

/// Of every masked language with each other one: by plain loops over all words that are seen in training.
#[test]
fn the_bridges_of_a_family_are_those_of_the_double_loop() {
    let languages = common::family(2);
    let world = &languages.world;
    for (kind, vocab) in [(Kind::Bpe, 500), (Kind::Character, 1)] {
        let config = TokenizerConfig { vocab, ..common::config(kind, Regime::Balanced, Boundary::Token) };
        let segmentation = Segmentation::new(&common::train(&languages, &config), &languages).unwrap();
        for masked in languages.masked() {
            let bridges = Bridges::new(&segmentation, &languages, masked);
            assert_eq!(bridges.0.len(), languages.mask(masked).symbols().len());
            let mut twice = 0;
            for (place, &other) in languages.all().iter().enumerate() {
                let (mut sum, mut sum_cognates, mut cognates) = (0.0, 0.0, 0);
                for (found, &v) in bridges.0.iter().zip(languages.mask(masked).symbols()) {
                    assert_eq!(found.symbol, v);
                    let own = segmentation.core(v, masked);
                    let may = |u: &Symbol| {
                        let is_masked = [masked, other].iter().any(|&of| languages.mask(of).contains(*u));
                        !is_masked && world.category(*u) != Category::Name
                    };
                    let candidates = world.symbols().filter(may);
                    let best = candidates.map(|u| similarity(own, segmentation.core(u, other)));
                    let best = best.fold(Similarity::default(), largest);
                    assert_eq!(found.with[place], best);
                    sum += best.jaccard;
                    let cognate = similarity(own, segmentation.core(v, other));
                    if languages.mask(other).contains(v) {
                        assert_eq!(found.cognates[place], None);
                        twice += usize::from(other != masked);
                    } else {
                        assert_eq!(found.cognates[place], Some(cognate));
                        sum_cognates += cognate.jaccard;
                        cognates += 1;
                    }
                }
                let mean = sum / bridges.0.len() as f64;
                assert!((bridges.mean_with(other).jaccard - mean).abs() < 1e-12);
                let mean = bridges.mean_cognate_with(other).jaccard;
                assert!((mean - sum_cognates / f64::from(cognates)).abs() < 1e-12 || cognates == 0 && mean.is_nan());
            }
            assert!(twice > 0, "some words are masked in two languages");
            for found in &bridges.0 {
                let all = found.with.iter().copied().fold(Similarity::default(), largest);
                let own = found.cognates.iter().flatten().copied().fold(Similarity::default(), largest);
                assert_eq!((found.similarity, found.cognate()), (all, own));
            }
            let mean = |of: fn(&Bridge) -> f64| bridges.0.iter().map(of).sum::<f64>() / bridges.0.len() as f64;
            assert!((bridges.mean().jaccard - mean(|bridge| bridge.similarity.jaccard)).abs() < 1e-12);
            assert!((bridges.mean_cognate().jaccard - mean(|bridge| bridge.cognate().jaccard)).abs() < 1e-12);
        }
    }
}
