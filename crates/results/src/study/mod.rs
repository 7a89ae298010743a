//! A study: its plan, and the runs of its folder as one [`Study`], each placed among seeds and the levels of what was varied.
//!
//! Nothing is filled in: what a folder does not hold is absent here too.

pub(crate) mod chosen;
pub(crate) mod compare;
mod crossing;
mod diagonal;
pub(crate) mod differing;
mod emergence;
mod factors;
pub(crate) mod filter;
pub(crate) mod grouping;
pub mod known;
mod paired;
pub(crate) mod plan;
#[allow(clippy::module_inception, reason = "the study itself")]
mod study;
mod trajectory;
mod withheld;

pub(crate) use factors::as_in_runs;
pub use factors::{BALANCED, Factor, Levels};
pub use study::Study;
pub use trajectory::{Trajectory, before_decline};
pub use withheld::Withheld;
