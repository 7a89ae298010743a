//! The folder of a study, and what has become of its cells.
//!
//! `study.toml` (the study, complete) · `runs/<id>/` (a run folder per cell) · `runs/.leases/`, `runs/.workers/` (who
//! works on what) · `slurm/` (what was submitted) · `known/` (results that came as tables, see [`super::known`]) ·
//! `runs.parquet` … once collected. `runs` may be a link to a store
//! that several studies share: a cell that two studies name is one run there.

use super::file::Study;
use super::grid::{Cell, cells};
use super::known::Known;
use super::lease::{Generations, Leases};
use super::worker::{Card, cards};
use crate::error::{Error, Result};
use crate::files;
use crate::folder::{State, Status, is_half_written};
use crate::identity::SCHEMA;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// An opened study folder.
pub struct StudyFolder {
    pub path: PathBuf,
    pub study: Study,
    /// In the order they are to be run.
    pub cells: Vec<Cell>,
    pub known: Known,
}

/// What has become of a cell, going by its run folder alone.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// Not begun, or interrupted at a step.
    Open {
        step: u64,
    },
    Done,
    Failed {
        step: u64,
        error: String,
    },
    /// Made by a version whose results cannot be mixed with this one's.
    Stale {
        why: String,
    },
}

impl StudyFolder {
    /// Opens `out` for the study in `file`, making it if need be. A folder that holds something else is refused, and
    /// one that holds another study too, unless the study is to be `update`d: cells it had and still has keep their
    /// runs.
    pub fn create(
        file: &Path,
        overrides: &[String],
        out: &Path,
        store: Option<&Path>,
        update: bool,
    ) -> Result<StudyFolder> {
        let StudyFolder { study, cells, .. } = StudyFolder::planned(file, overrides, out)?;
        let wrong = |why: String| Error::Study { path: file.to_owned(), why };
        if out.exists() && !out.is_dir() {
            return Err(wrong(format!("`{}` is not a folder: choose another with --out", out.display())));
        }
        // Looked at before the study's file, which others who begin at the same moment write first.
        let empty = is_empty(out)?;
        let written = out.join("study.toml");
        let text = study.to_toml();
        match files::read_text(&written)? {
            Some(existing) if existing == text => {}
            Some(_) if !update => {
                let why = format!(
                    "`{}` holds a different version of a study; --update replaces it and keeps the runs they share",
                    out.display()
                );
                return Err(wrong(why));
            }
            None if !empty => {
                let why =
                    format!("`{}` is not empty and not a study's folder: choose another with --out", out.display());
                return Err(wrong(why));
            }
            _ => {
                make(out)?;
                files::write_whole(&written, text.as_bytes())?;
            }
        }
        if let Some(store) = store {
            link(&out.join("runs"), store)?;
        }
        let folder = StudyFolder { path: out.to_owned(), study, cells, known: Known::read(out)? };
        for place in [folder.runs(), folder.leases_folder(), folder.workers()] {
            make(&place)?;
        }
        Ok(folder)
    }

    /// The study in `file` as it would be in `out`; nothing is written.
    pub fn planned(file: &Path, overrides: &[String], out: &Path) -> Result<StudyFolder> {
        let study = Study::read(file, overrides)?;
        let cells = cells(&study, file)?;
        if cells.is_empty() {
            return Err(Error::Study { path: file.to_owned(), why: "it has no cells: its filters keep none".into() });
        }
        Ok(StudyFolder { path: out.to_owned(), study, cells, known: Known::default() })
    }

    /// Opens a folder that `study run` made.
    pub fn open(path: &Path) -> Result<StudyFolder> {
        let file = path.join("study.toml");
        if !file.is_file() {
            let why = "there is no study.toml in this folder; `study run FILE --out FOLDER` makes one".into();
            return Err(Error::Study { path: path.to_owned(), why });
        }
        let study = Study::read(&file, &[])?;
        let cells = cells(&study, &file)?;
        Ok(StudyFolder { path: path.to_owned(), study, cells, known: Known::read(path)? })
    }

    /// Takes the results in `from` as part of this study's.
    pub fn learn(&mut self, from: &Path) -> Result<()> {
        Known::copy(from, &self.path)?;
        self.known = Known::read(&self.path)?;
        Ok(())
    }

    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    pub fn run(&self, cell: &Cell) -> PathBuf {
        self.runs().join(&cell.id)
    }

    pub fn workers(&self) -> PathBuf {
        self.runs().join(".workers")
    }

    fn leases_folder(&self) -> PathBuf {
        self.runs().join(".leases")
    }

    pub fn leases(&self) -> Leases {
        Leases::new(self.leases_folder())
    }

    /// What has become of every cell that has begun, but for those to `skip`: one listing, and one small file per run.
    pub fn fates(&self, skip: &HashSet<String>) -> Result<HashMap<&str, (Fate, Option<Status>)>> {
        let runs = self.runs();
        let listed =
            std::fs::read_dir(&runs).map_err(|error| Error::Read { path: runs.clone(), why: error.to_string() })?;
        let there: HashSet<String> =
            listed.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let begun: Vec<&Cell> =
            self.cells.iter().filter(|cell| there.contains(&cell.id) && !skip.contains(&cell.id)).collect();
        let mut fates: HashMap<&str, (Fate, Option<Status>)> =
            begun.into_par_iter().map(|cell| (cell.id.as_str(), fate(&self.run(cell)))).collect();
        let known = self.cells.iter().filter(|cell| self.known.runs.contains_key(&cell.id) && !skip.contains(&cell.id));
        fates.extend(known.map(|cell| (cell.id.as_str(), (Fate::Done, None))));
        Ok(fates)
    }
}

/// What a run's folder says of its cell. Whether somebody is working on it is for the leases to say.
pub fn fate(run: &Path) -> (Fate, Option<Status>) {
    let status = match Status::read(run) {
        Ok(Some(status)) => status,
        Ok(None) => return (Fate::Open { step: 0 }, None),
        Err(error) => return (Fate::Stale { why: error.to_string() }, None),
    };
    let fate = if status.schema != SCHEMA || !compatible(&status.version) {
        let (version, schema, here) = (&status.version, status.schema, env!("CARGO_PKG_VERSION"));
        Fate::Stale { why: format!("made by {version}, schema {schema}; this is {here}, schema {SCHEMA}") }
    } else {
        match status.state {
            State::Done => Fate::Done,
            State::Failed => {
                let error = status.error.clone().unwrap_or_else(|| "no reason was given".into());
                Fate::Failed { step: status.step, error }
            }
            State::Running | State::Stopped => Fate::Open { step: status.step },
        }
    };
    (fate, Some(status))
}

/// Results of versions that differ in no more than the patch number may stand side by side.
pub fn compatible(version: &str) -> bool {
    let line = |version: &str| version.split('.').take(2).map(str::to_owned).collect::<Vec<_>>();
    line(version) == line(env!("CARGO_PKG_VERSION"))
}

/// Who holds which cell: the cards of the workers, and of every leased cell its worker.
pub struct Holders {
    pub cards: HashMap<String, Card>,
    pub by_cell: HashMap<String, String>,
}

impl Holders {
    /// Looks at the leases of the cells that are `open`.
    pub fn read<'a>(folder: &StudyFolder, open: impl Iterator<Item = &'a str>) -> Result<Holders> {
        let leases = folder.leases();
        let generations: Generations = leases.generations()?;
        let cards: HashMap<String, Card> =
            cards(&folder.workers()).into_iter().map(|card| (card.worker.clone(), card)).collect();
        let holder = |cell: &str| Some((cell.to_owned(), leases.holder(cell, *generations.get(cell)?)?));
        Ok(Holders { cards, by_cell: open.filter_map(holder).collect() })
    }
}

/// Whether there is nothing in a folder, or no folder. What a killed process left half written does not count.
fn is_empty(path: &Path) -> Result<bool> {
    if !path.exists() {
        return Ok(true);
    }
    let wrong = |error: std::io::Error| Error::Read { path: path.to_owned(), why: error.to_string() };
    let entries = std::fs::read_dir(path).map_err(wrong)?.collect::<std::io::Result<Vec<_>>>().map_err(wrong)?;
    Ok(entries.iter().all(is_half_written))
}

fn make(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|error| Error::Write { path: path.to_owned(), why: error.to_string() })
}

/// Makes `runs` a link to the store. What is there already must be that link.
fn link(runs: &Path, store: &Path) -> Result<()> {
    make(store)?;
    let failed = |error: std::io::Error| Error::Write { path: runs.to_owned(), why: error.to_string() };
    let store = store.canonicalize().map_err(failed)?;
    if runs.symlink_metadata().is_err() {
        return std::os::unix::fs::symlink(&store, runs).map_err(failed);
    }
    if runs.canonicalize().map_err(failed)? == store {
        return Ok(());
    }
    let why = format!("its runs are kept there already, not in `{}`", store.display());
    Err(Error::Write { path: runs.to_owned(), why })
}
