//! Probes of the inside of a model (`eval.inside`): where the languages meet, and what carries a fact across.
//!
//! - [`words`]: states of the same words in two languages: translation, CKA, the alignment of every masked word, a map
//! - [`sentences`]: retrieval of translated sentences
//! - [`lens`]: which language's pieces each layer would predict
//! - [`gradients`]: whether parallel text pulls the parameters the same way
//! - [`piece_rows`]: the rows of pieces in embedding and unembedding
//! - [`patching`]: the contrast of masked words with a state of the first language in the place of another
//! - [`residual_norm`]: the size of the residual stream
//!
//! All of them compare a language with the first one, the source.

pub mod gradients;
pub mod lens;
pub mod patching;
pub mod piece_rows;
pub mod residual_norm;
pub mod sentences;
pub mod words;

use super::Setup;
use crate::experiment::Experiment;
use crate::inputs::tokenized::TokenizedText;
use invitro_language::{Language, Languages, Symbol};
use std::collections::{BTreeSet, HashMap};

/// When the inside is measured.
#[derive(Clone, Copy, Debug)]
pub struct Cadence {
    every: u64,
    last: u64,
}

impl Cadence {
    /// The experiment's; `None` where the inside is not measured.
    pub fn of(experiment: &Experiment) -> Option<Cadence> {
        let Cadence { every, last } = Cadence { every: experiment.eval.inside_every, last: experiment.train.steps };
        experiment.eval.inside.then_some(Cadence { every, last })
    }

    /// Whether an evaluation at this step measures the inside.
    pub fn has(self, step: u64) -> bool {
        self.every == 0 || step.is_multiple_of(self.every) || step == self.last
    }
}

/// All layers: 0 is the embedding.
fn all_layers(setup: &Setup) -> Vec<usize> {
    (0..=setup.experiment.model.layers).collect()
}

/// The languages that are compared with the first one.
fn targets(languages: &Languages) -> impl Iterator<Item = Language> + '_ {
    languages.all()[1..].iter().copied()
}

/// The language that a language is compared with: the first, and the second for the first.
fn compared_with(languages: &Languages, language: Language) -> Language {
    *languages.all().iter().find(|&&other| other != language).expect("there are two languages at least")
}

/// The pieces of some words of a language.
fn pieces_of(text: &TokenizedText, words: impl Iterator<Item = Symbol>, language: Language) -> BTreeSet<u32> {
    words.flat_map(|word| text.segmentation.core(word, language).iter().copied()).collect()
}

/// Texts as counts of their pieces: what shared pieces alone give.
fn piece_counts<'a>(texts: impl Iterator<Item = &'a [u32]> + Clone) -> Vec<Vec<f32>> {
    let mut places: HashMap<u32, usize> = HashMap::new();
    for &piece in texts.clone().flatten() {
        let next = places.len();
        places.entry(piece).or_insert(next);
    }
    let counts = |text: &[u32]| {
        let mut counts = vec![0.0; places.len()];
        text.iter().for_each(|piece| counts[places[piece]] += 1.0);
        counts
    };
    texts.map(counts).collect()
}
