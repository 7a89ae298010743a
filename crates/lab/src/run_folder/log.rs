//! A log of JSON lines: appended and synced at every evaluation, cut back to its length at a checkpoint when a run
//! resumes from there. The run measures the lines that were cut again, to the same bytes but for times.

use crate::error::{At, Result};
use invitro_results::folder::write_file;
use invitro_results::{Seal, Sealer};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

pub struct Log {
    path: PathBuf,
    file: File,
    sealer: Sealer,
}

impl Log {
    /// Opens the log of a run that resumes from where it had this seal, or starts a new one where that is `None`. Later
    /// lines are dropped. It writes a new file: a process that was stopped and taken over may have the old one open,
    /// and what it appends there is never read.
    pub fn open(path: &Path, seal: Option<&Seal>) -> Result<Log> {
        let lines_before = seal.map_or(Ok(Vec::new()), |seal| seal.read_start(path))?;
        write_file(path, &lines_before)?;
        let file = OpenOptions::new().append(true).open(path).writing(path)?;
        let mut sealer = Sealer::default();
        sealer.update(&lines_before);
        Ok(Log { path: path.to_owned(), file, sealer })
    }

    /// Appends one line per item; they are on disk when this returns.
    pub fn append<T: Serialize>(&mut self, items: &[T]) -> Result<()> {
        let mut text = String::new();
        for item in items {
            text.push_str(&serde_json::to_string(item).writing(&self.path)?);
            text.push('\n');
        }
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()).writing(&self.path)?;
        self.sealer.update(text.as_bytes());
        Ok(())
    }

    /// What it is now.
    pub fn seal(&self) -> Seal {
        self.sealer.seal()
    }
}
