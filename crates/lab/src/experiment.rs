//! An experiment is one TOML file: a preset, a file laid over it, overrides over that.
//!
//! The struct is the file on disk is the record in the run folder. Every section is a field here and a struct in the
//! crate it configures; adding one is a field, a line in [`Experiment::validate`], and its keys in the preset `paper`,
//! as [`crate::keys`] describes. A section's `Default` is what that preset says, and the other presets say only where
//! they differ.
//!
//! ```
//! use invitro_lab::Experiment;
//! let overrides = ["language.distance=0.5".to_owned(), "seeds.data=3".to_owned()];
//! let experiment = Experiment::load(Some("paper"), None, &overrides).unwrap();
//! assert_eq!(experiment.language.distance, 0.5);
//! assert_eq!(experiment.seeds.data.first(), 3);
//! ```

use crate::error::{Error, Result};
use crate::settings::{CheckpointConfig, EvalConfig, ModelConfig};
use invitro_language::{Corpus, LanguageConfig, MixtureConfig};
use invitro_model::TrainConfig;
use invitro_results::Seeds;
use invitro_results::identity::{leaves, set};
use invitro_tokenizer::TokenizerConfig;
use serde::{Deserialize, Serialize};
use std::path::Path;
use toml::{Table, Value};

/// The paper's experiment: every key, with comments.
pub(crate) const PAPER: &str = include_str!("../../../experiments/paper.toml");

/// The built-in experiments, each laid over the defaults; the first is the one that is taken if none is named.
pub const PRESETS: [(&str, &str); 2] = [("quick", include_str!("../../../experiments/quick.toml")), ("paper", PAPER)];

/// Everything a run is a function of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experiment {
    pub name: String,
    pub language: LanguageConfig,
    pub mixture: MixtureConfig,
    pub tokenizer: TokenizerConfig,
    pub model: ModelConfig,
    pub train: TrainConfig,
    pub eval: EvalConfig,
    pub checkpoint: CheckpointConfig,
    pub seeds: SeedsConfig,
}

impl Default for Experiment {
    fn default() -> Self {
        Experiment {
            name: "experiment".into(),
            language: LanguageConfig::default(),
            mixture: MixtureConfig::default(),
            tokenizer: TokenizerConfig::default(),
            model: ModelConfig::default(),
            train: TrainConfig::default(),
            eval: EvalConfig::default(),
            checkpoint: CheckpointConfig::default(),
            seeds: SeedsConfig::default(),
        }
    }
}

/// `[seeds]`: `data` decides world, lexicons, mask, corpora and evaluation sets; `model` the initial weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeedsConfig {
    pub data: Seeds,
    pub model: Seeds,
}

impl Experiment {
    /// A preset, `quick` unless named, with a file laid over it, and `key=value` overrides over both.
    pub fn load(preset: Option<&str>, file: Option<&Path>, overrides: &[String]) -> Result<Experiment> {
        let mut table = preset_table(preset.unwrap_or(PRESETS[0].0))?;
        if let Some(path) = file {
            let text = std::fs::read_to_string(path)
                .map_err(|e| Error::NoExperiment { path: path.to_owned(), why: e.to_string() })?;
            let origin = format!("the experiment file `{}`", path.display());
            lay_over(&mut table, parse(&text, &origin)?);
            // Judged before the overrides, so that a fault is blamed on where it stands.
            read(&table, &origin)?;
        }
        for given in overrides {
            let (key, value) = parse_override(given)?;
            set(&mut table, &key, value);
            read(&table, &format!("the override `{given}`"))?;
        }
        let experiment = read(&table, "the preset")?;
        experiment.validate()?;
        Ok(experiment)
    }

    /// A built-in experiment as it is.
    pub fn preset(name: &str) -> Result<Experiment> {
        Experiment::load(Some(name), None, &[])
    }

    /// Every section's settings in their ranges.
    pub fn validate(&self) -> Result<()> {
        self.language.validate()?;
        self.mixture.validate()?;
        self.tokenizer.validate()?;
        self.model.shape(self.tokenizer.vocab).validate()?;
        self.train.validate()?;
        self.check_epochs()?;
        self.eval.validate()?;
        self.checkpoint.validate()?;
        for (key, seeds) in [("seeds.data", &self.seeds.data), ("seeds.model", &self.seeds.model)] {
            if !seeds.are_distinct() {
                let allowed = "one or more different seeds".into();
                return Err(Error::Range { key, given: format!("{:?}", seeds.0), allowed });
            }
        }
        Ok(())
    }

    /// A finite corpus is read no more often than it may be.
    fn check_epochs(&self) -> Result<()> {
        let MixtureConfig { corpus, sentences, epochs, .. } = self.mixture;
        let rows = self.train.steps.saturating_mul(self.train.batch as u64);
        let needed = rows.div_ceil(sentences);
        if corpus == Corpus::Fresh || needed <= epochs {
            return Ok(());
        }
        let (steps, batch) = (self.train.steps, self.train.batch);
        let allowed = format!("at least {needed}: {steps} steps of {batch} rows read {sentences} sentences that often");
        Err(Error::Range { key: "mixture.epochs", given: epochs.to_string(), allowed })
    }

    /// A whole experiment, as [`Experiment::to_toml`] wrote it; `origin` is for messages.
    pub fn from_toml(text: &str, origin: &str) -> Result<Experiment> {
        Experiment::from_table(&parse(text, origin)?, origin)
    }

    /// The experiment of a table; `origin` is for messages.
    pub(crate) fn from_table(table: &Table, origin: &str) -> Result<Experiment> {
        let experiment = read(table, origin)?;
        experiment.validate()?;
        Ok(experiment)
    }

    /// The whole experiment as a file, every default written out.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("an experiment is plain data")
    }

    /// Every setting under its dotted key, in alphabetical order: columns for tables of runs.
    pub fn flatten(&self) -> Vec<(String, Value)> {
        leaves(&table_of(self))
    }
}

fn preset_table(name: &str) -> Result<Table> {
    let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) else {
        let known = PRESETS.map(|(known, _)| known).join(" and ");
        return Err(Error::Preset { given: name.into(), known });
    };
    let mut table = table_of(&Experiment::default());
    lay_over(&mut table, parse(text, &format!("the preset `{name}`"))?);
    Ok(table)
}

fn parse(text: &str, origin: &str) -> Result<Table> {
    text.parse::<Table>().map_err(|e| Error::Parse { origin: origin.into(), why: one_line(&e.to_string()) })
}

pub(crate) fn table_of(experiment: &Experiment) -> Table {
    Table::try_from(experiment).expect("an experiment is plain data")
}

/// The experiment of a table. A key it does not know is answered with the nearest one it does.
fn read(table: &Table, origin: &str) -> Result<Experiment> {
    table.clone().try_into().map_err(|error: toml::de::Error| {
        let known: Vec<String> = leaves(&table_of(&Experiment::default())).into_iter().map(|(key, _)| key).collect();
        let sections: Vec<&str> = known.iter().filter_map(|key| key.split_once('.')).map(|(s, _)| s).collect();
        let unknown = leaves(table).into_iter().map(|(key, _)| key).find(|key| {
            // A section's own name is known, even if what it holds is of the wrong kind.
            !known.contains(key) && !sections.contains(&key.as_str())
        });
        match unknown {
            Some(key) => Error::UnknownKey { origin: origin.into(), nearest: nearest(&key, &known), key },
            None => Error::Parse { origin: origin.into(), why: one_line(&error.to_string()) },
        }
    })
}

/// The known key with the fewest edits; a key without its section is compared with the keys' last parts too.
fn nearest(key: &str, known: &[String]) -> Option<String> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let distance = |other: &String| {
        let whole = strsim::damerau_levenshtein(key, other);
        let ends = strsim::damerau_levenshtein(&last(key), &last(other));
        (whole.min(ends + 1), ends)
    };
    known.iter().min_by_key(|other| distance(other)).filter(|other| distance(other).0 <= key.len().max(6)).cloned()
}

/// Values of `top` replace those of `table`, section by section.
pub(crate) fn lay_over(table: &mut Table, top: Table) {
    for (key, value) in top {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => lay_over(inner, over),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// `key=value`, the value in TOML's notation; a bare word is a string, and `0,1,2` a list.
pub(crate) fn parse_override(given: &str) -> Result<(String, Value)> {
    let fault = || Error::Override { given: given.into() };
    let (key, value) = given.split_once('=').ok_or_else(fault)?;
    let key = key.trim().to_owned();
    if key.split('.').any(str::is_empty) {
        return Err(fault());
    }
    let value = value.trim();
    let as_toml = |text: &str| format!("v = {text}").parse::<Table>().ok().and_then(|mut t| t.remove("v"));
    let value = as_toml(value)
        .or_else(|| value.contains(',').then(|| as_toml(&format!("[{value}]"))).flatten())
        .unwrap_or_else(|| Value::String(value.into()));
    Ok((key, value))
}

/// A message of several lines as one sentence.
fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ")
}
