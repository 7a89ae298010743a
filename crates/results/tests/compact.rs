//! Compact tables.

use invitro_results::words::{self, MaskedWord, Traits, WordForm};
use invitro_results::{compact, table::TableReader};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const RUNS: usize = 28;
const WORDS: usize = 2_500;

/// The words of a run: every second one with a contrast, of the others four in five asked for.
fn write(folder: &Path, run: usize) -> PathBuf {
    let word = |at: usize| {
        let contrast = at.is_multiple_of(2).then_some(at as f64);
        let contrasts = contrast.map(|end| vec![(0, 0.0), (10, 0.5), (20, end)]).unwrap_or_default();
        MaskedWord {
            symbol: format!("symbol {at}"),
            masked_in: Some("B".into()),
            asked: Some(at % 10 != 1),
            traits: Traits { pairs: Some(contrasts.len() as u32), ..Traits::default() },
            forms: vec![WordForm { language: "B".into(), contrast, contrasts, ..WordForm::default() }],
            ..MaskedWord::default()
        }
    };
    let path = folder.join(format!("{run}.parquet"));
    words::write(&path, &format!("run {run}"), &(0..WORDS).map(word).collect::<Vec<_>>()).unwrap();
    path
}

/// How many words of a kind each run has: with a contrast, asked for, neither; and with a curve.
fn kinds(path: &Path) -> BTreeMap<String, [usize; 4]> {
    let mut kinds: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    words::read(path, 1, |run, word| {
        let own = kinds.entry(run.to_owned()).or_default();
        let kind = if word.traits.pairs > Some(0) { 0 } else { 2 - usize::from(word.asked == Some(true)) };
        own[kind] += 1;
        assert_eq!(word.forms[0].contrast.is_some(), kind == 0, "every end is kept");
        own[3] += usize::from(!word.forms[0].contrasts.is_empty());
    })
    .unwrap();
    kinds
}

#[test]
fn words_kept_in_steps_are_those_kept_at_once() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let runs: Vec<PathBuf> = (0..RUNS).map(|run| write(folder, run)).collect();
    let path = |name: &str| folder.join(name);
    compact::join_words(&runs, &path("at-once")).unwrap();
    compact::join_words(&runs[..27], &path("first")).unwrap();
    compact::join_words(&[path("first"), runs[27].clone()], &path("then")).unwrap();
    let rows = |name: &str| -> Vec<_> {
        let table = TableReader::open(&path(name)).unwrap();
        (0..table.groups().len()).flat_map(|at| table.group_rows(at).unwrap()).collect()
    };
    assert_eq!(rows("then"), rows("at-once"));
    // Every run keeps the same: all that have a contrast, and what room is left for those asked for.
    let kept = kinds(&path("at-once"));
    assert_eq!(kept.len(), RUNS);
    assert!(kept.values().all(|own| *own == [1250, 893, 0, 36]), "{kept:?}");
    // Where there is room, all are kept.
    compact::join_words(&runs[..1], &path("small")).unwrap();
    assert!(kinds(&path("small")).values().all(|own| *own == [1250, 1000, 250, 1000]), "{:?}", kinds(&path("small")));
}
