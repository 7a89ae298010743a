//! Reports that may be replaced without being asked: those that are as they were written, with nothing of anybody else beside
//! them.
//!
//! The last line of a page holds its own hash and that of the folder of figures that was written with it. A page that was
//! edited, or a folder of figures with one file more, less or other, is not ours any more.

use invitro_results::{Seal, Sealer};
use std::io;
use std::path::{Path, PathBuf};

const MARK: &str = "<!-- written by invitro; page ";
const FIGURES: &str = ", figures ";
const END: &str = " -->\n";
const NO_FIGURES: &str = "none";

/// The page with the line that it is recognised by.
pub fn sealed(page: &str, figures: Option<&str>) -> String {
    let hash = Seal::of(page.as_bytes()).blake3;
    format!("{page}{MARK}{hash}{FIGURES}{}{END}", figures.unwrap_or(NO_FIGURES))
}

/// What a page that is as it was written says of its figures: their hash, or none. `None` where it is not ours, or was changed.
fn seal(page: &str) -> Option<Option<String>> {
    let (text, line) = page.split_at(page.rfind(MARK)?);
    let (hash, figures) = line.strip_prefix(MARK)?.strip_suffix(END)?.split_once(FIGURES)?;
    (Seal::of(text.as_bytes()).blake3 == hash).then(|| Some(figures).filter(|it| *it != NO_FIGURES).map(str::to_owned))
}

/// The state of an existing report.
pub struct OwnReport {
    /// Whether the page is as it was written, or not there.
    pub page: bool,
    /// Whether the folder of figures is as it was written with the page, or not there.
    pub figures: bool,
    /// The hash of those figures.
    pub hash: Option<String>,
}

impl OwnReport {
    pub fn read(page: &Path, figures: &Path) -> OwnReport {
        let sealed = std::fs::read_to_string(page).ok().and_then(|text| seal(&text));
        let hash = sealed.clone().flatten();
        let found = folder_hash(figures).ok();
        OwnReport {
            page: !page.exists() || sealed.is_some(),
            figures: !figures.exists() || (hash.is_some() && hash == found),
            hash: hash.filter(|hash| Some(hash) == found.as_ref()),
        }
    }
}

/// A hash of the names and contents of all files below a folder.
pub fn folder_hash(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    list(folder, &mut files)?;
    files.sort();
    let mut sealer = Sealer::default();
    for path in files {
        let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
        let seal = Seal::of(&std::fs::read(&path)?);
        sealer.update(format!("{name}\0{}\0", seal.blake3).as_bytes());
    }
    Ok(sealer.seal().blake3)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() { list(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
