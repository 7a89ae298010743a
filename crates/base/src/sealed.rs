//! Files that carry their own checksum: somewhere in them stands `blake3:` and 64 hexadecimal digits, the BLAKE3 hash of
//! the file with zeros in place of these digits. A reader of such a file knows whether it has changed.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

const MARK: &[u8] = b"blake3:";
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// In a file that is too large to search, the seal is in the last bytes, this many.
const END: u64 = 1 << 20;

/// What is written where the seal will stand.
pub fn blank() -> String {
    format!("blake3:{ZEROS}")
}

/// Puts the seal in its [`blank`], which must be `within` these bytes. Whether there was one.
pub fn seal(bytes: &mut [u8], within: Range<usize>) -> bool {
    let Some(at) = digits(&bytes[within.clone()]).map(|at| within.start + at) else { return false };
    let hash = hash(bytes, at);
    bytes[at..at + ZEROS.len()].copy_from_slice(hash.as_bytes());
    true
}

/// Whether the bytes are those that were sealed; `None` where there is no seal `within` them.
pub fn is_whole(bytes: &[u8], within: Range<usize>) -> Option<bool> {
    let at = within.start + digits(&bytes[within])?;
    Some(bytes[at..at + ZEROS.len()] == *hash(bytes, at).as_bytes())
}

/// [`seal`] for a file of any size, whose blank is near its end.
pub fn seal_file(path: &Path) -> Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let at = digits_of_file(&mut file)?.ok_or_else(|| Error::new(ErrorKind::InvalidData, "no room for a seal"))?;
    let hash = hash_file(&mut file, at)?;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(hash.as_bytes())
}

/// [`is_whole`] for a file of any size, whose seal is near its end.
pub fn is_whole_file(path: &Path) -> Result<Option<bool>> {
    let mut file = File::open(path)?;
    let Some(at) = digits_of_file(&mut file)? else { return Ok(None) };
    let hash = hash_file(&mut file, at)?;
    let mut found = [0; ZEROS.len()];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut found)?;
    Ok(Some(found == *hash.as_bytes()))
}

/// Where the digits of the last seal begin.
fn digits(bytes: &[u8]) -> Option<usize> {
    let room = MARK.len() + ZEROS.len();
    let is_seal = |at: &usize| {
        let (mark, digits) = bytes[*at..*at + room].split_at(MARK.len());
        mark == MARK && digits.iter().all(u8::is_ascii_hexdigit)
    };
    (0..(bytes.len() + 1).saturating_sub(room)).rev().find(is_seal).map(|at| at + MARK.len())
}

fn digits_of_file(file: &mut File) -> Result<Option<u64>> {
    let begin = file.metadata()?.len().saturating_sub(END);
    file.seek(SeekFrom::Start(begin))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    Ok(digits(&end).map(|at| begin + at as u64))
}

/// The hash of the bytes with zeros for the digits at `at`.
fn hash(bytes: &[u8], at: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes[..at]).update(ZEROS.as_bytes()).update(&bytes[at + ZEROS.len()..]);
    hasher.finalize().to_hex().to_string()
}

fn hash_file(file: &mut File, at: u64) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    file.seek(SeekFrom::Start(0))?;
    update(&mut hasher, file.take(at))?;
    hasher.update(ZEROS.as_bytes());
    file.seek(SeekFrom::Start(at + ZEROS.len() as u64))?;
    update(&mut hasher, file)?;
    Ok(hasher.finalize().to_hex().to_string())
}

fn update(hasher: &mut blake3::Hasher, mut from: impl Read) -> Result<()> {
    let mut buffer = vec![0; 1 << 18];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            read => drop(hasher.update(&buffer[..read])),
        }
    }
}
