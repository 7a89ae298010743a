//! Runs side by side: the settings in which they differ, and the main measures at their peaks and ends.

use crate::error::{At, Error, Result};
use crate::folder::{CONFIG, read_text};
use crate::{Condition, FolderKind, Loss, Measure, Quantity, Run, Scorer, Statistic, Targets, TaskMetric, read};
use invitro_base::dotted::leaves;
use invitro_base::settings::is_neutral;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Several runs, each of one folder.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// What to call each run: its folder's name, or the whole path where two have the same.
    pub names: Vec<String>,
    /// Their folders.
    pub folders: Vec<PathBuf>,
    /// Their measures.
    pub runs: Vec<Run>,
    /// Settings that are not the same in all, with their value in each; `None` where a run does not have it.
    pub differing: Vec<(String, Vec<Option<toml::Value>>)>,
}

/// A measure that runs are compared by.
#[derive(Debug, Clone, Copy)]
pub struct ComparedMeasure {
    /// For people.
    pub name: &'static str,
    /// What is measured, in every condition.
    pub measure: Measure,
    /// Whether more is better, so that its peak means something.
    pub rises: bool,
}

/// The measures that runs are compared by.
pub const COMPARED: [ComparedMeasure; 7] = [
    ComparedMeasure { name: "T1 grammatical", measure: Measure::unscrambling(TaskMetric::Grammaticality), rises: true },
    ComparedMeasure { name: "T1 types hold", measure: Measure::unscrambling(TaskMetric::Types), rises: true },
    ComparedMeasure { name: "T1 facts hold", measure: Measure::unscrambling(TaskMetric::Facts), rises: true },
    ComparedMeasure { name: "T1 same words", measure: Measure::unscrambling(TaskMetric::SameWords), rises: true },
    ComparedMeasure {
        name: "reachable share",
        measure: Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share),
        rises: true,
    },
    ComparedMeasure { name: "contrast of facts, nats", measure: Measure::KNOWLEDGE, rises: true },
    ComparedMeasure { name: "bits per character", measure: Measure::Loss(Loss::BitsPerChar), rises: false },
];

impl Comparison {
    /// Reads the runs of these folders. Results of different schemas are not put beside each other.
    pub fn read(folders: &[PathBuf]) -> Result<Comparison> {
        let mut runs = Vec::new();
        let mut settings: Vec<BTreeMap<String, toml::Value>> = Vec::new();
        for folder in folders {
            let results = read(folder)?;
            let run = (results.kind == FolderKind::Run).then(|| results.runs.into_iter().next()).flatten();
            let several = || Error::Read { path: folder.clone(), why: "it holds several runs: name them".into() };
            runs.push(run.ok_or_else(several)?);
            settings.push(config(folder)?);
        }
        for (run, folder) in runs.iter().zip(folders) {
            if let (Some(own), Some(first)) = (run.schema(), runs[0].schema())
                && own != first
            {
                let why = format!(
                    "it has schema {own}, `{}` has {first}: their results cannot be put beside each other",
                    folders[0].display()
                );
                return Err(Error::Read { path: folder.clone(), why });
            }
        }
        let keys: BTreeSet<&String> = settings.iter().flat_map(BTreeMap::keys).collect();
        let of_all = |key: &String| settings.iter().map(|own| own.get(key).cloned()).collect::<Vec<_>>();
        let differing = keys.into_iter().map(|key| (key.clone(), of_all(key)));
        // A setting that an older version did not have is not another one where it changes nothing.
        let differs = |(key, values): &(String, Vec<Option<toml::Value>>)| {
            let neutral = |value: &Option<toml::Value>| value.as_ref().is_none_or(|value| is_neutral(key, value));
            values.iter().any(|value| *value != values[0]) && !values.iter().all(neutral)
        };
        let differing = differing.filter(differs).collect();
        Ok(Comparison { names: names(folders), folders: folders.to_vec(), runs, differing })
    }

    /// The conditions that anything was measured in: languages first, then masked ones.
    pub fn conditions(&self) -> Vec<Condition> {
        let measured = |run: &Run| run.curves.keys().filter_map(|it| it.condition.clone()).collect::<Vec<_>>();
        let mut all: Vec<Condition> =
            self.runs.iter().flat_map(measured).collect::<BTreeSet<_>>().into_iter().collect();
        all.sort_by_key(|condition| condition.masked);
        all
    }

    /// Every measure that any run has, in a condition.
    pub fn measured(&self) -> Vec<(ComparedMeasure, Condition)> {
        let conditions = self.conditions();
        let all = COMPARED.into_iter().flat_map(|it| conditions.iter().map(move |condition| (it, condition.clone())));
        let has = |(compared, condition): &(ComparedMeasure, Condition)| {
            self.runs.iter().any(|run| !run.curve(&Quantity::in_condition(compared.measure, condition)).is_empty())
        };
        all.filter(has).collect()
    }
}

fn config(folder: &Path) -> Result<BTreeMap<String, toml::Value>> {
    let path = folder.join(CONFIG);
    let text = read_text(&path)?.unwrap_or_default();
    let table: toml::Table = text.parse().reading(&path)?;
    Ok(leaves(&table).into_iter().collect())
}

fn names(folders: &[PathBuf]) -> Vec<String> {
    let last = |path: &PathBuf| {
        let known = path.canonicalize().unwrap_or_else(|_| path.clone());
        known.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
    };
    let short: Vec<String> = folders.iter().map(last).collect();
    let is_one = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
    let name = |(folder, name): (&PathBuf, &String)| {
        if is_one(name) { name.clone() } else { folder.display().to_string() }
    };
    folders.iter().zip(&short).map(name).collect()
}
