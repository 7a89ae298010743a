//! How far training has come: the x axis of every figure over training, in steps or in tokens, linear or by powers.

use super::figure::Chooser;
use crate::data::{Factor, Run, Study};
use crate::draw::Axis;
use invitro_results::column;
use invitro_stats::mean;

/// A way to draw training progress.
#[derive(Debug, Clone)]
pub struct ProgressAxis {
    name: String,
    label: String,
    /// By powers.
    log: bool,
    /// In tokens rather than steps.
    tokens: bool,
    /// The first evaluation after any training, and the last.
    range: (f64, f64),
    /// Whether there was an evaluation before any training.
    zero: bool,
    /// Whether it is shown first. The numbers of the others are the same, and so neither in the table nor to hover over.
    pub first: bool,
    /// What lies before is in the table, but not drawn.
    pub from: f64,
}

/// Values before this share of training are far from all later ones.
const EARLY: f64 = 0.02;

/// Where the last evaluation comes so many times later than the first, most of a linear axis would be empty.
const WIDE: f64 = 20.0;

/// Tokens per step; recorded when a run ends.
fn tokens(run: &Run) -> Option<f64> {
    run.number(column::TOKENS).filter(|tokens| *tokens > 0.0)
}

impl ProgressAxis {
    /// What can be chosen: steps, by powers first where that helps; tokens where all runs have counted them.
    pub fn all(study: &Study) -> Vec<ProgressAxis> {
        let measured: Vec<&Run> = study.runs.iter().filter(|run| run.measured()).collect();
        let range = |per_step: &dyn Fn(&Run) -> f64| {
            let ends = measured.iter().map(|run| (per_step(run), f64::from(run.last_step().unwrap_or(1))));
            let first = f64::from(study.first_step);
            ends.fold((f64::MAX, 1.0f64), |all, (by, last)| (all.0.min(first * by), all.1.max(last * by)))
        };
        let in_steps = range(&|_| 1.0);
        let wide = in_steps.1 >= WIDE * in_steps.0;
        let counted = !measured.is_empty() && measured.iter().all(|run| tokens(run).is_some());
        let mut all = Vec::new();
        let mut offer = |name: &str, log: bool, tokens: bool, range: (f64, f64)| {
            let label = if log { format!("{name} (log scale)") } else { name.to_owned() };
            let option = format!("{}{}", if tokens { "tokens seen" } else { "steps" }, if log { ", log" } else { "" });
            all.push(ProgressAxis {
                name: option,
                label,
                log,
                tokens,
                range,
                zero: study.from_zero,
                first: all.is_empty(),
                from: 0.0,
            });
        };
        if wide {
            offer("step", true, false, in_steps);
        }
        offer("step", false, false, in_steps);
        if counted {
            offer("tokens seen", wide, true, range(&|run| tokens(run).unwrap_or(1.0)));
        }
        all
    }

    /// Without the beginning of training.
    pub fn late(&self) -> ProgressAxis {
        let (first, last) = self.range;
        let from = first.max(EARLY * last);
        if from >= last {
            return self.clone();
        }
        ProgressAxis { from, range: (from, last), zero: false, ..self.clone() }
    }

    /// The chooser between them.
    pub fn chooser(all: &[ProgressAxis]) -> Chooser {
        Chooser::new("axis", "over", all.iter().map(|progress| progress.name.clone()))
    }

    pub fn axis(&self) -> Axis {
        let (first, last) = self.range;
        if self.log {
            Axis::log_progress(&self.label, first, last, self.zero)
        } else {
            Axis::progress(&self.label, last)
        }
    }

    /// How far one step goes along the axis, in the runs of a cell.
    pub fn per_step(&self, study: &Study, cell: &[(Factor, usize)]) -> f64 {
        if !self.tokens {
            return 1.0;
        }
        let counts: Vec<f64> = study.at(cell).filter_map(tokens).collect();
        if counts.is_empty() { 1.0 } else { mean(&counts) }
    }

    /// The same in one run.
    pub fn per_step_of(&self, run: &invitro_results::Run) -> f64 {
        let counted = run.number(column::TOKENS).filter(|_| self.tokens);
        counted.unwrap_or(1.0)
    }
}
