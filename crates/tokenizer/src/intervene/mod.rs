//! Interventions on a trained tokenizer: shared pieces, and cuts of words.

pub mod cut;
pub(crate) mod sharing;
