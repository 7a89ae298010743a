//! Runs at or below a folder: in folders of their own, or as rows of a study's tables.

use crate::error::{At, Result};
use crate::folder::{CONFIG, KNOWN, METRICS_TABLE, RUNS, RUNS_TABLE, STATUS, STUDY};
use crate::tables::read::{planned_ids, read_tables};
use crate::{Error, Plan, Run};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// How deep run folders are looked for: a run of several seeds has a folder of theirs, a study has `runs/`.
const DEPTH: usize = 3;

/// A run that was found.
#[derive(Debug)]
pub struct FoundRun {
    /// Its path below the folder that was searched: of its own folder, or of the study in whose tables it is with its id.
    pub name: String,
    /// Its own folder, or the folder of the tables it is a row of.
    pub path: PathBuf,
    /// Whether it has a folder of its own.
    pub has_folder: bool,
    /// The run, or why it cannot be read.
    pub run: Result<Run>,
}

/// Whether a folder is that of one run.
pub fn is_run_folder(path: &Path) -> bool {
    path.join(CONFIG).exists() || path.join(STATUS).exists()
}

/// All runs at or below a folder, in order of name. Of a run that a study has both in a folder and in its tables, the one that
/// is done is taken, or the folder's. `read` reads a run's folder: [`read_run`](crate::read_run), or
/// [`read_ends`](crate::read_ends) where ends are enough.
pub fn find_runs(folder: &Path, read: fn(&Path) -> Result<Run>) -> Result<Vec<FoundRun>> {
    std::fs::metadata(folder).reading(folder)?;
    let (mut folders, mut tables) = (Vec::new(), Vec::new());
    walk(folder, DEPTH, &mut folders, &mut tables);
    let name = |path: &Path| match path.strip_prefix(folder) {
        Ok(below) if below != Path::new("") => below.display().to_string(),
        _ => path.display().to_string(),
    };
    let one = |path: PathBuf| FoundRun { name: name(&path), run: read(&path), has_folder: true, path };
    let mut found: Vec<FoundRun> = folders.into_par_iter().map(one).collect();
    let mut seen: HashSet<(PathBuf, String)> = HashSet::new();
    for path in tables {
        let study = if path.ends_with(KNOWN) { path.parent().unwrap_or(&path).to_owned() } else { path.clone() };
        let row = |run: Run| {
            let name = if study == folder { run.id.clone() } else { format!("{}/{}", name(&study), run.id) };
            FoundRun { name, path: path.clone(), has_folder: false, run: Ok(run) }
        };
        let is_done =
            |one: &&FoundRun| one.has_folder && one.run.as_ref().is_ok_and(Run::done) && study_of(one) == study;
        let done = found.iter().filter(is_done).filter_map(|one| one.run.as_ref().ok());
        let done: HashSet<String> = done.map(|run| run.id.clone()).collect();
        match read_tables(&path, |id| !done.contains(id)) {
            Ok(runs) => {
                let new = runs.into_iter().filter(|run| run.begun() && seen.insert((study.clone(), run.id.clone())));
                found.extend(new.map(row).collect::<Vec<_>>());
            }
            Err(error) => found.push(FoundRun { name: name(&path), path, has_folder: false, run: Err(error) }),
        }
    }
    let found = planned_alone(once_per_study(found));
    if found.is_empty() {
        return Err(Error::NoRuns { path: folder.to_owned() });
    }
    Ok(found)
}

fn walk(dir: &Path, depth: usize, folders: &mut Vec<PathBuf>, tables: &mut Vec<PathBuf>) {
    if is_run_folder(dir) {
        folders.push(dir.to_owned());
        return;
    }
    if dir.join(RUNS_TABLE).exists() && dir.join(METRICS_TABLE).exists() {
        tables.push(dir.to_owned());
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    // What a study moved aside is hidden.
    let shown = entries.flatten().filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    let mut below: Vec<PathBuf> = shown.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    below.sort();
    below.iter().for_each(|path| walk(path, depth, folders, tables));
}

/// The study that a run is of: its tables' folder, or the folder above its own, `runs/` aside.
fn study_of(one: &FoundRun) -> PathBuf {
    let above = if one.has_folder || one.path.ends_with(KNOWN) { one.path.parent() } else { Some(&*one.path) };
    let above = above.unwrap_or(&one.path);
    if one.has_folder && above.ends_with(RUNS) { above.parent().unwrap_or(above) } else { above }.to_owned()
}

/// Several studies may keep their runs in one store: of those in folders, a study's own are those its plan names.
fn planned_alone(mut found: Vec<FoundRun>) -> Vec<FoundRun> {
    let studies: BTreeSet<PathBuf> = found.iter().filter(|one| one.has_folder).map(study_of).collect();
    for study in studies.into_iter().filter(|folder| folder.join(STUDY).exists()) {
        let Ok(Some(plan)) = Plan::open(&study) else { continue };
        let is_of_it = |one: &FoundRun| one.has_folder && study_of(one) == study;
        let runs = found.iter().filter(|one| is_of_it(one)).filter_map(|one| one.run.as_ref().ok());
        let Some(planned) = planned_ids(&plan, runs) else { continue };
        found.retain(|one| !is_of_it(one) || one.run.as_ref().map_or(true, |run| planned.contains(&run.id)));
    }
    found
}

/// Drops a run of a study's tables that has a folder, or the folder where only the tables have it done.
fn once_per_study(mut found: Vec<FoundRun>) -> Vec<FoundRun> {
    let key = |one: &FoundRun| one.run.as_ref().ok().map(|run| (study_of(one), run.id.clone()));
    let done = |one: &FoundRun| one.run.as_ref().is_ok_and(Run::done);
    let keys = |in_folder: bool, only_done: bool| -> HashSet<(PathBuf, String)> {
        let those = found.iter().filter(|one| one.has_folder == in_folder && (!only_done || done(one)));
        those.filter_map(key).collect()
    };
    let (folders_done, folders, tables_done) = (keys(true, true), keys(true, false), keys(false, true));
    found.retain(|one| {
        let Some(key) = key(one) else { return true };
        match one.has_folder {
            true => done(one) || !tables_done.contains(&key),
            false => !folders_done.contains(&key) && (done(one) || !folders.contains(&key)),
        }
    });
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}
