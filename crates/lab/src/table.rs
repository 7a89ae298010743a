//! Tables as Parquet: a few columns of text and numbers, any value of which may be missing.

use crate::error::{Error, Result};
use crate::files;
use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::basic::{LogicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::{Map, Value};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// One column, a value or none per row.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    Text(Vec<Option<String>>),
    Whole(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
}

impl Column {
    pub fn len(&self) -> usize {
        match self {
            Column::Text(values) => values.len(),
            Column::Whole(values) => values.len(),
            Column::Number(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn schema(&self, name: &str) -> parquet::errors::Result<Type> {
        let (physical, logical) = match self {
            Column::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Column::Whole(_) => (Physical::INT64, None),
            Column::Number(_) => (Physical::DOUBLE, None),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }
}

/// Writes the columns, all of one length, whole or not at all. The same columns give the same bytes.
pub fn write<N: AsRef<str>>(path: &Path, columns: &[(N, Column)]) -> Result<()> {
    let bytes = encode(columns).map_err(|error| Error::Write { path: path.to_owned(), why: error.to_string() })?;
    files::write_whole(path, &bytes)
}

fn open(path: &Path) -> Result<SerializedFileReader<File>> {
    let file = File::open(path).map_err(|error| wrong(path, &error))?;
    SerializedFileReader::new(file).map_err(|error| wrong(path, &error))
}

fn wrong(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Read { path: path.to_owned(), why: why.to_string() }
}

/// The rows of a table, each a map from column to value; what is missing is null.
pub fn read(path: &Path) -> Result<Vec<Map<String, Value>>> {
    let reader = open(path)?;
    let rows = reader.get_row_iter(None).map_err(|error| wrong(path, &error))?;
    rows.map(|row| {
        let row = row.map_err(|error| wrong(path, &error))?;
        Ok(row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect())
    })
    .collect()
}

/// The number of rows of a table.
pub fn rows(path: &Path) -> Result<usize> {
    Ok(open(path)?.metadata().file_metadata().num_rows() as usize)
}

/// The columns of a table with only the rows that are to stay, given each row's number and values.
pub fn thinned(path: &Path, stays: impl Fn(usize, &Row) -> bool) -> Result<Vec<(String, Column)>> {
    let reader = open(path)?;
    let fields = reader.metadata().file_metadata().schema().get_fields();
    let empty = |field: &Arc<Type>| match field.get_physical_type() {
        Physical::INT64 => Column::Whole(Vec::new()),
        Physical::DOUBLE => Column::Number(Vec::new()),
        _ => Column::Text(Vec::new()),
    };
    let mut columns: Vec<(String, Column)> =
        fields.iter().map(|field| (field.name().to_owned(), empty(field))).collect();
    for (at, row) in reader.get_row_iter(None).map_err(|error| wrong(path, &error))?.enumerate() {
        let row = row.map_err(|error| wrong(path, &error))?;
        if !stays(at, &row) {
            continue;
        }
        for ((_, column), (_, field)) in columns.iter_mut().zip(row.get_column_iter()) {
            match (column, value(field)) {
                (Column::Text(values), value) => values.push(value.as_str().map(str::to_owned)),
                (Column::Whole(values), value) => values.push(value.as_i64()),
                (Column::Number(values), value) => values.push(value.as_f64()),
            }
        }
    }
    Ok(columns)
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

/// The bytes of [`write`].
pub fn encode<N: AsRef<str>>(columns: &[(N, Column)]) -> parquet::errors::Result<Vec<u8>> {
    let fields = columns
        .iter()
        .map(|(name, column)| column.schema(name.as_ref()).map(Arc::new))
        .collect::<parquet::errors::Result<Vec<_>>>()?;
    let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by("invitro".to_owned())
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, column) in columns {
        let Some(mut out) = group.next_column()? else { break };
        match column {
            Column::Text(values) => {
                let (levels, kept) = levels(values);
                let kept: Vec<ByteArray> = kept.map(|text| ByteArray::from(text.as_str())).collect();
                out.typed::<ByteArrayType>().write_batch(&kept, Some(&levels), None)?;
            }
            Column::Whole(values) => {
                let (levels, kept) = levels(values);
                let kept: Vec<i64> = kept.copied().collect();
                out.typed::<Int64Type>().write_batch(&kept, Some(&levels), None)?;
            }
            Column::Number(values) => {
                let (levels, kept) = levels(values);
                let kept: Vec<f64> = kept.copied().collect();
                out.typed::<DoubleType>().write_batch(&kept, Some(&levels), None)?;
            }
        }
        out.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

/// Per row whether there is a value (1) or none (0), and the values there are.
fn levels<T>(values: &[Option<T>]) -> (Vec<i16>, impl Iterator<Item = &T>) {
    (values.iter().map(|value| i16::from(value.is_some())).collect(), values.iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let columns = [
            ("name", Column::Text(vec![Some("a".into()), None, Some("β†".into())])),
            ("step", Column::Whole(vec![Some(1), Some(2), None])),
            ("value", Column::Number(vec![None, Some(0.5), Some(-1.25)])),
        ];
        write(&path, &columns).unwrap();
        let first = std::fs::read(&path).unwrap();
        write(&path, &columns).unwrap();
        assert_eq!(first, std::fs::read(&path).unwrap(), "the same columns, the same bytes");
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[2].get_string(0).unwrap(), "β†");
        assert!(rows[1].get_string(0).is_err(), "a missing value is null");
        assert_eq!(rows[1].get_long(1).unwrap(), 2);
        assert_eq!(rows[2].get_double(2).unwrap(), -1.25);
    }

    #[test]
    fn an_empty_table_is_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write(&path, &[("name", Column::Text(Vec::new()))]).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}
