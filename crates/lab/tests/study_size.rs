//! Ten thousand cells: planning them and looking at them.

use crate::study_common;
use invitro_lab::study::StudyFolder;
use invitro_lab::study::grouping::{Open, populations};
use invitro_lab::study::status::Overview;
use std::time::{Duration, Instant};

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let made = work();
    (made, begun.elapsed())
}

/// The times to plan a study and to look at it, a tenth of its runs begun.
fn times(levels: usize) -> [Duration; 2] {
    let place = tempfile::tempdir().unwrap();
    let text = study_common::study(levels, 5);
    let cells = 10 * levels;
    let (folder, planned) = timed(|| {
        let folder = study_common::create(place.path(), &text);
        let groups = populations(folder.cells.iter().map(|cell| Open { cell, step: 0 }), |_| 2);
        assert_eq!(groups.len(), cells / 2);
        folder
    });
    assert_eq!(folder.cells.len(), cells);
    for cell in folder.cells.iter().step_by(10) {
        let run = folder.run(cell);
        std::fs::create_dir_all(&run).unwrap();
        let status = invitro_lab::Status::new(cell.id.clone(), cell.experiment.train.steps);
        std::fs::write(run.join("status.json"), serde_json::to_string(&status).unwrap()).unwrap();
    }
    let (overview, looked_at) = timed(|| {
        let folder = StudyFolder::open(&folder.path).unwrap();
        Overview::read(&folder, Duration::from_secs(60)).unwrap()
    });
    assert_eq!(overview.counts().waiting, cells);
    [planned, looked_at]
}

/// Ten times the cells take ten times as long, not a hundred times.
#[test]
fn time_grows_with_the_number_of_cells() {
    let small = [(); 3].map(|()| times(100));
    let large = times(1000);
    for (what, at) in [("planned", 0), ("looked at", 1)] {
        let slowest = small.iter().map(|times| times[at]).max().unwrap();
        assert!(large[at] < 40 * slowest, "{what}: {:?} for 10,000 cells, {slowest:?} for 1,000", large[at]);
    }
}
