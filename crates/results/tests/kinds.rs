//! What tables hold is read back; truth values and lists beside tables of versions that wrote both as text.

use invitro_results::summary;
use invitro_results::table::{self, Column, Columns, Lists, TableReader, TableWriter};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

fn optional<T: std::fmt::Debug>(
    values: impl Strategy<Value = T>,
    rows: usize,
) -> impl Strategy<Value = Vec<Option<T>>> {
    prop::collection::vec(prop::option::of(values), rows)
}

/// Columns of all kinds, all of one length; any value may be missing and any list empty. Numbers and texts may be often equal.
fn columns() -> impl Strategy<Value = Vec<(&'static str, Column)>> {
    let number = prop_oneof![Just(0.5), Just(-0.0), any::<f64>().prop_filter("is equal to itself", |it| !it.is_nan())];
    (0..60usize).prop_flat_map(move |rows| {
        (
            optional(number.clone(), rows).prop_map(Column::Number),
            optional(any::<i64>(), rows).prop_map(Column::Whole),
            optional("[ab]{0,2}", rows).prop_map(Column::Text),
            optional(any::<bool>(), rows).prop_map(Column::Flag),
            optional(prop::collection::vec(any::<i64>(), 0..4), rows).prop_map(|all| Column::Lists(Lists::Whole(all))),
            optional(prop::collection::vec(-1e300..1e300, 0..4), rows)
                .prop_map(|all| Column::Lists(Lists::Number(all))),
            optional(prop::collection::vec(".{0,4}", 0..4), rows).prop_map(|all| Column::Lists(Lists::Text(all))),
        )
            .prop_map(|(number, whole, text, flag, wholes, numbers, texts)| {
                let lists = [("wholes", wholes), ("numbers", numbers), ("texts", texts)];
                [("number", number), ("whole", whole), ("text", text), ("flag", flag)]
                    .into_iter()
                    .chain(lists)
                    .collect()
            })
    })
}

proptest! {
    #[test]
    fn tables_and_compact_tables_are_read_back(columns in columns()) {
        let folder = tempfile::tempdir().unwrap();
        let [path, compact] = ["t.parquet", "compact.parquet"].map(|name| folder.path().join(name));
        table::write(&path, &columns).unwrap();
        let mut writer = TableWriter::compact(std::fs::File::create(&compact).unwrap(), &columns).unwrap();
        writer.group(&columns).unwrap();
        writer.finish().unwrap();
        for path in [&path, &compact] {
            let read = TableReader::open(path).unwrap().retain(|_, _| true).unwrap();
            prop_assert!(
                read.iter().map(|(name, column)| (name.as_str(), column)).eq(columns.iter().map(|(n, c)| (*n, c)))
            );
        }
        let table = TableReader::open(&path).unwrap();
        table.batches(&["flag", "wholes"], |batch, rows| {
            let Column::Flag(flags) = &columns[3].1 else { unreachable!() };
            assert!((0..rows).all(|row| batch[0].number(row) == flags[row].map(|flag| f64::from(u8::from(flag)))));
            assert!((0..rows).all(|row| batch[1].number(row).is_none()));
        }).unwrap();
    }
}

/// Settings as this version has them in a row of `runs.parquet`, and a text that looks like one of them.
fn settings(tasks: &[f64], forms: bool) -> Columns {
    let row = json!({
        "eval.forms": forms, "mixture.tasks": tasks, "eval.also": [], "mixture.schedule": [0.25, 1.0],
        "language.lexicon_languages": ["en", "fi"], "language.lexicon": "[]", "name": "true", "error": "[1]",
    });
    row.as_object().unwrap().clone()
}

/// The same as older versions wrote them.
fn as_text(row: &Columns) -> Columns {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    row.iter().map(|(name, value)| (name.clone(), text(value).into())).collect()
}

fn written(path: &Path, columns: &[(String, Column)]) -> (Vec<Columns>, String) {
    table::write(path, columns).unwrap();
    let table = TableReader::open(path).unwrap();
    table.write_csv(&path.with_extension("csv")).unwrap();
    (table.rows().unwrap(), std::fs::read_to_string(path.with_extension("csv")).unwrap())
}

#[test]
fn a_table_with_settings_as_text_stands_beside_one_with_their_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let all = [settings(&[0.2, 0.4, 0.4], true), settings(&[1.0, 0.0, 0.0], false)];
    let texts: Vec<Columns> = all.iter().map(as_text).collect();
    let old: Vec<(String, Column)> = texts[0]
        .keys()
        .map(|name| {
            (name.clone(), Column::Text(texts.iter().map(|row| row[name].as_str().map(str::to_owned)).collect()))
        })
        .collect();
    let (old, old_csv) = written(&path("old.parquet"), &old);
    assert_eq!(old, texts);
    let columns = summary::columns(&all);
    let kind = |name: &str| &columns.iter().find(|(own, _)| own == name).unwrap().1;
    assert_eq!(kind("eval.forms"), &Column::Flag(vec![Some(true), Some(false)]));
    assert_eq!(kind("eval.also"), &Column::Lists(Lists::Whole(vec![Some(vec![]); 2])));
    assert!(matches!(kind("mixture.tasks"), Column::Lists(Lists::Number(_))));
    assert!(matches!(kind("language.lexicon_languages"), Column::Lists(Lists::Text(_))));
    for text in ["language.lexicon", "name", "error"] {
        assert!(matches!(kind(text), Column::Text(_)), "{text}");
    }
    let (new, new_csv) = written(&path("new.parquet"), &columns);
    assert_eq!(new, all);
    let lines = |csv: &str| csv.lines().skip(1).map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(lines(&new_csv), lines(&old_csv));
    // Rows of both, in either order, have the kinds; so does a table made of the old one alone.
    for rows in [[&old[..], &new[..]].concat(), [&new[..], &old[..]].concat()] {
        let (both, _) = written(&path("both.parquet"), &summary::columns(&rows));
        assert_eq!(both, [&all[..], &all[..]].concat());
    }
    assert_eq!(summary::columns(&old), columns);
}

#[test]
fn values_of_two_kinds_are_text() {
    let of = |values: &[Value]| {
        let rows: Vec<Columns> =
            values.iter().map(|value| Columns::from_iter([("x".to_owned(), value.clone())])).collect();
        summary::columns(&rows).remove(0).1
    };
    let text = |values: &[&str]| Column::Text(values.iter().map(|text| Some((*text).to_owned())).collect());
    assert_eq!(of(&[json!(true), json!(1)]), text(&["true", "1"]));
    assert_eq!(of(&[json!([1]), json!([0.5])]), text(&["[1]", "[0.5]"]));
    assert_eq!(of(&[json!([1, "a"]), json!("b")]), text(&["[1,\"a\"]", "b"]));
    assert_eq!(of(&[json!([[1]])]), text(&["[[1]]"]));
    assert_eq!(of(&[json!(null), json!(2), json!(0.5)]), Column::Number(vec![None, Some(2.0), Some(0.5)]));
    assert_eq!(of(&[json!(null)]), Column::Whole(vec![None]));
}
