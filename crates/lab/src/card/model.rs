//! The model card of an export: which run, which program, what it measured, how to use it.

use super::{Published, forms};
use crate::error::Result;
use crate::experiment::Experiment;
use crate::trained::{Trained, tokenizer_folder};
use invitro_language::{Language, Languages};
use invitro_results::folder::METRICS;
use invitro_results::{COMPARED, Condition, Row, Status, metrics};
use std::path::Path;

const CARD: &str = include_str!("model.md");

/// The text of `README.md`. `without` are the languages that have no tokenizer of their own.
pub fn model_card(trained: &Trained, run: &Path, published: Published, without: &[Language]) -> Result<String> {
    let Trained { experiment, languages, checkpoint, .. } = trained;
    let status = Status::read(run)?;
    let version = status.as_ref().map_or("unknown".into(), |status| match status.commit.as_str() {
        "" | "unknown" => status.version.clone(),
        commit => format!("{} ({commit})", status.version),
    });
    if let Some(status) = &status {
        status.check(run, METRICS)?;
    }
    let rows = metrics::read_lines(&run.join(METRICS))?;
    let of_status = |of: fn(&Status) -> String| status.as_ref().map_or("unknown".into(), of);
    let (and_language, sequences) = forms(experiment, languages);
    let values = [
        ("run", experiment.id()),
        ("state", of_status(|status| status.state.name().into())),
        ("step", checkpoint.step.to_string()),
        ("steps", experiment.train.steps.to_string()),
        ("model_seed", experiment.seeds.model.first().to_string()),
        ("trained_by", version),
        ("device", of_status(|status| status.device.clone())),
        ("tokenizers", tokenizers(experiment, languages, without)),
        ("measures", measures(&rows, checkpoint.step)),
        ("and_language", and_language),
        ("sequences", sequences),
    ];
    Ok(published.fill(CARD, experiment, languages, &values))
}

/// How to load the tokenizers.
fn tokenizers(experiment: &Experiment, languages: &Languages, without: &[Language]) -> String {
    let with: Vec<Language> = languages.all().iter().copied().filter(|language| !without.contains(language)).collect();
    let list = |languages: &[Language], text: fn(Language) -> String| {
        languages.iter().map(|&language| text(language)).collect::<Vec<_>>().join(", ")
    };
    let arm = experiment.tokenizer.interventions().collect::<Vec<_>>().join(", ");
    let mut paragraphs = Vec::new();
    let load = |subfolder: &str| {
        format!("```python\ntokenizer = AutoTokenizer.from_pretrained(\"{{folder}}\"{subfolder})\n```")
    };
    if arm.is_empty() {
        paragraphs.push(load(""));
        paragraphs.push("It puts nothing before a text: write the task's token.".to_owned());
    } else {
        paragraphs
            .push(format!("No tokenizer serves all languages here ({arm}): words have ids of their language's own."));
    }
    if let Some(first) = with.first() {
        paragraphs.push(format!(
            "Each language has one with the ids that the model was trained on. It puts the token of T0 and the language \
             before a text, unless `add_special_tokens=False`: {}.",
            list(&with, |language| format!("`{}`", tokenizer_folder(language)))
        ));
        paragraphs.push(load(&format!(", subfolder=\"{}\"", tokenizer_folder(*first))));
    }
    if !without.is_empty() {
        paragraphs.push(format!(
            "No `tokenizer.json` can give the ids of {} ({arm}), since they depend on the word: `segmentation.tsv` has them.",
            list(without, |language| language.name().to_owned())
        ));
    }
    paragraphs.join("\n\n")
}

/// The main measures of a step, a row each, a column per condition.
fn measures(rows: &[Row], step: u64) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.step == step).collect();
    let mut conditions: Vec<&Condition> = Vec::new();
    for condition in rows.iter().filter_map(|row| row.quantity.condition.as_ref()) {
        if !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
    if conditions.is_empty() {
        return "Nothing was evaluated at this step.".into();
    }
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines = vec![line(std::iter::once(String::new()).chain(conditions.iter().map(|c| c.label())).collect())];
    lines.push(format!("|---|{}", "---|".repeat(conditions.len())));
    for compared in COMPARED {
        let value = |condition: &&Condition| {
            let is_it = |row: &&&Row| {
                row.quantity.measure == compared.measure && row.quantity.condition.as_ref() == Some(*condition)
            };
            rows.iter().find(is_it).map_or("–".into(), |row| format!("{:.3}", row.value))
        };
        lines.push(line(std::iter::once(compared.name.to_owned()).chain(conditions.iter().map(value)).collect()));
    }
    lines.join("\n")
}
