//! Files written whole or not at all: beside their place first, then renamed.

use crate::{Error, Result};
use std::io::Write;
use std::path::Path;

/// Writes through `fill` to a file beside `path`, and renames it to `path` when all is on disk.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let failed = |error: std::io::Error| Error::File(format!("{}: cannot write: {error}", path.display()));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let write = || {
        let mut file = std::io::BufWriter::new(std::fs::File::create(&beside)?);
        fill(&mut file)?;
        file.into_inner()?.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().map_err(|error| {
        // Nothing half written stays behind; the first error is the one worth reporting.
        let _ = std::fs::remove_file(&beside);
        failed(error)
    })
}
