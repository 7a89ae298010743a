//! Writes a study that was never run and its report, to look at figures with:
//! `synthetic_study FOLDER [small|family|arms|run|half|large]`.

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use invitro_report::{ReportOptions, build};
use synthetic::{Plan, Progress};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = std::path::PathBuf::from(arguments.next().expect("a folder to write to"));
    match arguments.next().as_deref() {
        Some("small") => synthetic::collected(&folder, &Plan::small()),
        Some("family") => {
            let languages = vec!["A", "B", "C", "D", "E", "F", "G", "H"];
            synthetic::collected(&folder, &Plan { languages, masked: 3, data_seeds: 3, ..Plan::small() });
        }
        Some("arms") => synthetic::collected(&folder, &Plan::arms()),
        Some("run") => synthetic::run_folder(&folder, &Plan::one().configs()[0], &Plan::one(), Progress::Done),
        Some("half") => synthetic::scattered(&folder, &Plan::small(), |place| match place % 3 {
            0 => Progress::Done,
            1 => Progress::Running(5),
            _ => Progress::Planned,
        }),
        Some("large") => synthetic::collected(&folder, &Plan::large()),
        _ => synthetic::collected(&folder, &Plan::paper()),
    }
    let started = std::time::Instant::now();
    let built = build(&folder, &ReportOptions { force: true, ..ReportOptions::default() }).expect("a report");
    println!("{built:?} in {:.1} s", started.elapsed().as_secs_f64());
}
