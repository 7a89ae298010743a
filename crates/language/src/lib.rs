//! Languages over one world: the pair A and B, or any [`Family`].
//!
//! A [`World`] of classes, entities, properties and relations; a probabilistic [`Grammar`] for each language; a
//! [`Lexicon`] that gives every symbol a word in each, at calibrated lexical distances; a [`Mask`] of words withheld from
//! one. [`Languages`] holds them all, a function of a [`LanguageConfig`], a list of [`LanguageEntry`] and a data seed.
//!
//! - [`Sampler`] draws sentences that satisfy the grammar, the type rules and the ontology Γ
//! - [`Source`] draws task sequences of the training mixture and of the conditions A, B and B†, each by its key
//! - [`Checker`] says of a text, or of symbols, how far it is a sentence: valid, grammatical, types, facts
//! - [`Process`] gives the probability of a sentence or sequence, and so the entropy floor of a loss

#![warn(missing_docs)]

mod affixes;
pub mod analysis;
mod assign;
mod borrowed;
mod builder;
mod calibration;
mod check;
mod condition;
pub mod cyk;
mod distances;
mod drift;
mod error;
mod export;
mod facts;
mod family;
mod fast_parser;
mod frequency;
mod gamma;
pub mod grammar;
mod held_out;
mod languages;
mod letters;
mod levenshtein;
mod lexicon;
mod mask;
mod notation;
mod parallel;
pub mod parser;
mod phonology;
mod process;
mod reorder;
mod script;
mod sentence;
mod source;
mod symbol;
pub mod task;
mod unit_closure;
pub mod wordlist;
mod world;

pub use affixes::{AFFIXED, Affixes, Inventory};
pub use borrowed::Borrowed;
pub use calibration::Distance;
pub use check::{Checked, Checker, Failure, Tally, Verdict};
pub use condition::Condition;
pub use distances::Distances;
pub use error::{Error, Result};
pub use facts::Facts;
pub use family::{Branch, Family, Node};
pub use frequency::Frequencies;
pub use grammar::Grammar;
pub use held_out::{HELD_OUT_PARTS, Pool};
pub use invitro_base::random::{Rng, Stream};
pub use invitro_base::settings::{Corpus, LanguageConfig, LanguageEntry, MixtureConfig, Parallel, Tags, Withhold};
pub use languages::Languages;
pub use levenshtein::edits;
pub use lexicon::{Lexicon, Word};
pub use mask::Mask;
pub use phonology::{Letters, Stem};
pub use process::Process;
pub use sentence::{Place, Role, Sampler, Sentence};
pub use source::Source;
pub use symbol::{Category, Class, Language, Part, Property, Symbol, Terminal};
pub use task::{Sequence, Task};
pub use world::World;
