//! Files that a config names, by what they hold.
//!
//! A config says `language.grammar = "my.txt"` and means what that file holds when the config is read. [`keep`] reads it
//! and gives it a name with a hash of its content, `files/my-3f2a9c0d1e2f3a4b.txt`, which takes the path's place in the
//! config. Such a name identifies one content for ever: whatever hashes the config covers the content too, and a folder
//! that [`save`] has written it to needs no other file.

use std::collections::HashMap;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

/// The folder that names begin with.
pub const FILES: &str = "files";

/// Digits of a hash.
const DIGITS: usize = 16;

/// What was read, by name, and the path it was read from.
static CONTENTS: LazyLock<Mutex<HashMap<String, (Arc<[u8]>, PathBuf)>>> = LazyLock::new(Mutex::default);

fn entry(name: &str) -> Option<(Arc<[u8]>, PathBuf)> {
    CONTENTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get(name).cloned()
}

/// Reads the file and returns its name. A path that is such a name already is checked against what it says.
pub fn keep(path: &Path) -> Result<String> {
    let content: Arc<[u8]> = crate::limits::read_file(path)?.into();
    let hash = blake3::hash(&content).to_hex()[..DIGITS].to_owned();
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    let stem = match stem.rsplit_once('-') {
        Some((stem, said)) if is_hash(said) && part(path.parent().and_then(Path::file_name)) == FILES => {
            if said != hash {
                let why = "its content is not what its name says: it was changed or damaged";
                return Err(Error::new(ErrorKind::InvalidData, why));
            }
            stem.to_owned()
        }
        _ => stem,
    };
    let dot = if extension.is_empty() { "" } else { "." };
    let name = format!("{FILES}/{stem}-{hash}{dot}{extension}");
    let mut contents = CONTENTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    contents.entry(name.clone()).or_insert_with(|| (content, path.to_owned()));
    Ok(name)
}

fn is_hash(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// What the file of a name holds, if it was kept.
pub fn content(name: &str) -> Option<Arc<[u8]>> {
    entry(name).map(|(content, _)| content)
}

/// The path it was first read from.
pub fn path(name: &str) -> Option<PathBuf> {
    entry(name).map(|(_, path)| path)
}

/// Writes it into a folder under its name, unless it is there.
pub fn save(name: &str, folder: &Path) -> Result<()> {
    let content = content(name).ok_or_else(|| Error::new(ErrorKind::NotFound, format!("`{name}` was never read")))?;
    let path = folder.join(name);
    if std::fs::read(&path).is_ok_and(|there| there[..] == content[..]) {
        return Ok(());
    }
    std::fs::create_dir_all(folder.join(FILES))?;
    crate::files::write(&path, &content)
}
