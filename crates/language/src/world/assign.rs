//! Assigns properties and relations to classes, and valid values to properties.

use crate::world::symbol::Class;
use invitro_base::random::{Rng, Stream};
use invitro_base::settings::LanguageConfig;

/// Assigns `n` items at random to groups of equal size; returns the group of each item.
pub fn assign(n: usize, groups: usize, rng: &mut Rng) -> Vec<usize> {
    let mut group: Vec<usize> = (0..n).map(|i| i % groups).collect();
    rng.shuffle(&mut group);
    group
}

/// The class of each descriptive property. Every class uses its first property for its nouns, and every subject class its
/// second for its names; the others are descriptive.
pub fn assign_properties(config: &LanguageConfig, seed: u64) -> Vec<Class> {
    let classes = assign(config.properties, config.classes, &mut Stream::new(seed, "world/properties").at(0, 0));
    let mut used = vec![0; config.classes];
    let mut descriptive = Vec::with_capacity(config.descriptive());
    for class in classes {
        let reserved = if class < config.subject_classes() { 2 } else { 1 };
        if used[class] < reserved {
            used[class] += 1;
        } else {
            descriptive.push(Class(class as u16));
        }
    }
    descriptive
}

/// For each property, the values valid for the entity with key 0, as a list and as a table.
pub fn valid_values(config: &LanguageConfig, seed: u64) -> (Vec<u16>, Vec<bool>) {
    let stream = Stream::new(seed, "world/gamma");
    let valid = config.valid_values();
    let mut list = Vec::with_capacity(config.descriptive() * valid);
    let mut table = vec![false; config.descriptive() * config.values];
    let mut all: Vec<u16> = (0..config.values as u16).collect();
    for property in 0..config.descriptive() {
        stream.at(0, property as u64).shuffle(&mut all);
        let mut chosen = all[..valid].to_vec();
        chosen.sort_unstable();
        for &value in &chosen {
            table[property * config.values + value as usize] = true;
        }
        list.extend(chosen);
        // Each property starts from the same order, so that it depends on its own row alone.
        all.sort_unstable();
    }
    (list, table)
}
