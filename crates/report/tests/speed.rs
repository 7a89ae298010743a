//! The report of a study as large as the paper's: 864 runs, 30 evaluations, in under 30 seconds and 15 MB.

mod synthetic;

use invitro_report::{Options, build};
use std::time::{Duration, Instant};
use synthetic::Plan;

#[test]
fn the_papers_864_runs() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::paper());
    let started = Instant::now();
    let built = build(folder.path(), &Options::default()).unwrap();
    let took = started.elapsed();
    println!("864 runs: {:.1} s, page {:.1} MB, {} files", took.as_secs_f64(), built.bytes as f64 / 1e6, built.files);
    assert_eq!(built.runs, 864);
    assert!(took < Duration::from_secs(30), "took {took:?}");
    assert!(built.bytes < 15_000_000, "{} bytes", built.bytes);
}
