//! The formats of a corpus: text, JSON lines and CSV row by row, compressed or not; Parquet in groups of rows of a fixed
//! size, each written and forgotten.

use anyhow::{Result, bail};
use clap::ValueEnum;
use invitro_lab::corpus::CorpusRow;
use invitro_results::table::{Column, TableWriter as Table, csv_cell};
use std::io::{BufWriter, Write};
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CorpusFormat {
    Txt,
    Jsonl,
    Csv,
    Parquet,
}

impl CorpusFormat {
    pub fn ending(self) -> &'static str {
        match self {
            CorpusFormat::Txt => "txt",
            CorpusFormat::Jsonl => "jsonl",
            CorpusFormat::Csv => "csv",
            CorpusFormat::Parquet => "parquet",
        }
    }
}

/// A format, and whether it is compressed by zstd.
#[derive(Clone, Copy)]
pub struct CorpusTarget {
    format: CorpusFormat,
    compressed: bool,
}

impl CorpusTarget {
    /// By the file's ending, unless the format is given.
    pub fn for_path(path: &Path, given: Option<CorpusFormat>) -> Result<CorpusTarget> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (stem, compressed) = name.strip_suffix(".zst").map_or((name.as_ref(), false), |stem| (stem, true));
        let ending = stem.rsplit_once('.').map(|(_, ending)| ending);
        let format = match (given, ending) {
            (Some(format), _) => format,
            (_, Some("txt")) => CorpusFormat::Txt,
            (_, Some("jsonl")) => CorpusFormat::Jsonl,
            (_, Some("csv")) => CorpusFormat::Csv,
            (_, Some("parquet")) => CorpusFormat::Parquet,
            _ => bail!("`{}` must end in .txt, .jsonl, .csv or .parquet, or in .txt.zst and so on", path.display()),
        };
        if format == CorpusFormat::Parquet && compressed {
            bail!("`{}`: Parquet is compressed inside; leave out .zst", path.display());
        }
        Ok(CorpusTarget { format, compressed })
    }

    pub fn uncompressed(format: CorpusFormat) -> CorpusTarget {
        CorpusTarget { format, compressed: false }
    }

    /// For standard output, which other programs can compress.
    pub fn stdout(given: Option<CorpusFormat>) -> CorpusTarget {
        CorpusTarget::uncompressed(given.unwrap_or(CorpusFormat::Txt))
    }
}

/// Rows to a group of a Parquet table: some ten megabytes of text.
const GROUP: usize = 65_536;
/// As `zstd` itself has it.
const LEVEL: i32 = 3;

pub type Out = Box<dyn Write + Send>;

/// Bytes on their way, compressed or not.
pub enum ByteStream {
    Plain(BufWriter<Out>),
    Compressed(zstd::stream::Encoder<'static, BufWriter<Out>>),
}

impl ByteStream {
    fn line(&mut self, line: &str) -> std::io::Result<()> {
        let out: &mut dyn Write = match self {
            ByteStream::Plain(out) => out,
            ByteStream::Compressed(out) => out,
        };
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            ByteStream::Plain(mut out) => out.flush(),
            ByteStream::Compressed(out) => out.finish()?.flush(),
        }
    }
}

pub enum CorpusWriter {
    Lines { out: ByteStream, format: CorpusFormat },
    Parquet { table: Table<Out>, rows: Vec<CorpusRow> },
}

impl CorpusWriter {
    pub fn new(target: CorpusTarget, out: Out) -> Result<CorpusWriter> {
        if target.format == CorpusFormat::Parquet {
            return Ok(CorpusWriter::Parquet { table: Table::new(out, &columns(&[]))?, rows: Vec::new() });
        }
        let out = BufWriter::new(out);
        let mut out = if target.compressed {
            ByteStream::Compressed(zstd::stream::Encoder::new(out, LEVEL)?)
        } else {
            ByteStream::Plain(out)
        };
        if target.format == CorpusFormat::Csv {
            out.line(&columns(&[]).map(|(name, _)| name).join(","))?;
        }
        Ok(CorpusWriter::Lines { out, format: target.format })
    }

    pub fn write(&mut self, more: Vec<CorpusRow>) -> Result<()> {
        match self {
            CorpusWriter::Lines { out, format } => {
                for row in &more {
                    match format {
                        CorpusFormat::Jsonl => out.line(&serde_json::to_string(row)?)?,
                        CorpusFormat::Csv => out.line(&csv(row))?,
                        CorpusFormat::Txt | CorpusFormat::Parquet => out.line(&row.text)?,
                    }
                }
                Ok(())
            }
            CorpusWriter::Parquet { table, rows } => {
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
            CorpusWriter::Lines { out, .. } => Ok(out.finish()?),
            CorpusWriter::Parquet { mut table, rows } => {
                if !rows.is_empty() {
                    table.group(&columns(&rows))?;
                }
                Ok(table.finish()?)
            }
        }
    }
}

/// The columns of Parquet; symbols with spaces between them, as words have in the text.
fn csv(row: &CorpusRow) -> String {
    let symbols = row.symbols.join(" ");
    let masked = row.masked.to_string();
    [&row.text, row.language, row.task, &symbols, &masked].map(csv_cell).join(",")
}

/// Text, language, task, the symbols as a list, and whether a masked word is in it.
fn columns(rows: &[CorpusRow]) -> [(&'static str, Column); 5] {
    let text = |of: fn(&CorpusRow) -> &str| Column::Text(rows.iter().map(|row| Some(of(row).to_owned())).collect());
    [
        ("text", text(|row| &row.text)),
        ("language", text(|row| row.language)),
        ("task", text(|row| row.task)),
        ("symbols", Column::RequiredTexts(rows.iter().map(|row| row.symbols.clone()).collect())),
        ("masked", Column::RequiredFlag(rows.iter().map(|row| row.masked).collect())),
    ]
}
