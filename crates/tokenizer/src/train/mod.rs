//! Training of tokenizers: word counts, alphabet, merges or a unigram model.

pub mod alphabet;
pub(crate) mod counts;
pub(crate) mod learn;
pub(crate) mod merges;
pub(crate) mod pipeline;
pub(crate) mod unigram;
pub(crate) mod vocabulary;
