//! How properties and relations are assigned to the classes, and valid values to the properties.

use crate::world::symbol::Class;
use invitro_base::random::{Rng, Stream};
use invitro_base::settings::LanguageConfig;

/// `n` items assigned at random to groups of equal size: the group of each item.
pub fn assign(n: usize, groups: usize, rng: &mut Rng) -> Vec<usize> {
    let mut group: Vec<usize> = (0..n).map(|i| i % groups).collect();
    rng.shuffle(&mut group);
    group
}

/// The class of each descriptive property that is left once every class has given up its first property for its
/// nouns, and every subject class its second for its names.
pub fn assign_properties(config: &LanguageConfig, seed: u64) -> Vec<Class> {
    let classes = assign(config.properties, config.classes, &mut Stream::new(seed, "world/properties").at(0, 0));
    let mut given_up = vec![0; config.classes];
    let mut kept = Vec::with_capacity(config.descriptive());
    for class in classes {
        let owed = if class < config.subject_classes() { 2 } else { 1 };
        if given_up[class] < owed {
            given_up[class] += 1;
        } else {
            kept.push(Class(class as u16));
        }
    }
    kept
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
