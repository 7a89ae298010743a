//! The identity of the run that a config describes, and how two configs differ. A config with lists of seeds describes
//! several runs.

use super::Experiment;
use invitro_base::dotted::{self, leaves};
use invitro_base::settings::{Seeds, TrainConfig};
use invitro_results::identity::hash;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use toml::Value;

impl Experiment {
    /// The run's identity: 16 hexadecimal digits.
    pub fn id(&self) -> String {
        invitro_results::identity(&self.to_table())
    }

    /// Experiments of one key can train as one population: they have the same model, steps, batch and evaluation. The
    /// other settings of the training are those of the optimizer, of which every member has its own.
    pub fn population_key(&self) -> String {
        let TrainConfig { steps, batch, .. } = self.train;
        hash(&json!([self.model, steps, batch, self.eval, self.checkpoint, self.shape().vocab]))
    }

    /// One experiment per data seed and model seed.
    pub fn expand(&self) -> Vec<Experiment> {
        let mut all = Vec::new();
        for &data in &self.seeds.data.0 {
            for &model in &self.seeds.model.0 {
                let mut one = self.clone();
                one.seeds.data = Seeds(vec![data]);
                one.seeds.model = Seeds(vec![model]);
                all.push(one);
            }
        }
        all
    }

    /// The settings in which two experiments differ, as `key: value here, value there`; `places` says where the values
    /// of both are, this one's first.
    pub fn differing(&self, other: &Experiment, places: [&str; 2]) -> Vec<String> {
        let [here, there] = places;
        let (own, others) = (self.to_table(), other.to_table());
        let settings = [&own, &others].map(|table| BTreeMap::from_iter(leaves(table)));
        let [of_own, of_others] = &settings;
        let keys: BTreeSet<&String> = settings.iter().flat_map(BTreeMap::keys).filter(|key| *key != "name").collect();
        let value = |settings: &BTreeMap<String, Value>, key: &String| {
            settings.get(key).map_or_else(|| "left out".to_owned(), Value::to_string)
        };
        let differs = keys.into_iter().filter(|key| of_own.get(*key) != of_others.get(*key));
        let mut all: Vec<String> = differs
            .map(|key| format!("{key}: {} {here}, {} {there}", value(of_own, key), value(of_others, key)))
            .collect();
        let [names, other_names] = [&own, &others].map(|table| dotted::names(table).join(", "));
        // Languages of the same settings may still be in another order.
        if all.is_empty() && names != other_names {
            all.push(format!("{}: {names} {here}, {other_names} {there}", dotted::LIST));
        }
        all
    }
}
