//! A corpus as a Parquet table: text, language, task, masked, and the symbols as a list of strings. Rows are gathered
//! into groups of a fixed size, each written and forgotten.

use super::Row;
use anyhow::Result;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::sync::Arc;

/// Rows to a group: some ten megabytes of text.
const GROUP: usize = 65_536;

const SCHEMA: &str = "message corpus {
    required binary text (STRING);
    required binary language (STRING);
    required binary task (STRING);
    required group symbols (LIST) { repeated group list { required binary element (STRING); } }
    required boolean masked;
}";

pub struct Table {
    writer: SerializedFileWriter<File>,
    rows: Vec<Row>,
}

impl Table {
    pub fn new(file: File) -> Result<Table> {
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?)).build();
        Ok(Table { writer: SerializedFileWriter::new(file, schema, Arc::new(properties))?, rows: Vec::new() })
    }

    pub fn write(&mut self, rows: Vec<Row>) -> Result<()> {
        self.rows.extend(rows);
        while self.rows.len() >= GROUP {
            let rest = self.rows.split_off(GROUP);
            self.group()?;
            self.rows = rest;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<()> {
        if !self.rows.is_empty() {
            self.group()?;
        }
        self.writer.close()?;
        Ok(())
    }

    /// Writes the gathered rows as one group, column by column, in the schema's order.
    fn group(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let mut group = self.writer.next_row_group()?;
        let mut column = 0;
        while let Some(mut writer) = group.next_column()? {
            match column {
                0..=2 => {
                    let value = |row: &Row| ByteArray::from([&row.text, row.language, row.task][column]);
                    let values: Vec<ByteArray> = rows.iter().map(value).collect();
                    writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
                }
                3 => {
                    let symbols = rows.iter().flat_map(|row| row.symbols.iter());
                    let values: Vec<ByteArray> = symbols.map(|s| ByteArray::from(s.as_str())).collect();
                    // No list is empty: every element is present, and all but a list's first repeat it.
                    let defined = vec![1i16; values.len()];
                    let repeated: Vec<i16> =
                        rows.iter().flat_map(|row| (0..row.symbols.len()).map(|i| i16::from(i > 0))).collect();
                    writer.typed::<ByteArrayType>().write_batch(&values, Some(&defined), Some(&repeated))?;
                }
                _ => {
                    let values: Vec<bool> = rows.iter().map(|row| row.masked).collect();
                    writer.typed::<BoolType>().write_batch(&values, None, None)?;
                }
            }
            writer.close()?;
            column += 1;
        }
        group.close()?;
        Ok(())
    }
}
