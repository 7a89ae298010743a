//! The settings of an experiment: one table per section, one row per setting.
//!
//! A row gives key, type, default, range, source and meaning. The struct of the section, its `Default`, its TOML, the check
//! of its ranges, `invitro config --reference`, overrides, the identity of a run and the keys of caches follow from it. To
//! add a setting, write its row and use it:
//!
//! ```text
//! temperature: f64 = 1.0, Range::above(0.0), Ours + neutral, "sampling temperature of T0 and T2";
//! ```
//!
//! [`SettingMark`]s say more: `neutral` keeps the identity of runs that were made before the setting was there; `languages`,
//! `tokenizer` and `probes` say what is made anew when it changes (by default what its section says, [`stage`]).

mod checkpoint;
mod eval;
mod language;
mod languages;
mod mixture;
mod model;
mod reference;
mod seeds;
pub mod table;
mod tokenizer;
mod train;

pub use checkpoint::{CheckpointConfig, Keep};
pub use eval::EvalConfig;
pub use language::{LanguageConfig, MaskUnit, Morphology};
pub use languages::{LanguageEntry, SCRIPTS};
pub use mixture::{Corpus, Exposure, Given, MixtureConfig, Parallel, Tags, Withhold};
pub use model::{ModelConfig, ModelKind};
pub use reference::{commented, reference};
pub use seeds::{Seeds, SeedsConfig};
pub use table::{DefaultSource, Range, Section, Setting, SettingError, SettingMark, SettingValue, ValueKind, require};
pub use tokenizer::{Boundary, Cut, Kind, Regime, Share, TokenizerConfig, no_boundary_token};
pub use train::{Decay, TrainConfig};

use crate::dotted::{LIST, leaves};
use std::collections::HashMap;
use std::sync::LazyLock;
use toml::{Table, Value};

/// A section with its rows.
pub struct SectionTable {
    /// Its name in brackets.
    pub name: &'static str,
    /// What it is for.
    pub meaning: &'static str,
    /// Its settings, in the order of the file.
    pub settings: Vec<Setting>,
}

fn section<S: Section>() -> SectionTable {
    SectionTable { name: S::NAME, meaning: S::MEANING, settings: S::settings() }
}

/// Every section, in the order of the file; that of single languages among them.
pub static SECTIONS: LazyLock<Vec<SectionTable>> = LazyLock::new(|| {
    vec![
        section::<LanguageConfig>(),
        section::<LanguageEntry>(),
        section::<MixtureConfig>(),
        section::<TokenizerConfig>(),
        section::<ModelConfig>(),
        section::<TrainConfig>(),
        section::<EvalConfig>(),
        section::<CheckpointConfig>(),
        section::<SeedsConfig>(),
    ]
});

static BY_KEY: LazyLock<HashMap<&'static str, &'static Setting>> =
    LazyLock::new(|| all().map(|setting| (setting.key.as_str(), setting)).collect());

/// The one setting outside all sections.
static NAME: LazyLock<Setting> = LazyLock::new(|| Setting {
    key: "name".into(),
    default: "\"paper\"".into(),
    source: DefaultSource::Ours,
    allowed: "any text".into(),
    meaning: "the run folder's name begins with it",
    kind: ValueKind::Text,
    choices: None,
    file_unless: None,
    marks: &[],
});

/// Every setting there is, in the order of the file.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    std::iter::once(&*NAME).chain(SECTIONS.iter().flat_map(|section| &section.settings))
}

/// The setting of a dotted key; `languages.C.distance` is that of any language.
pub fn find(key: &str) -> Option<&'static Setting> {
    let of_language = || {
        let (name, _) = key.strip_prefix(LIST)?.strip_prefix('.')?.split_once('.')?;
        BY_KEY.get(key.replacen(name, "NAME", 1).as_str())
    };
    BY_KEY.get(key).or_else(of_language).copied()
}

/// Whether a setting does not count at this value: it has its default, which is as if there were no such setting.
pub fn is_neutral(key: &str, value: &Value) -> bool {
    neutral_value(key).is_some_and(|neutral| neutral == *value)
}

/// The value at which a setting does not count, where it has one.
pub fn neutral_value(key: &str) -> Option<Value> {
    find(key).filter(|setting| setting.marks.contains(&SettingMark::neutral))?.default_value()
}

/// Whether a value names a file, whose content is then part of the experiment.
pub fn names_file(key: &str, value: &Value) -> bool {
    find(key).is_some_and(|setting| setting.names_file(value))
}

/// The first setting of a table whose value is not one of its choices.
pub fn wrong_choice(experiment: &Table) -> Option<SettingError> {
    leaves(experiment).into_iter().find_map(|(key, value)| {
        let choices = find(&key)?.choices.as_ref()?;
        let given = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let allowed = match &choices[..] {
            [one, other] => format!("{one} or {other}"),
            all => format!("one of {}", all.join(", ")),
        };
        require(choices.contains(&&*given), key, value, allowed).err()
    })
}

/// What is made anew when a setting changes: languages, the tokenizer, what is asked at evaluations, or only the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Languages,
    Tokenizer,
    Probes,
    Run,
}

/// The first thing that depends on a setting. Its row may say otherwise than its section.
pub fn stage(key: &str) -> Stage {
    let marks = find(key).map_or(&[][..], |setting| setting.marks);
    let marked = marks.iter().find_map(|mark| match mark {
        SettingMark::languages => Some(Stage::Languages),
        SettingMark::tokenizer => Some(Stage::Tokenizer),
        SettingMark::probes => Some(Stage::Probes),
        SettingMark::neutral => None,
    });
    marked.unwrap_or_else(|| match key.split('.').next() {
        Some("language" | LIST) => Stage::Languages,
        Some("tokenizer") => Stage::Tokenizer,
        Some("mixture" | "eval") => Stage::Probes,
        _ => Stage::Run,
    })
}

/// The settings that something depends on, as text: equal for experiments that can share it.
pub fn stage_key(experiment: &Table, up_to: Stage) -> String {
    let settings = leaves(experiment).into_iter().filter(|(key, _)| stage(key) <= up_to);
    settings.map(|(key, value)| format!("{key}={value}\n")).collect()
}
