//! The three formats of a corpus file: text and JSON lines row by row, Parquet in groups of rows of a fixed size, each
//! written and forgotten.

use super::row::Row;
use anyhow::{Result, bail};
use invitro_results::table::{Column, Writer as Table};
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

/// Rows to a group of a Parquet table: some ten megabytes of text.
const GROUP: usize = 65_536;

pub enum Writer {
    Lines { out: BufWriter<File>, json: bool },
    Parquet { table: Table<File>, rows: Vec<Row> },
}

impl Writer {
    pub fn new(format: Format, file: File) -> Result<Writer> {
        Ok(match format {
            Format::Text => Writer::Lines { out: BufWriter::new(file), json: false },
            Format::JsonLines => Writer::Lines { out: BufWriter::new(file), json: true },
            Format::Parquet => Writer::Parquet { table: Table::new(file, &columns(&[]))?, rows: Vec::new() },
        })
    }

    pub fn write(&mut self, more: Vec<Row>) -> Result<()> {
        match self {
            Writer::Lines { out, json: false } => more.iter().try_for_each(|row| writeln!(out, "{}", row.text))?,
            Writer::Lines { out, json: true } => {
                more.iter().try_for_each(|row| writeln!(out, "{}", serde_json::to_string(row)?))?;
            }
            Writer::Parquet { table, rows } => {
                rows.extend(more);
                while rows.len() >= GROUP {
                    table.group(&columns(&rows[..GROUP]))?;
                    rows.drain(..GROUP);
                }
            }
        }
        Ok(())
    }

    pub fn finish(self) -> Result<()> {
        match self {
            Writer::Lines { mut out, .. } => Ok(out.flush()?),
            Writer::Parquet { mut table, rows } => {
                if !rows.is_empty() {
                    table.group(&columns(&rows))?;
                }
                Ok(table.finish()?)
            }
        }
    }
}

/// Text, language, task, the symbols as a list, and whether a masked word is in it.
fn columns(rows: &[Row]) -> [(&'static str, Column); 5] {
    let text = |of: fn(&Row) -> &str| Column::Text(rows.iter().map(|row| Some(of(row).to_owned())).collect());
    [
        ("text", text(|row| &row.text)),
        ("language", text(|row| row.language)),
        ("task", text(|row| row.task)),
        ("symbols", Column::List(rows.iter().map(|row| row.symbols.clone()).collect())),
        ("masked", Column::Flag(rows.iter().map(|row| row.masked).collect())),
    ]
}
