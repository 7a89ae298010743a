//! The overview of one run: where it stands, what it measured last, and samples of what it wrote.

use super::table;
use crate::data::{Run, Study};
use crate::draw::escape;
use crate::figures::{conditions, digits};
use serde_json::{Map, Value as Json};

pub fn section(study: &Study) -> String {
    let mut html = format!("<section id=\"overview\">\n<h1>{}</h1>\n", escape(&study.name));
    for note in &study.notes {
        html.push_str(&format!("<p class=\"note\">{}</p>\n", escape(note)));
    }
    if let Some(run) = study.runs.first() {
        html.push_str(&lead(run));
        html.push_str(&settings(run));
        html.push_str(&latest(study, run));
    }
    html.push_str(&samples(study));
    html.push_str("</section>\n");
    html
}

fn lead(run: &Run) -> String {
    let step = run.curves.last_step();
    let total = run.number("train.steps");
    let so_far = match (step, total) {
        (Some(step), Some(total)) => format!("evaluated up to step {step} of {total}"),
        (Some(step), None) => format!("evaluated up to step {step}"),
        (None, _) => "nothing evaluated yet".into(),
    };
    let bar = match (step, total) {
        (Some(step), Some(total)) if !run.done() => format!("<progress max=\"{total}\" value=\"{step}\"></progress> "),
        _ => String::new(),
    };
    format!(
        "<p class=\"lead\">{bar}State: {}; {so_far}. One run has one seed: nothing here carries an interval over seeds.</p>\n",
        escape(run.state())
    )
}

/// The settings and tokenizer measures worth seeing first.
fn settings(run: &Run) -> String {
    const SHOWN: [(&str, &str); 14] = [
        ("|*V*|", "tokenizer.vocab"),
        ("regime", "tokenizer.regime"),
        ("*λ*", "mixture.lambda"),
        ("*d*", "language.distance"),
        ("data seed", "seeds.data"),
        ("model seed", "seeds.model"),
        ("fertility A", "fertility.A"),
        ("fertility B", "fertility.B"),
        ("fertility B†", "fertility.B_masked"),
        ("overlap", "overlap"),
        ("*β̂*", "bridge.jaccard"),
        ("cognate *β̂*", "cognate_bridge.jaccard"),
        ("distance, stems", "distance.stems"),
        ("*λ* left", "lambda_left"),
    ];
    let known: Vec<_> = SHOWN.iter().filter_map(|(name, column)| Some((*name, run.columns.get(*column)?))).collect();
    if known.is_empty() {
        return String::new();
    }
    let header: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let cell = |value: &crate::data::Value| match value {
        crate::data::Value::Number(number) if number.fract() != 0.0 => {
            escape(format!("{number:.4}").trim_end_matches('0'))
        }
        other => escape(&other.to_string()),
    };
    table("plain", &header, [known.iter().map(|(_, value)| cell(value)).collect()])
}

/// The last evaluation of T₁, by condition.
fn latest(study: &Study, run: &Run) -> String {
    const METRICS: [(&str, &str); 6] = [
        ("validity", "validity"),
        ("grammaticality", "grammaticality"),
        ("type constraints", "types"),
        ("Γ", "facts"),
        ("same words", "same_words"),
        ("exact", "exact"),
    ];
    let rows: Vec<Vec<String>> = conditions()
        .map(|(key, label)| {
            let last = |metric: &str| run.last(study.key(key, "T1", metric)).map_or("–".into(), digits);
            std::iter::once(label.to_owned()).chain(METRICS.iter().map(|(_, metric)| last(metric))).collect()
        })
        .collect();
    let header: Vec<&str> = std::iter::once("T₁, last evaluation").chain(METRICS.iter().map(|it| it.0)).collect();
    table("plain", &header, rows)
}

/// The last of the samples the run kept, failures first as it wrote them.
fn samples(study: &Study) -> String {
    const MOST: usize = 60;
    let kept = &study.samples[study.samples.len().saturating_sub(MOST)..];
    if kept.is_empty() {
        return String::new();
    }
    // What went wrong before what was written; fields this does not know of come last.
    let known = ["step", "condition", "task", "holds", "failure", "reason", "prompt", "output", "expected"];
    let mut header: Vec<&str> =
        known.into_iter().filter(|key| kept.iter().any(|sample| sample.contains_key(*key))).collect();
    for key in kept.iter().flat_map(Map::keys) {
        if !header.contains(&key.as_str()) {
            header.push(key);
        }
    }
    let cell = |value: Option<&Json>| match value {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => escape(text),
        Some(other) => escape(&other.to_string()),
    };
    let rows = kept.iter().rev().map(|sample| header.iter().map(|key| cell(sample.get(*key))).collect());
    format!(
        "<details><summary>Samples ({} of {}, latest first)</summary>{}</details>\n",
        kept.len(),
        study.samples.len(),
        table("plain samples", &header, rows)
    )
}
