//! Columns into files, and files into one.

use super::{Column, TableReader, lists};
use crate::error::{At, Error, Result};
use bytes::Bytes;
use invitro_base::files::PartialFile;
use invitro_base::sealed;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer_mut};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result as Parquet;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterPropertiesPtr};
use parquet::file::reader::FileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, Type};
use rayon::prelude::*;
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

    fn write(&self, out: &mut ColumnWriter) -> Parquet<()> {
        match self {
            Column::Text(values) => present::<ByteArrayType, _>(out, values, |text| text.as_str().into()),
            Column::Repeated { texts, rows } => {
                let texts: Vec<ByteArray> = texts.iter().map(|text| text.as_str().into()).collect();
                let data: Vec<ByteArray> = rows.iter().map(|&text| texts[text].clone()).collect();
                batch::<ByteArrayType>(out, &data, Some(&vec![1; rows.len()]))
            }
            Column::Whole(values) => present::<Int64Type, _>(out, values, |number| *number),
            Column::Number(values) => present::<DoubleType, _>(out, values, |number| *number),
            Column::Flag(values) => present::<BoolType, _>(out, values, |flag| *flag),
            Column::RequiredFlag(values) => batch::<BoolType>(out, values, None),
            Column::Lists(lists) => lists.write(out),
            Column::RequiredTexts(values) => lists::write_required(out, values),
        }
    }

    /// Its bytes in a file, written this way.
    fn encode(&self, leaf: &ColumnDescPtr, way: &WriterPropertiesPtr) -> Parquet<(Bytes, ColumnCloseResult)> {
        let mut bytes = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut bytes));
        let mut out = get_column_writer(leaf.clone(), way.clone(), pages);
        self.write(&mut out)?;
        let closed = out.close()?;
        Ok((bytes.into_inner()?.into(), closed))
    }

    /// The way in which it takes the least room.
    fn smallest<'a>(&self, leaf: &ColumnDescPtr, ways: &'a [Way]) -> Parquet<&'a WriterPropertiesPtr> {
        // A single way needs no trial; byte stream split, the last of several, is for numbers alone.
        let tried = match (self, ways.len()) {
            (_, 1) => 0,
            (Column::Number(_), all) => all,
            (_, all) => all - 1,
        };
        let mut smallest = (usize::MAX, &ways[0].properties);
        for way in &ways[..tried] {
            let size = self.encode(leaf, &way.trial)?.0.len();
            if size < smallest.0 {
                smallest = (size, &way.properties);
            }
        }
        Ok(smallest.1)
    }
}

/// A way to write a column.
struct Way {
    properties: WriterPropertiesPtr,
    /// The same with little compression: which way is the smallest shows in a fraction of the time.
    trial: WriterPropertiesPtr,
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

/// How tables are written, a column with a dictionary.
fn properties(level: i32) -> Parquet<WriterPropertiesBuilder> {
    // Hundreds of columns have a row per run: minima, maxima and indexes of pages would take more room than the values.
    Ok(WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(level)?))
        .set_created_by("invitro".to_owned()))
}

/// Writes a table group after group.
pub struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    /// A column is written in the one of these that makes it smallest.
    ways: Vec<Way>,
}

impl<W: Write + Send> TableWriter<W> {
    /// A table with columns of these names and kinds, whatever rows they hold.
    pub fn new<N: AsRef<str>>(out: W, columns: &[(N, Column)]) -> Parquet<TableWriter<W>> {
        let quick = Arc::new(properties(3)?.build());
        TableWriter::with(out, columns, vec![Way { properties: quick.clone(), trial: quick }])
    }

    /// The same, small rather than quick: a column has a dictionary, or none, or Parquet's byte stream split where it holds
    /// numbers, whichever is the smallest, and all its rows are compressed as one.
    pub fn compact<N: AsRef<str>>(out: W, columns: &[(N, Column)]) -> Parquet<TableWriter<W>> {
        let ways = |level: i32| -> Parquet<_> {
            let dictionary = properties(level)?.set_data_page_row_count_limit(usize::MAX);
            let no_dictionary = dictionary.clone().set_dictionary_enabled(false);
            let split = no_dictionary.clone().set_encoding(Encoding::BYTE_STREAM_SPLIT);
            Ok([dictionary, no_dictionary, split].map(|way| Arc::new(way.build())))
        };
        let ways = ways(17)?.into_iter().zip(ways(1)?).map(|(properties, trial)| Way { properties, trial });
        TableWriter::with(out, columns, ways.collect())
    }

    fn with<N: AsRef<str>>(out: W, columns: &[(N, Column)], ways: Vec<Way>) -> Parquet<TableWriter<W>> {
        let fields = columns
            .iter()
            .map(|(name, column)| column.schema(name.as_ref()).map(Arc::new))
            .collect::<Parquet<Vec<_>>>()?;
        let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
        Ok(TableWriter { file: SerializedFileWriter::new(out, Arc::new(schema), ways[0].properties.clone())?, ways })
    }

    /// Makes room for the seal that [`write_with`] puts into the finished file.
    pub fn seal(&mut self) {
        self.file.append_key_value_metadata(seal_entry());
    }

    /// Appends rows, all columns of one length and in the table's order.
    pub fn group<N>(&mut self, columns: &[(N, Column)]) -> Parquet<()> {
        let columns: Vec<(&Column, &ColumnDescPtr)> =
            columns.iter().map(|(_, column)| column).zip(self.file.schema_descr().columns()).collect();
        let written = columns.into_par_iter().map(|(column, leaf)| {
            let (bytes, mut closed) = column.encode(leaf, column.smallest(leaf, &self.ways)?)?;
            if self.ways.len() > 1 {
                // How many pages have which encoding: of a column of few rows, a tenth of its entry in the footer.
                closed.metadata = closed.metadata.into_builder().clear_page_encoding_stats().build()?;
            }
            Ok((bytes, closed))
        });
        let written = written.collect::<Parquet<Vec<_>>>()?;
        let mut group = self.file.next_row_group()?;
        for (bytes, closed) in written {
            group.append_column(&bytes, closed)?;
        }
        group.close().map(|_| ())
    }

    /// Writes what closes the file.
    pub fn finish(self) -> Parquet<()> {
        self.file.close().map(|_| ())
    }
}

/// Writes values that may be missing.
fn present<D: DataType, T>(out: &mut ColumnWriter, values: &[Option<T>], item: impl Fn(&T) -> D::T) -> Parquet<()> {
    let data: Vec<D::T> = values.iter().flatten().map(item).collect();
    let defined: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    batch::<D>(out, &data, Some(&defined))
}

fn batch<D: DataType>(out: &mut ColumnWriter, data: &[D::T], defined: Option<&[i16]>) -> Parquet<()> {
    get_typed_column_writer_mut::<D>(out).write_batch(data, defined, None).map(|_| ())
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
