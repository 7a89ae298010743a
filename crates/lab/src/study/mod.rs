//! Studies: grids of experiments, run by any number of processes, that resume where they were left.
//!
//! A study's [`Plan`](invitro_results::Plan) expands into [`Cell`]s, each a complete experiment whose hash is its identity. A [`StudyFolder`]
//! holds a run folder per cell. Workers ([`crate::executor`]) take cells by [`lease`], train them as populations and
//! leave results; `status` and `collect` read what is there. Nothing but the files is the truth.

pub mod collect;
pub mod estimate;
pub mod file;
pub mod folder;
pub mod grouping;
pub mod intact;
pub mod lease;
pub mod retry;
pub mod rounds;
pub mod status;
pub mod worker;

pub use file::{Cell, cells};
pub use folder::{CellState, StudyFolder};
