//! Which run a config stands for, and how two configs differ. A config with lists of seeds stands for several runs.

use crate::experiment::{Experiment, table_of};
use invitro_results::Seeds;
use invitro_results::identity::{hash, settings};
use serde_json::json;

impl Experiment {
    /// The run's identity: 16 hexadecimal digits.
    pub fn id(&self) -> String {
        invitro_results::identity(&table_of(self))
    }

    /// Experiments of one key can train as one population: they have the same model, training and evaluation.
    pub fn population_key(&self) -> String {
        hash(&json!([self.model, self.train, self.eval, self.checkpoint, self.tokenizer.vocab]))
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
        let (own, others) = (settings(&table_of(self)), settings(&table_of(other)));
        let same_keys = own.iter().zip(&others).all(|((a, _), (b, _))| a == b);
        debug_assert!(same_keys, "every experiment has every key");
        own.into_iter()
            .zip(others)
            .filter(|((_, own), (_, other))| own != other)
            .map(|((key, own), (_, other))| format!("{key}: {own} {here}, {other} {there}"))
            .collect()
    }
}
