//! The rounds of a study that plans itself, in words.

use anyhow::Result;
use invitro_lab::study::StudyFolder;
use invitro_lab::study::rounds::{Round, next_round};
use invitro_report::claims::next_step;
use invitro_results::ReadCache;

/// Takes the next data seed of a study that plans itself, where it needs one: whether this process took it. `None` where
/// there is none to work on.
pub fn next(folder: &mut StudyFolder, cache: &mut ReadCache) -> Result<Option<bool>> {
    if folder.plan.until.is_none() {
        return Ok(None);
    }
    match next_round(folder, cache)? {
        Round::Begun { by_us } => {
            if let (true, Some(seed)) = (by_us, folder.plan.data_seeds.last()) {
                note!("a primary claim is not settled: the study takes data seed {seed}");
            }
            Ok(Some(by_us))
        }
        Round::Ended(look) => {
            if let Some(look) = look {
                say!("{}", next_step(&look, &folder.plan));
            }
            Ok(None)
        }
    }
}
