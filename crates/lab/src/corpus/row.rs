//! One row of a corpus file.

use invitro_language::{Languages, Sequence, Task};
use serde::Serialize;
use std::borrow::Cow;

/// One sequence, as it is written.
#[derive(Clone, Serialize)]
pub struct CorpusRow {
    pub text: String,
    pub language: &'static str,
    pub task: &'static str,
    pub symbols: Vec<String>,
    pub masked: bool,
}

impl CorpusRow {
    /// The text's words and their symbols, one for one; special tokens stand for themselves.
    pub fn new(languages: &Languages, sequence: &Sequence) -> CorpusRow {
        let words: Vec<Cow<str>> = sequence.words(languages).collect();
        let prompt = sequence.prompt.len();
        let mut symbols: Vec<String> = Vec::with_capacity(words.len());
        symbols.push(words[0].to_string());
        symbols.extend(sequence.prompt.iter().map(|&s| languages.world.label(s)));
        if sequence.task != Task::T0 {
            symbols.push(words[1 + prompt].to_string());
        }
        symbols.extend(sequence.sentence.symbols.iter().map(|&s| languages.world.label(s)));
        symbols.push(words[words.len() - 1].to_string());
        CorpusRow {
            text: words.join(" "),
            language: sequence.language.name(),
            task: sequence.task.name(),
            symbols,
            masked: sequence.masked,
        }
    }
}
