//! The output of a command, written whole or not at all ([`invitro_base::files`]). What exists is left alone unless it may be
//! replaced, and of folders only those are replaced that the same command wrote.

use anyhow::{Context, Result, bail};
use invitro_base::files::{PartialFile, PartialFolder};
use invitro_lab::training::stop::ending_signals;
use signal_hook::iterator::Signals;
use std::fs::File;
use std::path::{Path, PathBuf};

fn cannot_write(path: &Path) -> String {
    format!("`{}` cannot be written", path.display())
}

/// Refuses an output whose name is taken by something that may not be replaced, or whose parent is no folder.
fn check(path: &Path, force: bool, is_kind: fn(&Path) -> bool, kind: &str) -> Result<()> {
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
    Ok(())
}

/// A file in the making.
pub struct StagedFile {
    file: PartialFile,
    path: PathBuf,
}

impl StagedFile {
    pub fn new(path: &Path, force: bool) -> Result<StagedFile> {
        check(path, force, Path::is_file, "file")?;
        let file = PartialFile::new(path).with_context(|| cannot_write(path))?;
        remove_on_interrupt(file.path())?;
        Ok(StagedFile { file, path: path.to_owned() })
    }

    pub fn file(&mut self) -> Result<File> {
        Ok(self.file.writer().get_ref().try_clone()?)
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<()> {
        self.file.finish().with_context(|| cannot_write(&self.path))
    }
}

/// What a command writes into its folder: the paths of all its files, `*` for any text. The first is found in no other
/// command's folder without further files.
pub type Contents = [&'static str];

/// A folder in the making.
pub struct StagedDir {
    dir: PartialFolder,
    path: PathBuf,
    contents: &'static Contents,
}

impl StagedDir {
    /// With `force`, a folder of the same `contents` is replaced, or an empty one.
    pub fn new(path: &Path, force: bool, contents: &'static Contents) -> Result<StagedDir> {
        if path.is_dir() {
            is_own(path, contents)?;
        }
        check(path, force, Path::is_dir, "folder")?;
        let dir = PartialFolder::new(path).with_context(|| cannot_write(path))?;
        remove_on_interrupt(dir.path())?;
        Ok(StagedDir { dir, path: path.to_owned(), contents })
    }

    /// Where it is being made.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
        std::fs::write(self.dir.path().join(name), content).with_context(|| cannot_write(&self.path.join(name)))
    }

    /// Puts the folder in its place.
    pub fn finish(self) -> Result<()> {
        if self.path.is_dir() {
            // Somebody may have put something there in the meantime.
            is_own(&self.path, self.contents)?;
        }
        self.dir.finish().with_context(|| cannot_write(&self.path))
    }
}

/// Removes what is in the making when the process is asked to end, and ends it.
fn remove_on_interrupt(path: &Path) -> Result<()> {
    let mut signals = Signals::new(ending_signals()).context("signals cannot be watched")?;
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

/// Whether a name is the one of the list, or of its kind.
fn is_called(name: &str, own: &str) -> bool {
    match own.split_once('*') {
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
        None => name == own,
    }
}

/// Refuses to replace a folder that holds anything but a command's own files.
fn is_own(path: &Path, contents: &Contents) -> Result<()> {
    let failed = || format!("`{}` cannot be read", path.display());
    let entries = |folder: &Path| -> Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        Ok(entries.with_context(failed)?.iter().map(std::fs::DirEntry::path).collect())
    };
    let mut names = Vec::new();
    for entry in entries(path)? {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_own_folder = |own: &&str| own.split_once('/').is_some_and(|(folder, _)| is_called(&name, folder));
        let is_folder = entry.is_dir() && !entry.is_symlink() && contents.iter().any(is_own_folder);
        let files = if is_folder { entries(&entry)? } else { vec![entry] };
        for file in files {
            let name = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().into_owned();
            if file.is_dir() || !contents.iter().any(|own| is_called(&name, own)) {
                bail!(
                    "`{}` holds `{name}`, which this command does not write: --force replaces only what it wrote before; \
                     choose another folder with --out",
                    path.display()
                );
            }
            names.push(name);
        }
    }
    if !names.is_empty() && !names.iter().any(|name| is_called(name, contents[0])) {
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
