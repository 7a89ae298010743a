//! Output that is there whole or not at all: written beside its place, then renamed into it. What exists is left
//! alone unless it may be replaced, and of folders only those are replaced that the same command wrote.

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// The folder an output goes into, and whether there is something in its place already.
fn place(path: &Path, force: bool, is_kind: fn(&Path) -> bool, kind: &str) -> Result<PathBuf> {
    if path.file_name().is_none() {
        bail!("`{}` cannot be written: give the {kind} by its own name", path.display());
    }
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
    if !parent.is_dir() {
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
        remove_on_interrupt(file.path())?;
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

/// What a command writes into its folder: the names of all its files. The first is found in no other command's folder
/// without further files.
pub type Contents = [&'static str];

/// A folder in the making.
pub struct StagedDir {
    dir: TempDir,
    path: PathBuf,
    contents: &'static Contents,
}

impl StagedDir {
    /// With `force`, a folder of the same `contents` is replaced, or an empty one.
    pub fn new(path: &Path, force: bool, contents: &'static Contents) -> Result<StagedDir> {
        if path.is_dir() {
            is_own(path, contents)?;
        }
        let parent = place(path, force, Path::is_dir, "folder")?;
        let dir = tempfile::Builder::new()
            .prefix(".invitro-")
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(parent)
            .with_context(|| format!("`{}` cannot be written", path.display()))?;
        remove_on_interrupt(dir.path())?;
        Ok(StagedDir { dir, path: path.to_owned(), contents })
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
            // Somebody may have put something there in the meantime.
            is_own(&self.path, self.contents)?;
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

/// Removes what is in the making when the process is asked to end, and ends it.
fn remove_on_interrupt(path: &Path) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("signals cannot be watched")?;
    let path = path.to_owned();
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // In its place already, or gone: then there is nothing to remove.
            let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Refuses to replace a folder that holds anything but a command's own files.
fn is_own(path: &Path, contents: &Contents) -> Result<()> {
    let failed = || format!("`{}` cannot be read", path.display());
    let entries = std::fs::read_dir(path).with_context(failed)?.collect::<std::io::Result<Vec<_>>>();
    let mut names = Vec::new();
    for entry in entries.with_context(failed)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() || !contents.contains(&name.as_str()) {
            bail!(
                "`{}` holds `{name}`, which this command does not write: --force replaces only what it wrote before; \
                 choose another folder with --out",
                path.display()
            );
        }
        names.push(name);
    }
    if !names.is_empty() && !names.iter().any(|name| name == contents[0]) {
        bail!(
            "`{}` holds `{}` but no `{}`, so this command did not write it: --force replaces only what it wrote before; \
             choose another folder with --out",
            path.display(),
            names[0],
            contents[0]
        );
    }
    Ok(())
}

/// Refuses an output folder that is the `source` of a command, or holds it.
pub fn apart_from(source: &Path, out: &Path) -> Result<()> {
    let (Ok(inner), Ok(outer)) = (source.canonicalize(), out.canonicalize()) else { return Ok(()) };
    if inner.starts_with(&outer) {
        let is = if inner == outer { "is" } else { "holds" };
        bail!("`{}` {is} the source `{}`: choose another folder with --out", out.display(), source.display());
    }
    Ok(())
}
