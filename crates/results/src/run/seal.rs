//! Seals: length and checksum of a file when it was written. A run's `status.json` and its checkpoints
//! hold them. The seal of a log covers its beginning, since more is appended.

use crate::error::{At, Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The length of a file and its BLAKE3 hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Seal {
    pub bytes: u64,
    pub blake3: String,
}

/// Makes the seal of bytes that come one after the other.
#[derive(Clone, Default)]
pub struct Sealer {
    hasher: blake3::Hasher,
    bytes: u64,
}

impl Sealer {
    /// Takes what comes next.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// The seal of all there was so far.
    pub fn seal(&self) -> Seal {
        Seal { bytes: self.bytes, blake3: self.hasher.finalize().to_hex().to_string() }
    }
}

impl Seal {
    /// The seal of these bytes.
    pub fn of(bytes: &[u8]) -> Seal {
        let mut sealer = Sealer::default();
        sealer.update(bytes);
        sealer.seal()
    }

    /// The seal of a file as it is.
    pub fn of_file(path: &Path) -> Result<Seal> {
        Ok(Seal::of(&invitro_base::files::read(path).reading(path)?))
    }

    /// The bytes of a file that must be the sealed ones.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let bytes = self.read_start(path)?;
        let extra = std::fs::metadata(path).reading(path)?.len().saturating_sub(self.bytes);
        if extra > 0 {
            return Err(damaged(path, format!("it has {extra} bytes more than were written")));
        }
        Ok(bytes)
    }

    /// Whether a file has as many bytes as were written.
    pub fn check_length(&self, path: &Path, length: u64) -> Result<()> {
        let right = length == self.bytes;
        right
            .then_some(())
            .ok_or_else(|| damaged(path, format!("it has {length} bytes, but {} were written", self.bytes)))
    }

    /// The beginning of a file that must be the sealed one, whatever follows it.
    pub fn read_start(&self, path: &Path) -> Result<Vec<u8>> {
        let mut bytes = match invitro_base::files::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::Missing { path: path.to_owned() });
            }
            bytes => bytes.reading(path)?,
        };
        if (bytes.len() as u64) < self.bytes {
            let held = bytes.len();
            return Err(damaged(path, format!("it has {held} bytes, but {} were written", self.bytes)));
        }
        bytes.truncate(self.bytes as usize);
        if Seal::of(&bytes) != *self {
            return Err(damaged(path, "its checksum is another".into()));
        }
        Ok(bytes)
    }
}

fn damaged(path: &Path, why: String) -> Error {
    Error::Damaged { path: path.to_owned(), why }
}
