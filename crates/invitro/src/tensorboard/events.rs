//! The event files of TensorBoard: records of TensorFlow, each an `Event` of protocol buffers with one scalar.
//!
//! A record is its length, a checksum of that, its bytes, and a checksum of these. Fields of a message are a number and a kind,
//! then the value.

use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

pub struct EventFile(BufWriter<File>);

impl EventFile {
    /// A new one, in the place of any that was there.
    pub fn create(path: &Path, seconds: f64) -> Result<EventFile> {
        let mut file = EventFile(BufWriter::new(File::create(path)?));
        let mut event = Message::default();
        event.double(1, seconds);
        event.bytes(3, b"brain.Event:2");
        file.record(&event.0)?;
        Ok(file)
    }

    /// A number after a step; `seconds` since 1970.
    pub fn scalar(&mut self, step: u64, tag: &str, value: f64, seconds: f64) -> Result<()> {
        let mut of_tag = Message::default();
        of_tag.bytes(1, tag.as_bytes());
        of_tag.float(2, value as f32);
        let mut summary = Message::default();
        summary.bytes(1, &of_tag.0);
        let mut event = Message::default();
        event.double(1, seconds);
        event.varint(2, step);
        event.bytes(5, &summary.0);
        self.record(&event.0)
    }

    pub fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }

    fn record(&mut self, bytes: &[u8]) -> Result<()> {
        let length = (bytes.len() as u64).to_le_bytes();
        self.0.write_all(&length)?;
        self.0.write_all(&masked(crc32c(&length)).to_le_bytes())?;
        self.0.write_all(bytes)?;
        self.0.write_all(&masked(crc32c(bytes)).to_le_bytes())
    }
}

/// A message of protocol buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn varint(&mut self, field: u64, value: u64) {
        self.number(field << 3);
        self.number(value);
    }

    fn double(&mut self, field: u64, value: f64) {
        self.number(field << 3 | 1);
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.number(field << 3 | 2);
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn float(&mut self, field: u64, value: f32) {
        self.number(field << 3 | 5);
        self.0.extend(value.to_le_bytes());
    }
}

/// As TensorFlow stores a checksum.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32 with Castagnoli's polynomial.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    };
    !bytes.iter().fold(!0, step)
}
