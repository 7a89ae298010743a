//! Tables as Parquet: columns of text and numbers, any value of which may be missing.
//!
//! Everything of invitro that is Parquet is written and read here. [`write()`] takes whole columns, [`Writer`] group after
//! group; [`Table`] reads the columns asked for in batches, which keeps memory flat over millions of rows. The footer
//! has an entry `seal` ([`invitro_files::sealed`]), by which damage is noticed before anything is read.

mod read;
mod write;

pub use read::{Batch, Table, csv_cell};
pub use write::{Writer, join, write, write_with};

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
