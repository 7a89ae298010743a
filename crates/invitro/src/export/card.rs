//! The model card of an export: which run, which program, what it measured, how to use it.

use crate::version::VERSION;
use anyhow::Result;
use invitro_lab::{Experiment, Status, Trained};
use invitro_results::folder::METRICS;
use invitro_results::{COMPARED, Condition, Row, metrics};
use std::path::Path;

const CARD: &str = include_str!("card.md");

/// The text of `README.md`.
pub fn card(trained: &Trained, run: &Path, folder: &Path) -> Result<String> {
    let Trained { experiment, checkpoint, .. } = trained;
    let status = Status::read(run)?;
    let version = status.as_ref().map_or("unknown".into(), |status| match status.commit.as_str() {
        "" => status.version.clone(),
        commit => format!("{} ({commit})", status.version),
    });
    if let Some(status) = &status {
        status.check(run, METRICS)?;
    }
    let rows = metrics::read_lines(&run.join(METRICS))?;
    let of_status = |of: fn(&Status) -> String| status.as_ref().map_or("unknown".into(), of);
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let values = [
        ("name", experiment.name.clone()),
        ("run", experiment.id()),
        ("state", of_status(|status| status.state.name().into())),
        ("step", checkpoint.step.to_string()),
        ("steps", experiment.train.steps.to_string()),
        ("data_seed", experiment.seeds.data.first().to_string()),
        ("model_seed", experiment.seeds.model.first().to_string()),
        ("version", version),
        ("device", of_status(|status| status.device.clone())),
        ("exporter", VERSION.into()),
        ("folder", name),
        ("segmentation", segmentation(experiment)),
        ("measures", measures(&rows, checkpoint.step)),
        ("config", experiment.to_toml().trim_end().to_owned()),
    ];
    Ok(values.iter().fold(CARD.to_owned(), |card, (key, value)| card.replace(&format!("{{{key}}}"), value)))
}

/// What the tokenizer does not know of.
fn segmentation(experiment: &Experiment) -> String {
    let arm = experiment.tokenizer.arm().collect::<Vec<_>>().join(", ");
    if arm.is_empty() {
        return String::new();
    }
    format!(
        "\nThe tokenizer is the one before the intervention ({arm}): what it gives is not what the model was trained on. The ids \
         of every word are in `segmentation.tsv`; ids beyond the tokenizer's are a language's own.\n"
    )
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
