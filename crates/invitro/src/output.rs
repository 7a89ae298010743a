//! Output that is there whole or not at all: written beside its place, then renamed into it. What exists is left
//! alone unless it may be replaced.

use anyhow::{Context, Result, bail};
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// The folder an output goes into, and whether there is something in its place already.
fn place(path: &Path, force: bool, is_kind: fn(&Path) -> bool, kind: &str) -> Result<PathBuf> {
    if path.symlink_metadata().is_ok() {
        if !is_kind(path) {
            bail!("`{}` exists and is not a {kind}", path.display());
        }
        if !force {
            bail!("`{}` exists already; --force replaces it", path.display());
        }
    }
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if path.file_name().is_none() || !parent.is_dir() {
        bail!("`{}` cannot be written: `{}` is not a folder", path.display(), parent.display());
    }
    Ok(parent.to_owned())
}

/// A file in the making.
pub struct StagedFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl StagedFile {
    pub fn new(path: &Path, force: bool) -> Result<StagedFile> {
        let parent = place(path, force, Path::is_file, "file")?;
        let file = tempfile::Builder::new()
            .prefix(".invitro-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(parent)
            .with_context(|| format!("`{}` cannot be written", path.display()))?;
        Ok(StagedFile { file, path: path.to_owned() })
    }

    pub fn file(&self) -> Result<File> {
        Ok(self.file.as_file().try_clone()?)
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<()> {
        let path = self.path.display().to_string();
        self.file.as_file().sync_all().with_context(|| format!("`{path}` cannot be written"))?;
        self.file.persist(&self.path).with_context(|| format!("`{path}` cannot be written"))?;
        Ok(())
    }
}

/// A folder in the making.
pub struct StagedDir {
    dir: TempDir,
    path: PathBuf,
}

impl StagedDir {
    pub fn new(path: &Path, force: bool) -> Result<StagedDir> {
        let parent = place(path, force, Path::is_dir, "folder")?;
        let dir = tempfile::Builder::new()
            .prefix(".invitro-")
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(parent)
            .with_context(|| format!("`{}` cannot be written", path.display()))?;
        Ok(StagedDir { dir, path: path.to_owned() })
    }

    /// Where it is being made.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
        std::fs::write(self.dir.path().join(name), content)
            .with_context(|| format!("`{}` cannot be written", self.path.join(name).display()))
    }

    /// Puts the folder in its place. A folder that stood there is moved aside first and removed last, so that at no
    /// time both are gone.
    pub fn finish(self) -> Result<()> {
        let failed = || format!("`{}` cannot be written", self.path.display());
        let aside = self.dir.path().with_extension("old");
        let replaces = self.path.is_dir();
        if replaces {
            std::fs::rename(&self.path, &aside).with_context(failed)?;
        }
        if let Err(error) = std::fs::rename(self.dir.path(), &self.path) {
            if replaces {
                std::fs::rename(&aside, &self.path).with_context(failed)?;
            }
            return Err(error).with_context(failed);
        }
        // What was the temporary folder is now the output: there is nothing left to clean up.
        let _ = self.dir.keep();
        if replaces {
            std::fs::remove_dir_all(&aside).with_context(|| format!("`{}` cannot be removed", aside.display()))?;
        }
        Ok(())
    }
}
