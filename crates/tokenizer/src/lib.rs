//! Subword tokenizers over artificial languages, what can be measured of them, and tokenizer bridges.
//!
//! A [`Tokenizer`] is trained on a sample of a [`Languages`](invitro_language::Languages) under a [`TokenizerConfig`], or
//! taken from a file that somebody else made, and saved as the `tokenizer.json` that Python's `tokenizers` and `transformers` load. A [`Segmentation`] is its table of
//! pieces, one entry per symbol and language, since the lexicon is closed: a sentence is a concatenation.
//!
//! - [`measure`]: fertility, continuation rate, overlap, parity, Rényi efficiency, morpheme boundaries
//! - [`external`]: other people's tokenizers, texts and wordlists
//! - [`measure::bridge`]: how strongly the pieces of a masked word overlap with those of words seen in training
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
mod provenance;
pub mod segment;
pub mod special;
mod tokenizer;
pub mod train;

pub use error::{Error, Result};
pub use external::adopt::asked_vocab;
pub use invitro_base::settings::{Boundary, Cut, Kind, Regime, Share, TokenizerConfig};
pub use measure::Measures;
pub use measure::bridge::Bridges;
pub use provenance::{Provenance, fingerprint};
pub use segment::decode::DecodedWords;
pub use segment::segmentation::Segmentation;
pub use special::SpecialTokens;
pub use tokenizer::Tokenizer;
pub use train::counts::{MEASURED_SENTENCES, WordCounts, measured_text};
