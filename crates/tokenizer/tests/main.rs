//! Tokenizers, their cuts and measures.

mod common;
mod external;
mod measures;
mod own;
mod python;
mod segmentation;
mod spelling;
mod training;
