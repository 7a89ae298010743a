//! Several runs in one page: what differs, what they measured, and their curves.

use crate::data::Study;
use crate::{figures, page};
use invitro_results::{Comparison, Kind, Results};
use std::path::PathBuf;

/// The page, self-contained.
pub fn page(comparison: &Comparison) -> String {
    let study = Study::new(Results {
        name: comparison.names.join(", "),
        folder: PathBuf::new(),
        kind: Kind::Study,
        runs: comparison.runs.clone(),
        plan: None,
        config: None,
        words: Vec::new(),
        words_in_all: 0,
        pairs: Vec::new(),
        samples: Vec::new(),
        notes: Vec::new(),
    });
    page::compare::page(comparison, &[figures::compare::figure(&study, comparison)])
}
