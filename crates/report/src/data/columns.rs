//! Columns out of a parquet file, batch by batch, without building rows.
//!
//! A study of hundreds of runs has millions of metric rows; reading the few columns asked for in batches keeps memory
//! flat and costs a second or two. Numbers of any width come as `f64` with NaN for null, text as bytes, and a list
//! of text as one text with its parts separated by [`SEPARATOR`].

use crate::error::{At, Result};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Between the parts of a list column: ASCII's unit separator.
pub const SEPARATOR: char = '\u{1f}';

const BATCH: usize = 1 << 16;

pub struct Table {
    reader: SerializedFileReader<File>,
    path: PathBuf,
}

pub enum Column {
    Text(Vec<Option<ByteArray>>),
    Number(Vec<f64>),
    /// The file has no such column.
    Absent,
}

impl Column {
    pub fn text(&self, row: usize) -> Option<&str> {
        match self {
            Column::Text(values) => values[row].as_ref().and_then(|bytes| std::str::from_utf8(bytes.data()).ok()),
            _ => None,
        }
    }

    pub fn number(&self, row: usize) -> Option<f64> {
        match self {
            Column::Number(values) => Some(values[row]).filter(|value| !value.is_nan()),
            _ => None,
        }
    }
}

impl Table {
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).at(path)?;
        Ok(Self { reader: SerializedFileReader::new(file).at(path)?, path: path.to_owned() })
    }

    pub fn rows(&self) -> usize {
        self.reader.metadata().file_metadata().num_rows() as usize
    }

    /// The names of the columns, in the file's order.
    pub fn names(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| column.path().parts()[0].clone()).collect()
    }

    /// Hands over the wanted columns in batches, with the number of rows in each.
    pub fn batches(&self, wanted: &[&str], mut each: impl FnMut(&[Column], usize)) -> Result<()> {
        let names = self.names();
        let places: Vec<Option<usize>> =
            wanted.iter().map(|name| names.iter().position(|other| other == name)).collect();
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).at(&self.path)?;
            let open = |place: &Option<usize>| place.map(|place| group.get_column_reader(place)).transpose();
            let mut readers = places.iter().map(open).collect::<parquet::errors::Result<Vec<_>>>().at(&self.path)?;
            let mut left = group.metadata().num_rows() as usize;
            while left > 0 {
                let rows = left.min(BATCH);
                let next = |reader: &mut Option<ColumnReader>| match reader {
                    Some(reader) => batch(reader, rows),
                    None => Ok(Column::Absent),
                };
                let columns =
                    readers.iter_mut().map(next).collect::<parquet::errors::Result<Vec<_>>>().at(&self.path)?;
                each(&columns, rows);
                left -= rows;
            }
        }
        Ok(())
    }
}

fn batch(reader: &mut ColumnReader, rows: usize) -> parquet::errors::Result<Column> {
    Ok(match reader {
        ColumnReader::BoolColumnReader(reader) => numbers(reader, rows, |value| f64::from(u8::from(*value)))?,
        ColumnReader::Int32ColumnReader(reader) => numbers(reader, rows, |value| f64::from(*value))?,
        ColumnReader::Int64ColumnReader(reader) => numbers(reader, rows, |value| *value as f64)?,
        ColumnReader::FloatColumnReader(reader) => numbers(reader, rows, |value| f64::from(*value))?,
        ColumnReader::DoubleColumnReader(reader) => numbers(reader, rows, |value| *value)?,
        ColumnReader::ByteArrayColumnReader(reader) => texts(reader, rows)?,
        _ => Column::Absent,
    })
}

/// The values of the next `rows` rows, with the definition and repetition levels where the column has them.
type Levels<T> = (Vec<T>, Vec<i16>, Vec<i16>);

fn levels<T: DataType>(reader: &mut ColumnReaderImpl<T>, rows: usize) -> parquet::errors::Result<Levels<T::T>> {
    let (mut values, mut defined, mut repeated) = (Vec::with_capacity(rows), Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        let (records, ..) = reader.read_records(rows - read, Some(&mut defined), Some(&mut repeated), &mut values)?;
        if records == 0 {
            break;
        }
        read += records;
    }
    Ok((values, defined, repeated))
}

fn numbers<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    number: impl Fn(&T::T) -> f64,
) -> parquet::errors::Result<Column> {
    let (values, defined, _) = levels(reader, rows)?;
    let mut values = values.iter().map(number);
    // A column without levels has a value in every row.
    let numbers = if defined.is_empty() {
        values.collect()
    } else {
        defined.iter().map(|level| if *level > 0 { values.next().unwrap_or(f64::NAN) } else { f64::NAN }).collect()
    };
    Ok(Column::Number(numbers))
}

fn texts<T: DataType<T = ByteArray>>(reader: &mut ColumnReaderImpl<T>, rows: usize) -> parquet::errors::Result<Column> {
    let (values, defined, repeated) = levels(reader, rows)?;
    if defined.is_empty() {
        return Ok(Column::Text(values.into_iter().map(Some).collect()));
    }
    let top = defined.iter().copied().max().unwrap_or(0);
    let mut values = values.into_iter();
    if repeated.is_empty() {
        return Ok(Column::Text(defined.iter().map(|level| if *level > 0 { values.next() } else { None }).collect()));
    }
    // A list: a repetition level of 0 starts a new row, a value stands where the definition level is the highest.
    let mut joined: Vec<Option<String>> = Vec::with_capacity(rows);
    for (level, repetition) in defined.iter().zip(&repeated) {
        if *repetition == 0 {
            joined.push(None);
        }
        if *level == top && values.len() > 0 {
            let part = values.next().unwrap_or_default();
            let part = String::from_utf8_lossy(part.data()).into_owned();
            match joined.last_mut() {
                Some(Some(text)) => {
                    text.push(SEPARATOR);
                    text.push_str(&part);
                }
                Some(empty) => *empty = Some(part),
                None => {}
            }
        }
    }
    Ok(Column::Text(joined.into_iter().map(|text| text.map(|text| ByteArray::from(text.into_bytes()))).collect()))
}
