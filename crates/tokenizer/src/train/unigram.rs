//! The unigram language model, trained by the `tokenizers` crate, made deterministic.
//!
//! The trainer sums probabilities in chunks per thread, and scores missing letters in hash order. So it runs on one thread
//! over sorted words, and every letter is added as a word.

use crate::error::{Result, library};
use crate::special::MARK;
use crate::train::alphabet;
use crate::train::vocabulary::TrainingVocabulary;
use std::collections::BTreeMap;
use tokenizers::models::unigram::{Unigram, UnigramTrainer};

/// The score of a separate mark: below any word's, so that it is read with its letter.
const NEVER: f64 = -1e6;

/// Rounds to so few digits that every reader of the file gets the same number.
fn round(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}

pub fn learn(vocabulary: &TrainingVocabulary) -> Result<Unigram> {
    let mut words: BTreeMap<String, u32> = BTreeMap::new();
    let letters = vocabulary.letters.iter().map(|c| (c.to_string(), 1));
    for (word, count) in vocabulary.words.iter().flatten().cloned().chain(letters) {
        let total = words.entry(word).or_default();
        *total = total.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }
    let reserved = vocabulary.reserved();
    let wanted = vocabulary.config.vocab - reserved.len();
    let trainer = UnigramTrainer::builder().show_progress(false).vocab_size(wanted as u32).build().map_err(library)?;
    let mut trained = Unigram::default();
    trainer.do_train(words.into_iter().collect(), &mut trained).map_err(library)?;

    let mut pieces: Vec<(String, f64)> = trained.iter().map(|(p, score)| (p.clone(), round(*score))).collect();
    pieces.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    // Letters first, as in every other kind.
    let (letters, longer): (Vec<_>, Vec<_>) = pieces.into_iter().partition(|(p, _)| p.chars().nth(1).is_none());
    let scores: BTreeMap<String, f64> = letters.into_iter().collect();
    let letter = |c: &char| (c.to_string(), scores.get(&c.to_string()).copied().unwrap_or(NEVER));
    let reserved = reserved.into_iter().map(|token| {
        let score = if token == MARK.to_string() { NEVER } else { 0.0 };
        (token, score)
    });
    let room = wanted - vocabulary.letters.len();
    let pieces = reserved.chain(vocabulary.letters.iter().map(letter)).chain(longer.into_iter().take(room));
    let boundary = vocabulary.config.boundary;
    let pieces = pieces.map(|(piece, score)| (alphabet::write_out(&piece, boundary), score)).collect();
    Unigram::from(pieces, None, false).map_err(library)
}
