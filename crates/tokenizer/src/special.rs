//! Special tokens, whose ids come before all others: 0 to 2 the controls, then one per task and language, then the word
//! boundary. Tokenizers of two languages have them up to 8, and the boundary at 9.

use invitro_language::{Language, Languages, Task, task};

/// Padding, for other programs: nothing here is padded.
pub const PAD: u32 = 0;
/// The end of a sequence.
pub const EOS: u32 = 1;
/// Between what is given and what is wanted.
pub const OUT: u32 = 2;

/// What stands for a word boundary in a piece, or is the boundary's own token.
pub const MARK: char = '▁';

/// The special tokens of so many languages.
///
/// ```
/// use invitro_language::{Language, LanguageConfig, Languages, Task};
/// use invitro_tokenizer::SpecialTokens;
/// let special = SpecialTokens::of(&Languages::new(&LanguageConfig::default(), 0).unwrap());
/// assert_eq!((special.task(Task::T1, Language::B), special.count(), special.boundary()), (6, 9, 9));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecialTokens {
    tokens: Vec<String>,
}

impl SpecialTokens {
    /// Those of these languages.
    pub fn of(languages: &Languages) -> SpecialTokens {
        let names: Vec<&str> = languages.all().iter().map(|language| language.name()).collect();
        SpecialTokens::named(&names)
    }

    fn named(languages: &[&str]) -> SpecialTokens {
        let tags = Task::ALL.iter().flat_map(|task| languages.iter().map(|name| task.tag(name)));
        SpecialTokens { tokens: ["<pad>", task::EOS, task::OUT].map(str::to_owned).into_iter().chain(tags).collect() }
    }

    /// Those of a tokenizer from a file, told by the tasks' tokens; or what is wrong with them.
    pub(crate) fn found(
        token: impl Fn(u32) -> Option<String>,
        id: impl Fn(&str) -> Option<u32>,
    ) -> Result<Self, String> {
        let name = |id| Some(token(id)?.strip_prefix("<T0:")?.strip_suffix('>')?.to_owned());
        let names: Vec<String> = (OUT + 1..).map_while(name).collect();
        let special = SpecialTokens::named(&names.iter().map(String::as_str).collect::<Vec<_>>());
        for (wanted, token) in (0..).zip(special.tokens()) {
            if id(token) != Some(wanted) {
                return Err(format!("`{token}` should have id {wanted}, but has {:?}", id(token)));
            }
        }
        let boundary = special.boundary();
        if names.is_empty() || id(&MARK.to_string()) != Some(boundary) {
            return Err(format!(
                "the word boundary `{MARK}` should have id {boundary}, after a token for every task and language"
            ));
        }
        Ok(special)
    }

    /// All of them, in the order of their ids.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The names of the languages, in order.
    pub fn languages(&self) -> Vec<&str> {
        let tasks = &self.tokens[OUT as usize + 1..];
        let names = tasks[..tasks.len() / Task::ALL.len()].iter();
        names.filter_map(|tag| tag.split_once(':')?.1.strip_suffix('>')).collect()
    }

    /// How many there are; their ids are below it.
    pub fn count(&self) -> u32 {
        self.tokens.len() as u32
    }

    /// The id of [`MARK`]. With marks on pieces it is in the vocabulary, but stands alone only where a piece cannot
    /// carry it.
    pub fn boundary(&self) -> u32 {
        self.count()
    }

    /// The token that opens a sequence of a task in a language.
    pub fn task(&self, task: Task, language: Language) -> u32 {
        let languages = (self.tokens.len() - OUT as usize - 1) / Task::ALL.len();
        OUT + 1 + (languages * task as usize + language.index()) as u32
    }
}
