//! The tasks, as symbols: free generation, unscrambling, conditional generation, translation.
//!
//! ```text
//! <T0:A> sentence <eos>
//! <T1:A> the words shuffled <out> sentence <eos>
//! <T2:A> some of its content words <out> sentence <eos>
//! <T3:A>B> sentence of A <out> the same of B <eos>
//! ```

use crate::corpus::sentence::Sentence;
use crate::languages::Languages;
use crate::world::symbol::{Language, Symbol, Terminal};
use invitro_base::named;
use invitro_base::random::Rng;
use invitro_base::settings::Tags;
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
        /// Translation.
        T3 = "T3",
    }
}

impl Task {
    /// The tasks within one language, which share the rows that are no translations.
    pub const WITHIN: [Task; 3] = [Task::T0, Task::T1, Task::T2];

    /// The special token that opens a sequence: one per task and language, given by its name.
    pub fn tag(self, language: &str) -> String {
        format!("<{}:{language}>", self.name())
    }

    /// The special token of a task whatever the language.
    pub fn plain_tag(self) -> String {
        format!("<{}>", self.name())
    }

    /// The special token of a translation.
    pub fn translation_tag(from: &str, to: &str) -> String {
        format!("<T3:{from}>{to}>")
    }
}

/// T2 gives words of these kinds.
pub const KINDS: [Terminal; 4] = [Terminal::Subject, Terminal::Object, Terminal::Relation, Terminal::Descriptor];

/// One row of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// What is asked.
    pub task: Task,
    /// In which language; of a translation, into which.
    pub language: Language,
    /// Of a translation, from which.
    pub from: Option<Language>,
    /// What stands before `<out>`; empty for T0.
    pub prompt: Vec<Symbol>,
    /// What is wanted.
    pub sentence: Sentence,
    /// Whether the sentence has a word that is masked, or states a fact that is withheld, in its language: whether it is
    /// one of B†. Of a translation, in either language.
    pub masked: bool,
    /// Words that are said in another language than theirs, wherever they stand.
    pub switched: Vec<(Symbol, Language)>,
}

impl Default for Sequence {
    fn default() -> Self {
        Sequence {
            task: Task::T0,
            language: Language::A,
            from: None,
            prompt: Vec::new(),
            sentence: Sentence::default(),
            masked: false,
            switched: Vec::new(),
        }
    }
}

impl Sequence {
    /// Fills the prompt with the same sentence in another language, to be translated from there.
    pub fn translate(&mut self, from: Language, languages: &Languages) {
        (self.task, self.from) = (Task::T3, Some(from));
        self.prompt = languages.reordered(&self.sentence, self.language, from);
    }

    /// Fills the prompt for `task`, one within the language, from the sentence.
    pub fn prepare(&mut self, task: Task, rng: &mut Rng) {
        (self.task, self.from) = (task, None);
        self.prompt.clear();
        match task {
            Task::T0 | Task::T3 => {}
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

    /// What stands before `<out>`, each word with the language it is said in.
    #[inline]
    pub fn prompt_words(&self) -> impl Iterator<Item = (Symbol, Language)> + '_ {
        self.spoken(&self.prompt, self.from.unwrap_or(self.language))
    }

    /// What is wanted, each word with the language it is said in.
    #[inline]
    pub fn sentence_words(&self) -> impl Iterator<Item = (Symbol, Language)> + '_ {
        self.spoken(&self.sentence.symbols, self.language)
    }

    #[inline]
    fn spoken<'a>(
        &'a self,
        symbols: &'a [Symbol],
        language: Language,
    ) -> impl Iterator<Item = (Symbol, Language)> + 'a {
        let other = move |symbol| self.switched.iter().find(|(one, _)| *one == symbol).map(|&(_, language)| language);
        symbols.iter().map(move |&symbol| (symbol, other(symbol).unwrap_or(language)))
    }

    /// The special token that opens it.
    pub fn tag(&self, languages: &Languages) -> String {
        match (languages.tags, self.from) {
            (Tags::Task, _) => self.task.plain_tag(),
            (Tags::TaskLanguage, None) => self.task.tag(self.language.name()),
            (Tags::TaskLanguage, Some(from)) => Task::translation_tag(from.name(), self.language.name()),
        }
    }

    /// The sequence as words, special tokens included.
    pub fn words<'a>(&'a self, languages: &'a Languages) -> impl Iterator<Item = Cow<'a, str>> + 'a {
        let out = (self.task != Task::T0).then_some(OUT);
        let form = |(symbol, language): (Symbol, Language)| languages.form(symbol, language);
        let words = self.prompt_words().map(form).chain(out).chain(self.sentence_words().map(form)).chain([EOS]);
        std::iter::once(Cow::Owned(self.tag(languages))).chain(words.map(Cow::Borrowed))
    }

    /// The sequence as text, a space between words.
    pub fn text(&self, languages: &Languages) -> String {
        self.words(languages).collect::<Vec<_>>().join(" ")
    }
}
