//! The report of a study as large as the paper's, 864 runs and 30 evaluations, stays a page that can be sent.

use crate::synthetic;
use crate::synthetic::Plan;
use invitro_report::{ReportOptions, build};

#[test]
fn the_papers_864_runs() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::paper());
    let started = std::time::Instant::now();
    let built = build(folder.path(), &ReportOptions::default()).unwrap();
    let took = started.elapsed();
    println!("864 runs: {:.1} s, page {:.1} MB, {} files", took.as_secs_f64(), built.bytes as f64 / 1e6, built.files);
    assert_eq!(built.runs, 864);
    assert!(built.bytes < 10_000_000, "{} bytes", built.bytes);
}
