//! Writing parquet files of nullable columns.

use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Cells column by column; every column must get one per row.
pub struct Cells {
    texts: Vec<Vec<Option<ByteArray>>>,
    numbers: Vec<Vec<Option<f64>>>,
    known: HashMap<String, ByteArray>,
}

impl Cells {
    pub fn new(columns: usize) -> Self {
        Self { texts: vec![Vec::new(); columns], numbers: vec![Vec::new(); columns], known: HashMap::new() }
    }

    pub fn text(&mut self, column: usize, text: Option<&str>) {
        let cell = text.map(|text| match self.known.get(text) {
            Some(known) => known.clone(),
            None => {
                let made = ByteArray::from(text.as_bytes().to_vec());
                self.known.insert(text.to_owned(), made.clone());
                made
            }
        });
        self.texts[column].push(cell);
    }

    pub fn number(&mut self, column: usize, number: Option<f64>) {
        self.numbers[column].push(number);
    }
}

pub struct Sheet {
    writer: SerializedFileWriter<File>,
    columns: &'static [(&'static str, char)],
}

impl Sheet {
    pub fn create(path: &Path, columns: &'static [(&'static str, char)]) -> Self {
        let field = |(name, kind): &(&str, char)| {
            let physical = match kind {
                't' => Physical::BYTE_ARRAY,
                'i' => Physical::INT64,
                _ => Physical::DOUBLE,
            };
            let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
            Arc::new(field.build().unwrap())
        };
        let schema =
            Type::group_type_builder("schema").with_fields(columns.iter().map(field).collect()).build().unwrap();
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(Default::default())).build();
        let file = File::create(path).unwrap();
        Self { writer: SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap(), columns }
    }

    /// One row group.
    pub fn group(&mut self, cells: &Cells) {
        let mut group = self.writer.next_row_group().unwrap();
        for (place, (_, kind)) in self.columns.iter().enumerate() {
            let mut column = group.next_column().unwrap().unwrap();
            let levels = |given: Vec<bool>| given.into_iter().map(i16::from).collect::<Vec<_>>();
            match (column.untyped(), kind) {
                (ColumnWriter::ByteArrayColumnWriter(out), 't') => {
                    let values: Vec<ByteArray> = cells.texts[place].iter().flatten().cloned().collect();
                    let given = levels(cells.texts[place].iter().map(Option::is_some).collect());
                    out.write_batch(&values, Some(&given), None).unwrap();
                }
                (ColumnWriter::Int64ColumnWriter(out), 'i') => {
                    let values: Vec<i64> = cells.numbers[place].iter().flatten().map(|value| *value as i64).collect();
                    let given = levels(cells.numbers[place].iter().map(Option::is_some).collect());
                    out.write_batch(&values, Some(&given), None).unwrap();
                }
                (ColumnWriter::DoubleColumnWriter(out), _) => {
                    let values: Vec<f64> = cells.numbers[place].iter().flatten().copied().collect();
                    let given = levels(cells.numbers[place].iter().map(Option::is_some).collect());
                    out.write_batch(&values, Some(&given), None).unwrap();
                }
                _ => panic!("a column of another kind than declared"),
            }
            column.close().unwrap();
        }
        group.close().unwrap();
    }

    pub fn finish(self) {
        self.writer.close().unwrap();
    }
}
