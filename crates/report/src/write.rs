//! Writing files so that nothing half written stays behind: beside first, then renamed.

use crate::error::{At, Error, Result};
use std::path::{Path, PathBuf};

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".writing-{}", std::process::id()));
    path.with_file_name(name)
}

pub fn file(path: &Path, text: &str) -> Result<()> {
    let partial = beside(path);
    std::fs::write(&partial, text).at(&partial)?;
    std::fs::rename(&partial, path).at(path)
}

/// The file every figures folder of ours holds; a folder without it is not ours to replace.
pub const MARK: &str = "captions.md";

/// Fills a folder beside `path` and then puts it in place of the one there.
pub fn folder(path: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let partial = beside(path);
    if partial.exists() {
        std::fs::remove_dir_all(&partial).at(&partial)?;
    }
    std::fs::create_dir_all(&partial).at(&partial)?;
    if let Err(error) = fill(&partial) {
        // The first error is the one worth telling; a folder that will not go away is tidied by the next report.
        let _ = std::fs::remove_dir_all(&partial);
        return Err(error);
    }
    if path.exists() {
        if !path.join(MARK).exists() {
            let _ = std::fs::remove_dir_all(&partial);
            return Err(Error::Exists { path: path.to_owned() });
        }
        std::fs::remove_dir_all(path).at(path)?;
    }
    std::fs::rename(&partial, path).at(path)
}
