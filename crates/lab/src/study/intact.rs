//! Whether a run whose status says done has its results. A cell without them is not done.

use super::file::Cell;
use crate::error::{At, Result};
use invitro_results::folder::TABLES;
use invitro_results::{Seal, Status};
use std::path::Path;

/// The first table of a finished run that is missing or has another length than was written. Reads no table.
pub fn missing(run: &Path, status: &Status) -> Option<String> {
    let check = |name: &str, seal: &Seal| {
        let path = run.join(name);
        let (length, written) = (std::fs::metadata(&path).reading(&path)?.len(), seal.bytes);
        let whole = length == written;
        Ok(whole.then_some(()).ok_or(format!("it has {length} bytes, but {written} were written")).reading(&path)?)
    };
    each_table(status, check)
}

/// The first damage in the results of a finished cell, found by reading them.
pub fn damage(run: &Path, cell: &Cell) -> Option<String> {
    match Status::read(run) {
        Err(error) => Some(error.to_string()),
        Ok(Some(status)) if status.run == cell.id => each_table(&status, |name, _| Ok(status.check(run, name)?)),
        Ok(_) => Some(format!("`{}` is not the folder of the run {}", run.display(), cell.id)),
    }
}

/// The first thing that `check` finds wrong.
fn each_table(status: &Status, check: impl Fn(&str, &Seal) -> Result<()>) -> Option<String> {
    TABLES.iter().find_map(|&name| match status.files.get(name) {
        Some(seal) => check(name, seal).err().map(|error| error.to_string()),
        None => Some(format!("its status has no checksum of {name}")),
    })
}
