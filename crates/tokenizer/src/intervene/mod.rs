//! Which pieces languages share, and how words are cut: interventions on a trained tokenizer.

pub mod cut;
pub(crate) mod sharing;
