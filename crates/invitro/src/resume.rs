//! Resumes runs by their folders. The folder has the config, so no setting need be given again.

use anyhow::{Result, bail};
use invitro_lab::run_folder::more_steps;
use invitro_lab::training::Member;
use invitro_lab::{Error, Experiment, SeedsConfig, run_folder};
use std::path::{Path, PathBuf};

/// The runs of a folder, one or one per seed, with settings laid over theirs. Where these ask for more steps, the folders
/// become those of the runs with more steps; other changes are refused, unless everything starts over.
pub fn members(place: &Path, overrides: &[String], force: bool) -> Result<Vec<Member>> {
    let mut runs = Vec::new();
    for path in folders(place)? {
        let config = run_folder::config(&path);
        let made_by = Experiment::load(None, Some(&config), &[])?;
        let wanted = Experiment::load(None, Some(&config), overrides)?;
        if wanted.expand().len() > 1 {
            bail!("`{}` is a run of one seed: several seeds make a new folder, with --out", path.display());
        }
        runs.push((path, made_by, wanted));
    }
    let but_seeds = |experiment: &Experiment| Experiment { seeds: SeedsConfig::default(), ..experiment.clone() }.id();
    if let Some((other, ..)) = runs.iter().find(|(.., run)| but_seeds(run) != but_seeds(&runs[0].2)) {
        let (place, first, other) = (place.display(), runs[0].0.display(), other.display());
        bail!("`{place}` holds runs that differ in more than their seeds, such as `{first}` and `{other}`: name one");
    }
    if !force {
        let raised = || runs.iter().filter(|(_, made_by, wanted)| made_by.id() != wanted.id());
        raised().try_for_each(|(path, made_by, wanted)| more_steps::check(path, made_by, wanted))?;
        raised().try_for_each(|(path, made_by, wanted)| more_steps::extend(path, made_by, wanted))?;
    }
    Ok(runs.into_iter().map(|(folder, _, experiment)| Member { experiment, folder }).collect())
}

/// A run's folder itself, or those in a folder of several seeds' runs.
fn folders(place: &Path) -> Result<Vec<PathBuf>> {
    let is_run = |path: &PathBuf| run_folder::config(path).is_file();
    if is_run(&place.to_owned()) {
        return Ok(vec![place.to_owned()]);
    }
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut runs: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_run).collect();
    runs.sort();
    if runs.is_empty() {
        return Err(Error::NoRun { path: place.to_owned() }.into());
    }
    Ok(runs)
}
