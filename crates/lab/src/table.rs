//! Tables as Parquet: a few columns of text and numbers, any value of which may be missing.

use crate::error::{Error, Result};
use crate::files;
use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::basic::{LogicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
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
