//! Languages A and B over one world.
//!
//! A [`World`] of classes, entities, properties and relations; a probabilistic [`Grammar`]; a [`Lexicon`] that gives
//! every symbol a word in language A and one in language B, at a calibrated lexical distance; a [`Mask`] of words
//! withheld from B. [`Languages`] holds them all, a function of a [`LanguageConfig`] and a data seed.
//!
//! - [`Sampler`] draws sentences that satisfy the grammar, the type rules and the ontology Γ
//! - [`Source`] draws task sequences of the training mixture and of the conditions A, B and B†, each by its key
//! - [`Checker`] says of a text, or of symbols, how far it is a sentence: valid, grammatical, types, facts
//! - [`Process`] gives the probability of a sentence or sequence, and so the entropy floor of a loss

#![warn(missing_docs)]

mod affixes;
pub mod analysis;
mod assign;
mod calibration;
mod check;
mod condition;
mod config;
pub mod cyk;
mod drift;
mod error;
mod export;
mod fast_parser;
mod gamma;
pub mod grammar;
mod held_out;
mod languages;
mod levenshtein;
mod lexicon;
mod mask;
mod named;
mod notation;
pub mod parser;
mod phonology;
mod process;
mod sentence;
mod source;
mod stream;
mod symbol;
pub mod task;
mod unit_closure;
mod world;

pub use affixes::{AFFIXED, Affixes, Inventory};
pub use calibration::Distance;
pub use check::{Checker, Failure, Tally, Verdict};
pub use condition::Condition;
pub use config::{Corpus, LanguageConfig, MixtureConfig};
pub use error::{Error, Result};
pub use grammar::Grammar;
pub use held_out::{HELD_OUT_PARTS, Pool};
pub use languages::Languages;
pub use lexicon::{Lexicon, Word};
pub use mask::Mask;
pub use phonology::{Letters, Stem};
pub use process::Process;
pub use sentence::{Place, Role, Sampler, Sentence};
pub use source::Source;
pub use stream::{Rng, Stream};
pub use symbol::{Category, Class, Language, Part, Property, Symbol, Terminal};
pub use task::{Sequence, Task};
pub use world::World;
