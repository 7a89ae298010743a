//! What went wrong with a population: whether it is the device's fault, or lack of room, and how it is written down.

use crate::error::{At, Error, Result};
use crate::study::Cell;
use crate::study::folder::StudyFolder;
use invitro_results::{State, Status};

/// Writes down that a cell failed, for those who did not come to it themselves.
pub(super) fn record_failure(folder: &StudyFolder, cell: &Cell, error: &str) -> Result<()> {
    let run = folder.run(cell);
    std::fs::create_dir_all(&run).writing(&run)?;
    let status = Status::read(&run).ok().flatten();
    let mut status = status.unwrap_or_else(|| Status::new(cell.id.clone(), cell.experiment.train.steps));
    (status.state, status.error) = (State::Failed, Some(error.to_owned()));
    Ok(status.write(&run)?)
}

/// The device itself is missing or broken: no cell is to blame, and no other cell would fare better.
pub(super) fn is_device(error: &Error) -> bool {
    matches!(error, Error::Model(invitro_model::Error::Device(_)))
}

pub(super) fn is_no_room(error: &Error) -> bool {
    matches!(error, Error::Model(invitro_model::Error::OutOfMemory(_)))
}

pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".into());
    format!("the run broke: {text}")
}
