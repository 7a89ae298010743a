//! What a finished run comes to, in a table and two sentences.

use crate::table;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_lab::training::Member;
use invitro_lab::training::progress::conditions;
use invitro_lab::{Experiment, Status};
use invitro_report::claims::{in_plain_words, withheld_noun};
use invitro_report::draw::plain_text;
use invitro_results::folder::METRICS;
use invitro_results::{
    Condition, Curve, Emergence, FolderKind, Form, Loss, Measure, Quantity, Results, Row, Run, Scorer, SortedMap,
    Statistic, Study, Targets, Task, TaskMetric, Value, Withheld, metrics,
};
use std::path::{Path, PathBuf};

/// Writes the report of a run that is done, or of the runs of an experiment's seeds.
pub fn report(folder: &Path) -> Result<PathBuf> {
    // The report in a run's folder is the run's own, and made anew with it.
    let options = invitro_report::ReportOptions { force: true, ..Default::default() };
    Ok(invitro_report::build(folder, &options)?.page)
}

/// Prints the table of a run that is done.
pub fn print(member: &Member, report: Option<&Path>) -> Result<()> {
    let rows = metrics::read_lines(&member.folder.join(METRICS))?;
    say!("{}", table(&rows, &member.experiment, terminal::width(To::Out)));
    if let Some(status) = Status::read(&member.folder)? {
        let (train, eval) = (status.seconds.train, status.seconds.eval);
        let share = 100.0 * eval / (train + eval).max(1e-9);
        say!(
            "{} · training {train:.0} s, evaluation {eval:.0} s ({share:.0} %) · {}",
            status.device,
            member.folder.display()
        );
    }
    if let Some(report) = report {
        say!("report: {}", report.display());
    }
    Ok(())
}

/// The last evaluation of a run, and its curves.
struct Last<'a> {
    rows: Vec<&'a Row>,
    curves: SortedMap<Quantity, Curve>,
    /// In the order they were measured.
    conditions: Vec<Condition>,
}

impl Last<'_> {
    fn row(&self, condition: &Condition, measure: Measure) -> Option<&Row> {
        let quantity = Quantity::in_condition(measure, condition);
        self.rows.iter().copied().find(|row| row.quantity == quantity)
    }

    fn value(&self, condition: &Condition, measure: Measure) -> Option<f64> {
        self.row(condition, measure).map(|row| row.value)
    }

    fn curve(&self, condition: &Condition, measure: Measure) -> Option<&Curve> {
        self.curves.get(&Quantity::in_condition(measure, condition))
    }

    /// How many sentences the shares of a task are of.
    fn sentences(&self, task: Task) -> String {
        let validity = Measure::Task(task, TaskMetric::Validity);
        let row = self.conditions.first().and_then(|condition| self.row(condition, validity));
        row.map_or(String::new(), |row| format!(", {} each", row.n))
    }
}

/// The headline metrics of the last evaluation, in lines that fit `width`, and what they say.
pub fn table(rows: &[Row], experiment: &Experiment, width: Option<usize>) -> String {
    let threshold = experiment.eval.emergence;
    let withheld = Withheld::from_settings([Some(experiment.mixture.withhold.name())].into_iter());
    let step = rows.iter().map(|row| row.step).max().unwrap_or(0);
    let conditions = conditions(rows);
    let last = Last {
        rows: rows.iter().filter(|row| row.step == step).collect(),
        curves: metrics::curves(rows),
        conditions: conditions.clone(),
    };
    let mut lines =
        vec![table::heads(std::iter::once(format!("step {step}")).chain(conditions.iter().map(Condition::label)))];
    let mut line = |name: &str, cell: &dyn Fn(&Condition) -> Option<String>| {
        let all: Vec<Option<String>> = conditions.iter().map(cell).collect();
        if all.iter().any(Option::is_some) {
            let cells = all.into_iter().map(|cell| cell.unwrap_or_else(|| "–".into()));
            lines.push(std::iter::once(name.to_owned()).chain(cells).collect());
        }
    };
    let share = |condition: &Condition, measure| last.value(condition, measure).map(|value| format!("{value:.2}"));
    line(&format!("unscrambling (T1){}: valid", last.sentences(Task::T1)), &|condition| {
        share(condition, Measure::unscrambling(TaskMetric::Validity))
    });
    for (name, metric) in [
        ("  grammatical", TaskMetric::Grammaticality),
        ("  types hold", TaskMetric::Types),
        ("  facts hold", TaskMetric::Facts),
        ("  the words of the prompt", TaskMetric::SameWords),
    ] {
        line(name, &|condition| share(condition, Measure::unscrambling(metric)));
    }
    for (name, task) in [("free sentences (T0)", Task::T0), ("conditional ones (T2)", Task::T2)] {
        let name = format!("{name}{}: facts", last.sentences(task));
        line(&name, &|condition| share(condition, Measure::Task(task, TaskMetric::Facts)));
    }
    for (name, scorer, targets) in [
        ("reachable at 0.1 |V|: allowed", Scorer::Network, Targets::Allowed),
        ("  forbidden by Γ", Scorer::Network, Targets::Forbidden),
        ("  of other classes", Scorer::Network, Targets::Other),
        ("  allowed, a unigram model's", Scorer::Unigram, Targets::Allowed),
    ] {
        line(name, &|condition| share(condition, Measure::reach(scorer, targets, Statistic::Share)));
    }
    for (name, targets, statistic) in [
        ("contrast of facts, share", Targets::Facts, Statistic::Share),
        ("contrast of facts, nats", Targets::Facts, Statistic::LogProb),
        ("contrast of types, share", Targets::Types, Statistic::Share),
        ("contrast of types, nats", Targets::Types, Statistic::LogProb),
    ] {
        let row = |condition: &Condition| last.row(condition, Measure::reach(Scorer::Network, targets, statistic));
        line(name, &|condition| Some(format!("{:+.2}", row(condition)?.value)));
        line("  its 95 % interval", &|condition| {
            let interval = row(condition)?.interval?;
            Some(format!("[{:+.2}, {:+.2}]", interval.low, interval.high))
        });
    }
    for form in Form::ALL {
        let row = |condition: &Condition| last.row(condition, Measure::Contrast(Scorer::Network, form));
        line(&format!("contrast of facts, nats: {form}"), &|condition| Some(format!("{:+.2}", row(condition)?.value)));
        line("  its 95 % interval", &|condition| {
            let interval = row(condition)?.interval?;
            Some(format!("[{:+.2}, {:+.2}]", interval.low, interval.high))
        });
    }
    let emerged = |condition: &Condition, metric, when: fn(&Curve, f64) -> Option<Emergence>| {
        let curve = last.curve(condition, Measure::unscrambling(metric))?;
        when(curve, threshold)?.step().map(|step| step.to_string())
    };
    line("emerged at step: grammatical", &|c| emerged(c, TaskMetric::Grammaticality, Curve::emergence));
    for (name, metric) in [
        ("  to stay: grammatical", TaskMetric::Grammaticality),
        ("  to stay: types", TaskMetric::Types),
        ("  to stay: facts", TaskMetric::Facts),
    ] {
        line(name, &|condition| emerged(condition, metric, Curve::lasting_emergence));
    }
    line("bits per character", &|condition| {
        last.value(condition, Measure::Loss(Loss::BitsPerChar)).map(|bits| format!("{bits:.3}"))
    });
    line("  its floor", &|condition| {
        last.value(condition, Measure::Loss(Loss::Floor)).map(|bits| format!("{bits:.3}"))
    });
    let mut text = table::numbers(&lines, width);
    text += &translations(&last, width).map_or(String::new(), |table| format!("\n\n{table}"));
    let mut sentences: Vec<String> = conditions
        .iter()
        .filter(|condition| condition.masked)
        .filter_map(|masked| use_of_words(&last, masked, withheld))
        .collect();
    sentences.extend(answers(&last, experiment));
    if !sentences.is_empty() {
        text += &format!("\n\n{}", terminal::wrap(&sentences.join("\n"), width));
    }
    text
}

/// Whether facts cross, as far as one run can tell.
fn answers(last: &Last, experiment: &Experiment) -> Vec<String> {
    let withhold = ("mixture.withhold", Value::Text(experiment.mixture.withhold.name().into()));
    let run = Run { curves: last.curves.clone(), columns: [withhold].into(), ..Run::default() };
    let results = Results::new(experiment.name.clone(), Path::new(""), FolderKind::Run);
    let study = Study::new(Results { runs: vec![run], ..results });
    in_plain_words(&study).iter().map(|sentence| plain_text(sentence)).collect()
}

/// How well sentences are translated, a column for each direction.
fn translations(last: &Last, width: Option<usize>) -> Option<String> {
    let exact = Measure::Task(Task::T3, TaskMetric::Exact);
    let rows: Vec<&Row> = last.rows.iter().copied().filter(|row| row.quantity.measure == exact).collect();
    let head = |row: &&Row| {
        let ([from, to], condition) = (row.quantity.pair.as_ref()?, row.quantity.condition.as_ref()?);
        let side = |name: &str| if *condition.language == *name { condition.label() } else { name.to_owned() };
        Some(format!("{}→{}", side(from), side(to)))
    };
    let first = format!("translating (T3), {} each", rows.first()?.n);
    let mut lines = vec![table::heads(std::iter::once(first).chain(rows.iter().filter_map(head)))];
    for (name, metric) in [("  exact", TaskMetric::Exact), ("  descriptors", TaskMetric::Descriptors)] {
        let value = |row: &&Row| {
            let quantity = Quantity { measure: Measure::Task(Task::T3, metric), ..row.quantity.clone() };
            let found = last.rows.iter().find(|other| other.quantity == quantity);
            found.map_or("–".to_owned(), |row| format!("{:.2}", row.value))
        };
        lines.push(std::iter::once(name.to_owned()).chain(rows.iter().map(value)).collect());
    }
    Some(table::numbers(&lines, width))
}

/// Whether words that were never seen in a language are used, or only answered.
fn use_of_words(last: &Last, masked: &Condition, withheld: Withheld) -> Option<String> {
    let share = |metric| last.value(masked, Measure::unscrambling(metric));
    let (grammatical, same) = (share(TaskMetric::Grammaticality)?, share(TaskMetric::SameWords)?);
    Some(format!(
        "Asked to unscramble sentences with {} of {}, the model answers with a grammatical sentence in {:.0} % of the \
         cases, and with exactly those words in {:.0} %.",
        withheld_noun(withheld),
        masked.language,
        100.0 * grammatical,
        100.0 * same
    ))
}
