//! Byte-pair encoding: which pairs of pieces became a piece, in what order.
//!
//! The `tokenizers` crate trains; its ties are broken by the ids of a pair, and ids are given in an order fixed here, so
//! the same counts give the same merges on any number of threads.

use crate::error::{Result, library};
use crate::special::MARK;
use crate::train::alphabet;
use crate::train::vocabulary::TrainingVocabulary;
use invitro_base::settings::Boundary;
use std::collections::{BTreeMap, HashSet};
use tokenizers::models::bpe::{BPE, BpeTrainer, ParityBpeTrainer, Vocab};
use tokenizers::{AddedToken, Trainer};

/// Pieces in the order of their ids, and the merges that made the longer ones, as the trainer spells them.
pub struct Merges {
    pub pieces: Vec<String>,
    pairs: Vec<(String, String)>,
    /// The letters, whose marks are put on before anything is merged.
    letters: Vec<char>,
}

impl Merges {
    /// Letters alone.
    pub fn none(vocabulary: &TrainingVocabulary) -> Merges {
        Merges { pieces: vocabulary.initial(), pairs: Vec::new(), letters: vocabulary.letters.clone() }
    }

    fn of(trained: &BPE, vocabulary: &TrainingVocabulary) -> Result<Merges> {
        // The trainer's merges can be read off its file form only.
        #[derive(serde::Deserialize)]
        struct File {
            vocab: BTreeMap<String, usize>,
            merges: Vec<(String, String)>,
        }
        let file: File = serde_json::to_value(trained).and_then(serde_json::from_value).map_err(library)?;
        let mut pieces = vec![String::new(); file.vocab.len()];
        for (piece, id) in file.vocab {
            pieces[id] = piece;
        }
        Ok(Merges { pieces, pairs: file.merges, letters: vocabulary.letters.clone() })
    }

    /// The model: marks written out, and put on their letters by the first merges of all.
    pub fn model(&self, boundary: Boundary) -> Result<BPE> {
        let vocab: Vocab = self.pieces.iter().map(|p| alphabet::write_out(p, boundary)).zip(0..).collect();
        let marks = self.letters.iter().filter_map(|c| {
            let out = alphabet::write_out(&c.to_string(), boundary);
            let letter = out.trim_matches(MARK).to_owned();
            match (letter.len() < out.len(), boundary) {
                (false, _) => None,
                (true, Boundary::Last) => Some((letter, MARK.to_string())),
                (true, _) => Some((MARK.to_string(), letter)),
            }
        });
        let learned =
            self.pairs.iter().map(|(a, b)| (alphabet::write_out(a, boundary), alphabet::write_out(b, boundary)));
        let merges = marks.chain(learned).collect();
        // No cache: the library keeps one per thread, and never forgets those of tokenizers that are gone.
        BPE::builder().vocab_and_merges(vocab, merges).cache_capacity(0).build().map_err(library)
    }
}

/// Special tokens of the trainer: they take the first ids, in this order. The letters are among them, so that theirs
/// do not depend on what the sample holds.
fn first(vocabulary: &TrainingVocabulary) -> Vec<AddedToken> {
    vocabulary.initial().into_iter().map(|t| AddedToken::from(t, true)).collect()
}

/// A word as often as it was counted: the trainers count for themselves.
fn repeat((word, count): &(String, u64)) -> String {
    let mut text = String::with_capacity((word.len() + 1) * *count as usize);
    for _ in 0..*count {
        text.push_str(word);
        text.push(' ');
    }
    text
}

fn split(text: &str) -> tokenizers::Result<Vec<String>> {
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// Merges by the count of a pair in the whole sample.
pub fn learn(vocabulary: &TrainingVocabulary) -> Result<Merges> {
    let mut trainer = BpeTrainer::builder()
        .show_progress(false)
        .vocab_size(vocabulary.config.vocab)
        .special_tokens(first(vocabulary))
        .build();
    trainer.feed(vocabulary.words.iter().flatten().map(repeat), split).map_err(library)?;
    let mut model = BPE::default();
    trainer.train(&mut model).map_err(library)?;
    Merges::of(&model, vocabulary)
}

/// Merges by the count of a pair in the language that then needs most pieces for the `parallel` sentences.
pub fn learn_parity(vocabulary: &TrainingVocabulary, parallel: &[Vec<(String, u64)>]) -> Result<Merges> {
    // The trainer counts merges, and a merge may make a piece that is there already: ask again until |V| is reached or
    // no more is to be had.
    let mut target = vocabulary.config.vocab;
    let mut seen = HashSet::new();
    loop {
        let mut trainer = ParityBpeTrainer::builder()
            .show_progress(false)
            .total_symbols(true)
            .num_merges(target)
            .special_tokens(first(vocabulary))
            .build();
        for (language, (words, parallel)) in vocabulary.words.iter().zip(parallel).enumerate() {
            trainer.feed_language_from_iter(language, words.iter().map(repeat), split).map_err(library)?;
            trainer.feed_dev_language_from_iter(language, parallel.iter().map(repeat), split).map_err(library)?;
        }
        let mut model = BPE::default();
        trainer.do_train(&mut model).map_err(library)?;
        let merges = Merges::of(&model, vocabulary)?;
        let reached = merges.pieces.len();
        if reached >= vocabulary.config.vocab || !seen.insert(reached) {
            return Ok(merges);
        }
        target += vocabulary.config.vocab - reached;
    }
}
