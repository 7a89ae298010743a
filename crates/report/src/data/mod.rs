//! What the report reads: a study folder or a run folder, as one [`Study`].
//!
//! A study is a list of runs. A run has columns (its config, flattened, and what was measured once) and curves (what
//! was measured at each evaluation). A run folder read alone is a study of one run. Nothing is filled in: what a
//! folder does not hold is absent here too.

mod columns;
pub mod curves;
pub mod factors;
mod folder;
mod known;
mod plan;
mod run;
mod study;
mod tables;
pub mod words;

pub use curves::{Key, Keys, Point};
pub use factors::{Factor, Level};
pub use folder::{Cache, fingerprint, read, read_cached};
pub use run::{Run, Value};
pub use study::{Kind, Study};
pub use words::{Pair, Word};
