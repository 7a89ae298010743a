//! The training itself, step by step: `training.jsonl` while a run trains, then `training.parquet`.

use crate::error::Result;
use crate::table::{self, Column};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One step. Two runs of one config differ in `tokens_per_second` alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Counted from 1.
    pub step: u64,
    /// Of the step's batch before its update, nats per token; `None` where it was not finite.
    pub loss: Option<f64>,
    /// The learning rate of its update.
    pub lr: f64,
    /// Norm of its gradient before clipping; `None` where it was not finite.
    pub grad_norm: Option<f64>,
    /// Tokens of its batch that the loss is a mean of.
    pub tokens: u64,
    /// The run's tokens over the time that passed since losses were last read.
    pub tokens_per_second: u64,
}

const COLUMNS: [&str; 7] = ["run", "step", "loss", "lr", "grad_norm", "tokens", "tokens_per_second"];

/// Rows of a run, at most.
const MOST: u64 = 20_000;

/// Of a run of so many steps every how manieth is kept. A power of two: of the steps that a run keeps, the same run with
/// more steps keeps some, and before its end no others.
///
/// ```
/// use invitro_results::training::every;
/// assert_eq!([0, 20_000, 20_001, 100_000].map(every), [1, 1, 2, 8]);
/// ```
pub fn every(steps: u64) -> u64 {
    steps.div_ceil(MOST).max(1).next_power_of_two()
}

/// Writes the steps of a run as `training.parquet`.
pub fn write(path: &Path, run: &str, steps: &[Step]) -> Result<()> {
    let number = |of: fn(&Step) -> Option<f64>| Column::Number(steps.iter().map(of).collect());
    let whole = |of: fn(&Step) -> u64| Column::Whole(steps.iter().map(|step| Some(of(step) as i64)).collect());
    let columns = [
        Column::Text(vec![Some(run.to_owned()); steps.len()]),
        whole(|step| step.step),
        number(|step| step.loss),
        number(|step| Some(step.lr)),
        number(|step| step.grad_norm),
        whole(|step| step.tokens),
        whole(|step| step.tokens_per_second),
    ];
    table::write(path, &COLUMNS.into_iter().zip(columns).collect::<Vec<_>>())
}
