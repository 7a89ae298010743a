//! Columns into files, and files into one.

use super::{Column, TableReader, lists};
use crate::error::{At, Error, Result};
use invitro_base::files::PartialFile;
use invitro_base::sealed;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result as Parquet;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::FileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Column {
    fn schema(&self, name: &str) -> Parquet<Type> {
        let (physical, logical, repetition) = match self {
            Column::Text(_) | Column::Repeated { .. } => {
                (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL)
            }
            Column::Whole(_) => (Physical::INT64, None, Repetition::OPTIONAL),
            Column::Number(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
            Column::Flag(_) => (Physical::BOOLEAN, None, Repetition::OPTIONAL),
            Column::RequiredFlag(_) => (Physical::BOOLEAN, None, Repetition::REQUIRED),
            Column::Lists(lists) => return lists.schema(name),
            Column::RequiredTexts(_) => return lists::required_schema(name),
        };
        Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical).build()
    }
}

/// Writes the columns, all of one length, whole or not at all. The same columns give the same bytes.
pub fn write<N: AsRef<str>>(path: &Path, columns: &[(N, Column)]) -> Result<()> {
    let encode = || -> Parquet<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut writer = TableWriter::new(&mut bytes, columns)?;
        writer.group(columns)?;
        writer.seal();
        writer.finish()?;
        Ok(bytes)
    };
    let mut bytes = encode().writing(path)?;
    let end = bytes.len().saturating_sub(FOOTER)..bytes.len();
    sealed::seal(&mut bytes, end);
    invitro_base::files::write(path, &bytes).writing(path)
}

/// Bytes at the end of a file that hold the footer's entries.
const FOOTER: usize = 1 << 20;

/// The entry that holds the seal.
fn seal_entry() -> KeyValue {
    KeyValue::new("seal".to_owned(), sealed::blank())
}

/// The largest dictionary of numbers in a compact table, in bytes; one that would be larger is of numbers that are seldom equal.
const DICTIONARY: usize = 1 << 15;

/// Writes a table group after group.
pub struct TableWriter<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> TableWriter<W> {
    /// A table with columns of these names and kinds, whatever rows they hold.
    pub fn new<N: AsRef<str>>(out: W, columns: &[(N, Column)]) -> Parquet<TableWriter<W>> {
        TableWriter::with(out, columns, WriterProperties::builder(), 3)
    }

    /// The same, small rather than quick: where numbers are seldom equal, Parquet's byte stream split compresses to half of
    /// what a dictionary takes.
    pub fn compact<N: AsRef<str>>(out: W, columns: &[(N, Column)]) -> Parquet<TableWriter<W>> {
        let numbers = columns.iter().filter(|(_, column)| matches!(column, Column::Number(_)));
        let properties = numbers.fold(WriterProperties::builder(), |properties, (name, _)| {
            let path = ColumnPath::new(vec![name.as_ref().to_owned()]);
            properties
                .set_column_dictionary_page_size_limit(path.clone(), DICTIONARY)
                .set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT)
        });
        TableWriter::with(out, columns, properties, 19)
    }

    fn with<N: AsRef<str>>(
        out: W,
        columns: &[(N, Column)],
        properties: WriterPropertiesBuilder,
        level: i32,
    ) -> Parquet<TableWriter<W>> {
        let fields = columns
            .iter()
            .map(|(name, column)| column.schema(name.as_ref()).map(Arc::new))
            .collect::<Parquet<Vec<_>>>()?;
        let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
        // Hundreds of columns have a row per run: minima, maxima and indexes of pages would take more room than the values.
        let properties = properties
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(level)?))
            .set_created_by("invitro".to_owned())
            .build();
        Ok(TableWriter(SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?))
    }

    /// Makes room for the seal that [`write_with`] puts into the finished file.
    pub fn seal(&mut self) {
        self.0.append_key_value_metadata(seal_entry());
    }

    /// Appends rows, all columns of one length and in the table's order.
    pub fn group<N>(&mut self, columns: &[(N, Column)]) -> Parquet<()> {
        let mut group = self.0.next_row_group()?;
        for (_, column) in columns {
            let Some(mut out) = group.next_column()? else { break };
            match column {
                Column::Text(values) => {
                    let data: Vec<ByteArray> = values.iter().flatten().map(|text| text.as_str().into()).collect();
                    out.typed::<ByteArrayType>().write_batch(&data, Some(&present(values)), None)?;
                }
                Column::Repeated { texts, rows } => {
                    let texts: Vec<ByteArray> = texts.iter().map(|text| text.as_str().into()).collect();
                    let data: Vec<ByteArray> = rows.iter().map(|&text| texts[text].clone()).collect();
                    out.typed::<ByteArrayType>().write_batch(&data, Some(&vec![1; rows.len()]), None)?;
                }
                Column::Whole(values) => {
                    let data: Vec<i64> = values.iter().flatten().copied().collect();
                    out.typed::<Int64Type>().write_batch(&data, Some(&present(values)), None)?;
                }
                Column::Number(values) => {
                    let data: Vec<f64> = values.iter().flatten().copied().collect();
                    out.typed::<DoubleType>().write_batch(&data, Some(&present(values)), None)?;
                }
                Column::Flag(values) => {
                    let data: Vec<bool> = values.iter().flatten().copied().collect();
                    out.typed::<BoolType>().write_batch(&data, Some(&present(values)), None)?;
                }
                Column::RequiredFlag(values) => {
                    out.typed::<BoolType>().write_batch(values, None, None)?;
                }
                Column::Lists(lists) => lists.write(&mut out)?,
                Column::RequiredTexts(values) => lists::write_required(&mut out, values)?,
            }
            out.close()?;
        }
        group.close().map(|_| ())
    }

    /// Writes what closes the file.
    pub fn finish(self) -> Parquet<()> {
        self.0.close().map(|_| ())
    }
}

/// Per row whether there is a value (1) or none (0).
fn present<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}

/// Joins tables of one schema, a row group each, without decoding them.
pub fn join(parts: &[PathBuf], whole: &Path) -> Result<()> {
    write_with(whole, |out| join_into(parts, out))
}

/// The columns that any of the tables has, without rows, and whether all have the same. A column that is of one kind in one
/// table and of another in the next is of a kind that holds both.
pub(crate) fn union(parts: &[PathBuf]) -> Result<(Vec<(String, Column)>, bool)> {
    let (mut union, mut all_alike): (Vec<(String, Column)>, bool) = (Vec::new(), true);
    for (at, part) in parts.iter().enumerate() {
        let own = TableReader::open(part)?.columns();
        if at > 0 && own == union {
            continue;
        }
        all_alike &= at == 0;
        for (name, column) in own {
            match union.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) if *known == column => {}
                Some((_, known)) => *known = known.kind().join(column.kind()).column(std::iter::empty()),
                None => union.push((name, column)),
            }
        }
    }
    Ok((union, all_alike))
}

/// A table that `write` makes, with a [`TableWriter::seal`], whole or not at all.
pub fn write_with<E: From<Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut file = PartialFile::new(path).writing(path)?;
    write(file.writer())?;
    file.writer().flush().writing(path)?;
    sealed::seal_file(file.path()).writing(path)?;
    Ok(file.finish().writing(path)?)
}

fn join_into<W: Write + Send>(parts: &[PathBuf], out: W) -> Result<()> {
    let mut out = Some(out);
    let mut writer: Option<SerializedFileWriter<W>> = None;
    for part in parts {
        let TableReader { reader, .. } = TableReader::open(part)?;
        let file = File::open(part).reading(part)?;
        let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
        if let Some(out) = out.take() {
            writer = Some(SerializedFileWriter::new(out, schema.clone(), Default::default()).reading(part)?);
        }
        let Some(writer) = writer.as_mut() else { continue };
        if writer.schema_descr().root_schema() != schema.as_ref() {
            let why = "its columns differ from those of the other runs".to_owned();
            return Err(Error::Read { path: part.clone(), why });
        }
        for group in reader.metadata().row_groups() {
            let mut out = writer.next_row_group().reading(part)?;
            for column in group.columns() {
                let chunk = ColumnCloseResult {
                    bytes_written: column.compressed_size() as u64,
                    rows_written: group.num_rows() as u64,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                out.append_column(&file, chunk).reading(part)?;
            }
            out.close().reading(part)?;
        }
    }
    let Some(mut writer) = writer else { return Ok(()) };
    writer.append_key_value_metadata(seal_entry());
    writer.close().map(|_| ()).reading(parts.first().map_or(Path::new(""), |p| p))
}
