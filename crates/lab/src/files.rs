//! Files written whole or not at all: beside their place first, then renamed.

use crate::error::{Error, Result};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Writes `bytes` to `path`.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let write = || {
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().map_err(|error| {
        // The first error is the one worth reporting.
        let _ = std::fs::remove_file(&beside);
        Error::Write { path: path.to_owned(), why: error.to_string() }
    })
}

/// Writes a value as indented JSON.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::Write { path: path.to_owned(), why: error.to_string() })?;
    text.push('\n');
    write_whole(path, text.as_bytes())
}

/// The text of a file, `None` where there is none.
pub fn read_text(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::Read { path: path.to_owned(), why: error.to_string() }),
    }
}
