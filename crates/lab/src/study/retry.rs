//! Reopens cells that failed, whose results cannot be read, or that another version made. Nothing is deleted: a run that
//! starts over is moved to `runs/.old/`.

use super::file::Cell;
use super::folder::{CellState, StudyFolder, cell_state, checked};
use super::intact::Depth;
use super::worker::{Watch, Worker};
use crate::error::{At, Result};
use crate::run_folder::remove;
use invitro_results::folder::STATUS;
use invitro_results::{State, Status};
use std::path::Path;
use std::time::Duration;

/// Which cells, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct RetryRequest {
    /// Also those made by a version that does not fit this one; they always start over.
    pub stale: bool,
    /// Cells start over, instead of resuming from their last checkpoint.
    pub fresh: bool,
}

/// Opens the cells again; their labels, with what had happened. A cell that a living worker holds is left to it.
pub fn retry(folder: &StudyFolder, request: RetryRequest, expiry: Duration) -> Result<Vec<(String, String)>> {
    let states = folder.cell_states_checked(Depth::All)?;
    let wanted = folder.cells.iter().zip(&states).filter_map(|(cell, (state, _))| match state {
        CellState::Failed { error: why, .. } | CellState::Damaged { why, .. } => Some((cell, why.clone())),
        CellState::Stale { why } if request.stale => Some((cell, why.clone())),
        _ => None,
    });
    let opened = open_all(folder, wanted.collect(), request.fresh, expiry)?;
    Ok(opened.into_iter().map(|(cell, why)| (cell.label.clone(), why)).collect())
}

/// Opens cells; those that were. Under leases like any other work, so that a worker that comes at the same time sees one
/// or the other.
pub(super) fn open_all<'a>(
    folder: &StudyFolder,
    wanted: Vec<(&'a Cell, String)>,
    fresh: bool,
    expiry: Duration,
) -> Result<Vec<(&'a Cell, String)>> {
    let worker = Worker::start(&folder.workers(), expiry)?;
    let mut watch = Watch::new(&folder.workers(), expiry);
    let leases = folder.leases();
    let generations = leases.generations()?;
    let mut opened = Vec::new();
    for (cell, why) in wanted {
        let Some(lease) = leases.take(&cell.id, &worker, &generations, &mut watch)? else { continue };
        open(folder, cell, fresh)?;
        leases.give_back(&lease)?;
        opened.push((cell, why));
    }
    Ok(opened)
}

fn open(folder: &StudyFolder, cell: &Cell, fresh: bool) -> Result<()> {
    let run = folder.run(cell);
    match checked(&run, cell, cell_state(&run).0, Depth::All) {
        CellState::Failed { .. } | CellState::Damaged { .. } if !fresh => reopen(&run),
        CellState::Failed { .. } | CellState::Damaged { .. } | CellState::Stale { .. } => start_over(folder, cell),
        CellState::Open { .. } | CellState::Done => Ok(()),
    }
}

/// Reopens a run: a finished one writes its missing files again from its logs or by training, any other resumes from its
/// last checkpoint. Damaged files are removed, and a damaged status too.
pub fn reopen(run: &Path) -> Result<()> {
    match Status::read(run) {
        Ok(Some(status)) if status.state == State::Done => {
            // Workers see that a file is missing without reading any.
            let damaged = status.result_files().filter(|(name, _)| status.check(run, name).is_err());
            damaged.map(|(name, _)| run.join(name)).filter(|path| path.is_file()).try_for_each(|path| remove(&path))
        }
        Ok(Some(mut status)) => {
            (status.state, status.error) = (State::Stopped, None);
            Ok(status.write(run)?)
        }
        Ok(None) => Ok(()),
        Err(_) => {
            let path = run.join(STATUS);
            // A file system that does not answer is no damage.
            std::fs::read(&path).reading(&path)?;
            remove(&path)
        }
    }
}

/// Moves a cell's run to `runs/.old/`.
pub fn start_over(folder: &StudyFolder, cell: &Cell) -> Result<()> {
    move_aside(&folder.run(cell), &folder.runs().join(".old"))
}

fn move_aside(run: &Path, old: &Path) -> Result<()> {
    let name = run.file_name().unwrap_or_default().to_string_lossy();
    std::fs::create_dir_all(old).writing(run)?;
    let free = (1..).map(|number| old.join(format!("{name}.{number}"))).find(|place| !place.exists());
    Ok(std::fs::rename(run, free.expect("some number is free")).writing(run)?)
}
