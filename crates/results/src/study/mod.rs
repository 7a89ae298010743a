//! The runs of a folder as one [`Study`]: each placed among seeds and the levels of what was varied.
//!
//! Nothing is filled in: what a folder does not hold is absent here too.

mod crossing;
mod emergence;
mod factors;
#[allow(clippy::module_inception, reason = "the study itself")]
mod study;
mod trajectory;
mod withheld;

pub use factors::{BALANCED, Factor, Levels};
pub use study::Study;
pub use trajectory::{Trajectory, declines};
pub use withheld::Withheld;
