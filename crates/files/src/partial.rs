//! Names of what is being written, and what is done with them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How the name of a partial file or folder ends.
const ENDING: &str = ".part";

/// Creates something under a partial name beside `path` with `create`, which must fail with `AlreadyExists` where the
/// name is taken: process ids repeat, on other machines or after a crash.
pub(crate) fn create<T>(path: &Path, create: impl Fn(&Path) -> Result<T>) -> Result<(PathBuf, T)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| {
        Error::new(ErrorKind::InvalidInput, format!("`{}` does not end in the name of a file", path.display()))
    })?;
    loop {
        let mut partial = std::ffi::OsString::from(".");
        partial.push(name);
        partial.push(format!(".{}-{}{ENDING}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
        let partial = path.with_file_name(partial);
        match create(&partial) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return created.map(|created| (partial, created)),
        }
    }
}

/// Whether a file or folder of this name was being written: `.NAME.….part`.
pub fn is_partial(name: impl AsRef<OsStr>) -> bool {
    let name = name.as_ref().to_string_lossy();
    name.starts_with('.') && name.ends_with(ENDING)
}

/// Removes what killed processes left half written in a folder. For folders that one process alone writes to: what
/// another one is writing goes as well. What cannot be removed stays; it does no harm.
pub fn remove_partials(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_partial(entry.file_name()) {
            remove(&entry.path());
        }
    }
}

/// Removes a file or folder, if it is there and can be removed.
pub(crate) fn remove(path: &Path) {
    let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    // The error that led here is the one worth reporting.
    let _ = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}

/// Makes the renaming of `path` survive a power failure, where the file system can sync a folder. Where it cannot, the
/// file is whole all the same.
pub(crate) fn sync_parent(path: &Path) {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(parent).and_then(|folder| folder.sync_all());
}
