//! Special tokens, with the same ids in every tokenizer: 0 to 2 the controls, 3 to 8 one per task and language.

use invitro_language::{Lang, Task, task};

pub const PAD: u32 = 0;
pub const EOS: u32 = 1;
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
/// use invitro_language::{Lang, Task};
/// assert_eq!(invitro_tokenizer::special::task_id(Task::T1, Lang::B), 6);
/// ```
pub fn task_id(task: Task, lang: Lang) -> u32 {
    OUT + 1 + 2 * task as u32 + lang as u32
}

/// All special tokens, in the order of their ids.
pub fn tokens() -> Vec<&'static str> {
    let mut all = vec!["<pad>", task::EOS, task::OUT];
    all.extend(Task::ALL.iter().flat_map(|task| Lang::BOTH.map(|lang| task.tag(lang))));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_places_in_the_list() {
        let tokens = tokens();
        assert_eq!(tokens.len(), COUNT as usize);
        assert_eq!((tokens[EOS as usize], tokens[OUT as usize]), ("<eos>", "<out>"));
        for task in Task::ALL {
            for lang in Lang::BOTH {
                assert_eq!(tokens[task_id(task, lang) as usize], task.tag(lang));
            }
        }
    }
}
