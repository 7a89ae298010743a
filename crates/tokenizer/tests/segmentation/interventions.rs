//! Other cuts and other ids: text, number of pieces and rows stay; what is shared is what was asked for.

use crate::common;
use invitro_language::{Category, Language, LanguageCondition, Languages, Source, Symbol, Task};
use invitro_tokenizer::intervene::cut::Pieces;
use invitro_tokenizer::measure::Fragmentation;
use invitro_tokenizer::{
    Boundary, Bridges, Cut, Kind, Measures, Regime, Segmentation, Share, Tokenizer, TokenizerConfig, WordCounts,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn plain() -> TokenizerConfig {
    common::config(Kind::Bpe, Regime::Vanilla, Boundary::Token)
}

fn arm(share: Share) -> TokenizerConfig {
    TokenizerConfig { share, ..plain() }
}

fn under(languages: &Languages, config: &TokenizerConfig) -> Segmentation {
    Segmentation::new(&common::train(languages, config), languages).unwrap()
}

/// Every word of a language, as ids.
fn words(segmentation: &Segmentation, languages: &Languages, language: Language) -> Vec<Vec<u32>> {
    languages.world.symbols().map(|symbol| segmentation.pieces(symbol, language).to_vec()).collect()
}

fn core_ids(segmentation: &Segmentation, languages: &Languages, language: Language) -> BTreeSet<u32> {
    let core = |symbol: Symbol| segmentation.core(symbol, language).iter().copied();
    languages.world.symbols().flat_map(core).collect()
}

/// The common ids that words of a language have: what it shares with the first.
fn shared(segmentation: &Segmentation, languages: &Languages, language: Language) -> BTreeSet<u32> {
    let vocab = segmentation.vocab_size() as u32;
    core_ids(segmentation, languages, language).into_iter().filter(|&id| id < vocab).collect()
}

#[test]
fn arms_differ_in_ids_alone() {
    let pair = common::small(7);
    let family = common::family(3);
    for languages in [&pair, &family] {
        let all = under(languages, &TokenizerConfig { share_rows: true, ..plain() });
        let before = under(languages, &plain());
        assert_eq!(before.rows(), before.vocab_size());
        let text = WordCounts::text(languages, 50).unwrap();
        let counted = |segmentation: &Segmentation| {
            let panel = Measures::new(segmentation, languages, &text).text;
            let of = |f: &Fragmentation| (f.words, f.pieces, (f.renyi * 1e9).round(), f.utilisation, f.boundary_recall);
            panel.conditions.values().map(of).collect::<Vec<_>>()
        };
        for share in Share::ALL {
            let one = if share == Share::All { all.clone() } else { under(languages, &arm(share)) };
            let (vocab, special) = (one.vocab_size(), one.special().count() as usize);
            assert_eq!(vocab, before.vocab_size());
            assert_eq!(one.rows(), vocab + (languages.all().len() - 1) * (vocab - special), "{}", share.name());
            assert_eq!(counted(&one), counted(&before), "{}", share.name());
            let first = languages.all()[0];
            assert_eq!(words(&one, languages, first), words(&before, languages, first));
            for &language in languages.all() {
                assert_eq!(one.usable(language).iter().filter(|usable| **usable).count(), vocab);
                for symbol in languages.world.symbols() {
                    let (ids, plain) = (one.pieces(symbol, language), before.pieces(symbol, language));
                    assert_eq!(one.ids(plain, language), ids, "a word that is spelled has the ids of the table");
                    assert!(ids.iter().all(|&id| one.usable(language)[id as usize]));
                    assert_eq!(one.decode(ids), languages.form(symbol, language));
                    assert_eq!(one.core(symbol, language).len(), before.core(symbol, language).len());
                }
                let condition = LanguageCondition { language, masked: false };
                let sequence = Source::condition(languages, "test", condition, Task::T1).draw(0, 1).unwrap();
                let (mut ids, mut prompt) = (Vec::new(), Vec::new());
                one.encode(&sequence, &mut ids);
                one.encode_prompt(&sequence, &mut prompt);
                assert_eq!(one.decode(&ids), sequence.text(languages));
                let read = one.decode_words(&ids[prompt.len()..], languages, language);
                assert!(read.words.iter().copied().eq(sequence.sentence.symbols.iter().copied().map(Some)));
            }
        }
    }
}

#[test]
fn nothing_is_shared_under_none() {
    for languages in [common::small(7), common::family(3)] {
        let none = under(&languages, &arm(Share::None));
        let measures = Measures::new(&none, &languages, &WordCounts::text(&languages, 50).unwrap());
        assert!(measures.text.overlap.0.iter().chain(&measures.lexicon.overlap.0).all(|(_, overlap)| *overlap == 0.0));
        for masked in languages.masked() {
            let bridges = Bridges::new(&none, &languages, masked);
            assert_eq!(bridges.mean_cognate().jaccard, 0.0);
            for &other in languages.all().iter().filter(|&&other| other != masked) {
                assert_eq!(bridges.mean_with(other).jaccard, 0.0);
            }
            assert!(bridges.mean_with(masked).jaccard > 0.0, "words of its own language still bridge");
        }
    }
}

#[test]
fn what_is_shared_is_what_was_asked_for() {
    let languages = common::small(7);
    let all = under(&languages, &plain());
    let candidates: BTreeSet<u32> = &core_ids(&all, &languages, Language::A) & &core_ids(&all, &languages, Language::B);
    let of = |config: &TokenizerConfig| shared(&under(&languages, config), &languages, Language::B);
    let [cognate, other] = [Share::Cognate, Share::Other].map(|share| of(&arm(share)));
    assert!(!cognate.is_empty() && !other.is_empty());
    assert_eq!(&cognate | &other, candidates);
    assert!(cognate.is_disjoint(&other));
    // Cognates bridge more, by what the arms are made for.
    let bridge = |share| Bridges::new(&under(&languages, &arm(share)), &languages, Language::B).mean_cognate().jaccard;
    assert!(bridge(Share::All) > bridge(Share::Cognate) && bridge(Share::Cognate) > bridge(Share::Other));

    let at = |share_p| TokenizerConfig { share_p, ..arm(Share::Random) };
    let nested = [0.0, 0.25, 0.5, 0.75, 1.0].map(|p| of(&at(p)));
    assert!(nested.is_sorted_by(|less, more| less.is_subset(more) && less.len() < more.len()), "{nested:?}");
    assert_eq!(words(&under(&languages, &at(0.0)), &languages, Language::B), {
        words(&under(&languages, &arm(Share::None)), &languages, Language::B)
    });
    // The boundary has a switch of its own; pieces of B alone have nothing to share with.
    let whole = under(&languages, &TokenizerConfig { share_boundary: true, ..at(1.0) });
    assert_eq!(nested[4], candidates);
    for symbol in languages.world.symbols() {
        for (id, plain) in whole.pieces(symbol, Language::B).iter().zip(all.pieces(symbol, Language::B)) {
            let has_both = candidates.contains(plain) || *plain == all.special().boundary();
            assert_eq!(id == plain, has_both);
        }
    }
}

#[test]
fn names_and_the_boundary_are_shared_where_asked() {
    let languages = common::small(7);
    let all = under(&languages, &plain());
    let names = under(&languages, &TokenizerConfig { share_names: true, ..arm(Share::None) });
    let boundary = under(&languages, &TokenizerConfig { share_boundary: true, ..arm(Share::None) });
    for symbol in languages.world.symbols() {
        let is_name = languages.world.category(symbol) == Category::Name;
        let ids = |segmentation: &Segmentation| segmentation.core(symbol, Language::B).to_vec();
        assert_eq!(ids(&names) == ids(&all), is_name);
        assert!(names.pieces(symbol, Language::B).iter().all(|&id| names.usable(Language::B)[id as usize]));
        let [own, common] = [&names, &boundary].map(|of| *of.pieces(symbol, Language::B).last().unwrap());
        assert!(names.is_boundary(own) && own != all.special().boundary());
        assert_eq!(common, all.special().boundary());
    }
}

#[test]
fn recuts_have_as_many_pieces_and_more_or_less_in_common() {
    let languages = common::small(7);
    for boundary in Boundary::ALL {
        for kind in [Kind::Bpe, Kind::Unigram, Kind::Wordpiece] {
            let config = common::config(kind, Regime::Vanilla, boundary);
            let tokenizer = common::train(&languages, &config);
            let cut =
                |cut| Segmentation::under(&tokenizer, &languages, &TokenizerConfig { cut, ..config.clone() }).unwrap();
            let [learned, alike, apart] = [Cut::Learned, Cut::Alike, Cut::Apart].map(cut);
            let mut common = [0; 3];
            for symbol in languages.world.symbols() {
                let form = languages.form(symbol, Language::B);
                for (place, one) in [&learned, &alike, &apart].into_iter().enumerate() {
                    let ids = one.pieces(symbol, Language::B);
                    assert_eq!(ids.len(), learned.pieces(symbol, Language::B).len());
                    let name = common::name(&config);
                    assert_eq!(
                        one.decode(ids),
                        form,
                        "{name} {place}: {:?}",
                        ids.iter().map(|&id| one.token(id)).collect::<Vec<_>>()
                    );
                    let own = one.core(symbol, Language::B);
                    common[place] += in_common(own, learned.core(symbol, Language::A));
                    assert_eq!(one.pieces(symbol, Language::A), learned.pieces(symbol, Language::A));
                }
            }
            assert!(common[1] > common[0] && common[0] > common[2], "{}: {common:?}", common::name(&config));
        }
    }
}

/// Whatever the arm, and with its ids.
#[test]
fn a_word_can_be_recut_under_every_arm() {
    let languages = common::small(7);
    for cut in Cut::ALL {
        let arm = under(&languages, &TokenizerConfig { cut, share_boundary: true, ..arm(Share::Cognate) });
        let (vocabulary, usable) = (arm.vocabulary(), arm.usable(Language::B));
        let core = |ids: &[u32]| ids.iter().copied().filter(|&id| !arm.is_boundary(id)).collect::<Vec<_>>();
        for symbol in languages.world.descriptors() {
            let own = arm.pieces(symbol, Language::B);
            let [alike, apart] =
                [Cut::Alike, Cut::Apart].map(|cut| arm.recut(&vocabulary, &languages, symbol, Language::B, cut));
            for recut in [&alike, &apart] {
                assert_eq!(recut.len(), own.len());
                assert_eq!(arm.decode(recut), languages.form(symbol, Language::B));
                assert!(recut.iter().all(|&id| usable[id as usize]));
            }
            let own_is = |one: Cut, recut: &Vec<u32>| cut != one || core(recut) == core(own);
            assert!(own_is(Cut::Alike, &alike) && own_is(Cut::Apart, &apart));
        }
    }
}

#[test]
fn morphemes_are_cut_apart() {
    let languages = common::small(7);
    for boundary in Boundary::ALL {
        let config = TokenizerConfig { cut: Cut::Morpheme, ..common::config(Kind::Bpe, Regime::Vanilla, boundary) };
        let cut = under(&languages, &config);
        let measures = Measures::new(&cut, &languages, &WordCounts::text(&languages, 50).unwrap());
        assert_eq!(measures.lexicon.both.boundary_recall, 1.0);
        for &language in languages.all() {
            for symbol in languages.world.symbols() {
                assert_eq!(cut.decode(cut.pieces(symbol, language)), languages.form(symbol, language));
            }
        }
    }
}

#[test]
fn a_saved_tokenizer_says_what_was_done_and_does_it_again() {
    let languages = common::small(7);
    let place = tempfile::tempdir().unwrap();
    let config = TokenizerConfig { cut: Cut::Alike, share_names: true, ..arm(Share::Cognate) };
    let tokenizer = common::train(&languages, &config);
    tokenizer.save(place.path()).unwrap();
    let again = Tokenizer::load(place.path()).unwrap();
    let table = Segmentation::new(&tokenizer, &languages).unwrap().table(&languages);
    assert_eq!(Segmentation::new(&again, &languages).unwrap().table(&languages), table);
    let line = table.lines().find(|line| line.contains(":B")).unwrap();
    assert_eq!(line.split('\t').count(), 5, "{line}");
    let written = std::fs::read_to_string(place.path().join("tokenizer_config.json")).unwrap();
    assert!(written.contains("(share cognate, cut alike): those of segmentation.tsv"), "{written}");
    assert!(written.contains("share_names") && !written.contains("share_p"), "{written}");
    // The tokenizer itself is as it was, and so is what is written of one without an intervention.
    let plain = common::train(&languages, &plain());
    assert_eq!(plain.to_json().unwrap(), tokenizer.to_json().unwrap());
    let [(_, written), ..] = plain.files().unwrap();
    assert!(!written.contains("share") && !written.contains("cut") && !written.contains("note"), "{written}");
}

fn in_common(one: &[u32], other: &[u32]) -> usize {
    let mut other = other.to_vec();
    one.iter().filter(|piece| other.iter().position(|o| o == *piece).map(|at| other.swap_remove(at)).is_some()).count()
}

/// Every cut of a word into pieces, in the order of ids.
fn every_cut(vocabulary: &[&str], word: &str) -> Vec<Vec<u32>> {
    if word.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (id, piece) in (0..).zip(vocabulary) {
        let Some(rest) = word.strip_prefix(piece) else { continue };
        all.extend(every_cut(vocabulary, rest).into_iter().map(|cut| [vec![id], cut].concat()));
    }
    all
}

proptest! {
    #[test]
    fn the_fast_cut_is_the_best_of_all(
        word in "[abc]{1,10}",
        other in "[abc]{1,10}",
        more in prop::collection::btree_set("[abc]{2,5}", 0..30),
        which in any::<(usize, usize)>(),
        is_alike: bool,
    ) {
        let letters = ["a", "b", "c"].into_iter();
        let vocabulary: Vec<&str> = letters.chain(more.iter().map(String::as_str)).collect();
        let tokens = (0..).zip(&vocabulary).map(|(id, piece)| (id, piece.as_bytes(), false));
        let pieces = Pieces::new(tokens);
        let [cuts, others] = [&word, &other].map(|word| every_cut(&vocabulary, word));
        let (learned, other) = (&cuts[which.0 % cuts.len()], &others[which.1 % others.len()]);
        let as_many = || cuts.iter().filter(|cut| cut.len() == learned.len());
        let common = as_many().map(|cut| in_common(cut, other));
        let best = if is_alike { common.max() } else { common.min() }.unwrap();
        let first = as_many().find(|cut| in_common(cut, other) == best).unwrap();
        let expected = if in_common(learned, other) == best { learned } else { first };
        let cut = if is_alike { Cut::Alike } else { Cut::Apart };
        prop_assert_eq!(&pieces.recut(&word, Boundary::Token, learned, other, cut), expected);
    }
}
