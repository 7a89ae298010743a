//! Columns of lists: their schema in Parquet, and how they are written.

use super::Lists;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::writer::{ColumnWriter, get_typed_column_writer_mut};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result as Parquet;
use parquet::schema::types::Type;
use std::sync::Arc;

impl Lists {
    pub(super) fn schema(&self, name: &str) -> Parquet<Type> {
        let (physical, logical) = match self {
            Lists::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Lists::Whole(_) => (Physical::INT64, None),
            Lists::Number(_) => (Physical::DOUBLE, None),
        };
        schema(name, Repetition::OPTIONAL, physical, logical)
    }

    pub(super) fn write(&self, out: &mut ColumnWriter) -> Parquet<()> {
        match self {
            Lists::Text(lists) => write::<ByteArrayType, _>(out, lists, |text| text.as_str().into()),
            Lists::Whole(lists) => write::<Int64Type, _>(out, lists, |number| *number),
            Lists::Number(lists) => write::<DoubleType, _>(out, lists, |number| *number),
        }
    }
}

/// Lists of texts, one in every row.
pub(super) fn required_schema(name: &str) -> Parquet<Type> {
    schema(name, Repetition::REQUIRED, Physical::BYTE_ARRAY, Some(LogicalType::String))
}

fn schema(name: &str, repetition: Repetition, item: Physical, logical: Option<LogicalType>) -> Parquet<Type> {
    let element = Type::primitive_type_builder("element", item)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(logical)
        .build()?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    Type::group_type_builder(name)
        .with_repetition(repetition)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list)])
        .build()
}

/// Writes lists that may be empty or missing.
fn write<D: DataType, T>(out: &mut ColumnWriter, lists: &[Option<Vec<T>>], item: impl Fn(&T) -> D::T) -> Parquet<()> {
    let data: Vec<D::T> = lists.iter().flatten().flatten().map(item).collect();
    let (mut defined, mut repeated) = (Vec::new(), Vec::new());
    for list in lists {
        let length = list.as_ref().map_or(0, Vec::len);
        // No list, one without items, or an item.
        let level = i16::from(list.is_some()) + i16::from(length > 0);
        defined.extend(std::iter::repeat_n(level, length.max(1)));
        repeated.extend((0..length.max(1)).map(|at| i16::from(at > 0)));
    }
    get_typed_column_writer_mut::<D>(out).write_batch(&data, Some(&defined), Some(&repeated)).map(|_| ())
}

/// Writes lists that are not empty.
pub(super) fn write_required(out: &mut ColumnWriter, lists: &[Vec<String>]) -> Parquet<()> {
    let data: Vec<ByteArray> = lists.iter().flatten().map(|text| text.as_str().into()).collect();
    let repeated: Vec<i16> = lists.iter().flat_map(|list| (0..list.len()).map(|at| i16::from(at > 0))).collect();
    get_typed_column_writer_mut::<ByteArrayType>(out)
        .write_batch(&data, Some(&vec![1; data.len()]), Some(&repeated))
        .map(|_| ())
}
