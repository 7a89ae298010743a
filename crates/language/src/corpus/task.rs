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
use invitro_base::settings::{Given, Tags};
use std::borrow::Cow;

/// Ends every sequence.
pub const EOS: &str = "<eos>";
/// Separates the prompt from the target sentence.
pub const OUT: &str = "<out>";

named! {
    /// The task of a sequence.
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
    /// The tasks within one language.
    pub const WITHIN: [Task; 3] = [Task::T0, Task::T1, Task::T2];

    /// The special token of a task in a language.
    pub fn tag(self, language: &str) -> String {
        format!("<{}:{language}>", self.name())
    }

    /// The special token of a task in any language.
    pub fn plain_tag(self) -> String {
        format!("<{}>", self.name())
    }

    /// The special token of a translation.
    pub fn translation_tag(from: &str, to: &str) -> String {
        format!("<T3:{from}>{to}>")
    }
}

/// The terminals whose words a T2 prompt contains.
pub const KINDS: [Terminal; 4] = [Terminal::Subject, Terminal::Object, Terminal::Relation, Terminal::Descriptor];

/// The words among which T2 chooses: those of each kind, in the whole sentence or in each phrase.
pub(crate) fn choices(sentence: &Sentence, given: Given) -> Vec<Vec<Symbol>> {
    let group = |at: usize| if given == Given::OnePerPhrase { sentence.places[at].phrase } else { 0 };
    let of_kind = |kind: Terminal| {
        let positions: Vec<usize> = sentence.positions(kind).collect();
        let words = |group: &[usize]| group.iter().map(|&at| sentence.symbols[at]).collect::<Vec<_>>();
        positions.chunk_by(|&one, &other| group(one) == group(other)).map(words).collect::<Vec<_>>()
    };
    KINDS.into_iter().flat_map(of_kind).collect()
}

/// One row of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Its task.
    pub task: Task,
    /// The language of the sentence; the target language of a translation.
    pub language: Language,
    /// The source language of a translation.
    pub from: Option<Language>,
    /// The words before `<out>`; empty for T0.
    pub prompt: Vec<Symbol>,
    /// The target sentence.
    pub sentence: Sentence,
    /// Whether its language, or either language of a translation, withholds the sentence.
    pub masked: bool,
    /// Words that appear in another language, both in prompt and sentence.
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
    /// Makes this a translation: fills the prompt with the sentence in the source language.
    pub fn translate(&mut self, from: Language, languages: &Languages) {
        (self.task, self.from) = (Task::T3, Some(from));
        self.prompt = languages.reordered(&self.sentence, self.language, from);
    }

    /// Fills the prompt from the sentence, for a task within the language.
    pub fn prepare(&mut self, task: Task, given: Given, rng: &mut Rng) {
        (self.task, self.from) = (task, None);
        self.prompt.clear();
        match task {
            Task::T0 | Task::T3 => {}
            Task::T1 => {
                self.prompt.extend_from_slice(&self.sentence.symbols);
                rng.shuffle(&mut self.prompt);
            }
            Task::T2 => {
                // In random order.
                for words in choices(&self.sentence, given) {
                    let start = self.prompt.len();
                    self.prompt.extend_from_slice(&words);
                    if words.len() > 1 {
                        let wanted = match given {
                            Given::OneToAll => 1 + rng.index(words.len()),
                            Given::OnePerPhrase => 1,
                        };
                        rng.shuffle(&mut self.prompt[start..]);
                        self.prompt.truncate(start + wanted);
                    }
                }
                rng.shuffle(&mut self.prompt);
            }
        }
    }

    /// The words before `<out>`, each with its language.
    #[inline]
    pub fn prompt_words(&self) -> impl Iterator<Item = (Symbol, Language)> + '_ {
        self.with_language(&self.prompt, self.from.unwrap_or(self.language))
    }

    /// The words of the target sentence, each with its language.
    #[inline]
    pub fn sentence_words(&self) -> impl Iterator<Item = (Symbol, Language)> + '_ {
        self.with_language(&self.sentence.symbols, self.language)
    }

    #[inline]
    fn with_language<'a>(
        &'a self,
        symbols: &'a [Symbol],
        language: Language,
    ) -> impl Iterator<Item = (Symbol, Language)> + 'a {
        let switched = move |symbol| self.switched.iter().find(|(one, _)| *one == symbol).map(|&(_, to)| to);
        symbols.iter().map(move |&symbol| (symbol, switched(symbol).unwrap_or(language)))
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
