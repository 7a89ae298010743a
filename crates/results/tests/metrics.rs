//! Metrics as they are read back.

use invitro_results::metrics::{curves, read, read_lines, write};
use invitro_results::{Condition, Measure, Quantity, Rows, Scorer, Statistic, Targets, TaskMetric};

#[test]
fn what_was_written_twice_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.jsonl");
    let line = |step: u64, task: &str| {
        format!(
            "{{\"run\":\"r\",\"step\":{step},\"condition\":\"A\",\"task\":\"{task}\",\"metric\":\"validity\",\"value\":0.5}}\n"
        )
    };
    std::fs::write(&path, line(0, "T1") + &line(10, "T1") + &line(10, "T0") + &line(10, "T1") + &line(0, "T1"))
        .unwrap();
    let steps: Vec<u64> = read_lines(&path).unwrap().iter().map(|row| row.step).collect();
    assert_eq!(steps, [0, 10, 10]);
}

#[test]
fn what_was_not_counted_is_nan_however_it_is_read() {
    let (a, mut rows) = (Condition::new("A", false), Vec::new());
    let share = |scorer| Measure::reach(scorer, Targets::Allowed, Statistic::Share);
    for step in [0, 100] {
        let mut now = Rows::new(step);
        now.push(Some(&a), Measure::unscrambling(TaskMetric::Validity), 0.5, 1);
        now.push(Some(&a), Measure::unscrambling(TaskMetric::Types), if step == 0 { 0.1 } else { f64::NAN }, 1);
        now.push(Some(&a), share(Scorer::Network), 0.5, 1);
        if step == 0 {
            now.push(Some(&a), share(Scorer::Unigram), 0.2, 1);
        }
        rows.extend(now.list);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.parquet");
    write(&path, "run", &rows).unwrap();
    for curves in [curves(&rows), read(&path).unwrap().remove("run").unwrap()] {
        let curve = |measure| curves.get(&Quantity::in_condition(measure, &a)).unwrap();
        assert_eq!(curve(Measure::unscrambling(TaskMetric::Validity)).end(), Some(0.5));
        assert_eq!(curve(Measure::unscrambling(TaskMetric::Types)).end(), None);
        assert_eq!(curve(share(Scorer::Unigram)).end(), Some(0.2));
    }
}
