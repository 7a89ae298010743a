//! The first screen of one run: what was asked, what the model does in each condition with an example of it, and two curves;
//! then its settings, its last measures and more of what it wrote.

use super::claims;
use super::html::table;
use crate::claims::{ClaimAnswers, metric_label, withheld_noun};
use crate::data::{FactorWords, Run, Study};
use crate::draw::escape;
use crate::figures::{BRIDGE, COGNATE};
use crate::wording::listed;
use invitro_results::words::Sample;
use invitro_results::{
    Condition, LanguageMetric, Measure, Quantity, TaskMetric, TokenizerMetric, Value, Words, column,
};
use invitro_stats::{Estimate, digits};

/// `first` is the figure that shows the finding.
pub fn section(study: &Study, answers: &ClaimAnswers, first: &str) -> String {
    let mut html = format!("<section id=\"overview\">\n<h1>{}</h1>\n", escape(&study.name));
    html.push_str(&super::notes(study));
    html.push_str(&task_text(study));
    html.push_str(&study.runs.first().map_or(String::new(), |run| did(study, run)));
    html.push_str(&claims::opening(study, answers, first));
    if let Some(run) = study.runs.first() {
        html.push_str(&lead(run));
        html.push_str(&format!(
            "<details><summary>Settings, and all checks of sentences</summary>{}{}</details>\n",
            settings(study, run),
            latest(study, run)
        ));
    }
    html.push_str(&samples(study));
    html.push_str("</section>\n");
    html
}

/// What the model was trained on, and what it was asked.
fn task_text(study: &Study) -> String {
    let labels = |masked: bool| -> Vec<String> {
        study.conditions().iter().filter(|it| it.masked == masked).map(Condition::label).collect()
    };
    let (languages, masked) = (labels(false), labels(true));
    if languages.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "A model read text in {}, which say the same things of one small world, each in words of its own.",
        listed(&languages)
    );
    if !masked.is_empty() {
        let target: Vec<String> = study.masked().map(|it| it.language.to_string()).collect();
        text.push_str(&format!(
            " It never saw some of this in {}: {}. What it does there ({}) it can only have learned from another language. It was asked to put the \
             words of scrambled sentences in order, and which words are true of a subject.",
            listed(&target),
            withheld_noun(study.withheld()),
            listed(&masked)
        ));
    }
    format!("<p>{}</p>\n", escape(&text))
}

/// What it does in each condition, and a sentence that it put in order.
fn did(study: &Study, run: &Run) -> String {
    let number = |measure: Measure, condition: &Condition| {
        let point = run.curve(&Quantity::in_condition(measure, condition)).last()?;
        Some(Estimate::of_run(point.value, point.interval()).to_string())
    };
    let row = |condition: &Condition| {
        let measure = Measure::unscrambling(TaskMetric::Grammaticality);
        let grammatical = run.curve(&Quantity::in_condition(measure, condition)).end();
        let known = number(Measure::KNOWLEDGE, condition);
        let sample = example(study, condition, grammatical.is_some_and(|share| share >= 0.5));
        if grammatical.is_none() && known.is_none() && sample.is_none() {
            return None;
        }
        let example = sample.map_or(String::new(), |sample| {
            let verdict = match (&sample.reason, sample.output == sample.expected) {
                (_, true) => "as it was meant".to_owned(),
                (Some(reason), _) => reason.clone(),
                (None, _) => format!("another sentence; {} hold", sample.holds),
            };
            let texts = [&sample.prompt, &sample.output].map(|text| escape(text));
            format!("{} <b>→</b> {} <small>({})</small>", texts[0], texts[1], escape(&verdict))
        });
        let shown = |value: Option<String>| value.unwrap_or_else(|| "–".into());
        Some(vec![condition.label(), shown(grammatical.map(digits)), shown(known), example])
    };
    let rows: Vec<Vec<String>> = study.conditions().iter().filter_map(row).collect();
    let header = ["in", "grammatical", "facts known, nats", "words given → sentence made"];
    if rows.is_empty() { String::new() } else { table("plain did", &header, rows) }
}

/// A short sentence of the last evaluation that went as most do.
fn example<'a>(study: &'a Study, condition: &Condition, is_right: bool) -> Option<&'a Sample> {
    let last = study.samples.iter().map(|sample| sample.step).max()?;
    let own = || study.samples.iter().filter(|it| it.condition == *condition && it.task == "T1" && it.step == last);
    let usual = own().filter(|sample| sample.reason.is_none() == is_right).min_by_key(|sample| sample.prompt.len());
    usual.or_else(|| own().min_by_key(|sample| sample.prompt.len()))
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
    let words = [TaskMetric::SameWords, TaskMetric::OtherWords, TaskMetric::NonWords, TaskMetric::Exact];
    let metrics = [TaskMetric::CASCADE.as_slice(), &words].concat();
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
