//! Runs of a study that are at hand as tables, without their run folders: what an earlier part of it left elsewhere.
//!
//! `study run --with DIR` copies the tables into `known/` of the study's folder. Cells that are done there are not run
//! again, and collected tables hold both parts.

use crate::error::{At, Error, Result};
use crate::folder::{KNOWN, METRICS_TABLE, RUNS_TABLE, WORDS, write_file};
use crate::run::column;
use crate::table::{Columns, TableReader};
use crate::{SCHEMA, State, compatible};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Finished runs by identity, each as its row of `runs.parquet`.
#[derive(Default)]
pub struct Known {
    /// The rows.
    pub runs: HashMap<String, Columns>,
    folder: PathBuf,
}

impl Known {
    /// Copies collected results into a study's folder, if any can be used.
    pub fn copy(from: &Path, study: &Path) -> Result<()> {
        let rows = TableReader::open(&from.join(RUNS_TABLE))?.rows()?;
        if let (Some(row), false) = (rows.iter().find(|row| is_done(row)), rows.iter().any(is_usable)) {
            let [version, schema] = [column::VERSION, column::SCHEMA].map(|key| row.get(key).map(Value::to_string));
            let made_by = format!("version {}, schema {}", version.unwrap_or_default(), schema.unwrap_or_default());
            return Err(Error::OldResults { path: from.to_owned(), made_by: made_by.replace('"', ""), here: SCHEMA });
        }
        let place = study.join(KNOWN);
        std::fs::create_dir_all(&place).writing(&place)?;
        // The runs last: they are what makes the others count.
        for name in [METRICS_TABLE, WORDS, RUNS_TABLE] {
            let path = from.join(name);
            match std::fs::read(&path) {
                Err(_) if name == WORDS => {}
                bytes => write_file(&place.join(name), &bytes.reading(&path)?)?,
            }
        }
        Ok(())
    }

    /// What a study's folder knows; nothing, if nothing was copied there. Runs of versions or schemas whose results
    /// cannot stand beside this one's are left out.
    pub fn read(study: &Path) -> Result<Known> {
        Known::of_tables(study.join(KNOWN))
    }

    /// What the tables in a folder know.
    pub fn of_tables(folder: PathBuf) -> Result<Known> {
        let path = folder.join(RUNS_TABLE);
        if !path.exists() {
            return Ok(Known::default());
        }
        let rows = TableReader::open(&path)?.rows()?.into_iter().filter(is_usable);
        let runs = rows.filter_map(|row| Some((row.get(column::RUN)?.as_str()?.to_owned(), row))).collect();
        Ok(Known { runs, folder })
    }

    /// The runs that the table of metrics has no rows of, in order.
    pub fn without_metrics(&self) -> Result<Vec<&str>> {
        let mut without: BTreeSet<&str> = self.runs.keys().map(String::as_str).collect();
        if let Some(path) = self.table(METRICS_TABLE) {
            TableReader::open(&path)?.batches(&[column::RUN], |columns, rows| {
                for row in 0..rows {
                    columns[0].text(row).map(|run| without.remove(run));
                }
            })?;
        }
        Ok(without.into_iter().collect())
    }

    /// A table of the known results, if there is one, with the rows of these runs alone: a study may have been given the
    /// tables of a larger one. The flag says whether it was made here and is to be removed.
    pub fn table_of(&self, name: &str, runs: &HashSet<&str>) -> Result<Option<(PathBuf, bool)>> {
        let Some(path) = self.table(name) else { return Ok(None) };
        if self.runs.keys().all(|id| runs.contains(id.as_str())) {
            return Ok(Some((path, false)));
        }
        let part = self.folder.join(format!("part-{name}"));
        let stays = |row: &Columns| row.get(column::RUN).and_then(Value::as_str).is_some_and(|run| runs.contains(run));
        TableReader::open(&path)?.write_part(&part, stays)?;
        Ok(Some((part, true)))
    }

    /// A table of the known results, if there is one.
    pub fn table(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.join(name)).filter(|path| !self.runs.is_empty() && path.exists())
    }
}

fn is_done(row: &Columns) -> bool {
    row.get(column::STATE).and_then(Value::as_str) == Some(State::Done.name())
}

fn is_usable(row: &Columns) -> bool {
    let of_this_schema = row.get(column::SCHEMA).and_then(Value::as_u64) == Some(SCHEMA.into());
    is_done(row) && of_this_schema && row.get(column::VERSION).and_then(Value::as_str).is_some_and(compatible)
}
