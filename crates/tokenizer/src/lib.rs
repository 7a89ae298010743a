//! Subword tokenizers over artificial languages, their measures, and tokenizer bridges.
//!
//! A [`Tokenizer`] is trained on a sample of [`Languages`](invitro_language::Languages) under a [`TokenizerConfig`], or
//! adopted from a file. It is saved as a `tokenizer.json` that Python's `tokenizers` and `transformers` load. A
//! [`Segmentation`] is its table of pieces, one entry per symbol and language: the lexicon is closed, so encoding a
//! sentence is concatenation.
//!
//! - [`measure`]: fertility, continuation rate, overlap, parity, Rényi efficiency, morpheme boundaries
//! - [`external`]: external tokenizers, texts and wordlists
//! - [`measure::bridge`]: the overlap of a masked word's pieces with those of words seen in training
//!
//! ```
//! use invitro_language::{Language, Languages, LanguageConfig, MixtureConfig};
//! use invitro_tokenizer::{Segmentation, Tokenizer, TokenizerConfig};
//! let small = LanguageConfig { entities: 20, names: 5, properties: 80, values: 20, relations: 20, ..Default::default() };
//! let languages = Languages::new(&small, 0).unwrap();
//! let config = TokenizerConfig { vocab: 300, sentences: 500, ..Default::default() };
//! let tokenizer = Tokenizer::train(&languages, &config, &MixtureConfig::default()).unwrap();
//! let segmentation = Segmentation::new(&tokenizer, &languages).unwrap();
//! let copula = languages.world.copula();
//! let text = tokenizer.encode(languages.form(copula, Language::A)).unwrap();
//! assert_eq!(segmentation.pieces(copula, Language::A), text);
//! ```

#![warn(missing_docs)]

mod error;
pub mod external;
mod files;
pub mod intervene;
pub mod measure;
pub mod per_language;
mod provenance;
pub mod segment;
pub mod special;
mod tokenizer;
pub mod train;

pub use error::{Error, Result};
pub use external::adopt::configured_vocab;
pub use invitro_base::settings::{Boundary, Cut, Kind, Regime, Share, TokenizerConfig};
pub use measure::Measures;
pub use measure::bridge::Bridges;
pub use provenance::{Provenance, fingerprint};
pub use segment::decode::DecodedWords;
pub use segment::segmentation::Segmentation;
pub use special::SpecialTokens;
pub use tokenizer::Tokenizer;
pub use train::counts::{MEASURED_SENTENCES, WordCounts, measured_text};
