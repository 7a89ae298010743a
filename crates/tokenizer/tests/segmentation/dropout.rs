//! Cuts drawn by BPE dropout spell their words, and without dropout there are none.

use crate::common;
use invitro_language::{Category, Languages, MixtureConfig, Sequence, Source};
use invitro_tokenizer::{Boundary, Cut, Kind, Regime, Segmentation, Share, TokenizerConfig};
use proptest::prelude::*;

fn config(boundary: Boundary, dropout: f64) -> TokenizerConfig {
    TokenizerConfig { dropout, ..common::config(Kind::Bpe, Regime::Vanilla, boundary) }
}

fn segmented(languages: &Languages, config: &TokenizerConfig) -> Segmentation {
    Segmentation::new(&common::train(languages, config), languages).unwrap()
}

/// Pieces of all drawn cuts over those of as many plain cuts; every cut is checked on the way.
fn relative_length(segmentation: &Segmentation, languages: &Languages) -> Result<f64, TestCaseError> {
    let (mut drawn, mut plain) = (0, 0);
    for &language in languages.all() {
        let usable = segmentation.usable(language);
        for symbol in languages.world.symbols() {
            for cut in segmentation.drawn_cuts(symbol, language) {
                let decoded = segmentation.decode_words(cut, languages, language);
                prop_assert_eq!(decoded.words, [Some(symbol)], "{:?}", languages.form(symbol, language));
                let marks = cut.iter().filter(|&&id| segmentation.is_marked(id)).count();
                prop_assert_eq!(marks, 1, "its boundary is in it once");
                // Of names with common ids, ranks are among the pieces of their plain cuts.
                if languages.world.category(symbol) != Category::Name {
                    prop_assert!(cut.iter().all(|&id| usable[id as usize]));
                }
                drawn += cut.len();
                plain += segmentation.pieces(symbol, language).len();
            }
        }
    }
    Ok(drawn as f64 / plain as f64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn every_drawn_cut_spells_its_word(seed in 0u64..1000, boundary in 0..3usize, p in 0.05f64..0.95, own: bool, names: bool) {
        let share = if own { Share::None } else { Share::All };
        let config =
            TokenizerConfig { share, share_names: own && names, vocab: 260, sentences: 600, ..config(Boundary::ALL[boundary], p) };
        for languages in [common::small(seed), common::family(seed)] {
            let segmentation = segmented(&languages, &config);
            prop_assert!(relative_length(&segmentation, &languages)? > 1.0);
            // What evaluation reads is the same as without.
            let plain = segmented(&languages, &TokenizerConfig { dropout: 0.0, ..config.clone() });
            prop_assert_eq!(segmentation.table(&languages), plain.table(&languages));
            for &language in languages.all() {
                prop_assert_eq!(segmentation.usable(language), plain.usable(language));
                prop_assert!(languages.world.symbols().all(|symbol| plain.drawn_cuts(symbol, language).next().is_none()));
            }
        }
    }
}

/// Where no merge is ever dropped, the cuts are those of the `tokenizers` crate.
#[test]
fn without_a_dropped_merge_every_cut_is_the_plain_one() {
    let languages = common::small(3);
    for boundary in Boundary::ALL {
        for regime in [Regime::Vanilla, Regime::Parity] {
            let segmentation = segmented(&languages, &TokenizerConfig { regime, ..config(boundary, 1e-12) });
            for &language in languages.all() {
                for symbol in languages.world.symbols() {
                    let plain = segmentation.pieces(symbol, language);
                    assert!(segmentation.drawn_cuts(symbol, language).all(|cut| cut == plain));
                    assert_eq!(segmentation.drawn_cuts(symbol, language).count(), 32);
                }
            }
        }
    }
}

#[test]
fn more_dropout_makes_more_pieces_up_to_letters() {
    let languages = common::small(3);
    let lengths = [0.1, 0.3, 0.6, 0.999_999]
        .map(|p| relative_length(&segmented(&languages, &config(Boundary::Token, p)), &languages).unwrap());
    assert!(lengths.is_sorted(), "{lengths:?}");
    let by_letter = segmented(&languages, &config(Boundary::Token, 0.999_999));
    let symbol = languages.world.symbols().next().unwrap();
    let letters = languages.form(symbol, languages.all()[0]).chars().count();
    assert!(by_letter.drawn_cuts(symbol, languages.all()[0]).all(|cut| cut.len() == letters + 1));
}

#[test]
fn occurrences_are_cut_one_by_one_and_a_row_can_be_made_again() {
    let languages = common::small(3);
    let segmentation = segmented(&languages, &config(Boundary::Token, 0.4));
    let mut source =
        Source::training(&languages, &MixtureConfig { tasks: [0.0, 1.0, 0.0], ..Default::default() }, 8, 50);
    let encoded = |sequence: &Sequence, key, most| {
        let mut ids = Vec::new();
        segmentation.encode_training(sequence, key, most, &mut ids);
        ids
    };
    let (mut differ, mut plain_rows) = (0, 0);
    for row in 0..400 {
        let (key, sequence) = ((row / 8, row % 8), source.draw(row / 8, row % 8).unwrap());
        let ids = encoded(&sequence, key, 10_000);
        assert_eq!(ids, encoded(&sequence, key, 10_000));
        assert_eq!(segmentation.decode(&ids), sequence.text(&languages));
        differ += usize::from(ids != encoded(&sequence, (key.0 + 1000, key.1), 10_000));
        // Where drawn cuts do not fit, the plain ones are read.
        let mut plain = Vec::new();
        segmentation.encode(&sequence, &mut plain);
        let short = encoded(&sequence, key, plain.len());
        assert!(short.len() <= plain.len());
        plain_rows += usize::from(short == plain);
    }
    assert!(differ > 390 && plain_rows > 200, "{differ}, {plain_rows}");
}

#[test]
fn what_has_no_merges_to_drop_is_refused() {
    let dropping = TokenizerConfig { dropout: 0.1, ..Default::default() };
    let wrong = |config: TokenizerConfig| config.validate().unwrap_err().to_string();
    for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Bpe) {
        let error = wrong(TokenizerConfig { kind, ..dropping.clone() });
        assert_eq!(
            error,
            format!(
                "`tokenizer.dropout` is 0.1, but `tokenizer.kind` is {}, whose words are not cut by merges",
                kind.name()
            )
        );
    }
    let error = wrong(TokenizerConfig { cut: Cut::Alike, ..dropping.clone() });
    assert!(error.contains("`tokenizer.cut` is alike, which no merges give"), "{error}");
    assert!(wrong(TokenizerConfig { file: "mine.json".into(), ..dropping.clone() }).contains("`tokenizer.file` is"));
    assert!(wrong(TokenizerConfig { dropout: 1.0, ..dropping }).contains("at least 0 and below 1"));
}
