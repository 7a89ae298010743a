//! `[seeds]`

use super::{Range, SettingError, SettingValue, ValueKind, require};
use crate::settings;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

settings! {
    /// `[seeds]`: `data` decides world, lexicons, mask, corpora and evaluation sets; `model` the initial weights.
    SeedsConfig in "seeds", "one seed, or a list of seeds for as many runs" {
        data: Seeds = Seeds::default(), Range::Words("one or several from 0"), Paper + languages,
            "world, lexicons, mask, corpora, tokenizer sample, evaluation sets; the paper has three";
        model: Seeds = Seeds::default(), Range::Words("one or several from 0"), Paper, "initial weights; the paper has three";
    }
}

impl SeedsConfig {
    /// Each list has different seeds.
    pub fn validate(&self) -> Result<(), SettingError> {
        for (key, seeds) in [("seeds.data", &self.data), ("seeds.model", &self.model)] {
            require(seeds.are_distinct(), key, format!("{:?}", seeds.0), "one or more different seeds")?;
        }
        Ok(())
    }
}

/// One seed or several: `0` or `[0, 1, 2]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "OneOrMany", into = "OneOrMany")]
pub struct Seeds(pub Vec<u64>);

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a whole number from 0, or a list of them")]
enum OneOrMany {
    One(u64),
    Many(Vec<u64>),
}

impl From<OneOrMany> for Seeds {
    fn from(seeds: OneOrMany) -> Self {
        match seeds {
            OneOrMany::One(seed) => Seeds(vec![seed]),
            OneOrMany::Many(seeds) => Seeds(seeds),
        }
    }
}

impl From<Seeds> for OneOrMany {
    fn from(Seeds(seeds): Seeds) -> Self {
        if let [seed] = seeds[..] { OneOrMany::One(seed) } else { OneOrMany::Many(seeds) }
    }
}

impl Default for Seeds {
    fn default() -> Self {
        Seeds(vec![0])
    }
}

impl SettingValue for Seeds {
    const KIND: ValueKind = ValueKind::Whole;
}

impl Seeds {
    /// The seed of a single run. A valid experiment has at least one.
    pub fn first(&self) -> u64 {
        self.0[0]
    }

    /// Whether there is at least one, and each once.
    pub fn are_distinct(&self) -> bool {
        let distinct: HashSet<&u64> = self.0.iter().collect();
        !self.0.is_empty() && distinct.len() == self.0.len()
    }
}
