//! Byte-pair encoding: merges in the order of learning.
//!
//! The `tokenizers` crate trains and breaks ties by the ids of a pair. Ids have a fixed order, so the same counts give the
//! same merges on any number of threads.

use crate::error::{Result, library};
use crate::special::MARK;
use crate::train::alphabet;
use crate::train::vocabulary::TrainingVocabulary;
use invitro_base::settings::Boundary;
use std::collections::{BTreeMap, HashSet};
use tokenizers::models::bpe::{BPE, BpeTrainer, ParityBpeTrainer, Vocab};
use tokenizers::{AddedToken, Trainer};

/// Pieces by id, and the merges that formed them, in the trainer's spelling.
pub struct Merges {
    pub pieces: Vec<String>,
    pairs: Vec<(String, String)>,
    /// The letters, whose marks are merged first.
    letters: Vec<char>,
}

impl Merges {
    /// Letters only.
    pub fn none(vocabulary: &TrainingVocabulary) -> Merges {
        Merges { pieces: vocabulary.initial(), pairs: Vec::new(), letters: vocabulary.letters.clone() }
    }

    fn from_trained(trained: &BPE, vocabulary: &TrainingVocabulary) -> Result<Merges> {
        // Only the serialised form shows the trainer's merges.
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

    /// The model, with marks written out and merged with their letters first.
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
        // No cache: the library has one per thread and never frees it.
        BPE::builder().vocab_and_merges(vocab, merges).cache_capacity(0).build().map_err(library)
    }
}

/// The trainer's special tokens, which take the first ids. They include the letters, whose ids must not depend on the
/// sample.
fn first(vocabulary: &TrainingVocabulary) -> Vec<AddedToken> {
    vocabulary.initial().into_iter().map(|t| AddedToken::from(t, true)).collect()
}

/// A word repeated by its count, since the trainers count words themselves.
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

/// Learns merges by the count of a pair in the whole sample.
pub fn learn(vocabulary: &TrainingVocabulary) -> Result<Merges> {
    let mut trainer = BpeTrainer::builder()
        .show_progress(false)
        .vocab_size(vocabulary.config.vocab)
        .special_tokens(first(vocabulary))
        .build();
    trainer.feed(vocabulary.words.iter().flatten().map(repeat), split).map_err(library)?;
    let mut model = BPE::default();
    trainer.train(&mut model).map_err(library)?;
    Merges::from_trained(&model, vocabulary)
}

/// Learns merges by the count of a pair in the language that currently needs most pieces for the `parallel` sentences.
pub fn learn_parity(vocabulary: &TrainingVocabulary, parallel: &[Vec<(String, u64)>]) -> Result<Merges> {
    // The trainer counts merges, and a merge may repeat a piece: retry until |V| is reached or no longer grows.
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
        let merges = Merges::from_trained(&model, vocabulary)?;
        let reached = merges.pieces.len();
        if reached >= vocabulary.config.vocab || !seen.insert(reached) {
            return Ok(merges);
        }
        target += vocabulary.config.vocab - reached;
    }
}
