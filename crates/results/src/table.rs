//! Tables as Parquet: columns of text and numbers, any value of which may be missing.
//!
//! Everything of invitro that is Parquet is written and read here. [`write()`] takes whole columns, [`Writer`] group after
//! group; [`Table`] reads the columns asked for in batches, which keeps memory flat over millions of rows. The footer
//! has an entry `seal` ([`invitro_files::sealed`]), by which damage is noticed before anything is read.

use crate::error::{At, Error, Result};
use invitro_files::{PartialFile, caught, sealed};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result as Parquet;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use rayon::prelude::*;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One row: a value per column, null where there is none.
pub type Columns = Map<String, Value>;

/// One column to be written, a value per row.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Text, or nothing.
    Text(Vec<Option<String>>),
    /// A whole number, or nothing.
    Whole(Vec<Option<i64>>),
    /// A number, or nothing.
    Number(Vec<Option<f64>>),
    /// True or false.
    Flag(Vec<bool>),
    /// Texts, at least one in every row.
    List(Vec<Vec<String>>),
}

impl Column {
    fn schema(&self, name: &str) -> Parquet<Type> {
        let (physical, logical, repetition) = match self {
            Column::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
            Column::Whole(_) => (Physical::INT64, None, Repetition::OPTIONAL),
            Column::Number(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
            Column::Flag(_) => (Physical::BOOLEAN, None, Repetition::REQUIRED),
            Column::List(_) => return list_schema(name),
        };
        Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical).build()
    }
}

fn list_schema(name: &str) -> Parquet<Type> {
    let element = Type::primitive_type_builder("element", Physical::BYTE_ARRAY)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::String))
        .build()?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    Type::group_type_builder(name)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list)])
        .build()
}

/// Writes the columns, all of one length, whole or not at all. The same columns give the same bytes.
pub fn write<N: AsRef<str>>(path: &Path, columns: &[(N, Column)]) -> Result<()> {
    let encode = || -> Parquet<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, columns)?;
        writer.group(columns)?;
        writer.seal();
        writer.finish()?;
        Ok(bytes)
    };
    let mut bytes = encode().writing(path)?;
    let end = bytes.len().saturating_sub(FOOTER)..bytes.len();
    sealed::seal(&mut bytes, end);
    invitro_files::write(path, &bytes).writing(path)
}

/// Bytes at the end of a file that hold the footer's entries.
const FOOTER: usize = 1 << 20;

/// The entry that the seal stands in.
fn seal_entry() -> KeyValue {
    KeyValue::new("seal".to_owned(), sealed::blank())
}

/// Writes a table group after group.
pub struct Writer<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> Writer<W> {
    /// A table with columns of these names and kinds, whatever rows they hold.
    pub fn new<N: AsRef<str>>(out: W, columns: &[(N, Column)]) -> Parquet<Writer<W>> {
        let fields = columns
            .iter()
            .map(|(name, column)| column.schema(name.as_ref()).map(Arc::new))
            .collect::<Parquet<Vec<_>>>()?;
        let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_created_by("invitro".to_owned())
            .build();
        Ok(Writer(SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?))
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
            let bytes = |text: &String| ByteArray::from(text.as_str());
            match column {
                Column::Text(values) => {
                    let kept: Vec<ByteArray> = values.iter().flatten().map(bytes).collect();
                    out.typed::<ByteArrayType>().write_batch(&kept, Some(&present(values)), None)?;
                }
                Column::Whole(values) => {
                    let kept: Vec<i64> = values.iter().flatten().copied().collect();
                    out.typed::<Int64Type>().write_batch(&kept, Some(&present(values)), None)?;
                }
                Column::Number(values) => {
                    let kept: Vec<f64> = values.iter().flatten().copied().collect();
                    out.typed::<DoubleType>().write_batch(&kept, Some(&present(values)), None)?;
                }
                Column::Flag(values) => {
                    out.typed::<BoolType>().write_batch(values, None, None)?;
                }
                Column::List(values) => {
                    let kept: Vec<ByteArray> = values.iter().flatten().map(bytes).collect();
                    // Every element is present, and all but a list's first repeat it.
                    let repeated: Vec<i16> =
                        values.iter().flat_map(|list| (0..list.len()).map(|at| i16::from(at > 0))).collect();
                    let defined = vec![1; kept.len()];
                    out.typed::<ByteArrayType>().write_batch(&kept, Some(&defined), Some(&repeated))?;
                }
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

const BATCH: usize = 1 << 16;
/// Parts that a table is gathered in: more than most machines have threads for, so that none waits long.
const PARTS: usize = 16;
/// Rows that a byte of a file may stand for; a table that claims more is none of ours, and would fill the memory.
const DENSEST: u64 = 64;

/// A table to be read.
pub struct Table {
    reader: SerializedFileReader<File>,
    path: PathBuf,
}

/// A batch of one column, as it was read.
pub enum Batch {
    /// Texts.
    Text(Vec<Option<ByteArray>>),
    /// Numbers of any width, NaN where there is none.
    Number(Vec<f64>),
    /// The file has no such column, or one of another kind.
    Absent,
}

impl Batch {
    /// The number of rows, where the column is there.
    fn len(&self) -> Option<usize> {
        match self {
            Batch::Text(values) => Some(values.len()),
            Batch::Number(values) => Some(values.len()),
            Batch::Absent => None,
        }
    }

    /// The text in a row.
    pub fn text(&self, row: usize) -> Option<&str> {
        match self {
            Batch::Text(values) => values[row].as_ref().and_then(|bytes| std::str::from_utf8(bytes.data()).ok()),
            _ => None,
        }
    }

    /// The number in a row.
    pub fn number(&self, row: usize) -> Option<f64> {
        match self {
            Batch::Number(values) => Some(values[row]).filter(|value| !value.is_nan()),
            _ => None,
        }
    }
}

impl Table {
    /// Opens a file that is as it was written; it stays open. Only older versions wrote tables without a seal.
    pub fn open(path: &Path) -> Result<Table> {
        let wrong = |why: String| Error::Damaged { path: path.to_owned(), why };
        if sealed::is_whole_file(path).reading(path)? == Some(false) {
            return Err(wrong("its checksum is another".into()));
        }
        let file = File::open(path).reading(path)?;
        let bytes = file.metadata().reading(path)?.len();
        let reader = guarded(path, || SerializedFileReader::new(file))?;
        let rows = reader.metadata().file_metadata().num_rows();
        let groups: i128 = reader.metadata().row_groups().iter().map(|group| i128::from(group.num_rows())).sum();
        if groups != i128::from(rows) || reader.metadata().row_groups().iter().any(|group| group.num_rows() < 0) {
            return Err(wrong(format!("it claims {rows} rows, its parts {groups}")));
        }
        if rows as u64 > bytes.saturating_mul(DENSEST) {
            return Err(wrong(format!("it claims {rows} rows in {bytes} bytes")));
        }
        Ok(Table { reader, path: path.to_owned() })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.reader.metadata().file_metadata().num_rows() as usize
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of the columns, in the file's order.
    pub fn names(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| column.path().parts()[0].clone()).collect()
    }

    /// Hands over the wanted columns in batches, with the number of rows in each.
    pub fn batches(&self, wanted: &[&str], each: impl FnMut(&[Batch], usize)) -> Result<()> {
        self.batches_of(&self.reader, 0..self.reader.num_row_groups(), wanted, each)
    }

    /// The same by all threads: neighbouring groups of rows make a part, and each part is gathered into a value of its
    /// own. The values come in the order of the parts, which do not depend on the number of threads.
    pub fn gather<T: Default + Send>(
        &self,
        wanted: &[&str],
        each: impl Fn(&mut T, &[Batch], usize) + Sync,
    ) -> Result<Vec<T>> {
        let groups = self.reader.num_row_groups();
        if groups < 2 {
            let mut gathered = T::default();
            self.batches(wanted, |columns, rows| each(&mut gathered, columns, rows))?;
            return Ok(vec![gathered]);
        }
        let part = |part: usize| {
            let mut gathered = T::default();
            let groups = part * groups / PARTS..(part + 1) * groups / PARTS;
            if !groups.is_empty() {
                // A file that is open has one place to read at: every part opens its own.
                let file = File::open(&self.path).reading(&self.path)?;
                let reader = guarded(&self.path, || SerializedFileReader::new(file))?;
                self.batches_of(&reader, groups, wanted, |columns, rows| each(&mut gathered, columns, rows))?;
            }
            Ok(gathered)
        };
        (0..PARTS).into_par_iter().map(part).collect()
    }

    fn batches_of(
        &self,
        reader: &SerializedFileReader<File>,
        groups: Range<usize>,
        wanted: &[&str],
        mut each: impl FnMut(&[Batch], usize),
    ) -> Result<()> {
        let names = self.names();
        let places: Vec<Option<usize>> =
            wanted.iter().map(|name| names.iter().position(|other| other == name)).collect();
        for group in groups {
            let group = guarded(&self.path, || reader.get_row_group(group))?;
            let open = |place: &Option<usize>| place.map(|place| group.get_column_reader(place)).transpose();
            let mut readers = guarded(&self.path, || places.iter().map(open).collect::<Parquet<Vec<_>>>())?;
            let mut left = group.metadata().num_rows() as usize;
            while left > 0 {
                let rows = left.min(BATCH);
                let next = |reader: &mut Option<ColumnReader>| match reader {
                    Some(reader) => batch(reader, rows),
                    None => Ok(Batch::Absent),
                };
                let columns = guarded(&self.path, || readers.iter_mut().map(next).collect::<Parquet<Vec<_>>>())?;
                if columns.iter().any(|column| column.len().is_some_and(|held| held != rows)) {
                    let why = "a column ends before its rows do".to_owned();
                    return Err(Error::Damaged { path: self.path.clone(), why });
                }
                each(&columns, rows);
                left -= rows;
            }
        }
        Ok(())
    }

    /// Every row as a map from column to value, numbers in their own kind; what is missing is null.
    pub fn rows(&self) -> Result<Vec<Columns>> {
        let row = |row: Row| row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect();
        self.each_row().map(|next| next.map(row)).collect()
    }

    /// The table with only the rows that are to stay, given each row's number and values.
    pub fn retain(&self, stays: impl Fn(usize, &Columns) -> bool) -> Result<Vec<(String, Column)>> {
        let fields = self.reader.metadata().file_metadata().schema().get_fields();
        let mut columns: Vec<(String, Column)> = Vec::new();
        let kept: Vec<Columns> =
            self.rows()?.into_iter().enumerate().filter(|(at, row)| stays(*at, row)).map(|(_, row)| row).collect();
        for field in fields {
            let values = || kept.iter().map(|row| &row[field.name()]);
            let column = match field.get_physical_type() {
                Physical::INT64 => Column::Whole(values().map(Value::as_i64).collect()),
                Physical::DOUBLE => Column::Number(values().map(Value::as_f64).collect()),
                _ => Column::Text(values().map(|value| value.as_str().map(str::to_owned)).collect()),
            };
            columns.push((field.name().to_owned(), column));
        }
        Ok(columns)
    }

    /// Writes the table as comma-separated values.
    pub fn write_csv(&self, path: &Path) -> Result<()> {
        let mut text = String::new();
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        text.push_str(&line(self.names().iter().map(|name| csv_cell(name)).collect()));
        for row in self.each_row() {
            text.push_str(&line(row?.get_column_iter().map(|(_, field)| csv_value(field)).collect()));
        }
        invitro_files::write(path, text.as_bytes()).writing(path)
    }

    fn each_row(&self) -> impl Iterator<Item = Result<Row>> + '_ {
        let mut rows = None;
        let mut ended = false;
        std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let next = guarded(&self.path, || {
                if rows.is_none() {
                    rows = Some(self.reader.get_row_iter(None)?);
                }
                rows.as_mut().and_then(Iterator::next).transpose()
            });
            ended = !matches!(next, Ok(Some(_)));
            next.transpose()
        })
    }
}

/// What the library makes of a file, which it may panic over.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Parquet<T>) -> Result<T> {
    caught(read).map_err(|why| Error::Read { path: path.to_owned(), why })?.reading(path)
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Str(text) => text.as_str().into(),
        Field::Long(number) => (*number).into(),
        Field::Double(number) => (*number).into(),
        other => other.to_string().into(),
    }
}

fn csv_value(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => csv_cell(text),
        // The shortest form that reads back to the same number.
        Field::Double(number) => format!("{number:?}"),
        other => csv_cell(&other.to_string()),
    }
}

/// A cell of a comma-separated table, quoted where it must be.
pub fn csv_cell(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', '\r']);
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// Joins tables of one schema, a row group each, without decoding them.
pub fn join(parts: &[PathBuf], whole: &Path) -> Result<()> {
    write_with(whole, |out| join_into(parts, out))
}

/// A table that `write` makes, with a [`Writer::seal`], whole or not at all.
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
        let Table { reader, .. } = Table::open(part)?;
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

fn batch(reader: &mut ColumnReader, rows: usize) -> Parquet<Batch> {
    Ok(match reader {
        ColumnReader::BoolColumnReader(reader) => numbers(reader, rows, |value| f64::from(u8::from(*value)))?,
        ColumnReader::Int32ColumnReader(reader) => numbers(reader, rows, |value| f64::from(*value))?,
        ColumnReader::Int64ColumnReader(reader) => numbers(reader, rows, |value| *value as f64)?,
        ColumnReader::FloatColumnReader(reader) => numbers(reader, rows, |value| f64::from(*value))?,
        ColumnReader::DoubleColumnReader(reader) => numbers(reader, rows, |value| *value)?,
        ColumnReader::ByteArrayColumnReader(reader) => {
            let (values, defined) = values(reader, rows)?;
            Batch::Text(spread(values.into_iter().map(Some), &defined, || None))
        }
        _ => Batch::Absent,
    })
}

fn numbers<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    number: impl Fn(&T::T) -> f64,
) -> Parquet<Batch> {
    let (values, defined) = values(reader, rows)?;
    Ok(Batch::Number(spread(values.iter().map(number), &defined, || f64::NAN)))
}

/// The values of the next `rows` rows, and per row whether there is one; nothing where every row has one.
fn values<T: DataType>(reader: &mut ColumnReaderImpl<T>, rows: usize) -> Parquet<(Vec<T::T>, Vec<i16>)> {
    let (mut values, mut defined) = (Vec::with_capacity(rows), Vec::new());
    let mut read = 0;
    while read < rows {
        let (records, ..) = reader.read_records(rows - read, Some(&mut defined), None, &mut values)?;
        if records == 0 {
            break;
        }
        read += records;
    }
    Ok((values, defined))
}

fn spread<T>(mut values: impl Iterator<Item = T>, defined: &[i16], missing: impl Fn() -> T) -> Vec<T> {
    if defined.is_empty() {
        return values.collect();
    }
    let next = |level: &i16| if *level > 0 { values.next().unwrap_or_else(&missing) } else { missing() };
    defined.iter().map(next).collect()
}
