//! Languages over one world: the pair A and B, or any [`Family`].
//!
//! A [`World`] has classes, entities, properties and relations. Each language has a probabilistic [`Grammar`], a word for
//! every symbol in the [`Lexicon`], at calibrated lexical distances, and optionally a [`Mask`] of withheld words.
//! [`Languages`] holds them all: a function of a [`LanguageConfig`], a list of [`LanguageEntry`] and a data seed.
//!
//! - [`Sampler`] samples sentences that satisfy the grammar, the type rules and the ontology Γ
//! - [`Source`] samples task sequences of the training mixture and of the conditions A, B and B†, each by its key
//! - [`Checker`] checks a text, or symbols: valid words, grammar, types, facts
//! - [`Process`] computes the probability of a sentence or sequence, and so the entropy floor of a loss

#![warn(missing_docs)]

pub mod corpus;
mod error;
mod family;
pub mod grammar;
mod languages;
pub mod lexicon;
mod world;

pub use corpus::check::{Checked, Checker, Failure, SentenceVerdict, Tally};
pub use corpus::condition::LanguageCondition;
pub use corpus::exposure::is_exposed;
pub use corpus::frequency::Frequencies;
pub use corpus::held_out::{HELD_OUT_PARTS, Pool};
pub use corpus::process::Process;
pub use corpus::sampler::Sampler;
pub use corpus::sentence::{Role, Sentence, WordPlace};
pub use corpus::source::Source;
pub use corpus::task::{Sequence, Task};
pub use error::{Error, Result};
pub use family::{Branch, Family, Node};
pub use grammar::Grammar;
pub use invitro_base::random::{Rng, Stream};
pub use invitro_base::settings::{
    Corpus, Exposure, Given, LanguageConfig, LanguageEntry, MaskUnit, MixtureConfig, Morphology, Parallel, Tags,
    Withhold,
};
pub use languages::Languages;
pub use lexicon::Lexicon;
pub use lexicon::borrowed::Borrowed;
pub use lexicon::calibration::Distance;
pub use lexicon::derivation::DerivationStep;
pub use lexicon::distances::Distances;
pub use lexicon::history::affixes::{AFFIXED, Affixes, Inventory};
pub use lexicon::history::laws::law::{Law, Laws};
pub use lexicon::levenshtein::edits;
pub use lexicon::phonology::{Letters, Stem};
pub use lexicon::regularity::Regularity;
pub use lexicon::word::Word;
pub use world::World;
pub use world::facts::Facts;
pub use world::mask::Mask;
pub use world::symbol::{Category, Class, Language, Property, Symbol, Terminal, WordClass};
