//! A world of a few dozen symbols, and a model that trains on it in seconds.
#![allow(dead_code)]

use invitro_lab::training::progress::Silent;
use invitro_lab::training::{self, Member, MemberOutcome, TrainingOptions};
use invitro_lab::{Experiment, Stop};
use invitro_language::LanguageEntry;
use invitro_model::Device;
use invitro_results::{Quantity, Row, folder, metrics, training::Step};
use std::path::Path;

/// The tiny experiment with settings laid over it.
pub fn tiny(overrides: &[&str]) -> Experiment {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/tiny.toml");
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Experiment::load(None, Some(Path::new(path)), &overrides).unwrap()
}

/// The tiny experiment with other languages.
pub fn family(overrides: &[&str], languages: Vec<LanguageEntry>) -> Experiment {
    let experiment = Experiment { languages, ..tiny(overrides) };
    experiment.validate().unwrap();
    experiment
}

fn of_a(name: &str, distance: f64) -> LanguageEntry {
    LanguageEntry { parent: Some("A".into()), distance: Some(distance), ..LanguageEntry::new(name) }
}

fn first() -> LanguageEntry {
    LanguageEntry { distance: Some(0.0), ..LanguageEntry::new("A") }
}

/// A, B near it, and C beyond B, with masked words.
pub fn trio() -> Vec<LanguageEntry> {
    let c = LanguageEntry { parent: Some("B".into()), share: Some(0.5), mask_share: 0.3, ..of_a("C", 0.3) };
    vec![first(), LanguageEntry { share: Some(0.25), ..of_a("B", 0.3) }, c]
}

/// Three word orders and two alphabets; B and C have masked words, some the same.
pub fn mixed() -> Vec<LanguageEntry> {
    let masked = |name: &str, grammar: &str, script| LanguageEntry {
        share: Some(0.5),
        grammar: Some(grammar.into()),
        script,
        mask_share: 0.4,
        ..of_a(name, 0.3)
    };
    vec![first(), masked("B", "sov", 1), masked("C", "vso", 0)]
}

pub fn member(experiment: &Experiment, folder: &Path) -> Member {
    Member { experiment: experiment.clone(), folder: folder.to_owned() }
}

pub fn train(members: &[Member], stop: &Stop) -> Vec<MemberOutcome> {
    training::run(members, &TrainingOptions { device: Device::Cpu, force: false, stop, progress: &Silent }).unwrap()
}

/// Runs one experiment to its end and returns its rows.
pub fn run(experiment: &Experiment, folder: &Path) -> Vec<Row> {
    assert_eq!(train(&[member(experiment, folder)], &Stop::new()), [MemberOutcome::Done]);
    rows(folder)
}

pub fn rows(folder: &Path) -> Vec<Row> {
    metrics::read_lines(&folder.join(folder::METRICS)).unwrap()
}

pub fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Files that must be the same however often a run was interrupted.
pub const SAME: [&str; 6] =
    [folder::METRICS, folder::METRICS_TABLE, folder::SAMPLES, folder::CONTRASTS, folder::WORDS, "tokenizer.json"];

/// The training's steps, without what differs from time to time.
pub fn steps(folder: &Path) -> Vec<Step> {
    let mut steps: Vec<Step> = folder::read_json_lines(&folder.join(folder::TRAINING)).unwrap();
    assert!(steps.iter().all(|step| step.tokens_per_second > 0));
    steps.iter_mut().for_each(|step| step.tokens_per_second = 0);
    steps
}

/// The row of a quantity, by its name on disk: `T1.A.validity`.
pub fn find<'a>(rows: &'a [Row], step: u64, quantity: &str) -> &'a Row {
    let wanted: Quantity = quantity.parse().unwrap();
    rows.iter()
        .find(|row| row.step == step && row.quantity == wanted)
        .unwrap_or_else(|| panic!("no row {step} {quantity}"))
}
