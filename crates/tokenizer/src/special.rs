//! Special tokens, with the same ids in every tokenizer: 0 to 2 the controls, 3 to 8 one per task and language.

use invitro_language::{Language, Task, task};

/// Padding, for other programs: nothing here is padded.
pub const PAD: u32 = 0;
/// The end of a sequence.
pub const EOS: u32 = 1;
/// Between what is given and what is wanted.
pub const OUT: u32 = 2;
/// How many special tokens there are; their ids are below it.
pub const COUNT: u32 = 9;

/// What stands for a word boundary in a piece, or is the boundary's own token.
pub const MARK: char = '▁';
/// The id of [`MARK`]. With marks on pieces it is in the vocabulary, but stands alone only where a piece cannot carry it.
pub const BOUNDARY: u32 = COUNT;

/// The token that opens a sequence of a task in a language.
///
/// ```
/// use invitro_language::{Language, Task};
/// assert_eq!(invitro_tokenizer::special::task_id(Task::T1, Language::B), 6);
/// ```
pub fn task_id(task: Task, language: Language) -> u32 {
    OUT + 1 + (Language::ALL.len() * task as usize + language.index()) as u32
}

/// All special tokens, in the order of their ids.
pub fn tokens() -> Vec<&'static str> {
    let mut all = vec!["<pad>", task::EOS, task::OUT];
    all.extend(Task::ALL.iter().flat_map(|task| Language::ALL.map(|language| task.tag(language))));
    all
}
