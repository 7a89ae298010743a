//! One file.

use super::partial;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Error, ErrorKind, Read, Result, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file that is being written. [`PartialFile::finish`] puts it in its place; dropped before that, it is removed.
#[derive(Debug)]
pub struct PartialFile {
    target: PathBuf,
    partial: PathBuf,
    writer: BufWriter<File>,
    finished: bool,
}

impl PartialFile {
    /// Starts a file that will replace `path`.
    pub fn new(path: &Path) -> Result<PartialFile> {
        let (partial, file) =
            partial::create(path, |partial| OpenOptions::new().write(true).create_new(true).open(partial))?;
        Ok(PartialFile { target: path.to_owned(), partial, writer: BufWriter::new(file), finished: false })
    }

    /// Where it is being written.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Takes its content.
    pub fn writer(&mut self) -> &mut BufWriter<File> {
        &mut self.writer
    }

    /// Puts the file in its place once all of it is on disk.
    pub fn finish(mut self) -> Result<()> {
        self.writer.flush()?;
        self.writer.get_ref().sync_all()?;
        std::fs::rename(&self.partial, &self.target)?;
        self.finished = true;
        partial::sync_parent(&self.target);
        Ok(())
    }

    /// Puts the file in its place unless one is there: then it is the error `AlreadyExists`. Of several contenders one
    /// succeeds.
    pub fn finish_new(mut self) -> Result<()> {
        self.writer.flush()?;
        self.writer.get_ref().sync_all()?;
        let linked = std::fs::hard_link(&self.partial, &self.target);
        // A file server whose answer was lost is asked again, and finds what it has made: the file has both names then.
        let is_made = || self.writer.get_ref().metadata().is_ok_and(|metadata| metadata.nlink() == 2);
        if linked.is_err() && is_made() { Ok(()) } else { linked }
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.finished {
            partial::remove(&self.partial);
        }
    }
}

/// Writes `bytes` to `path`.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    write_with(path, |writer| writer.write_all(bytes.as_ref()))
}

/// Writes what `fill` writes to `path`.
pub fn write_with<T, E: From<std::io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let mut file = PartialFile::new(path)?;
    let result = fill(file.writer())?;
    file.finish()?;
    Ok(result)
}

/// Opens a regular file to read it. A named pipe would wait for a writer without end.
pub fn open(path: &Path) -> Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// The bytes of a regular file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file.
pub fn read_to_string(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}
