//! A log of JSON lines, each with its `step`: appended and synced at every evaluation, cut back to a checkpoint's step
//! when a run goes on. What is cut is measured again, to the same bytes.

use crate::error::{At, Result};
use invitro_results::folder::{read_text, write_file};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

pub struct Log {
    path: PathBuf,
    file: File,
}

#[derive(Deserialize)]
struct Stamp {
    step: u64,
}

impl Log {
    /// Opens the log of a run that goes on after `step`, or starts a new one where that is `None`. Lines of later
    /// steps go, and so does a last line that was torn.
    pub fn open(path: &Path, after: Option<u64>) -> Result<Log> {
        let text = read_text(path)?.unwrap_or_default();
        let kept = after.map_or("", |step| whole_lines(&text, step));
        if kept.len() < text.len() {
            write_file(path, kept.as_bytes())?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path).writing(path)?;
        Ok(Log { path: path.to_owned(), file })
    }

    /// Appends one line per item; they are on disk when this returns.
    pub fn append<T: Serialize>(&mut self, items: &[T]) -> Result<()> {
        let mut text = String::new();
        for item in items {
            text.push_str(&serde_json::to_string(item).writing(&self.path)?);
            text.push('\n');
        }
        Ok(self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()).writing(&self.path)?)
    }
}

/// The lines from the start on that are whole and not after `step`.
fn whole_lines(text: &str, step: u64) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let fits = line.ends_with('\n') && serde_json::from_str::<Stamp>(line).is_ok_and(|stamp| stamp.step <= step);
        if !fits {
            break;
        }
        end += line.len();
    }
    &text[..end]
}
