//! Text to pieces and back: the table of pieces of every word, what a piece spells, and decoding.

pub(crate) mod decode;
pub(crate) mod segmentation;
pub mod spelling;
pub(crate) mod words;
