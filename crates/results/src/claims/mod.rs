//! Claims: the purpose of a study, as data. A claim names an estimate and its expected value, before the runs.
//!
//! ```toml
//! question = "Do shared pieces carry knowledge from A to B?"
//!
//! [[claims]]
//! id = "no-shared-pieces"
//! says = "Without shared pieces, less is known of unseen words."
//! estimate = { difference = "contrast.facts", in = "B†", of = { tokenizer.share = ["none", "all"] } }
//! expect = "below 0"
//! primary = true
//! ```
//!
//! - [`Claims`], [`Claim`], [`Estimand`]: claims as their files state them; `names` has the names that they may use
//! - [`Scope::estimate`]: one estimator for every kind; [`Design`]: the regressions behind effects
//! - [`Verdict`]: one rule; [`answer()`]: every claim of a study, the primary ones adjusted together
//! - [`Look`]: after each data seed, whether a study that plans itself needs another
//! - [`planning`]: how many data seeds the primary claims are likely to need
//!
//! There is no English here: sentences are the reader's business.

mod answer;
mod claim;
mod combined;
mod design;
mod estimand;
mod estimate;
mod fields;
mod looks;
mod names;
pub mod planning;
mod predictor;
mod rounds;
mod scope;
mod verdict;
mod words;

pub use answer::{Answer, LevelAnswer, Specification, answer};
pub use claim::{BUILT_IN, Claim, Claims, Readings, Test, built_in};
pub use design::Design;
pub use estimand::{Bound, Combined, ConditionRole, Estimand, EstimandKind, Reading, RunValue};
pub use estimate::{Detail, Estimated, WordRegression};
pub use fields::ClaimError;
pub use looks::Looks;
pub use names::{ALIASES, Covariate, Outcome, alias, measure};
pub use predictor::Predictor;
pub use rounds::{Look, NextStep};
pub use scope::{Scope, is_saturated};
pub use verdict::{Expectation, FADED, LEVEL, MARGIN, Reason, SEEDS, Verdict, holm};
