//! The overview of one run: where it stands, what it measured last, and samples of what it wrote.

use super::claims;
use super::html::table;
use crate::claims::ClaimAnswers;
use crate::data::{FactorWords, Run, Study};
use crate::draw::escape;
use crate::figures::{BRIDGE, COGNATE, metric_label};
use invitro_results::words::Sample;
use invitro_results::{
    Condition, LanguageMetric, Measure, Quantity, TaskMetric, TokenizerMetric, Value, Words, column,
};
use invitro_stats::digits;

/// `first` is the figure that shows the finding.
pub fn section(study: &Study, answers: &ClaimAnswers, first: &str) -> String {
    let mut html = format!("<section id=\"overview\">\n<h1>{}</h1>\n", escape(&study.name));
    html.push_str(&super::notes(study));
    html.push_str(&claims::opening(study, answers, first));
    if let Some(run) = study.runs.first() {
        html.push_str(&lead(run));
        html.push_str(&settings(study, run));
        html.push_str(&latest(study, run));
    }
    html.push_str(&samples(study));
    html.push_str("</section>\n");
    html
}

fn lead(run: &Run) -> String {
    let step = run.last_step();
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
        "<p class=\"lead\">{bar}State: {}; {so_far}. Nothing here carries an interval over seeds.</p>\n",
        escape(run.state())
    )
}

/// The settings and tokenizer measures worth seeing first.
fn settings(study: &Study, run: &Run) -> String {
    let mut columns: Vec<(String, String)> =
        study.paper_factors().iter().map(|factor| (factor.symbol().to_owned(), factor.key().to_owned())).collect();
    columns.push(("data seed".into(), column::DATA_SEED.into()));
    columns.push(("model seed".into(), column::MODEL_SEED.into()));
    let fertility = |condition: &Condition| {
        let quantity = Quantity::in_condition(Measure::Tokenizer(Words::Text, TokenizerMetric::Fertility), condition);
        (format!("fertility {}", condition.label()), quantity.to_string())
    };
    columns.extend(study.conditions().iter().map(fertility));
    let overall = [
        ("overlap", Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap)),
        ("*β̂*", BRIDGE),
        ("cognate *β̂*", COGNATE),
        ("distance, stems", Measure::Language(LanguageMetric::StemDistance)),
        ("*λ* left", Measure::Language(LanguageMetric::LambdaLeft)),
    ];
    for (name, measure) in overall {
        columns.push((name.to_owned(), Quantity::overall(measure).to_string()));
        // Of several languages or masks: of each.
        for condition in study.conditions() {
            let quantity = Quantity::in_condition(measure, condition).to_string();
            columns.push((format!("{name} {}", condition.label()), quantity));
        }
        if !matches!(measure, Measure::Bridge(..)) {
            for [one, other] in run.of_pairs(measure).into_iter().filter_map(|(pair, _)| pair) {
                let quantity = Quantity::between(measure, &one, &other).to_string();
                columns.push((format!("{name} {one}–{other}"), quantity));
            }
        }
    }
    let known: Vec<(&str, &Value)> =
        columns.iter().filter_map(|(name, column)| Some((name.as_str(), run.columns.get(column)?))).collect();
    if known.is_empty() {
        return String::new();
    }
    let header: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let cell = |value: &Value| match value {
        Value::Number(number) if number.fract() != 0.0 => escape(format!("{number:.4}").trim_end_matches('0')),
        other => escape(&other.to_string()),
    };
    table("plain", &header, [known.iter().map(|(_, value)| cell(value)).collect()])
}

/// The last evaluation of T₁, by condition.
fn latest(study: &Study, run: &Run) -> String {
    let metrics = [TaskMetric::CASCADE.as_slice(), &[TaskMetric::SameWords, TaskMetric::Exact]].concat();
    let row = |condition: &Condition| {
        let end = |metric: &TaskMetric| {
            let quantity = Quantity::in_condition(Measure::unscrambling(*metric), condition);
            run.curve(&quantity).end().map_or("–".into(), digits)
        };
        std::iter::once(condition.label()).chain(metrics.iter().map(end)).collect::<Vec<_>>()
    };
    let names = metrics.iter().map(|metric| metric_label(*metric));
    let header: Vec<&str> = std::iter::once("T₁, last evaluation").chain(names).collect();
    table("plain", &header, study.conditions().iter().map(row))
}

/// The last of the samples the run kept.
fn samples(study: &Study) -> String {
    const MOST: usize = 60;
    let last = &study.samples[study.samples.len().saturating_sub(MOST)..];
    if last.is_empty() {
        return String::new();
    }
    // What went wrong before what was written.
    let header = ["step", "condition", "task", "holds", "failure", "reason", "prompt", "output", "expected"];
    let row = |sample: &Sample| {
        let or_nothing = |text: &Option<String>| text.clone().unwrap_or_default();
        let Sample { step, condition, task, prompt, output, expected, holds, failure, reason } = sample;
        let first = [step.to_string(), condition.label(), task.clone(), holds.clone()];
        let cells = [or_nothing(failure), or_nothing(reason), prompt.clone(), output.clone(), expected.clone()];
        first.into_iter().chain(cells).map(|text| escape(&text)).collect()
    };
    format!(
        "<details><summary>Samples ({} of {}, latest first)</summary>{}</details>\n",
        last.len(),
        study.samples.len(),
        table("plain samples", &header, last.iter().rev().map(row))
    )
}
