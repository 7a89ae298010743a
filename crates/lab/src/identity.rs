//! Which run a config stands for: the hash of all that its results depend on.
//!
//! The name of an experiment is a label and not part of it; a config with lists of seeds stands for several runs.

use crate::experiment::{Experiment, Seeds};
use serde_json::{Value, json};

/// Raised when a config of the same settings would give other results, or could no longer be read.
pub const SCHEMA: u32 = 2;

impl Experiment {
    /// The run's identity: 16 hexadecimal digits.
    pub fn id(&self) -> String {
        let config: Vec<(String, String)> = self.settings();
        hash(&json!({ "schema": SCHEMA, "config": config }))
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
        let (own, others) = (self.settings(), other.settings());
        let same_keys = own.iter().zip(&others).all(|((a, _), (b, _))| a == b);
        debug_assert!(same_keys, "every experiment has every key");
        own.into_iter()
            .zip(others)
            .filter(|((_, own), (_, other))| own != other)
            .map(|((key, own), (_, other))| format!("{key}: {own} {here}, {other} {there}"))
            .collect()
    }

    /// Every setting but the name, in TOML's notation.
    fn settings(&self) -> Vec<(String, String)> {
        let all = self.flatten().into_iter().filter(|(key, _)| key != "name");
        all.map(|(key, value)| (key, value.to_string())).collect()
    }
}

fn hash(value: &Value) -> String {
    blake3::hash(value.to_string().as_bytes()).to_hex()[..16].to_owned()
}
