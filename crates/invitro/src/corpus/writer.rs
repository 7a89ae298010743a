//! The formats of a corpus: text, JSON lines and CSV row by row, compressed or not; Parquet in groups of rows of a fixed
//! size, each written and forgotten.

use anyhow::{Result, bail};
use clap::ValueEnum;
use invitro_lab::corpus::Row;
use invitro_results::table::{Column, Writer as Table, csv_cell};
use std::io::{BufWriter, Write};
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Txt,
    Jsonl,
    Csv,
    Parquet,
}

impl Format {
    pub fn ending(self) -> &'static str {
        match self {
            Format::Txt => "txt",
            Format::Jsonl => "jsonl",
            Format::Csv => "csv",
            Format::Parquet => "parquet",
        }
    }
}

/// A format, and whether it is compressed by zstd.
#[derive(Clone, Copy)]
pub struct Target {
    format: Format,
    compressed: bool,
}

impl Target {
    /// By the file's ending, unless the format is given.
    pub fn of(path: &Path, given: Option<Format>) -> Result<Target> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (stem, compressed) = name.strip_suffix(".zst").map_or((name.as_ref(), false), |stem| (stem, true));
        let ending = stem.rsplit_once('.').map(|(_, ending)| ending);
        let format = match (given, ending) {
            (Some(format), _) => format,
            (_, Some("txt")) => Format::Txt,
            (_, Some("jsonl")) => Format::Jsonl,
            (_, Some("csv")) => Format::Csv,
            (_, Some("parquet")) => Format::Parquet,
            _ => bail!("`{}` must end in .txt, .jsonl, .csv or .parquet, or in .txt.zst and so on", path.display()),
        };
        if format == Format::Parquet && compressed {
            bail!("`{}`: Parquet is compressed inside; leave out .zst", path.display());
        }
        Ok(Target { format, compressed })
    }

    pub fn plain(format: Format) -> Target {
        Target { format, compressed: false }
    }

    /// Of standard output: whoever wants it compressed has a program behind it.
    pub fn stdout(given: Option<Format>) -> Target {
        Target::plain(given.unwrap_or(Format::Txt))
    }
}

/// Rows to a group of a Parquet table: some ten megabytes of text.
const GROUP: usize = 65_536;
/// As `zstd` itself has it.
const LEVEL: i32 = 3;

pub type Out = Box<dyn Write + Send>;

/// Bytes on their way, compressed or not.
pub enum Stream {
    Plain(BufWriter<Out>),
    Compressed(zstd::stream::Encoder<'static, BufWriter<Out>>),
}

impl Stream {
    fn line(&mut self, line: &str) -> std::io::Result<()> {
        let out: &mut dyn Write = match self {
            Stream::Plain(out) => out,
            Stream::Compressed(out) => out,
        };
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Stream::Plain(mut out) => out.flush(),
            Stream::Compressed(out) => out.finish()?.flush(),
        }
    }
}

pub enum Writer {
    Lines { out: Stream, format: Format },
    Parquet { table: Table<Out>, rows: Vec<Row> },
}

impl Writer {
    pub fn new(target: Target, out: Out) -> Result<Writer> {
        if target.format == Format::Parquet {
            return Ok(Writer::Parquet { table: Table::new(out, &columns(&[]))?, rows: Vec::new() });
        }
        let out = BufWriter::new(out);
        let mut out = if target.compressed {
            Stream::Compressed(zstd::stream::Encoder::new(out, LEVEL)?)
        } else {
            Stream::Plain(out)
        };
        if target.format == Format::Csv {
            out.line(&columns(&[]).map(|(name, _)| name).join(","))?;
        }
        Ok(Writer::Lines { out, format: target.format })
    }

    pub fn write(&mut self, more: Vec<Row>) -> Result<()> {
        match self {
            Writer::Lines { out, format } => {
                for row in &more {
                    match format {
                        Format::Jsonl => out.line(&serde_json::to_string(row)?)?,
                        Format::Csv => out.line(&csv(row))?,
                        Format::Txt | Format::Parquet => out.line(&row.text)?,
                    }
                }
                Ok(())
            }
            Writer::Parquet { table, rows } => {
                rows.extend(more);
                while rows.len() >= GROUP {
                    table.group(&columns(&rows[..GROUP]))?;
                    rows.drain(..GROUP);
                }
                Ok(())
            }
        }
    }

    pub fn finish(self) -> Result<()> {
        match self {
            Writer::Lines { out, .. } => Ok(out.finish()?),
            Writer::Parquet { mut table, rows } => {
                if !rows.is_empty() {
                    table.group(&columns(&rows))?;
                }
                Ok(table.finish()?)
            }
        }
    }
}

/// The columns of Parquet; symbols with spaces between them, as words have in the text.
fn csv(row: &Row) -> String {
    let symbols = row.symbols.join(" ");
    let masked = row.masked.to_string();
    [&row.text, row.language, row.task, &symbols, &masked].map(csv_cell).join(",")
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
