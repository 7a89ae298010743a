//! Several runs in one page: what differs, what they measured, and their curves.

use crate::claims::{ClaimAnswers, headline};
use crate::data::Study;
use crate::{figures, page};
use invitro_results::claims::SEEDS;
use invitro_results::{Comparison, FolderKind, Results};
use std::path::Path;

/// The page, self-contained.
pub fn page(comparison: &Comparison) -> String {
    let study = study(comparison);
    page::compare::page(comparison, &verdicts(comparison), &[figures::compare(&study, comparison)])
}

/// What may be said of them: as a study does where they differ in their seeds alone, else nothing.
pub fn verdicts(comparison: &Comparison) -> Vec<String> {
    if comparison.differing.iter().all(|(key, _)| key.starts_with("seeds.")) {
        let study = study(comparison);
        return headline(&study, &ClaimAnswers::new(&study));
    }
    vec![format!("Differences are not tested (each run has one data seed, and {SEEDS} are needed).")]
}

fn study(comparison: &Comparison) -> Study {
    let results = Results::new(comparison.names.join(", "), Path::new(""), FolderKind::Study);
    Study::new(Results { runs: comparison.runs.clone(), ..results })
}
