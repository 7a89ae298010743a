//! A log of JSON lines, each with its `step`: appended and synced at every evaluation, cut back to a checkpoint's step
//! when a run goes on. What is cut is measured again, to the same bytes.

use crate::error::{Error, Result};
use crate::files;
use serde::de::DeserializeOwned;
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
        let text = files::read_text(path)?.unwrap_or_default();
        let kept = after.map_or("", |step| whole_lines(&text, step));
        if kept.len() < text.len() {
            files::write_whole(path, kept.as_bytes())?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| Error::Write { path: path.to_owned(), why: error.to_string() })?;
        Ok(Log { path: path.to_owned(), file })
    }

    /// Appends one line per item; they are on disk when this returns.
    pub fn append<T: Serialize>(&mut self, items: &[T]) -> Result<()> {
        let failed = |why: String| Error::Write { path: self.path.clone(), why };
        let mut text = String::new();
        for item in items {
            text.push_str(&serde_json::to_string(item).map_err(|error| failed(error.to_string()))?);
            text.push('\n');
        }
        self.file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|error| failed(error.to_string()))
    }
}

/// All whole lines of a log that parse; the end of a log being written may be torn.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = files::read_text(path)?.unwrap_or_default();
    Ok(whole_lines(&text, u64::MAX).lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_torn_line_and_later_steps_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let line = |step: u64| json!({"step": step, "value": 0.1});
        let mut log = Log::open(&path, None).unwrap();
        log.append(&[line(0), line(0)]).unwrap();
        log.append(&[line(10)]).unwrap();
        let after_ten = std::fs::read(&path).unwrap();
        log.append(&[line(20)]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for torn in after_ten.len()..whole.len() {
            std::fs::write(&path, &whole[..torn]).unwrap();
            drop(Log::open(&path, Some(20)).unwrap());
            assert_eq!(std::fs::read(&path).unwrap(), after_ten, "torn after {torn} bytes");
        }
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(read::<serde_json::Value>(&path).unwrap().len(), 4);
        drop(Log::open(&path, Some(19)).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), after_ten);
        let mut log = Log::open(&path, Some(10)).unwrap();
        log.append(&[line(20)]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        drop(Log::open(&path, None).unwrap());
        assert!(std::fs::read(&path).unwrap().is_empty());
    }
}
