//! What captions say of the runs behind a figure.

use crate::data::{Factor, Study};
use crate::wording::{counted, listed};

/// What the intervals mean.
pub const BANDS: &str = "Bands and bars are 95 % intervals over data seeds and model seeds: each is left out in turn, and Student's *t* allows for their number.";

/// Which runs a figure shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Curves use every run that was measured.
    Measured,
    /// Peaks, ends and emergence use those that ended.
    Ended,
}

/// "288 runs", "12 runs that ended, of 288", or "40 runs that were measured, of 288".
pub fn runs(study: &Study, cell: &[(Factor, usize)], which: Runs) -> String {
    let all = study.at(cell).count();
    let (shown, which) = match which {
        Runs::Ended => (study.ended(cell).count(), "that ended"),
        Runs::Measured => (study.at(cell).filter(|run| run.measured()).count(), "that were measured"),
    };
    let count = counted(shown, "run");
    if shown == all { count } else { format!("{count} {which}, of {all}") }
}

/// What a figure pools over.
pub fn pooled(study: &Study, shown: &[Factor]) -> String {
    let hidden = Factor::ALL.into_iter().filter(|factor| !shown.contains(factor) && study.levels(*factor).len() > 1);
    let mut names: Vec<String> = hidden.map(|factor| factor.symbol().to_owned()).collect();
    names.extend(study.other_factors().into_iter().map(str::to_owned));
    if names.is_empty() { String::new() } else { format!(" Pooled over {}.", listed(&names)) }
}

/// `A, B and B†`.
pub fn conditions(study: &Study) -> String {
    listed(&study.conditions().iter().map(|condition| condition.label()).collect::<Vec<_>>())
}
