//! Tables as Parquet: columns of text and numbers, with missing values.
//!
//! Everything of invitro that is Parquet is written and read here. [`write()`] takes whole columns, [`TableWriter`] group after
//! group; [`TableReader`] reads the columns asked for in batches, which keeps memory flat over millions of rows. The footer
//! has an entry `seal` ([`invitro_base::sealed`]), by which damage is noticed before anything is read.

mod read;
mod write;

pub use read::{ColumnBatch, TableReader, csv_cell};
pub(crate) use write::union;
pub use write::{TableWriter, join, write, write_with};

use serde_json::{Map, Value};

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
    /// A column of the same kind with the values of these rows; text where the kind cannot be told from rows.
    pub(crate) fn of_rows(&self, name: &str, rows: &[Columns]) -> Column {
        let values = || rows.iter().map(|row| row.get(name));
        match self {
            Column::Whole(_) => Column::Whole(values().map(|value| value.and_then(Value::as_i64)).collect()),
            Column::Number(_) => Column::Number(values().map(|value| value.and_then(Value::as_f64)).collect()),
            _ => Column::Text(values().map(|value| value.and_then(Value::as_str).map(str::to_owned)).collect()),
        }
    }
}

/// Takes a number to single precision, some seven digits.
pub(crate) fn to_single(value: &mut Value) {
    if let Some(number) = value.as_f64().filter(|_| value.is_f64()) {
        *value = f64::from(number as f32).into();
    }
}
