//! `summary.json`: a finished run as one flat row, for tables over many runs. Keys are dotted names; a value that does
//! not exist, such as the emergence of what never emerged, is null.

use crate::emergence;
use crate::error::Result;
use crate::experiment::Experiment;
use crate::files;
use crate::folder::{SUMMARY, Status};
use crate::materials::Materials;
use crate::metrics::Row;
use invitro_language::Process;
use invitro_tokenizer::bridge::Bridges;
use invitro_tokenizer::measure::Measures;
use invitro_tokenizer::sample::{self, Sample};
use serde_json::{Map, Value, json};
use std::path::Path;

pub fn write(
    folder: &Path,
    experiment: &Experiment,
    materials: &Materials,
    status: &Status,
    rows: &[Row],
) -> Result<()> {
    let mut out = Map::new();
    out.insert("run".into(), json!(experiment.id()));
    out.insert("state".into(), json!(status.state));
    out.insert("steps".into(), json!(status.steps));
    out.insert("device".into(), json!(status.device));
    out.insert("version".into(), json!(status.version));
    out.insert("schema".into(), json!(status.schema));
    out.insert("seconds.prepare".into(), json!(status.seconds.prepare));
    out.insert("seconds.train".into(), json!(status.seconds.train));
    out.insert("seconds.eval".into(), json!(status.seconds.eval));
    out.insert("seconds.save".into(), json!(status.seconds.save));
    for (key, value) in experiment.flatten() {
        let value = match serde_json::to_value(&value) {
            // A list of shares or of seeds is one text in a table.
            Ok(list @ Value::Array(_)) => json!(list.to_string()),
            Ok(value) => value,
            Err(_) => Value::Null,
        };
        out.insert(key, value);
    }
    describe_materials(experiment, materials, &mut out)?;
    describe_curves(experiment, rows, &mut out);
    files::write_json(&folder.join(SUMMARY), &out)
}

/// Measures of the languages and the tokenizer; of what there is nothing to count, null.
fn describe_materials(experiment: &Experiment, materials: &Materials, out: &mut Map<String, Value>) -> Result<()> {
    let Materials { languages, text, .. } = materials;
    out.insert("vocab".into(), json!(text.vocab()));
    out.insert("distance.stems".into(), json!(languages.lexicon.stem_distance().relative));
    out.insert("distance.words".into(), json!(languages.lexicon.word_distance().relative));
    out.insert("lambda_left".into(), json!(Process::new(languages).lambda_left(&experiment.mixture)));
    let sample = Sample::text(languages, sample::SENTENCES)?;
    let measures = Measures::new(&text.segmentation, languages, &sample).flatten();
    let bridges = Bridges::new(&text.segmentation, languages).flatten();
    out.extend(measures.into_iter().chain(bridges).map(|(key, value)| (key, json!(value))));
    Ok(())
}

/// The largest and the last value of every metric that tables ask for, and when the tasks' metrics emerged.
fn describe_curves(experiment: &Experiment, rows: &[Row], out: &mut Map<String, Value>) {
    let threshold = experiment.eval.emergence;
    let mut seen: Vec<(&str, &str, &str)> = Vec::new();
    for row in rows {
        let key = (row.task.as_str(), row.condition.as_str(), row.metric.as_str());
        if wanted(row) && !seen.contains(&key) {
            seen.push(key);
        }
    }
    for (task, condition, metric) in seen {
        let curve = emergence::curve(rows, condition, task, metric);
        let name = format!("{task}.{condition}.{metric}");
        let largest = curve.iter().map(|&(_, value)| value).fold(f64::NEG_INFINITY, f64::max);
        out.insert(format!("max.{name}"), json!(largest));
        // Null where there was nothing to count at the last step.
        out.insert(format!("final.{name}"), json!(curve.last().map(|&(_, value)| value)));
        match task {
            "T0" | "T1" | "T2" => {
                out.insert(format!("emergence.{name}"), json!(emergence::step(&curve, 0.0, threshold)));
                out.insert(format!("emergence.{name}.lasting"), json!(emergence::lasting(&curve, threshold)));
            }
            "reach" if metric.starts_with("network.allowed.share@") => {
                let null = emergence::curve(rows, condition, task, &metric.replace("network", "unigram"));
                let null = null.iter().map(|&(_, value)| value).find(|value| value.is_finite()).unwrap_or(0.0);
                out.insert(format!("emergence.{name}.over_unigram"), json!(emergence::step(&curve, null, threshold)));
            }
            _ => {}
        }
    }
}

fn wanted(row: &Row) -> bool {
    match row.task.as_str() {
        "reach" => row.metric.starts_with("network.") && !row.metric.contains("_boundary@"),
        "loss" => ["loss", "bits_per_char", "floor"].contains(&row.metric.as_str()),
        _ => !row.metric.starts_with("failure."),
    }
}
