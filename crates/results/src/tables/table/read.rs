//! Files into columns, rows and comma-separated text.

use super::{Column, Columns, Lists};
use crate::error::{At, Error, Result};
use invitro_base::{catch_panic, limits, sealed};
use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::Result as Parquet;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use rayon::prelude::*;
use serde_json::Value;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

const BATCH: usize = 1 << 12;
/// Parts that a table is read in: more than most machines have threads for, so that none waits long.
const PARTS: usize = 16;
/// Rows that a byte of a file may stand for; a table that claims more is none of ours, and would fill the memory.
const DENSEST: u64 = 64;

/// A table to be read.
pub struct TableReader {
    pub(super) reader: SerializedFileReader<File>,
    path: PathBuf,
}

/// A batch of one column, as it was read.
pub enum ColumnBatch {
    /// Texts.
    Text(Vec<Option<ByteArray>>),
    /// Numbers of any width, NaN where there is none.
    Number(Vec<f64>),
    /// The file has no such column, or one of another kind.
    Absent,
}

impl ColumnBatch {
    /// The number of rows, where the column is there.
    fn len(&self) -> Option<usize> {
        match self {
            ColumnBatch::Text(values) => Some(values.len()),
            ColumnBatch::Number(values) => Some(values.len()),
            ColumnBatch::Absent => None,
        }
    }

    /// The bytes of the text in a row; none where there is no text.
    pub fn bytes(&self, row: usize) -> &[u8] {
        match self {
            ColumnBatch::Text(values) => values[row].as_ref().map_or(&[], |bytes| bytes.data()),
            _ => &[],
        }
    }

    /// The text in a row.
    pub fn text(&self, row: usize) -> Option<&str> {
        match self {
            ColumnBatch::Text(values) => values[row].as_ref().and_then(|bytes| std::str::from_utf8(bytes.data()).ok()),
            _ => None,
        }
    }

    /// The number in a row.
    pub fn number(&self, row: usize) -> Option<f64> {
        match self {
            ColumnBatch::Number(values) => Some(values[row]).filter(|value| !value.is_nan()),
            _ => None,
        }
    }
}

impl TableReader {
    /// Opens a file that is as it was written; it stays open. Only older versions wrote tables without a seal.
    pub fn open(path: &Path) -> Result<TableReader> {
        let wrong = |why: String| Error::Damaged { path: path.to_owned(), why };
        if sealed::is_whole_file(path).reading(path)? == Some(false) {
            return Err(wrong("its checksum is another".into()));
        }
        let file = invitro_base::files::open(path).reading(path)?;
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
        let unpacked: i128 =
            reader.metadata().row_groups().iter().map(|group| i128::from(group.total_byte_size())).sum();
        let most = bytes.saturating_mul(limits::TABLE_RATIO).max(limits::TABLE_BYTES);
        if unpacked > i128::from(most) {
            let why = format!("its {bytes} bytes unpack to {unpacked}; at most {most} are allowed");
            return Err(Error::Read { path: path.to_owned(), why });
        }
        Ok(TableReader { reader, path: path.to_owned() })
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
    pub fn batches(&self, wanted: &[&str], each: impl FnMut(&[ColumnBatch], usize)) -> Result<()> {
        self.batches_of(&self.reader, 0..self.reader.num_row_groups(), wanted, each)
    }

    /// The same of one group of rows.
    pub fn group_batches(&self, group: usize, wanted: &[&str], each: impl FnMut(&[ColumnBatch], usize)) -> Result<()> {
        self.batches_of(&self.reader, group..group + 1, wanted, each)
    }

    /// The same by all threads: each group of rows is gathered into a value of its own, of which `finish` makes what stays in
    /// memory. These come in the order of the groups.
    pub fn gather<T: Default, R: Send>(
        &self,
        wanted: &[&str],
        each: impl Fn(&mut T, &[ColumnBatch], usize) + Sync,
        finish: impl Fn(T) -> R + Sync,
    ) -> Result<Vec<R>> {
        let gather = |reader: &SerializedFileReader<File>, group: usize| {
            let mut gathered = T::default();
            self.batches_of(reader, group..group + 1, wanted, |columns, rows| each(&mut gathered, columns, rows))?;
            Ok(finish(gathered))
        };
        let groups = self.reader.num_row_groups();
        if groups < 2 {
            return (0..groups).map(|group| gather(&self.reader, group)).collect();
        }
        let part = |part: usize| -> Result<Vec<R>> {
            let groups = part * groups / PARTS..(part + 1) * groups / PARTS;
            if groups.is_empty() {
                return Ok(Vec::new());
            }
            // A file that is open has one place to read at: every part opens its own.
            let file = invitro_base::files::open(&self.path).reading(&self.path)?;
            let reader = guarded(&self.path, || SerializedFileReader::new(file))?;
            groups.map(|group| gather(&reader, group)).collect()
        };
        let parts = (0..PARTS).into_par_iter().map(part).collect::<Result<Vec<_>>>()?;
        Ok(parts.into_iter().flatten().collect())
    }

    fn batches_of(
        &self,
        reader: &SerializedFileReader<File>,
        groups: Range<usize>,
        wanted: &[&str],
        mut each: impl FnMut(&[ColumnBatch], usize),
    ) -> Result<()> {
        let names = self.names();
        // A list has no one value per row.
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let place = |name: &&str| names.iter().position(|other| other == name);
        let is_flat = |place: &usize| schema.column(*place).max_rep_level() == 0;
        let places: Vec<Option<usize>> = wanted.iter().map(|name| place(name).filter(is_flat)).collect();
        for group in groups {
            let group = guarded(&self.path, || reader.get_row_group(group))?;
            let open = |place: &Option<usize>| place.map(|place| group.get_column_reader(place)).transpose();
            let mut readers = guarded(&self.path, || places.iter().map(open).collect::<Parquet<Vec<_>>>())?;
            let mut left = group.metadata().num_rows() as usize;
            while left > 0 {
                let rows = left.min(BATCH);
                let next = |reader: &mut Option<ColumnReader>| match reader {
                    Some(reader) => batch(reader, rows),
                    None => Ok(ColumnBatch::Absent),
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
        self.each_row(|_| true)?.collect()
    }

    /// The rows one after the other, with the wanted columns.
    pub fn each_row(&self, wanted: impl Fn(&str) -> bool) -> Result<impl Iterator<Item = Result<Columns>> + '_> {
        let mut text = 0;
        let mut counted = move |row: Columns| {
            text += row.values().map(text_length).sum::<usize>();
            match text > limits::TABLE_TEXT {
                true => {
                    let why = format!("its rows have more than {} bytes of text, the most allowed", limits::TABLE_TEXT);
                    Err(Error::Read { path: self.path.clone(), why })
                }
                false => Ok(row),
            }
        };
        let schema = self.reader.metadata().file_metadata().schema();
        let fields = schema.get_fields().iter().filter(|field| wanted(field.name())).cloned().collect();
        let columns = Type::group_type_builder(schema.name()).with_fields(fields).build().reading(&self.path)?;
        Ok(self.records(columns).map(|next| next.map(columns_of)).map(move |row| row.and_then(&mut counted)))
    }

    /// The table with only the rows that are to stay, given each row's number and values.
    pub fn retain(&self, stays: impl Fn(usize, &Columns) -> bool) -> Result<Vec<(String, Column)>> {
        let rows = self.rows()?.into_iter().enumerate();
        let selected: Vec<Columns> = rows.filter(|(at, row)| stays(*at, row)).map(|(_, row)| row).collect();
        Ok(self.columns().iter().map(|(name, like)| (name.clone(), like.of_rows(name, &selected))).collect())
    }

    /// Writes the rows that are to stay, group by group.
    pub fn write_part(&self, path: &Path, stays: impl Fn(&Columns) -> bool) -> Result<()> {
        let columns = self.columns();
        super::write_with(path, |out| {
            let mut writer = super::TableWriter::new(out, &columns).writing(path)?;
            for group in 0..self.groups().len() {
                let mut rows = self.group_rows(group)?;
                rows.retain(&stays);
                let part: Vec<_> = columns.iter().map(|(name, like)| (name, like.of_rows(name, &rows))).collect();
                writer.group(&part).writing(path)?;
            }
            writer.seal();
            writer.finish().writing(path)
        })
    }

    /// Its columns without their rows.
    pub fn columns(&self) -> Vec<(String, Column)> {
        let fields = self.reader.metadata().file_metadata().schema().get_fields();
        fields.iter().map(|field| (field.name().to_owned(), empty_column(field))).collect()
    }

    /// How many rows each of its groups has.
    pub fn groups(&self) -> Vec<usize> {
        self.reader.metadata().row_groups().iter().map(|group| group.num_rows() as usize).collect()
    }

    /// The rows of one group, as [`TableReader::rows`] has them.
    pub fn group_rows(&self, group: usize) -> Result<Vec<Columns>> {
        let group = guarded(&self.path, || self.reader.get_row_group(group))?;
        let read = || group.get_row_iter(None)?.map(|row| row.map(columns_of)).collect();
        guarded(&self.path, read)
    }

    /// Writes the table as comma-separated values.
    pub fn write_csv(&self, path: &Path) -> Result<()> {
        let mut text = String::new();
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        text.push_str(&line(self.names().iter().map(|name| csv_cell(name)).collect()));
        for row in self.records(self.reader.metadata().file_metadata().schema().clone()) {
            text.push_str(&line(row?.get_column_iter().map(|(_, field)| csv_value(field)).collect()));
        }
        invitro_base::files::write(path, text.as_bytes()).writing(path)
    }

    fn records(&self, columns: Type) -> impl Iterator<Item = Result<Row>> + '_ {
        let mut columns = Some(columns);
        let mut rows = None;
        let mut ended = false;
        std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let next = guarded(&self.path, || {
                if let Some(columns) = columns.take() {
                    rows = Some(self.reader.get_row_iter(Some(columns))?);
                }
                rows.as_mut().and_then(Iterator::next).transpose()
            });
            ended = !matches!(next, Ok(Some(_)));
            next.transpose()
        })
    }
}

/// A column as a field of the schema declares it, without rows.
fn empty_column(field: &Type) -> Column {
    let physical = |field: &Type| if field.is_primitive() { Some(field.get_physical_type()) } else { None };
    // A group is a list: a group of one field, repeated, of one field.
    let only = |field: &Type| match field {
        Type::GroupType { fields, .. } => fields.first().cloned(),
        Type::PrimitiveType { .. } => None,
    };
    match (physical(field), only(field).and_then(|list| only(&list)).and_then(|item| physical(&item))) {
        (Some(Physical::INT64), _) => Column::Whole(Vec::new()),
        (Some(Physical::DOUBLE), _) => Column::Number(Vec::new()),
        (Some(Physical::BOOLEAN), _) => Column::Flag(Vec::new()),
        (None, Some(Physical::INT64)) => Column::Lists(Lists::Whole(Vec::new())),
        (None, Some(Physical::DOUBLE)) => Column::Lists(Lists::Number(Vec::new())),
        (None, Some(Physical::BYTE_ARRAY)) => Column::Lists(Lists::Text(Vec::new())),
        _ => Column::Text(Vec::new()),
    }
}

/// The bytes of text that a value holds.
fn text_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| text_length(item).max(size_of::<Value>())).sum(),
        _ => 0,
    }
}

/// What the library makes of a file, which it may panic over.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Parquet<T>) -> Result<T> {
    catch_panic(read).map_err(|why| Error::Read { path: path.to_owned(), why })?.reading(path)
}

fn columns_of(row: Row) -> Columns {
    row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Str(text) => text.as_str().into(),
        Field::Long(number) => (*number).into(),
        Field::Double(number) => (*number).into(),
        Field::Bool(flag) => (*flag).into(),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        other => other.to_string().into(),
    }
}

fn csv_value(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => csv_cell(text),
        // The shortest form that reads back to the same number.
        Field::Double(number) => format!("{number:?}"),
        list @ Field::ListInternal(_) => csv_cell(&value(list).to_string()),
        other => csv_cell(&other.to_string()),
    }
}

/// A cell of a comma-separated table, quoted where it must be.
pub fn csv_cell(text: &str) -> String {
    let is_unquoted = !text.contains([',', '"', '\n', '\r']);
    if is_unquoted { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

fn batch(reader: &mut ColumnReader, rows: usize) -> Parquet<ColumnBatch> {
    Ok(match reader {
        ColumnReader::BoolColumnReader(reader) => numbers(reader, rows, |value| f64::from(u8::from(*value)))?,
        ColumnReader::Int32ColumnReader(reader) => numbers(reader, rows, |value| f64::from(*value))?,
        ColumnReader::Int64ColumnReader(reader) => numbers(reader, rows, |value| *value as f64)?,
        ColumnReader::FloatColumnReader(reader) => numbers(reader, rows, |value| f64::from(*value))?,
        ColumnReader::DoubleColumnReader(reader) => numbers(reader, rows, |value| *value)?,
        ColumnReader::ByteArrayColumnReader(reader) => {
            let (values, defined) = values(reader, rows)?;
            ColumnBatch::Text(spread(values.into_iter().map(Some), &defined, || None))
        }
        _ => ColumnBatch::Absent,
    })
}

fn numbers<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    number: impl Fn(&T::T) -> f64,
) -> Parquet<ColumnBatch> {
    let (values, defined) = values(reader, rows)?;
    Ok(ColumnBatch::Number(spread(values.iter().map(number), &defined, || f64::NAN)))
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
