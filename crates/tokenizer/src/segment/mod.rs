//! Words to pieces and back: the table of pieces, the spelling of a piece, and decoding.

pub(crate) mod decode;
pub(crate) mod dropout;
pub(crate) mod segmentation;
pub mod spelling;
pub(crate) mod words;
