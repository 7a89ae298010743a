//! Cells that failed, or were made by another version, made open again. Nothing is deleted: what is started over is
//! moved aside, to `runs/.old/`.

use super::file::Cell;
use super::folder::{CellState, StudyFolder, cell_state};
use super::worker::{Watch, Worker};
use crate::error::{At, Result};
use invitro_results::State;
use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

/// Which cells, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request {
    /// Also those made by a version that does not fit this one; they always start over.
    pub stale: bool,
    /// Failed cells start over, instead of going on from their last checkpoint.
    pub fresh: bool,
}

/// Opens the cells again; their labels, with what had happened. A cell that a living worker holds is left to it.
pub fn retry(folder: &StudyFolder, request: Request, expiry: Duration) -> Result<Vec<(String, String)>> {
    let states = folder.cell_states(&HashSet::new())?;
    let wanted = folder.cells.iter().zip(&states).filter_map(|(cell, (state, _))| match state {
        CellState::Failed { error, .. } => Some((cell, error.clone())),
        CellState::Stale { why } if request.stale => Some((cell, why.clone())),
        _ => None,
    });
    // Under leases like any other work, so that a worker that comes at the same time sees one or the other.
    let worker = Worker::start(&folder.workers(), expiry)?;
    let mut watch = Watch::new(&folder.workers(), expiry);
    let leases = folder.leases();
    let generations = leases.generations()?;
    let mut opened = Vec::new();
    for (cell, why) in wanted {
        let Some(lease) = leases.take(&cell.id, &worker, &generations, &mut watch)? else { continue };
        open(folder, cell, request.fresh)?;
        leases.give_back(&lease)?;
        opened.push((cell.label.clone(), why));
    }
    Ok(opened)
}

fn open(folder: &StudyFolder, cell: &Cell, fresh: bool) -> Result<()> {
    let run = folder.run(cell);
    match cell_state(&run) {
        (CellState::Failed { .. }, Some(mut status)) if !fresh => {
            (status.state, status.error) = (State::Stopped, None);
            Ok(status.write(&run)?)
        }
        (CellState::Failed { .. } | CellState::Stale { .. }, _) => move_aside(&run, &folder.runs().join(".old")),
        _ => Ok(()),
    }
}

fn move_aside(run: &Path, old: &Path) -> Result<()> {
    let name = run.file_name().unwrap_or_default().to_string_lossy();
    std::fs::create_dir_all(old).writing(run)?;
    let free = (1..).map(|number| old.join(format!("{name}.{number}"))).find(|place| !place.exists());
    Ok(std::fs::rename(run, free.expect("some number is free")).writing(run)?)
}
