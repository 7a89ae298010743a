//! Two languages over one world.
//!
//! A [`World`] of classes, entities, properties and relations; a probabilistic [`Grammar`]; a [`Lexicon`] that gives
//! every symbol a word in language A and one in language B, at a calibrated lexical distance; a [`Mask`] of words
//! withheld from B. [`Languages`] holds them all, a function of a [`LanguageConfig`] and a data seed.
//!
//! - [`Sampler`] draws sentences that satisfy the grammar, the type rules and the ontology Γ
//! - [`Source`] draws task sequences of the training mixture and of the conditions A, B and B†, each by its key
//! - [`Checker`] says of a text, or of symbols, how far it is a sentence: valid, grammatical, types, facts
//! - [`Process`] gives the probability of a sentence or sequence, and so the entropy floor of a loss

pub mod affix;
pub mod analysis;
pub mod calibrate;
mod chains;
pub mod check;
pub mod config;
mod deal;
pub mod distance;
pub mod drift;
mod error;
mod gamma;
pub mod grammar;
mod languages;
pub mod lexicon;
mod mask;
pub mod normal;
mod notation;
pub mod order;
pub mod phonology;
mod process;
pub mod sentence;
mod source;
mod stream;
mod symbol;
pub mod task;
mod world;

pub use calibrate::Distance;
pub use check::{Checker, Failure, Tally, Verdict};
pub use config::{Corpus, LanguageConfig, MixtureConfig};
pub use error::{Error, Result};
pub use grammar::Grammar;
pub use languages::Languages;
pub use lexicon::{Lexicon, Word};
pub use mask::Mask;
pub use process::Process;
pub use sentence::{Place, Role, Sampler, Sentence};
pub use source::{Condition, Source};
pub use stream::{Draw, Stream};
pub use symbol::{Category, Class, Language, Part, Property, Slot, Symbol};
pub use task::{Sequence, Task};
pub use world::World;
