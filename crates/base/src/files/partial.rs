//! Names of what is being written, and what is done with them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// How the name of a partial file or folder ends.
const ENDING: &str = ".part";

/// After this time nobody is writing to a partial file any more.
const LONG_AGO: Duration = Duration::from_secs(24 * 3600);

/// The machine in eight digits, by its name and its numbering of processes: what a process number holds for.
static MACHINE: LazyLock<String> = LazyLock::new(|| {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let numbering = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let bytes = name.bytes().chain(numbering.as_os_str().as_encoded_bytes().iter().copied());
    // FNV-1a: the same in every version of the program.
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
});

/// Creates something under a partial name beside `path` with `create`, which must fail with `AlreadyExists` where the
/// name is taken: process ids repeat, on other machines or after a crash.
pub(super) fn create<T>(path: &Path, create: impl Fn(&Path) -> Result<T>) -> Result<(PathBuf, T)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| {
        Error::new(ErrorKind::InvalidInput, format!("`{}` does not end in the name of a file", path.display()))
    })?;
    loop {
        let mut partial = std::ffi::OsString::from(".");
        partial.push(name);
        let (process, number) = (std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        partial.push(format!(".{}-{process}-{number}{ENDING}", *MACHINE));
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

/// Removes half-written files from a folder that several processes write to: by processes of this machine that are
/// gone, and whatever is a day old.
pub fn remove_abandoned(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !is_partial(&name) {
            continue;
        }
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let is_old = |when| SystemTime::now().duration_since(when).is_ok_and(|age| age > LONG_AGO);
        if writer_is_gone(&name.to_string_lossy()) || modified.is_ok_and(is_old) {
            remove(&entry.path());
        }
    }
}

/// Whether the process that was writing this is known to be gone: `.NAME.MACHINE-PROCESS-NUMBER.part`.
fn writer_is_gone(name: &str) -> bool {
    let process = || {
        let (_, writer) = name.strip_suffix(ENDING)?.rsplit_once('.')?;
        let mut parts = writer.split('-');
        (parts.next()? == *MACHINE).then(|| parts.next()?.parse::<u32>().ok())?
    };
    let processes = Path::new("/proc");
    processes.join("self").exists() && process().is_some_and(|process| !processes.join(process.to_string()).exists())
}

/// Removes a file or folder, if it is there and can be removed.
pub(super) fn remove(path: &Path) {
    let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    // The error that led here is the one worth reporting.
    let _ = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}

/// Makes the renaming of `path` survive a power failure, where the file system can sync a folder. Where it cannot, the
/// file is whole all the same.
pub(super) fn sync_parent(path: &Path) {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(parent).and_then(|folder| folder.sync_all());
}
