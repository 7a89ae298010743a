//! Studies: grids of experiments, run by any number of processes, that resume where they were left.
//!
//! A [`Study`] file expands into [`Cell`]s, each a complete experiment whose hash is its identity. A [`StudyFolder`]
//! holds a run folder per cell. Workers ([`crate::executor`]) take cells by [`lease`], train them as populations and
//! leave results; `status` and `collect` read what is there. Nothing but the files is the truth.

pub mod collect;
pub mod estimate;
pub mod file;
mod filter;
pub mod folder;
pub mod grid;
pub mod grouping;
pub mod known;
pub mod lease;
pub mod retry;
pub mod status;
pub mod worker;

pub use file::Study;
pub use folder::{Fate, StudyFolder};
pub use grid::{Cell, cells};
