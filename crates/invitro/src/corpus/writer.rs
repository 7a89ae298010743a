//! The three formats of a corpus file, written row by row or in groups of rows.

use super::Row;
use super::table::Table;
use anyhow::{Result, bail};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

#[derive(Clone, Copy)]
pub enum Format {
    Text,
    JsonLines,
    Parquet,
}

impl Format {
    /// By the file's ending.
    pub fn of(path: &Path) -> Result<Format> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("txt") => Ok(Format::Text),
            Some("jsonl") => Ok(Format::JsonLines),
            Some("parquet") => Ok(Format::Parquet),
            _ => bail!("`{}` must end in .txt, .jsonl or .parquet", path.display()),
        }
    }
}

pub enum Writer {
    Text(BufWriter<File>),
    JsonLines(BufWriter<File>),
    Parquet(Box<Table>),
}

impl Writer {
    pub fn new(format: Format, file: File) -> Result<Writer> {
        Ok(match format {
            Format::Text => Writer::Text(BufWriter::new(file)),
            Format::JsonLines => Writer::JsonLines(BufWriter::new(file)),
            Format::Parquet => Writer::Parquet(Box::new(Table::new(file)?)),
        })
    }

    pub fn write(&mut self, rows: Vec<Row>) -> Result<()> {
        match self {
            Writer::Text(out) => rows.iter().try_for_each(|row| writeln!(out, "{}", row.text))?,
            Writer::JsonLines(out) => {
                for row in rows {
                    serde_json::to_writer(&mut *out, &row)?;
                    out.write_all(b"\n")?;
                }
            }
            Writer::Parquet(table) => table.write(rows)?,
        }
        Ok(())
    }

    pub fn finish(self) -> Result<()> {
        match self {
            Writer::Text(mut out) | Writer::JsonLines(mut out) => Ok(out.flush()?),
            Writer::Parquet(table) => table.finish(),
        }
    }
}
