//! Factors of a study: settings with levels to compare, and the levels that runs take.

use crate::{Plan, Run, Value, column};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// A setting with levels to compare, by its dotted key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor(&'static str);

/// Levels of factors, each by its place: the runs of a study that have them all.
pub type Levels = Vec<(Factor, usize)>;

/// The paper's second regime; its first is `vanilla`.
pub const BALANCED: &str = "balanced";

impl Factor {
    /// The size of the vocabulary.
    pub const VOCAB: Factor = Factor("tokenizer.vocab");
    /// What the tokenizer is trained on.
    pub const REGIME: Factor = Factor("tokenizer.regime");
    /// The amount of text of B over that of A.
    pub const LAMBDA: Factor = Factor("mixture.lambda");
    /// The lexical distance.
    pub const DISTANCE: Factor = Factor("language.distance");
    /// Which of the languages that only some runs have are in a run's text.
    pub const SPOKEN: Factor = Factor("spoken");

    /// In claims: all that varies of which languages there are and how they are written.
    pub const LANGUAGES: Factor = Factor("languages");

    /// Those of the paper, in its order.
    pub const PAPER: [Factor; 4] = [Factor::VOCAB, Factor::REGIME, Factor::LAMBDA, Factor::DISTANCE];

    /// The settings whose levels are arms of an experiment: the same text and the same words, treated otherwise.
    pub const ARMS: [Factor; 4] =
        [SHARE, Factor("tokenizer.cut"), Factor("mixture.withhold"), Factor("mixture.schedule")];

    /// The factor of a setting.
    pub fn new(key: &str) -> Factor {
        // A factor is copied everywhere, so its key lives on; there are no more than a config has settings.
        static KEYS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let mut keys = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
        let known = keys.get(key).copied().unwrap_or_else(|| Box::leak(key.into()));
        keys.insert(known);
        Factor(known)
    }

    /// The setting's key.
    pub fn key(self) -> &'static str {
        self.0
    }

    /// Whether its levels are different languages, or languages written differently, rather than the same ones more or
    /// less far apart.
    pub fn is_kind_of_languages(self) -> bool {
        let setting = self.0.strip_prefix(LANGUAGES).and_then(|rest| rest.rsplit_once('.'));
        self == Factor::SPOKEN
            || setting.is_some_and(|(_, setting)| ["spoken", "script", "grammar", "copies"].contains(&setting))
    }

    /// Whether a tokenizer depends on the setting; λ, which does not matter to a balanced one, aside.
    pub fn shapes_tokenizer(self) -> bool {
        self.0.starts_with("tokenizer.") || self.0 == "mixture.sampling" || self.is_of_languages()
    }

    /// Whether the tree of the languages, or how much text each has, depends on the setting.
    pub fn shapes_family(self) -> bool {
        self.0.starts_with("mixture.") || self.is_of_languages()
    }

    fn is_of_languages(self) -> bool {
        self.0.starts_with("language.") || self.0.starts_with(LANGUAGES) || self == Factor::SPOKEN
    }

    /// Whether it is a seed, which makes runs replicates of each other.
    pub fn is_seed(self) -> bool {
        self.0.starts_with("seeds.")
    }

    /// Whether a setting is part of what this factor varies.
    pub fn covers(self, key: &str) -> bool {
        self.0 == key || (self == Factor::SPOKEN && key.starts_with(LANGUAGES) && key.ends_with(SPOKEN))
    }
}

/// The setting of whether a language has text.
const SPOKEN: &str = ".spoken";

/// The section of single languages, by their names.
const LANGUAGES: &str = "languages.";

/// The setting of which pieces languages share, and of how many where they are drawn at random.
const SHARE: Factor = Factor("tokenizer.share");
const SHARE_P: &str = "tokenizer.share_p";
const RANDOM: &str = "random";

/// The paper's factors, then the other settings that were varied, then the seeds. Where several languages are spoken in
/// some runs only, which ones are is one factor.
pub(super) fn factors(varied: &[(String, Vec<String>)], runs: &[Run]) -> Vec<Factor> {
    let by_speakers = runs.iter().any(|run| run.columns.contains_key(Factor::SPOKEN.key())).then_some(Factor::SPOKEN);
    let further = varied.iter().map(|(key, _)| key.as_str()).filter(|key| is_other(key));
    let further = further.filter(|key| by_speakers.is_none_or(|factor| !factor.covers(key))).map(Factor::new);
    let seeds = [column::DATA_SEED, column::MODEL_SEED].map(Factor::new);
    Factor::PAPER.into_iter().chain(by_speakers).chain(further).chain(seeds).collect()
}

/// Runs with a column of the languages spoken, where at least two languages are spoken in some runs only.
pub(super) fn with_spoken(mut runs: Vec<Run>) -> Vec<Run> {
    let spoken: Vec<String> =
        varied(&runs).into_iter().map(|(key, _)| key).filter(|key| key.ends_with(SPOKEN)).collect();
    if spoken.len() < 2 {
        return runs;
    }
    for run in runs.iter_mut() {
        let is_spoken = |key: &&String| run.columns.get(*key).is_some_and(|value| value.to_string() == "true");
        let name = |key: &String| key[LANGUAGES.len()..key.len() - SPOKEN.len()].to_owned();
        let names: Vec<String> = spoken.iter().filter(is_spoken).map(name).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        run.columns.insert(Factor::SPOKEN.key(), Value::Text(names.into()));
    }
    runs
}

/// Runs whose share of pieces drawn at random is part of the arm's name, `random 0.5`: in other arms it says nothing.
pub(super) fn with_shares(mut runs: Vec<Run>) -> Vec<Run> {
    if !runs.iter().any(|run| run.text(SHARE.key()) == Some(RANDOM)) {
        return runs;
    }
    for run in &mut runs {
        let p = run.columns.remove(SHARE_P);
        if let (Some(RANDOM), Some(p)) = (run.text(SHARE.key()), p) {
            run.columns.insert(SHARE.key(), Value::Text(format!("{RANDOM} {p}").into()));
        }
    }
    runs
}

/// The levels of a setting as runs have them: a share of pieces drawn at random is an arm of its own, as in [`with_shares`].
pub(crate) fn as_in_runs(factor: Factor, levels: Vec<Value>) -> (Factor, Vec<Value>) {
    if factor.key() != SHARE_P {
        return (factor, levels);
    }
    let arms = levels.iter().map(|p| Value::Text(format!("{RANDOM} {p}").into()));
    (SHARE, if levels.is_empty() { vec![Value::Text(RANDOM.into())] } else { arms.collect() })
}

/// Levels of arms in their order, what is compared with first. Others come after them, by name.
const ARM_LEVELS: [&str; 11] =
    ["all", "cognate", "other", RANDOM, "none", "learned", "alike", "apart", "morpheme", "words", "[]"];

/// The levels that runs take or the plan names, in order: numbers by size; regimes as the paper has them, then by name;
/// arms as they are compared. A plan's random arm is in the runs under its share.
pub(super) fn levels(factor: Factor, runs: &[Run], plan: Option<&Plan>) -> Vec<Value> {
    let planned = plan.iter().flat_map(|plan| plan.grids.iter().flatten()).filter(|it| it.key == factor.key());
    let planned = planned.flat_map(|it| it.levels.iter().map(Value::from));
    let taken = runs.iter().filter_map(|run| run.columns.get(factor.key()).cloned());
    let planned = planned.filter(|level| factor != SHARE || level.to_string() != RANDOM);
    let mut levels: Vec<Value> = taken.chain(planned).collect();
    let order: &[&str] = if Factor::ARMS.contains(&factor) { &ARM_LEVELS } else { &["vanilla", BALANCED] };
    let rank = |value: &Value| {
        let value = value.to_string();
        order.iter().position(|name| value.split(' ').next() == Some(name)).unwrap_or(order.len())
    };
    levels.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.order(b)));
    levels.dedup();
    levels
}

/// Whether a column of a run is a setting, rather than something measured.
pub(super) fn is_setting(key: &str) -> bool {
    SECTIONS.iter().any(|section| key.starts_with(section))
}

/// Sections of the config; other columns are measured, not chosen.
const SECTIONS: [&str; 8] = ["language.", LANGUAGES, "mixture.", "tokenizer.", "model.", "train.", "eval.", "seeds."];

/// The settings that take more than one value in the runs that have begun, with their values in order.
pub(super) fn varied(runs: &[Run]) -> Vec<(String, Vec<String>)> {
    let mut values: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (key, value) in runs.iter().filter(|run| run.begun()).flat_map(|run| run.columns.iter()) {
        if is_setting(key) {
            let seen = values.entry(key).or_default();
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
    }
    values.retain(|_, values| values.len() > 1);
    let in_order = |(key, mut values): (&str, Vec<&Value>)| {
        values.sort_by(|a, b| a.order(b));
        (key.to_owned(), values.iter().map(ToString::to_string).collect())
    };
    values.into_iter().map(in_order).collect()
}

/// Whether a setting is neither one of the paper's factors nor a seed.
pub(super) fn is_other(key: &str) -> bool {
    !key.starts_with("seeds.") && Factor::PAPER.iter().all(|factor| factor.key() != key)
}

/// The distinct numbers of a column, in order.
pub(super) fn distinct(runs: &[Run], column: &str) -> Vec<f64> {
    let mut values: Vec<f64> = runs.iter().filter_map(|run| run.number(column)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}
