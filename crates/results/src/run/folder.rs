//! The files of a run's folder and of a study's, and a run's status.
//!
//! ```text
//! config.toml       the complete experiment        tokenizer.json    and what transformers wants beside it
//! language/         lexicon, grammar               checkpoints/      step-00001000.safetensors, …
//! metrics.jsonl     while running, then also       metrics.parquet   one row per step, condition and measure
//! training.jsonl    while running, then also       training.parquet  one row per training step
//! samples.jsonl     decoded sentences              contrasts.jsonl   what is known of masked words, and which are reachable
//! words.parquet     the masked words               pairs.jsonl       sentences in all languages, in pieces
//! summary.json      the run as one row             status.json       state, step, device, versions, seconds
//! ```
//!
//! A study has `study.toml`, `runs/` with a folder per run, `known/` with tables of runs made elsewhere, and, once
//! collected, `runs.parquet`, `metrics.parquet` and `words.parquet`.

#![allow(missing_docs, reason = "the names say it")]

use crate::error::{At, Error, Result};
use crate::{SCHEMA, Seal, State};
use invitro_base::sealed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

pub const CONFIG: &str = "config.toml";
pub const STATUS: &str = "status.json";
pub const SUMMARY: &str = "summary.json";
pub const METRICS: &str = "metrics.jsonl";
pub const METRICS_TABLE: &str = "metrics.parquet";
pub const TRAINING: &str = "training.jsonl";
pub const TRAINING_TABLE: &str = "training.parquet";
pub const SAMPLES: &str = "samples.jsonl";
/// The contrasts of masked words, and which are reachable, evaluation by evaluation.
pub const CONTRASTS: &str = "contrasts.jsonl";
pub const WORDS: &str = "words.parquet";
pub const PAIRS: &str = "pairs.jsonl";
pub const REPORT: &str = "report.html";
/// What a tokenizer is saved as.
pub const TOKENIZER: [&str; 3] = ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"];
/// The pieces of every word, where they are not those that the tokenizer gives.
pub const SEGMENTATION: &str = "segmentation.tsv";
pub const CHECKPOINTS: &str = "checkpoints";
/// Event files of TensorBoard, which versions up to 0.2 could write.
pub const TENSORBOARD: &str = "tensorboard";
pub const LANGUAGE: &str = "language";
/// The tree of the languages, where they are not the pair A and B.
pub const FAMILY: &str = "language/family.json";
pub const STUDY: &str = "study.toml";
/// Logs that grow while a run trains.
pub const LOGS: [&str; 4] = [METRICS, TRAINING, SAMPLES, CONTRASTS];
/// What is written once a run is done.
pub const TABLES: [&str; 4] = [METRICS_TABLE, TRAINING_TABLE, WORDS, SUMMARY];
pub const RUNS: &str = "runs";
pub const RUNS_TABLE: &str = "runs.parquet";
pub const KNOWN: &str = "known";

/// `status.json`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub run: String,
    pub state: State,
    pub step: u64,
    pub steps: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was asked for and could not be had, or was hardly meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub device: String,
    pub version: String,
    /// Of the program that began the run; empty in what older versions wrote.
    #[serde(default)]
    pub commit: String,
    pub schema: u32,
    pub seconds: Seconds,
    /// When this was written, in seconds since 1970.
    pub updated: u64,
    /// What the run's files were when this was written; of logs, how they began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Seal>,
}

fn is_checkpoint(name: &str) -> bool {
    name.starts_with(CHECKPOINTS)
}

/// The status with the seal of its own file.
#[derive(Serialize)]
struct Sealed<'a> {
    #[serde(flatten)]
    status: &'a Status,
    seal: String,
}

/// Where a run's time went, over all its sittings: its share, where others trained beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    pub prepare: f64,
    pub train: f64,
    pub eval: f64,
    #[serde(default)]
    pub save: f64,
}

impl Status {
    /// Of a run that has not begun.
    pub fn new(run: String, steps: u64) -> Status {
        Status {
            run,
            state: State::Running,
            step: 0,
            steps,
            error: None,
            notes: Vec::new(),
            device: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: crate::commit().to_owned(),
            schema: SCHEMA,
            seconds: Seconds::default(),
            updated: 0,
            files: BTreeMap::new(),
        }
    }

    /// The status of a folder, `None` where it has none. Only older versions wrote it without seals.
    pub fn read(folder: &Path) -> Result<Option<Status>> {
        let path = folder.join(STATUS);
        let Some(text) = read_text(&path)? else { return Ok(None) };
        let whole = sealed::is_whole(text.as_bytes(), 0..text.len());
        let status: Status = serde_json::from_str(&text).reading(&path)?;
        if whole == Some(false) || (whole.is_none() && !status.files.is_empty()) {
            return Err(Error::Damaged { path, why: "its checksum is another".into() });
        }
        Ok(Some(status))
    }

    /// Writes it into a folder, with the time.
    pub fn write(&mut self, folder: &Path) -> Result<()> {
        self.updated = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let path = folder.join(STATUS);
        let status = Sealed { status: self, seal: sealed::blank() };
        let mut text = (serde_json::to_string_pretty(&status).writing(&path)? + "\n").into_bytes();
        let all = 0..text.len();
        sealed::seal(&mut text, all);
        write_file(&path, &text)
    }

    /// Whether a file of the run's folder is as it was written, as far as this status speaks of it.
    pub fn check(&self, folder: &Path, name: &str) -> Result<()> {
        let Some(seal) = self.files.get(name) else { return Ok(()) };
        let path = folder.join(name);
        let grows = self.state != State::Done && LOGS.contains(&name);
        if grows { seal.read_start(&path) } else { seal.read(&path) }.map(|_| ())
    }

    /// Files that this status lists, but for checkpoints, which are not results.
    pub fn result_files(&self) -> impl Iterator<Item = (&String, &Seal)> {
        self.files.iter().filter(|(name, _)| !is_checkpoint(name))
    }

    /// Checkpoints that a finished run kept and that are missing or were changed; `whole` reads them.
    pub fn checkpoint_faults(&self, folder: &Path, whole: bool) -> Vec<Error> {
        let listed = self.files.iter().filter(|(name, _)| is_checkpoint(name));
        listed.filter_map(|(name, seal)| self.check_quickly(folder, name, seal, whole).err()).collect()
    }

    /// Whether a file of a finished run has its length. Read in full where `whole` asks for it, or where the file is newer
    /// than this status, which was written last.
    pub fn check_quickly(&self, folder: &Path, name: &str, seal: &Seal, whole: bool) -> Result<()> {
        let path = folder.join(name);
        let found = match std::fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(Error::Missing { path }),
            found => found.reading(&path)?,
        };
        let written = std::fs::metadata(folder.join(STATUS)).and_then(|status| status.modified());
        let is_newer = found.modified().is_ok_and(|time| written.is_ok_and(|written| time > written));
        if whole || is_newer {
            return seal.read(&path).map(drop);
        }
        seal.check_length(&path, found.len())
    }

    /// The damage to the run's files that this status lists; a finished run's lists all of them.
    pub fn faults(&self, folder: &Path) -> Vec<Error> {
        let unsealed = || Error::Damaged { path: folder.join(STATUS), why: "it has no checksums of the files".into() };
        let is_unsealed = self.state == State::Done && self.files.is_empty();
        let mut faults: Vec<Error> = is_unsealed.then(unsealed).into_iter().collect();
        faults.extend(self.result_files().filter_map(|(name, _)| self.check(folder, name).err()));
        faults
    }

    /// Whether results of this status can stand beside those of this version.
    pub fn is_current(&self) -> bool {
        self.schema == SCHEMA && crate::compatible(&self.version)
    }
}

/// The text of a study's `study.toml`, `None` where there is none. One that was changed since it was written is an error;
/// only older versions wrote it without a seal.
pub fn read_study(folder: &Path) -> Result<Option<String>> {
    let path = folder.join(STUDY);
    let Some(text) = read_text(&path)? else { return Ok(None) };
    match sealed::is_whole(text.as_bytes(), first_line(&text)) {
        Some(false) => Err(Error::Damaged {
            path,
            why: "it was changed after invitro wrote it (its checksum differs); `invitro study run FILE --out DIR --update` \
                  writes the study of FILE there"
                .into(),
        }),
        _ => Ok(Some(text)),
    }
}

/// A study's text with its seal, in a comment at the top.
pub fn seal_study(text: &str) -> String {
    let head = format!("# invitro wrote this file and refuses an edited one; its checksum: {}\n", sealed::blank());
    let mut bytes = (head.clone() + text).into_bytes();
    sealed::seal(&mut bytes, 0..head.len());
    String::from_utf8(bytes).expect("a seal is hexadecimal digits")
}

/// Whether a study's text carries its seal.
pub fn is_sealed_study(text: &str) -> bool {
    sealed::is_whole(text.as_bytes(), first_line(text)) == Some(true)
}

fn first_line(text: &str) -> std::ops::Range<usize> {
    0..text.find('\n').unwrap_or(text.len())
}

/// The text of a file, `None` where there is none.
pub fn read_text(path: &Path) -> Result<Option<String>> {
    match invitro_base::files::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        text => text.reading(path).map(Some),
    }
}

/// The value of a JSON file, `None` where there is none.
pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    read_text(path)?.map(|text| serde_json::from_str(&text).reading(path)).transpose()
}

/// The values of a file of JSON lines; none where there is no file. A last line that is being written is left out.
pub fn read_json_lines<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = read_text(path)?.unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    Ok(whole.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Writes bytes whole or not at all.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    invitro_base::files::write(path, bytes).writing(path)
}

/// Writes a value as indented JSON.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).writing(path)? + "\n";
    write_file(path, text.as_bytes())
}
