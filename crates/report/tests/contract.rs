//! What `lab` writes is what the report asks for: a real run and a real study, tiny, from training to figures.

use invitro_lab::Experiment;
use invitro_lab::Stop;
use invitro_lab::study::StudyFolder;
use invitro_lab::study::collect::{self, collect};
use invitro_lab::training::progress::Silent;
use invitro_lab::training::{self, Member, MemberOutcome, TrainingOptions};
use invitro_model::Device;
use invitro_report::build;
use invitro_results::{
    Condition, Loss, Measure, Quantity, Row, Scorer, Statistic, Targets, Task, TaskMetric, folder, metrics,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/tests/common/tiny.toml");

fn train(members: &[Member]) {
    let options = TrainingOptions { device: Device::Cpu, force: false, stop: &Stop::new(), progress: &Silent };
    let outcomes = training::run(members, &options).unwrap();
    assert!(outcomes.iter().all(|outcome| *outcome == MemberOutcome::Done), "{outcomes:?}");
}

fn logged(run: &Path) -> Vec<Row> {
    metrics::read_lines(&run.join(folder::METRICS)).unwrap()
}

/// Builds the report and returns the rows of a figure's table by what comes before its numbers.
struct Report(BTreeMap<String, Vec<Vec<String>>>);

impl Report {
    fn of(results: &Path, figures: &[&str]) -> Report {
        build(results, &invitro_report::ReportOptions { force: true, ..Default::default() }).unwrap();
        let html = fs::read_to_string(results.join(folder::REPORT)).unwrap();
        let table = |name: &&str| {
            let shown = html.split(&format!("<figure id=\"fig-{name}\"")).nth(1).unwrap_or_else(|| panic!("no {name}"));
            assert!(shown.starts_with('>') || shown.starts_with(" data-folded>"), "{name} shows nothing");
            let csv = fs::read_to_string(results.join(format!("figures/data/{name}.csv"))).unwrap();
            let rows: Vec<Vec<String>> = csv.lines().skip(1).map(cells).collect();
            assert!(!rows.is_empty(), "{name} has numbers");
            ((*name).to_owned(), rows)
        };
        assert_eq!(html.matches("<figure id=").count(), figures.len(), "no other figure");
        Report(figures.iter().map(table).collect())
    }

    /// Every row of a figure against what was logged.
    fn check(&self, figure: &str, expected: impl Fn(&[&str]) -> Option<f64>, numbers: usize) {
        let mut checked = 0;
        for row in &self.0[figure] {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            let (keys, values) = cells.split_at(cells.len() - numbers);
            let Some(expected) = expected(keys) else { continue };
            let got: f64 = values[0].parse().unwrap_or_else(|_| panic!("{figure}: {row:?} against {expected}"));
            assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{figure}: {row:?} against {expected}");
            checked += 1;
        }
        assert!(checked > 0, "{figure}: nothing was checked");
    }
}

fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            letter => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

/// The condition of a label: `B†`.
fn condition(rows: &[Row], label: &str) -> Condition {
    let mut all = rows.iter().filter_map(|row| row.quantity.condition.as_ref());
    all.find(|condition| condition.label() == label).unwrap_or_else(|| panic!("no condition {label}")).clone()
}

/// The mean over runs of the value at a step.
fn at(runs: &[&Vec<Row>], quantity: &Quantity, step: &str) -> f64 {
    let found = |rows: &&Vec<Row>| {
        rows.iter().find(|row| row.quantity == *quantity && row.step.to_string() == step).map(|row| row.value)
    };
    let values: Vec<f64> = runs.iter().filter_map(found).collect();
    assert!(!values.is_empty(), "{quantity} at {step} was not logged");
    values.iter().sum::<f64>() / values.len() as f64
}

/// The runs at a level of what was varied, the distance.
fn within<'a>(rows: &'a [(f64, Vec<Row>)], by: &str, level: &str) -> Vec<&'a Vec<Row>> {
    assert_eq!(by, "d", "nothing else varies");
    rows.iter().filter(|(own, _)| own.to_string() == level).map(|(_, rows)| rows).collect()
}

/// What a panel of the first figure draws.
fn drawn(title: &str) -> Measure {
    match title {
        "reachable targets, share" => Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share),
        "contrast of facts, nats" => Measure::KNOWLEDGE,
        _ => Measure::unscrambling(TaskMetric::Grammaticality),
    }
}

#[test]
fn a_run() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    let experiment = Experiment::load(None, Some(Path::new(TINY)), &[]).unwrap();
    train(&[Member { experiment, folder: run.clone() }]);
    let report = Report::of(&run, &["trajectory", "curves", "cascade", "reach", "contrast", "loss", "sentences"]);
    let rows = logged(&run);
    let runs = [&rows];
    report.check(
        "trajectory",
        |keys| {
            let [_, title, label, _, step] = keys else { panic!("{keys:?}") };
            Some(at(&runs, &Quantity::in_condition(drawn(title), &condition(&rows, label)), step))
        },
        4,
    );
    report.check(
        "curves",
        |keys| {
            let [task, label, metric, step] = keys else { panic!("{keys:?}") };
            let task = Task::ALL.into_iter().find(|one| one.name() == *task).unwrap();
            let measure = Measure::Task(task, metric.parse().unwrap());
            Some(at(&runs, &Quantity::in_condition(measure, &condition(&rows, label)), step))
        },
        4,
    );
    report.check(
        "reach",
        |keys| {
            let [reading, label, who, step] = keys else { panic!("{keys:?}") };
            let statistic = if reading.starts_with("any") { Statistic::Any } else { Statistic::Share };
            let (scorer, targets) = who.split_once('.').unwrap();
            let measure = Measure::reach(scorer.parse().unwrap(), targets.parse().unwrap(), statistic);
            Some(at(&runs, &Quantity::in_condition(measure, &condition(&rows, label)), step))
        },
        4,
    );
    report.check(
        "contrast",
        |keys| {
            let [set, counted, label, step] = keys else { panic!("{keys:?}") };
            if label.contains("masked") {
                return None;
            }
            let targets = if set.starts_with("facts") { Targets::Facts } else { Targets::Types };
            let statistic = if counted.starts_with("share") { Statistic::Share } else { Statistic::LogProb };
            let measure = Measure::reach(Scorer::Network, targets, statistic);
            Some(at(&runs, &Quantity::in_condition(measure, &condition(&rows, label)), step))
        },
        3,
    );
    report.check(
        "loss",
        |keys| {
            let [over, _by, _level, what, step] = keys else { panic!("{keys:?}") };
            let measure = Measure::Loss(if *what == "floor" { Loss::Floor } else { Loss::BitsPerChar });
            let condition = (*over != "the mixture").then(|| condition(&rows, over));
            Some(at(&runs, &Quantity { measure, condition, pair: None }, step))
        },
        4,
    );
    let steps: BTreeSet<u64> = rows.iter().map(|row| row.step).collect();
    let shown: BTreeSet<u64> = report.0["curves"].iter().map(|row| row[3].parse().unwrap()).collect();
    assert_eq!(shown, steps, "every evaluation is shown");
}

#[test]
fn a_study() {
    let place = tempfile::tempdir().unwrap();
    fs::copy(TINY, place.path().join("tiny.toml")).unwrap();
    let file = place.path().join("study.toml");
    let text = "name = \"contract\"\nbase = \"tiny.toml\"\n[factors]\nlanguage.distance = [0.0, 0.5]\n\
                [seeds]\ndata = [0, 1]\nmodel = [0, 1]\n";
    fs::write(&file, text).unwrap();
    let study = StudyFolder::create(&file, &[], &place.path().join("out"), None, false).unwrap();
    let member = |cell| -> Member {
        let cell: &invitro_lab::study::Cell = cell;
        Member { experiment: cell.experiment.clone(), folder: study.run(cell) }
    };
    train(&study.cells.iter().map(member).collect::<Vec<_>>());
    let figures = [
        "trajectory",
        "effects",
        "reachability",
        "nulls",
        "contrast",
        "contrast-bridge",
        "word-bridge",
        "bridge",
        "maxima",
        "emergence-by-language",
        "emergence-by-level",
        "cascade",
        "dynamics",
        "fertility",
        "continuation",
        "overlap",
        "loss",
        "sentences",
    ];
    let rows: Vec<(f64, Vec<Row>)> =
        study.cells.iter().map(|cell| (cell.experiment.language.distance, logged(&study.run(cell)))).collect();
    let from_folders = Report::of(&study.path, &figures);
    collect(&study, collect::CollectRequest::default()).unwrap();
    let from_tables = Report::of(&study.path, &figures);
    for report in [from_folders, from_tables] {
        report.check(
            "trajectory",
            |keys| {
                let [_, title, label, level, step] = keys else { panic!("{keys:?}") };
                let runs = if level.is_empty() {
                    rows.iter().map(|(_, rows)| rows).collect()
                } else {
                    within(&rows, "d", level)
                };
                Some(at(&runs, &Quantity::in_condition(drawn(title), &condition(runs[0], label)), step))
            },
            4,
        );
        report.check(
            "dynamics",
            |keys| {
                let [by, level, label, metric, step] = keys else { panic!("{keys:?}") };
                let measure = Measure::unscrambling(metric.parse().unwrap());
                let runs = within(&rows, by, level);
                Some(at(&runs, &Quantity::in_condition(measure, &condition(runs[0], label)), step))
            },
            4,
        );
        report.check(
            "reachability",
            |keys| {
                let [reading, label, by, level, _panel, _row, step] = keys else { panic!("{keys:?}") };
                let statistic = if reading.starts_with("any") { Statistic::Any } else { Statistic::Share };
                let measure = Measure::reach(Scorer::Network, Targets::Allowed, statistic);
                let runs = within(&rows, by, level);
                Some(at(&runs, &Quantity::in_condition(measure, &condition(runs[0], label)), step))
            },
            4,
        );
        report.check(
            "contrast",
            |keys| {
                let [set, counted, label, distance] = keys else { panic!("{keys:?}") };
                if label.contains("masked") || !set.starts_with("facts") || counted.starts_with("share") {
                    return None;
                }
                let runs = within(&rows, "d", distance);
                let last = runs[0].iter().map(|row| row.step).max().unwrap().to_string();
                Some(at(&runs, &Quantity::in_condition(Measure::KNOWLEDGE, &condition(runs[0], label)), &last))
            },
            4,
        );
    }
}
