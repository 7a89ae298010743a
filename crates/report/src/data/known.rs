//! Results of a study that are at hand as tables, without their run folders.
//!
//! `study run --with` copies the tables of an earlier part of a study into `known/` of its folder and does not run those
//! cells again; so they are runs of the study like any other.

use super::curves::Keys;
use super::run::Run;
use super::tables;
use crate::error::Result;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The tables of runs, metrics and words.
pub(super) fn files(study: &Path) -> [PathBuf; 3] {
    ["runs.parquet", "metrics.parquet", "words.parquet"].map(|file| study.join("known").join(file))
}

pub(super) fn words(study: &Path) -> PathBuf {
    let [_, _, words] = files(study);
    words
}

/// The finished runs; none where nothing was copied.
pub(super) fn read(study: &Path, keys: &mut Keys) -> Result<Vec<Run>> {
    let [runs, metrics, _] = files(study);
    if !runs.exists() {
        return Ok(Vec::new());
    }
    let mut known = tables::runs(&runs)?;
    known.retain(|run| run.done() && run.text("version").is_some_and(compatible));
    tables::metrics(&metrics, &mut known, keys)?;
    Ok(known)
}

/// Results of versions that differ in no more than the patch number may stand side by side; cells of others are run
/// again.
fn compatible(version: &str) -> bool {
    version.split('.').take(2).eq(env!("CARGO_PKG_VERSION").split('.').take(2))
}

/// Whether the collected table holds all of them.
pub(super) fn is_within(known: &[Run], collected: &[Run]) -> bool {
    let done: HashSet<&str> = collected.iter().filter(|run| run.done()).map(|run| run.id.as_str()).collect();
    known.iter().all(|run| done.contains(run.id.as_str()))
}

/// The known runs and those with folders. Of a run that is both, the folder counts where the run is done there.
pub(super) fn beside(mut known: Vec<Run>, mut own: Vec<Run>) -> Vec<Run> {
    let done: HashSet<String> = own.iter().filter(|run| run.done()).map(|run| run.id.clone()).collect();
    known.retain(|run| !done.contains(&run.id));
    let taken: HashSet<String> = known.iter().map(|run| run.id.clone()).collect();
    own.retain(|run| !taken.contains(&run.id));
    known.extend(own);
    known
}
