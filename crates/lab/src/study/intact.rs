//! Whether a run whose status says done has its results. A cell without them is not done.

use super::file::Cell;
use crate::error::Result;
use invitro_results::folder::TABLES;
use invitro_results::{Seal, Status};
use std::path::Path;

/// How much of what a finished run has sealed is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Lengths, and files that are newer than the run's status.
    Lengths,
    /// The tables too.
    Tables,
    /// Everything.
    All,
}

/// The first sealed file of a finished run that is missing or was changed.
pub fn damage(run: &Path, status: &Status, depth: Depth) -> Option<String> {
    let unsealed = TABLES.iter().find(|name| !status.files.contains_key(**name));
    if let Some(name) = unsealed {
        return Some(format!("its status has no checksum of {name}"));
    }
    let check = |(name, seal): (&String, &Seal)| -> Result<()> {
        let whole = depth == Depth::All || (depth == Depth::Tables && TABLES.contains(&name.as_str()));
        Ok(status.check_quickly(run, name, seal, whole)?)
    };
    status.result_files().find_map(|file| check(file).err()).map(|error| error.to_string())
}

/// The first damage in the results of a finished cell.
pub fn damage_of_cell(run: &Path, cell: &Cell, depth: Depth) -> Option<String> {
    match Status::read(run) {
        Err(error) => Some(error.to_string()),
        Ok(Some(status)) if status.run == cell.id => damage(run, &status, depth),
        Ok(_) => Some(format!("`{}` is not the folder of the run {}", run.display(), cell.id)),
    }
}
