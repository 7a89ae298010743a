//! Languages and what is drawn from them.

mod borrowed;
mod common;
mod corpora;
mod families;
mod faults;
mod grammar;
mod interventions;
mod lexicon;
mod sentences;
mod world;
