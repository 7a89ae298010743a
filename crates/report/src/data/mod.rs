//! What the report is made of: the results in a folder as one [`Study`], its runs placed among seeds and levels.
//!
//! A run folder read alone is a study of one run. Nothing is filled in: what a folder does not hold is absent here too.

pub mod factors;
mod study;

pub use factors::{Cell, Factor};
pub use study::{Run, Study};

pub use invitro_results::{Cache, fingerprint};

use crate::error::Result;
use std::path::Path;

/// Reads the study or run in the folder.
pub fn read(folder: &Path) -> Result<Study> {
    read_cached(folder, &mut Cache::default())
}

/// The same, with what was read before.
pub fn read_cached(folder: &Path, cache: &mut Cache) -> Result<Study> {
    Ok(Study::new(invitro_results::read_cached(folder, cache)?))
}
