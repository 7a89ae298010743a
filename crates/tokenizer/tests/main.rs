//! Tokenizers, their cuts and measures.

mod adopt;
mod common;
mod external;
mod measures;
mod python;
mod segmentation;
mod spelling;
mod training;
