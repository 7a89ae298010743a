//! The folder of a study, and what has become of its cells.
//!
//! `study.toml` (the study, complete) · `runs/<id>/` (a run folder per cell) · `runs/.leases/`, `runs/.workers/` (who
//! works on what) · `slurm/` (what was submitted) · `known/` (results that came as tables, see [`Known`]) ·
//! `runs.parquet` … once collected. `runs` may be a link to a store
//! that several studies share: a cell that two studies name is one run there.

use super::file::{self, Cell, cells};
use super::intact::{self, Depth};
use super::lease::Leases;
use crate::error::{At, Error, Result};
use invitro_results::folder::{
    KNOWN, RUNS, RUNS_TABLE, STUDY, is_sealed_study, read_study, read_text, seal_study, write_file,
};
use invitro_results::{Known, Plan, SCHEMA, State, Status};
use rayon::prelude::*;
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// An opened study folder.
pub struct StudyFolder {
    pub path: PathBuf,
    pub plan: Plan,
    /// In the order they are to be run.
    pub cells: Vec<Cell>,
    pub known: Known,
    /// Whether its `study.toml` carries a checksum; those of older versions do not.
    sealed: bool,
}

/// What has become of a cell, going by its run folder alone.
#[derive(Debug, Clone, PartialEq)]
pub enum CellState {
    /// Not begun, or interrupted at a step.
    Open {
        step: u64,
    },
    Done,
    /// It says that it is done, but its results are not there or cannot be read: it is to be taken again.
    Damaged {
        step: u64,
        why: String,
    },
    Failed {
        step: u64,
        error: String,
    },
    /// Made by a version whose results cannot be mixed with this one's.
    Stale {
        why: String,
    },
}

impl CellState {
    /// The step it stands at, if it is to be worked on.
    pub fn open_at(&self) -> Option<u64> {
        match self {
            CellState::Open { step } | CellState::Damaged { step, .. } => Some(*step),
            _ => None,
        }
    }
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
        StudyFolder::planned(file, overrides, out)?.write(file, store, update)
    }

    /// The study as it plans itself: from its first data seeds on, up to `most`. `file` is named in errors.
    pub fn planning_itself(self, file: &Path, most: usize, half_width: Option<f64>) -> Result<StudyFolder> {
        let wrong = |why: String| Error::Study { path: file.to_owned(), why };
        let plan = self.plan.planning_itself(most, half_width).map_err(wrong)?;
        Ok(StudyFolder { cells: cells(&plan, file)?, plan, ..self })
    }

    /// Writes what was planned; `file` is named in errors. A study that plans itself goes on from where its folder stands.
    pub fn write(self, file: &Path, store: Option<&Path>, update: bool) -> Result<StudyFolder> {
        self.check_runs()?;
        let StudyFolder { path: out, mut plan, mut cells, .. } = self;
        let out = out.as_path();
        let wrong = |why: String| Error::Study { path: file.to_owned(), why };
        if out.exists() && !out.is_dir() {
            return Err(wrong(format!("`{}` is not a folder: choose another with --out", out.display())));
        }
        // Looked at before the study's file, which others who begin at the same moment write first.
        let empty = is_empty(out)?;
        let written = out.join(STUDY);
        let existing = read_text(&written)?;
        if let Some(existing) = &existing
            && plan.until.is_some()
            && let Ok(further) = file::parse(existing, &written, &[])
            && further.continues(&plan)
        {
            (cells, plan) = (file::cells(&further, file)?, further);
        }
        let text = seal_study(&plan.to_toml());
        match existing {
            Some(existing) if existing == text => save_files(&plan, out)?,
            // Older versions wrote it without a checksum.
            Some(existing) if existing == plan.to_toml() => {
                save_files(&plan, out)?;
                write_file(&written, text.as_bytes())?;
            }
            Some(_) if !update => {
                read_study(out)?;
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
                std::fs::create_dir_all(out).writing(out)?;
                save_files(&plan, out)?;
                write_file(&written, text.as_bytes())?;
            }
        }
        if let Some(store) = store {
            link(&out.join(RUNS), store)?;
        }
        let folder = StudyFolder { path: out.to_owned(), plan, cells, known: Known::read(out)?, sealed: true };
        for place in [folder.runs(), folder.leases_folder(), folder.workers()] {
            std::fs::create_dir_all(&place).writing(&place)?;
        }
        Ok(folder)
    }

    /// The study in `file` as it would be in `out`; nothing is written.
    pub fn planned(file: &Path, overrides: &[String], out: &Path) -> Result<StudyFolder> {
        let plan = file::read(file, overrides)?;
        let cells = cells(&plan, file)?;
        if cells.is_empty() {
            return Err(Error::Study { path: file.to_owned(), why: "it has no cells: its filters keep none".into() });
        }
        Ok(StudyFolder { path: out.to_owned(), plan, cells, known: Known::default(), sealed: true })
    }

    /// Opens a folder that `study run` made.
    pub fn open(path: &Path) -> Result<StudyFolder> {
        let file = path.join(STUDY);
        let Some(text) = read_study(path)? else {
            let why = "there is no study.toml in this folder; `study run FILE --out FOLDER` makes one".into();
            return Err(Error::Study { path: path.to_owned(), why });
        };
        let plan = file::parse(&text, &file, &[])?;
        let cells = cells(&plan, &file)?;
        let sealed = is_sealed_study(&text);
        Ok(StudyFolder { path: path.to_owned(), plan, cells, known: Known::read(path)?, sealed })
    }

    /// Takes the results in `from` as part of this study's.
    pub fn add_known(&mut self, from: &Path) -> Result<()> {
        Known::copy(from, &self.path)?;
        self.known = Known::read(&self.path)?;
        Ok(())
    }

    pub fn runs(&self) -> PathBuf {
        self.path.join(RUNS)
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

    /// Removes what killed processes have left half written.
    pub fn remove_abandoned(&self) {
        for place in [self.path.clone(), self.path.join(KNOWN), self.leases_folder(), self.workers()] {
            invitro_base::files::remove_abandoned(&place);
        }
    }

    /// What has become of every cell, in their order: one listing, one small file per run, and the lengths of its files
    /// where it is done. Those that are known to be `done` are not looked at.
    pub fn cell_states(&self, done: &HashSet<String>) -> Result<Vec<(CellState, Option<Status>)>> {
        let begun = names_in(&self.runs())?;
        let state = |cell: &Cell| match &cell.id {
            id if done.contains(id) || self.known.runs.contains_key(id) => (CellState::Done, None),
            id if begun.contains(id) => cell_state(&self.run(cell)),
            _ => (CellState::Open { step: 0 }, None),
        };
        Ok(self.cells.par_iter().map(state).collect())
    }

    /// The same, and of every cell that is done as much is read as `depth` says.
    pub fn cell_states_checked(&self, depth: Depth) -> Result<Vec<(CellState, Option<Status>)>> {
        let mut states = self.cell_states(&HashSet::new())?;
        self.cells.par_iter().zip(&mut states).for_each(|(cell, (state, _))| {
            if *state == CellState::Done && !self.known.runs.contains_key(&cell.id) {
                *state = checked(&self.run(cell), cell, CellState::Done, depth);
            }
        });
        Ok(states)
    }

    /// Finished runs in the study's folder that are no cell of it. A store that several studies share is not searched.
    pub fn strays(&self) -> Result<Vec<String>> {
        let runs = self.runs();
        if runs.is_symlink() {
            return Ok(Vec::new());
        }
        let cells: HashSet<&str> = self.cells.iter().map(|cell| cell.id.as_str()).collect();
        let mut strays: Vec<String> = names_in(&runs)?
            .into_iter()
            .filter(|name| !name.starts_with('.') && !cells.contains(name.as_str()))
            .collect();
        strays.retain(|name| {
            Status::read(&runs.join(name)).is_ok_and(|status| status.is_some_and(|status| status.state == State::Done))
        });
        strays.sort();
        Ok(strays)
    }

    /// Whether the folder has collected tables without the runs that they are of.
    pub fn has_tables_alone(&self) -> bool {
        self.path.join(RUNS_TABLE).exists() && !self.runs().exists()
    }

    /// An error where the folder has tables alone: what is collected next would replace them.
    pub fn check_runs(&self) -> Result<()> {
        if !self.has_tables_alone() {
            return Ok(());
        }
        let why = "the folder has tables without the runs that they are of; nothing was changed: `invitro report` shows \
                   them, `invitro study run FILE --with FOLDER --out NEW` continues from them";
        Err(Error::Study { path: self.path.clone(), why: why.into() })
    }

    /// An error where finished runs are no cells of the study and no checksum says that `study.toml` is as it was written.
    pub fn check_strays(&self) -> Result<()> {
        let strays = if self.sealed { Vec::new() } else { self.strays()? };
        let Some(first) = strays.first() else { return Ok(()) };
        let why = format!(
            "{} finished runs in `{}` are no cells of it, such as {first}, so `{STUDY}` may be damaged: no table was \
             touched; `invitro study run FILE --out DIR --update` writes the study of FILE there",
            strays.len(),
            self.runs().display()
        );
        Err(Error::Study { path: self.path.clone(), why })
    }

    /// Checkpoints that finished cells kept and that are missing or were changed, by cell; `whole` reads them.
    pub fn checkpoint_faults<'a>(
        &'a self,
        states: &[(CellState, Option<Status>)],
        whole: bool,
    ) -> Vec<(&'a Cell, String)> {
        let fault = |(cell, (state, status)): (&'a Cell, &(CellState, Option<Status>))| {
            let status = status.as_ref().filter(|_| *state == CellState::Done)?;
            let fault = status.checkpoint_faults(&self.run(cell), whole).into_iter().next()?;
            Some((cell, fault.to_string()))
        };
        self.cells.par_iter().zip(states).filter_map(fault).collect()
    }
}

/// The names in a folder; none where there is no folder.
fn names_in(folder: &Path) -> Result<HashSet<String>> {
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(HashSet::new()),
        listed => {
            Ok(listed.reading(folder)?.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
        }
    }
}

/// The state of a cell once its results were read, if it is done.
pub fn checked(run: &Path, cell: &Cell, state: CellState, depth: Depth) -> CellState {
    let damage = (state == CellState::Done).then(|| intact::damage_of_cell(run, cell, depth)).flatten();
    damage.map_or(state, |why| CellState::Damaged { step: cell.experiment.train.steps, why })
}

/// The folder's own copies of the files that the study names.
fn save_files(plan: &Plan, out: &Path) -> Result<()> {
    for name in file::files(plan) {
        invitro_base::named_files::save(&name, out).writing(&out.join(&name))?;
    }
    Ok(())
}

/// What a run's folder says of its cell. Whether somebody is working on it is for the leases to say.
pub fn cell_state(run: &Path) -> (CellState, Option<Status>) {
    let status = match Status::read(run) {
        Ok(Some(status)) => status,
        Ok(None) => return (CellState::Open { step: 0 }, None),
        Err(error) => return (CellState::Damaged { step: 0, why: error.to_string() }, None),
    };
    let cell_state = if !status.is_current() {
        let (version, schema, here) = (&status.version, status.schema, env!("CARGO_PKG_VERSION"));
        CellState::Stale { why: format!("made by {version}, schema {schema}; this is {here}, schema {SCHEMA}") }
    } else {
        match status.state {
            State::Done => {
                let damaged = |why| CellState::Damaged { step: status.step, why };
                intact::damage(run, &status, Depth::Lengths).map_or(CellState::Done, damaged)
            }
            State::Failed => {
                let error = status.error.clone().unwrap_or_else(|| "no reason was given".into());
                CellState::Failed { step: status.step, error }
            }
            _ => CellState::Open { step: status.step },
        }
    };
    (cell_state, Some(status))
}

/// Whether there is nothing in a folder, or no folder. What a killed process left half written does not count.
fn is_empty(path: &Path) -> Result<bool> {
    if !path.exists() {
        return Ok(true);
    }
    let entries = std::fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>).reading(path)?;
    let files = invitro_base::named_files::FILES;
    Ok(entries.iter().map(|entry| entry.file_name()).all(|name| name == files || invitro_base::files::is_partial(name)))
}

/// Makes `runs` a link to the store. An existing `runs` must be that link.
fn link(runs: &Path, store: &Path) -> Result<()> {
    std::fs::create_dir_all(store).writing(store)?;
    let store = store.canonicalize().writing(runs)?;
    if runs.symlink_metadata().is_err() {
        return Ok(std::os::unix::fs::symlink(&store, runs).writing(runs)?);
    }
    if runs.canonicalize().writing(runs)? == store {
        return Ok(());
    }
    let why = format!("its runs are kept there already, not in `{}`", store.display());
    Err(Error::Write { path: runs.to_owned(), why })
}
