//! Results of a study that are at hand as tables, without their run folders: what an earlier part of it left elsewhere.
//!
//! `study run --with DIR` copies the tables into `known/` of the study's folder. Cells that are done there are done
//! here, and [`super::collect`] puts both parts together.

use super::folder::compatible;
use crate::error::{Error, Result};
use crate::files;
use crate::folder::{METRICS_TABLE, WORDS};
use crate::identity::SCHEMA;
use crate::table;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub const RUNS: &str = "runs.parquet";
const FOLDER: &str = "known";

/// Finished runs by id, each as its row of `runs.parquet`.
#[derive(Default)]
pub struct Known {
    pub runs: HashMap<String, Map<String, Value>>,
    folder: PathBuf,
}

impl Known {
    /// Copies collected results into a study's folder, unless none of them can be used.
    pub fn copy(from: &Path, study: &Path) -> Result<()> {
        let rows = table::read(&from.join(RUNS))?;
        if let (Some(row), false) = (rows.iter().find(|row| is_done(row)), rows.iter().any(usable)) {
            let [version, schema] = ["version", "schema"].map(|key| row.get(key).map(Value::to_string));
            let made_by = format!("{}, schema {}", version.unwrap_or_default(), schema.unwrap_or_default());
            return Err(Error::OldResults { path: from.to_owned(), made_by: made_by.replace('"', ""), here: SCHEMA });
        }
        let place = study.join(FOLDER);
        std::fs::create_dir_all(&place)
            .map_err(|error| Error::Write { path: place.clone(), why: error.to_string() })?;
        // The runs last: they are what makes the others count.
        for name in [METRICS_TABLE, WORDS, RUNS] {
            let path = from.join(name);
            match std::fs::read(&path) {
                Ok(bytes) => files::write_whole(&place.join(name), &bytes)?,
                Err(_) if name == WORDS => {}
                Err(error) => return Err(Error::Read { path, why: error.to_string() }),
            }
        }
        Ok(())
    }

    /// What a study's folder knows; nothing, if nothing was copied there. Runs of versions whose results cannot be
    /// mixed with this one's are left out.
    pub fn read(study: &Path) -> Result<Known> {
        let folder = study.join(FOLDER);
        let path = folder.join(RUNS);
        if !path.exists() {
            return Ok(Known::default());
        }
        let rows = table::read(&path)?.into_iter().filter(usable);
        let runs = rows.filter_map(|row| Some((text(&row, "run")?.to_owned(), row))).collect();
        Ok(Known { runs, folder })
    }

    /// A table of the known results, if there is one.
    pub fn table(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.join(name)).filter(|path| !self.runs.is_empty() && path.exists())
    }
}

fn text<'a>(row: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    row.get(key).and_then(Value::as_str)
}

fn is_done(row: &Map<String, Value>) -> bool {
    text(row, "state") == Some("done")
}

/// Whether a run's results can stand beside those of this version.
fn usable(row: &Map<String, Value>) -> bool {
    let of_this_schema = row.get("schema").and_then(Value::as_u64) == Some(SCHEMA.into());
    is_done(row) && of_this_schema && text(row, "version").is_some_and(compatible)
}
