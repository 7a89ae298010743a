//! Special tokens, whose ids come first: three controls, one per task and language, one per translation direction if there
//! are translations; then the word boundary. If tags omit the language, there is one per task.
//!
//! ```text
//! <pad> <eos> <out> <T0:A> <T0:B> <T1:A> <T1:B> <T2:A> <T2:B>                       tags = "task-language"
//! <pad> <eos> <out> <T0:A> <T0:B> <T1:A> <T1:B> <T2:A> <T2:B> <T3:A>B> <T3:B>A>     and translation above 0
//! <pad> <eos> <out> <T0> <T1> <T2> <T3>                                             tags = "task"
//! ```

use invitro_language::corpus::task;
use invitro_language::{Language, Languages, Sequence, Tags, Task};

/// Padding, for other programs: invitro never pads.
pub const PAD: u32 = 0;
/// The end of a sequence.
pub const EOS: u32 = 1;
/// Separates the prompt from the target.
pub const OUT: u32 = 2;

/// The mark of a word boundary, in a piece or as a separate token.
pub const MARK: char = '▁';

/// The special tokens of some languages.
///
/// ```
/// use invitro_language::{Language, LanguageConfig, Languages, Task};
/// use invitro_tokenizer::SpecialTokens;
/// let special = SpecialTokens::for_languages(&Languages::new(&LanguageConfig::default(), 0).unwrap());
/// assert_eq!((special.task(Task::T1, Language::B), special.count(), special.boundary()), (6, 9, 9));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecialTokens {
    tokens: Vec<String>,
    /// Empty if tags omit the language.
    languages: Vec<String>,
}

impl SpecialTokens {
    /// The special tokens of these languages.
    pub fn for_languages(languages: &Languages) -> SpecialTokens {
        let names: Vec<&str> = match languages.tags {
            Tags::TaskLanguage => languages.all().iter().map(|language| language.name()).collect(),
            Tags::Task => Vec::new(),
        };
        SpecialTokens::from_names(&names, languages.translates)
    }

    fn from_names(languages: &[&str], translates: bool) -> SpecialTokens {
        let mut tokens: Vec<String> = ["<pad>", task::EOS, task::OUT].map(str::to_owned).into();
        if languages.is_empty() {
            tokens.extend(Task::WITHIN.iter().chain(translates.then_some(&Task::T3)).map(|task| task.plain_tag()));
        } else {
            tokens.extend(Task::WITHIN.iter().flat_map(|task| languages.iter().map(|name| task.tag(name))));
            for from in languages.iter().filter(|_| translates) {
                let targets = languages.iter().filter(|to| *to != from);
                tokens.extend(targets.map(|to| Task::translation_tag(from, to)));
            }
        }
        SpecialTokens { tokens, languages: languages.iter().map(|&name| name.to_owned()).collect() }
    }

    /// The special tokens of a tokenizer from a file, recognised by the tasks' tokens.
    pub(crate) fn recognise(
        token: impl Fn(u32) -> Option<String>,
        id: impl Fn(&str) -> Option<u32>,
    ) -> Result<Self, String> {
        let name = |id| Some(token(id)?.strip_prefix("<T0:")?.strip_suffix('>')?.to_owned());
        let names: Vec<String> = (OUT + 1..).map_while(name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let without = SpecialTokens::from_names(&names, false);
        let translates = token(without.count()).is_some_and(|token| token.starts_with("<T3"));
        let special = if translates { SpecialTokens::from_names(&names, true) } else { without };
        for (wanted, token) in (0..).zip(special.tokens()) {
            if id(token) != Some(wanted) {
                return Err(format!("`{token}` should have id {wanted}, but has {:?}", id(token)));
            }
        }
        Ok(special)
    }

    /// All tokens by id.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The names of the languages; empty if tags omit them.
    pub fn languages(&self) -> &[String] {
        &self.languages
    }

    /// The number of special tokens; their ids are smaller.
    pub fn count(&self) -> u32 {
        self.tokens.len() as u32
    }

    /// The id of [`MARK`]. If pieces carry marks, the separate token occurs only where a piece cannot carry it.
    pub fn boundary(&self) -> u32 {
        self.count()
    }

    /// The token that opens a sequence of a task within a language.
    pub fn task(&self, task: Task, language: Language) -> u32 {
        let (languages, language) =
            if self.languages.is_empty() { (1, 0) } else { (self.languages.len(), language.index()) };
        OUT + 1 + (languages * task as usize + language) as u32
    }

    /// The token that opens a translation.
    pub fn translation(&self, from: Language, to: Language) -> u32 {
        let targets = self.languages.len().saturating_sub(1);
        let place = if targets == 0 { 0 } else { from.index() * targets + to.index() - usize::from(to > from) };
        OUT + 1 + (Task::WITHIN.len() * self.languages.len().max(1) + place) as u32
    }

    /// The token that opens a sequence.
    #[inline]
    pub fn opening(&self, sequence: &Sequence) -> u32 {
        match sequence.from {
            None => self.task(sequence.task, sequence.language),
            Some(from) => self.translation(from, sequence.language),
        }
    }
}
