//! A folder with all its files.

use super::partial;
use std::fs::File;
use std::io::Result;
use std::path::{Path, PathBuf};

/// A folder that is being filled. [`PartialFolder::finish`] puts it in its place; dropped before that, it is removed.
#[derive(Debug)]
pub struct PartialFolder {
    target: PathBuf,
    partial: PathBuf,
    finished: bool,
}

impl PartialFolder {
    /// Starts a folder that will replace `path`.
    pub fn new(path: &Path) -> Result<PartialFolder> {
        let (partial, ()) = partial::create(path, |partial| std::fs::create_dir(partial))?;
        Ok(PartialFolder { target: path.to_owned(), partial, finished: false })
    }

    /// Where it is being filled.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Puts the folder in its place. One that stands there is moved aside first, to `.NAME.….old`, and removed last,
    /// so that at no time both are gone. Whether it may be replaced is the caller's to know.
    pub fn finish(mut self) -> Result<()> {
        sync_all(&self.partial)?;
        let old = self.partial.with_extension("old");
        let replaces = self.target.symlink_metadata().is_ok();
        if replaces {
            std::fs::rename(&self.target, &old)?;
        }
        if let Err(error) = std::fs::rename(&self.partial, &self.target) {
            if replaces {
                std::fs::rename(&old, &self.target)?;
            }
            return Err(error);
        }
        self.finished = true;
        partial::sync_parent(&self.target);
        if replaces {
            partial::remove(&old);
        }
        Ok(())
    }
}

impl Drop for PartialFolder {
    fn drop(&mut self) {
        if !self.finished {
            partial::remove(&self.partial);
        }
    }
}

/// Fills a folder with `fill` and puts it in the place of `path`.
pub fn replace_folder<T, E: From<std::io::Error>>(
    path: &Path,
    fill: impl FnOnce(&Path) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let folder = PartialFolder::new(path)?;
    let result = fill(folder.path())?;
    folder.finish()?;
    Ok(result)
}

/// Puts all files below a folder on disk.
fn sync_all(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_all(&entry.path())?;
        } else if kind.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    // As for a file's parent: not every file system can.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}
