//! Factors of a study: the four of the paper by their names, any other setting that is varied by its key.

use invitro_results::{Plan, Run, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// A setting with levels to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    Vocab,
    Regime,
    Lambda,
    Distance,
    /// Any other setting, by its key.
    Other(&'static str),
}

/// Levels, each of another factor: the runs of a study that have them all.
pub type Cell = Vec<(Factor, usize)>;

/// The regimes of the paper, in its order.
pub const VANILLA: &str = "vanilla";
pub const BALANCED: &str = "balanced";

/// The setting of how long a run trains.
pub const TRAIN_STEPS: &str = "train.steps";

impl Factor {
    /// Those of the paper.
    pub const ALL: [Factor; 4] = [Factor::Vocab, Factor::Regime, Factor::Lambda, Factor::Distance];

    /// The factor of a setting.
    pub fn of(key: &str) -> Factor {
        // A factor is copied everywhere, so its key lives on; there are no more than a config has settings.
        static KEYS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        if let Some(known) = Factor::ALL.into_iter().find(|factor| factor.key() == key) {
            return known;
        }
        let mut keys = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = keys.get(key).copied().unwrap_or_else(|| Box::leak(key.into()));
        keys.insert(kept);
        Factor::Other(kept)
    }

    /// The setting.
    pub fn key(self) -> &'static str {
        match self {
            Factor::Vocab => "tokenizer.vocab",
            Factor::Regime => "tokenizer.regime",
            Factor::Lambda => "mixture.lambda",
            Factor::Distance => "language.distance",
            Factor::Other(key) => key,
        }
    }

    /// The paper's notation, `*` around what is italic; the last part of another setting's key, or what it says of a
    /// language.
    pub fn symbol(self) -> &'static str {
        match self {
            Factor::Vocab => "|*V*|",
            Factor::Regime => "regime",
            Factor::Lambda => "*λ*",
            Factor::Distance => "*d*",
            Factor::Other(ARM) => "also spoken",
            Factor::Other(key) => of_language(key).unwrap_or_else(|| key.rsplit('.').next().unwrap_or(key)),
        }
    }

    /// What its levels are levels of, inside a sentence.
    pub fn noun(self) -> String {
        match self {
            Factor::Other(ARM) => "further languages".into(),
            Factor::Other(key) if key.ends_with(SPOKEN) => {
                format!("use of {}", self.symbol().trim_end_matches(" spoken"))
            }
            other => other.symbol().to_owned(),
        }
    }

    /// A level as it is said: `|V| = 2048`; a regime is its own name, and a language is spoken or not.
    pub fn said(self, level: &str) -> String {
        match (self, level) {
            (Factor::Regime, level) => level.to_owned(),
            (Factor::Other(ARM), level) => format!("{}: {level}", self.symbol()),
            (Factor::Other(key), "true") if key.ends_with(SPOKEN) => self.symbol().to_owned(),
            (Factor::Other(key), "false") if key.ends_with(SPOKEN) => self.symbol().replace(" spoken", " not spoken"),
            (_, level) => format!("{} = {level}", self.symbol()),
        }
    }

    /// Whether its levels are different languages, or languages written differently, rather than the same ones more or
    /// less far apart.
    pub fn is_kind_of_languages(self) -> bool {
        let setting = |key: &str| Some(key.strip_prefix(LANGUAGES)?.rsplit_once('.')?.1.to_owned());
        match self {
            Factor::Other(ARM) => true,
            Factor::Other(key) => {
                setting(key).is_some_and(|it| ["spoken", "script", "grammar", "copies"].contains(&it.as_str()))
            }
            _ => false,
        }
    }

    /// A name for file names, tables and controls.
    pub fn name(self) -> &'static str {
        match self {
            Factor::Vocab => "vocab",
            Factor::Regime => "regime",
            Factor::Lambda => "lambda",
            Factor::Distance => "d",
            Factor::Other(key) => key,
        }
    }
}

/// The setting of whether a language has text.
const SPOKEN: &str = ".spoken";

/// What a setting says of one of the languages: `languages.B.distance` is the distance of B.
fn of_language(key: &'static str) -> Option<&'static str> {
    static SAID: Mutex<BTreeMap<&'static str, &'static str>> = Mutex::new(BTreeMap::new());
    let (name, setting) = key.strip_prefix(LANGUAGES)?.rsplit_once('.')?;
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let new = || match setting {
        "spoken" => format!("{name} spoken"),
        "mask_share" => format!("share masked in {name}"),
        "grammar" => format!("word order of {name}"),
        setting => format!("{setting} of {name}"),
    };
    Some(said.entry(key).or_insert_with(|| Box::leak(new().into())))
}

/// A setting as it stands in tables: its key, or what it says of a language.
pub fn said(key: &str) -> &str {
    match Factor::of(key) {
        Factor::Other(key) => of_language(key).unwrap_or(key),
        _ => key,
    }
}

/// The paper's factors, then the other settings that were varied, seeds aside. Where several languages are spoken in some
/// runs only, which ones are is one factor.
pub(super) fn factors(varied: &[(String, Vec<String>)], runs: &[Run]) -> Vec<Factor> {
    let has_arms = runs.iter().any(|run| run.columns.contains_key(ARM));
    let arm = has_arms.then(|| Factor::of(ARM));
    let others = varied.iter().map(|(key, _)| key.as_str()).filter(|key| is_other(key));
    let others = others.filter(|key| !has_arms || !key.ends_with(SPOKEN)).map(Factor::of);
    Factor::ALL.into_iter().chain(arm).chain(others).collect()
}

/// The column of which languages are spoken, of those that are in some runs only.
const ARM: &str = "spoken";

/// Runs with the column, where at least two languages are spoken in some runs only.
pub(super) fn with_arms(mut runs: Vec<Run>) -> Vec<Run> {
    let spoken: Vec<String> =
        varied(&runs).into_iter().map(|(key, _)| key).filter(|key| key.ends_with(SPOKEN)).collect();
    if spoken.len() < 2 {
        return runs;
    }
    for run in runs.iter_mut() {
        let is_spoken = |key: &&String| run.columns.get(*key).is_some_and(|value| value.to_string() == "true");
        let name = |key: &String| key[LANGUAGES.len()..key.len() - SPOKEN.len()].to_owned();
        let names: Vec<String> = spoken.iter().filter(is_spoken).map(name).collect();
        let arm = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        run.columns.insert(ARM.to_owned(), Value::Text(arm));
    }
    runs
}

/// The settings whose levels are arms of an experiment: the same text and the same words, treated otherwise.
pub const ARMS: [&str; 4] = [SHARE, "tokenizer.cut", "mixture.withhold", "mixture.schedule"];

/// The setting of which pieces languages share, and of how many where they are drawn at random.
const SHARE: &str = "tokenizer.share";
const SHARE_P: &str = "tokenizer.share_p";
const RANDOM: &str = "random";

/// Levels of arms in their order, what is compared with first. Others come after them, by name.
const ARM_LEVELS: [&str; 11] =
    ["all", "cognate", "other", RANDOM, "none", "learned", "alike", "apart", "morpheme", "words", "[]"];

/// Runs whose share of pieces drawn at random is part of the arm's name, `random 0.5`: in other arms it says nothing.
pub(super) fn with_shares(mut runs: Vec<Run>) -> Vec<Run> {
    if !runs.iter().any(|run| run.text(SHARE) == Some(RANDOM)) {
        return runs;
    }
    for run in &mut runs {
        let p = run.columns.remove(SHARE_P);
        if let (Some(RANDOM), Some(p)) = (run.text(SHARE), p) {
            run.columns.insert(SHARE.to_owned(), Value::Text(format!("{RANDOM} {p}")));
        }
    }
    runs
}

/// The levels that runs take or the plan names, in order: numbers by size; regimes as the paper has them, then by name;
/// arms as they are compared. A plan's random arm is in the runs under its share.
pub(super) fn levels(factor: Factor, runs: &[Run], plan: Option<&Plan>) -> Vec<Value> {
    let planned = plan.iter().flat_map(|plan| plan.grids.iter().flatten()).filter(|it| it.key == factor.key());
    let planned = planned.flat_map(|it| it.levels.iter().map(Value::from));
    let taken = runs.iter().filter_map(|run| run.columns.get(factor.key()).cloned());
    let planned = planned.filter(|level| factor.key() != SHARE || level.to_string() != RANDOM);
    let mut levels: Vec<Value> = taken.chain(planned).collect();
    let order: &[&str] = if ARMS.contains(&factor.key()) { &ARM_LEVELS } else { &[VANILLA, BALANCED] };
    let rank = |value: &Value| {
        let value = value.to_string();
        order.iter().position(|name| value.split(' ').next() == Some(name)).unwrap_or(order.len())
    };
    levels.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.order(b)));
    levels.dedup();
    levels
}

/// Sections of the config; other columns are measured, not chosen.
const SECTIONS: [&str; 8] = ["language.", LANGUAGES, "mixture.", "tokenizer.", "model.", "train.", "eval.", "seeds."];

/// The section of single languages, by their names.
const LANGUAGES: &str = "languages.";

/// The settings that take more than one value in the runs that have begun, with their values in order.
pub(super) fn varied(runs: &[Run]) -> Vec<(String, Vec<String>)> {
    let mut values: BTreeMap<&String, Vec<&Value>> = BTreeMap::new();
    for (key, value) in runs.iter().filter(|run| run.begun()).flat_map(|run| &run.columns) {
        if SECTIONS.iter().any(|section| key.starts_with(section)) {
            let seen = values.entry(key).or_default();
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
    }
    values.retain(|_, values| values.len() > 1);
    let in_order = |(key, mut values): (&String, Vec<&Value>)| {
        values.sort_by(|a, b| a.order(b));
        (key.clone(), values.iter().map(ToString::to_string).collect())
    };
    values.into_iter().map(in_order).collect()
}

/// Whether a setting is neither a factor nor a seed.
pub(super) fn is_other(key: &str) -> bool {
    !key.starts_with("seeds.") && Factor::ALL.iter().all(|factor| factor.key() != key)
}

/// Whether a tokenizer depends on the setting; λ, which does not matter to a balanced one, aside.
pub fn shapes_tokenizer(key: &str) -> bool {
    key.starts_with("tokenizer.") || key == "mixture.sampling" || is_of_languages(key)
}

/// Whether the tree of the languages, or how much text each has, depends on the setting.
pub fn shapes_family(key: &str) -> bool {
    key.starts_with("mixture.") || is_of_languages(key)
}

fn is_of_languages(key: &str) -> bool {
    key.starts_with("language.") || key.starts_with(LANGUAGES) || key == ARM
}

/// The distinct numbers of a column, in order.
pub(super) fn distinct(runs: &[Run], column: &str) -> Vec<f64> {
    let mut values: Vec<f64> = runs.iter().filter_map(|run| run.number(column)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}
