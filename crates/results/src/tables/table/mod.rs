//! Tables as Parquet: columns of text, numbers, truth values and lists, with missing values.
//!
//! Everything of invitro that is Parquet is written and read here. [`write()`] takes whole columns, [`TableWriter`] group after
//! group; [`TableReader`] reads the columns asked for in batches, which keeps memory flat over millions of rows. The footer
//! has an entry `seal` ([`invitro_base::sealed`]), by which damage is noticed before anything is read.

mod kind;
mod lists;
mod read;
mod write;

pub use kind::{Items, Kind};
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
    /// True, false, or nothing.
    Flag(Vec<Option<bool>>),
    /// A list, or nothing.
    Lists(Lists),
    /// Text in every row, of which many are the same: each once, and which a row has.
    Repeated {
        /// The texts.
        texts: Vec<String>,
        /// By row, the place of its text.
        rows: Vec<usize>,
    },
    /// True or false, in every row.
    RequiredFlag(Vec<bool>),
    /// Texts, at least one in every row.
    RequiredTexts(Vec<Vec<String>>),
}

/// A column of lists, by what they hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Lists {
    /// Texts.
    Text(Vec<Option<Vec<String>>>),
    /// Whole numbers.
    Whole(Vec<Option<Vec<i64>>>),
    /// Numbers.
    Number(Vec<Option<Vec<f64>>>),
}

impl Column {
    /// What its values are.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Column::Text(_) | Column::Repeated { .. } => Kind::Text,
            Column::Whole(_) => Kind::Whole,
            Column::Number(_) => Kind::Number,
            Column::Flag(_) | Column::RequiredFlag(_) => Kind::Flag,
            Column::Lists(Lists::Whole(_)) => Kind::List(Items::Whole),
            Column::Lists(Lists::Number(_)) => Kind::List(Items::Number),
            Column::Lists(Lists::Text(_)) | Column::RequiredTexts(_) => Kind::List(Items::Text),
        }
    }

    /// A column of the same kind with the values of these rows.
    pub(crate) fn of_rows(&self, name: &str, rows: &[Columns]) -> Column {
        self.kind().column(rows.iter().map(|row| row.get(name)))
    }
}

/// A number to four decimals: to a multiple of 2⁻¹⁴, whose last bits are zero and take no room.
pub(crate) fn shorten(number: f64) -> f64 {
    (number * 16384.0).round() / 16384.0
}

/// The same of a value, if it is a number that is not whole by its kind.
pub(crate) fn shorten_value(value: &mut Value) {
    if let Some(number) = value.as_f64().filter(|_| value.is_f64()) {
        *value = shorten(number).into();
    }
}
