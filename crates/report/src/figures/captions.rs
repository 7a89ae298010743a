//! What captions say of the runs behind a figure.

use crate::data::{Factor, FactorWords, Study};
use crate::draw::plain_text;
use crate::wording::{counted, listed};

/// What the intervals mean.
pub const BANDS: &str = "Bands and bars are 95 % intervals over data seeds and model seeds: each is left out in turn, and Student's *t* allows for their number. The frame fits the curves; what is wider ends at it.";

/// The same of bars alone.
pub const BARS: &str = "Bars are 95 % intervals over seeds; one that is wider than the frame ends at it.";

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

/// Levels that were held, since runs that differ elsewhere too cannot be compared.
pub fn held(study: &Study, cell: &[(Factor, usize)]) -> String {
    let level = |(factor, level): &(Factor, usize)| plain_text(&factor.with_level(&study.levels(*factor)[*level]));
    let levels: Vec<String> = cell.iter().map(level).collect();
    if levels.is_empty() { String::new() } else { format!(", all with {}", listed(&levels)) }
}

/// What a figure pools over.
pub fn pooled(study: &Study, shown: &[impl Into<Option<Factor>> + Copy]) -> String {
    let shown: Vec<Factor> = shown.iter().filter_map(|factor| (*factor).into()).collect();
    let held = study.comparable(&shown);
    let is_hidden = |factor: &Factor| !shown.contains(factor) && held.iter().all(|(other, _)| other != factor);
    let hidden = study.varying().into_iter().filter(is_hidden);
    let names: Vec<String> = hidden.map(|factor| factor.symbol().to_owned()).collect();
    if names.is_empty() { String::new() } else { format!(" Pooled over {}.", listed(&names)) }
}

/// ` by *λ*, *d* and |*V*|`; nothing where nothing varies.
pub fn by(factors: &[Option<Factor>]) -> String {
    let names: Vec<String> = factors.iter().flatten().map(|factor| factor.symbol().to_owned()).collect();
    if names.is_empty() { String::new() } else { format!(" by {}", listed(&names)) }
}

/// `A, B and B†`.
pub fn conditions(study: &Study) -> String {
    listed(&study.conditions().iter().map(|condition| condition.label()).collect::<Vec<_>>())
}
