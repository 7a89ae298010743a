//! The data card of a corpus: which rows its splits hold, what the columns mean, how to make them again.

use super::{Published, forms};
use crate::corpus::{CorpusRow, CorpusSplit};
use crate::experiment::Experiment;
use invitro_language::{Languages, Pool};

const CARD: &str = include_str!("data.md");

/// A file of a corpus that holds one split.
pub struct SplitFile {
    pub split: CorpusSplit,
    pub pool: Pool,
    pub file: String,
    pub rows: u64,
    /// The first row.
    pub example: Option<CorpusRow>,
}

impl SplitFile {
    fn meaning(&self, languages: &Languages) -> String {
        let CorpusSplit::Condition(condition) = self.split else {
            return "what training sees, in its order".into();
        };
        let language = condition.language.name();
        let what = if languages.facts(condition.language).is_some() { "a withheld fact" } else { "a masked word" };
        let sentences = match (condition.masked, languages.masked().any(|masked| masked == condition.language)) {
            (true, _) => format!("sentences of {language} with {what}"),
            (false, true) => format!("sentences of {language} without {what}"),
            (false, false) => format!("sentences of {language}"),
        };
        match self.pool {
            Pool::HeldOut => format!("{sentences}; of those held out for evaluation"),
            Pool::Training | Pool::Any => sentences,
        }
    }
}

/// The text of `README.md`.
pub fn data_card(experiment: &Experiment, languages: &Languages, files: &[SplitFile], published: Published) -> String {
    let lines = |sentences: &dyn Fn(&SplitFile) -> String| files.iter().map(sentences).collect::<Vec<_>>().join("\n");
    let row = |file: &SplitFile| format!("| {} | {} | {} |", file.split.name(), file.rows, file.meaning(languages));
    let example = |file: &SplitFile| {
        let row = file.example.as_ref()?;
        Some(format!("`{}`, {}:\n\n```text\n{}\n```", file.split.name(), row.task, row.text))
    };
    let (and_language, sequences) = forms(experiment, languages);
    let values = [
        ("data_files", lines(&|file| format!("  - split: {}\n    path: {}", file.split.name(), file.file))),
        ("splits", lines(&row)),
        ("first", files.first().map_or_else(String::new, |file| file.split.name())),
        ("examples", files.iter().filter_map(example).collect::<Vec<_>>().join("\n\n")),
        ("and_language", and_language),
        ("sequences", sequences),
    ];
    published.fill(CARD, experiment, languages, &values)
}
