//! What several runs of one experiment come to together: one table over their seeds, and one verdict.

use crate::study::format::count;
use crate::table;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_report::claims::in_plain_words;
use invitro_report::data::{Run, Study};
use invitro_report::draw::plain_text;
use invitro_results::claims::SEEDS;
use invitro_results::{Condition, Loss, Measure, Moment, Quantity, TaskMetric, column};
use std::path::Path;

/// The measures of the table, each with its name for people, and whether its sign is shown.
fn measures() -> [(&'static str, Measure, bool); 6] {
    [
        ("unscrambling: grammatical", Measure::unscrambling(TaskMetric::Grammaticality), false),
        ("unscrambling: types hold", Measure::unscrambling(TaskMetric::Types), false),
        ("unscrambling: facts hold", Measure::unscrambling(TaskMetric::Facts), false),
        ("unscrambling: same words", Measure::unscrambling(TaskMetric::SameWords), false),
        ("contrast of facts, nats", Measure::KNOWLEDGE, true),
        ("bits per character", Measure::Loss(Loss::BitsPerChar), false),
    ]
}

/// Prints the table of those of these runs that are done, whose folders are in `folder`, and what they say.
pub fn print(folder: &Path, runs: &[String], page: Option<&Path>) -> Result<()> {
    let mut study = Study::open(folder)?;
    study.runs.retain(|run| runs.contains(&run.id));
    let width = terminal::width(To::Out);
    say!("{}\n", table(&study, width));
    for sentence in in_plain_words(&study) {
        say!("{}", terminal::wrap(&plain_text(&sentence), width));
    }
    match page {
        Some(page) => say!("report: {}", page.display()),
        None => say!("`invitro report {}` pools them in one page.", folder.display()),
    }
    Ok(())
}

fn number(value: Option<f64>, signed: bool) -> String {
    match value {
        Some(value) if signed => format!("{value:+.2}"),
        Some(value) => format!("{value:.2}"),
        None => "–".into(),
    }
}

/// Of every measure the mean over seeds, and its interval; or, where data seeds are too few for one to mean anything,
/// the value of every run.
fn table(study: &Study, width: Option<usize>) -> String {
    let runs: Vec<&Run> = study.ended(&[]).collect();
    let conditions: Vec<&Condition> = study.conditions().iter().collect();
    let seeds = |run: &Run, key: &str| run.number(key).map_or_else(String::new, |seed| seed.to_string());
    let head = format!("mean of {}, at the end", count(runs.len(), "run"));
    let row = |name: &str, cell: &dyn Fn(&Condition) -> String| {
        std::iter::once(name.to_owned()).chain(conditions.iter().map(|c| cell(c))).collect::<Vec<String>>()
    };
    let mut rows = vec![table::heads(row(&head, &Condition::label))];
    for (name, measure, signed) in measures() {
        let end = |run: &Run, c: &Condition| run.curve(&Quantity::in_condition(measure, c)).end();
        let estimate =
            |c: &Condition| study.read(runs.iter().copied(), &Quantity::in_condition(measure, c), Moment::End);
        if conditions.iter().all(|c| estimate(c).is_none()) {
            continue;
        }
        rows.push(row(name, &|c| number(estimate(c).map(|it| it.value), signed)));
        if conditions.iter().all(|c| estimate(c).is_none_or(|it| it.data_seeds >= SEEDS)) {
            let interval = |c: &Condition| estimate(c)?.interval;
            rows.push(row("  95 % over seeds", &|c| {
                interval(c).map_or("–".into(), |it| {
                    format!("[{}, {}]", number(Some(it.low), signed), number(Some(it.high), signed))
                })
            }));
            continue;
        }
        for run in &runs {
            let name = format!("  data {}, model {}", seeds(run, column::DATA_SEED), seeds(run, column::MODEL_SEED));
            rows.push(row(&name, &|c| number(end(run, c), signed)));
        }
    }
    table::numbers(&rows, width)
}
