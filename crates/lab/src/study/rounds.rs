//! The rounds of a study that plans itself: once all cells of its data seeds are done, it takes another one, or stops.

use super::collect::lock;
use super::folder::StudyFolder;
use crate::error::Result;
use invitro_results::claims::{Look, NextStep};
use invitro_results::folder::{STUDY, seal_study, write_file};
use invitro_results::{ReadCache, Study};

/// How a study that plans itself goes on.
#[derive(Debug)]
pub enum Round {
    /// It has another data seed; `by_us` says whether this process took it.
    Begun { by_us: bool },
    /// It stopped, or waits for runs that are not done. `None` where no data seed is complete.
    Ended(Option<Look>),
}

/// Looks at a study that plans itself, and takes the next data seed where a primary claim needs it: `folder` is then the
/// study with it. Of several who look at once, one takes it, and all go on with it.
pub fn next_round(folder: &mut StudyFolder, cache: &mut ReadCache) -> Result<Round> {
    let _lock = lock(&folder.path)?;
    let now = StudyFolder::open(&folder.path)?;
    if now.plan.data_seeds.len() > folder.plan.data_seeds.len() {
        *folder = now;
        return Ok(Round::Begun { by_us: false });
    }
    let Some(look) = Look::at(&Study::open_cached(&folder.path, cache)?) else { return Ok(Round::Ended(None)) };
    match folder.plan.with_next_seed().filter(|_| look.decide(&folder.plan) == NextStep::Continue) {
        Some(plan) => {
            write_file(&folder.path.join(STUDY), seal_study(&plan.to_toml()).as_bytes())?;
            *folder = StudyFolder::open(&folder.path)?;
            Ok(Round::Begun { by_us: true })
        }
        None => Ok(Round::Ended(Some(look))),
    }
}
