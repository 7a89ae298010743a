//! Parquet tables that other programs wrote.

use invitro_results::table::TableReader;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::Path;
use std::sync::Arc;

fn write(path: &Path, compression: Compression, texts: &[ByteArray]) {
    let schema = Arc::new(parse_message_type("message table { required binary name (UTF8); }").unwrap());
    let properties = WriterProperties::builder().set_compression(compression).set_dictionary_enabled(false).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(texts, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn a_table_packed_with_snappy_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("snappy.parquet");
    let texts: Vec<ByteArray> = (0..100).map(|row| format!("row {row}").as_str().into()).collect();
    write(&path, Compression::SNAPPY, &texts);
    let rows = TableReader::open(&path).unwrap().rows().unwrap();
    assert_eq!((rows.len(), rows[7]["name"].as_str()), (100, Some("row 7")));
}

#[test]
fn a_small_file_that_unpacks_to_a_large_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("packed.parquet");
    let texts = vec![ByteArray::from(vec![b'a'; 1 << 20]); 100];
    write(&path, Compression::ZSTD(ZstdLevel::default()), &texts);
    let error = TableReader::open(&path).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("unpack to 1048") && error.contains("at most 67108864 are allowed"), "{error}");
}
