//! Ten thousand cells: planning them and looking at them take less than two seconds.

use crate::study_common;
use invitro_lab::study::StudyFolder;
use invitro_lab::study::grouping::{Open, populations};
use invitro_lab::study::status::Overview;
use std::time::{Duration, Instant};

/// Seconds of processor time this process has taken, over all its threads. Others at work on the machine do not count,
/// and on more than one core the time that passes is less.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[11..13].iter().map(|field| field.parse::<f64>().unwrap()).sum();
    ticks / 100.0
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (begun, before) = (Instant::now(), processor_seconds());
    let made = work();
    let (passed, spent) = (begun.elapsed().as_secs_f64(), processor_seconds() - before);
    println!("{what}: {passed:.2} s, {spent:.2} s of processor time");
    assert!(spent < 2.0, "{what} took {spent} s of processor time");
    made
}

#[test]
fn ten_thousand_cells_take_less_than_two_seconds() {
    let place = tempfile::tempdir().unwrap();
    let text = study_common::study(1000, 5);
    let folder = timed("planned", || {
        let folder = study_common::create(place.path(), &text);
        let groups = populations(folder.cells.iter().map(|cell| Open { cell, step: 0 }), |_| 2);
        assert_eq!(groups.len(), 5_000);
        folder
    });
    assert_eq!(folder.cells.len(), 10_000);
    // A tenth of them have begun.
    for cell in folder.cells.iter().step_by(10) {
        let run = folder.run(cell);
        std::fs::create_dir_all(&run).unwrap();
        let status = invitro_lab::Status::new(cell.id.clone(), cell.experiment.train.steps);
        std::fs::write(run.join("status.json"), serde_json::to_string(&status).unwrap()).unwrap();
    }
    let overview = timed("looked at", || {
        let folder = StudyFolder::open(&folder.path).unwrap();
        Overview::read(&folder, Duration::from_secs(60)).unwrap()
    });
    assert_eq!(overview.counts().waiting, 10_000);
}
