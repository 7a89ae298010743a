//! Tokenizers, their cuts and measures.

mod common;
mod measures;
mod python;
mod segmentation;
mod training;
