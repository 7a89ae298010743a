//! The three tasks, as symbols: free generation, unscrambling, conditional generation.
//!
//! ```text
//! <T0:A> sentence <eos>
//! <T1:A> the words shuffled <out> sentence <eos>
//! <T2:A> some of its content words <out> sentence <eos>
//! ```

use crate::languages::Languages;
use crate::named;
use crate::sentence::Sentence;
use crate::stream::Rng;
use crate::symbol::{Language, Symbol, Terminal};
use std::borrow::Cow;

/// The end of every sequence.
pub const EOS: &str = "<eos>";
/// Between what is given and what is wanted.
pub const OUT: &str = "<out>";

named! {
    /// What a sequence asks of a model.
    Task {
        /// Free generation.
        T0 = "T0",
        /// Unscrambling.
        T1 = "T1",
        /// Conditional generation.
        T2 = "T2",
    }
}

impl Task {
    /// The special token that opens a sequence: one per task and language, given by its name.
    pub fn tag(self, language: &str) -> String {
        format!("<{}:{language}>", self.name())
    }
}

/// T2 gives words of these kinds.
pub const KINDS: [Terminal; 4] = [Terminal::Subject, Terminal::Object, Terminal::Relation, Terminal::Descriptor];

/// One row of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// What is asked.
    pub task: Task,
    /// In which language.
    pub language: Language,
    /// What stands before `<out>`; empty for T0.
    pub prompt: Vec<Symbol>,
    /// What is wanted.
    pub sentence: Sentence,
    /// Whether the sentence has a word that is masked in its language: whether it is one of B†.
    pub masked: bool,
}

impl Default for Sequence {
    fn default() -> Self {
        let (prompt, sentence) = Default::default();
        Sequence { task: Task::T0, language: Language::A, prompt, sentence, masked: false }
    }
}

impl Sequence {
    /// Fills the prompt for `task` from the sentence.
    pub fn prepare(&mut self, task: Task, rng: &mut Rng) {
        self.task = task;
        self.prompt.clear();
        match task {
            Task::T0 => {}
            Task::T1 => {
                self.prompt.extend_from_slice(&self.sentence.symbols);
                rng.shuffle(&mut self.prompt);
            }
            Task::T2 => {
                // Of each kind the sentence has, one to all of them, in random order.
                for kind in KINDS {
                    let start = self.prompt.len();
                    let found = self.sentence.positions(kind).map(|i| self.sentence.symbols[i]);
                    self.prompt.extend(found);
                    let n = self.prompt.len() - start;
                    if n > 1 {
                        let wanted = 1 + rng.index(n);
                        rng.shuffle(&mut self.prompt[start..]);
                        self.prompt.truncate(start + wanted);
                    }
                }
                rng.shuffle(&mut self.prompt);
            }
        }
    }

    /// The sequence as words, special tokens included.
    pub fn words<'a>(&'a self, languages: &'a Languages) -> impl Iterator<Item = Cow<'a, str>> + 'a {
        let out = (self.task != Task::T0).then_some(OUT);
        let form = |&s: &Symbol| languages.form(s, self.language);
        let words = self.prompt.iter().map(form).chain(out).chain(self.sentence.symbols.iter().map(form)).chain([EOS]);
        std::iter::once(Cow::Owned(self.task.tag(self.language.name()))).chain(words.map(Cow::Borrowed))
    }

    /// The sequence as text, a space between words.
    pub fn text(&self, languages: &Languages) -> String {
        self.words(languages).collect::<Vec<_>>().join(" ")
    }
}
