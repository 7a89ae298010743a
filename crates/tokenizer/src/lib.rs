//! Subword tokenizers over artificial languages, what can be measured of them, and tokenizer bridges.
//!
//! A [`Tokenizer`] is trained on a sample of a [`Languages`](invitro_language::Languages) under a [`TokenizerConfig`], or
//! taken from a file that somebody else made, and saved as the `tokenizer.json` that Python's `tokenizers` and `transformers` load. A [`Segmentation`] is its table of
//! pieces, one entry per symbol and language, since the lexicon is closed: a sentence is a concatenation.
//!
//! - [`measure`]: fertility, continuation rate, overlap, parity, Rényi efficiency, morpheme boundaries
//! - [`external`]: other people's tokenizers, texts and wordlists
//! - [`bridge`]: how strongly the pieces of a masked word overlap with those of words seen in training
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

pub mod alphabet;
pub mod bridge;
mod counts;
pub mod cut;
mod decode;
mod error;
pub mod external;
mod files;
mod learn;
pub mod measure;
mod merges;
mod own;
mod pipeline;
mod provenance;
mod renumber;
mod segmentation;
mod sharing;
pub mod special;
pub mod spelling;
mod tokenizer;
mod unigram;
mod vocabulary;
mod words;

pub use bridge::Bridges;
pub use counts::{MEASURED_SENTENCES, WordCounts, measured_text};
pub use decode::DecodedWords;
pub use error::{Error, Result};
pub use invitro_base::settings::{Boundary, Cut, Kind, Regime, Share, TokenizerConfig};
pub use measure::Measures;
pub use own::asked_vocab;
pub use provenance::{Provenance, fingerprint};
pub use segmentation::Segmentation;
pub use special::SpecialTokens;
pub use tokenizer::Tokenizer;
