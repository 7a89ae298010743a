//! Languages and what is drawn from them; below, parts that are tested alone.

mod borrowed;
mod common;
mod corpora;
mod exposure;
mod families;
mod faults;
mod grammar;
mod interventions;
mod kinds;
mod laws;
mod letters;
mod lexicon;
mod masks;
mod sentences;
mod wordlist;
mod world;

#[allow(dead_code)]
#[path = "../src/lexicon/levenshtein.rs"]
mod levenshtein;
#[allow(dead_code)]
#[path = "../src/lexicon/phonology.rs"]
mod phonology;
#[allow(dead_code)]
#[path = "../src/lexicon/history/script.rs"]
mod script;
