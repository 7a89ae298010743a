//! What was measured at each evaluation of a run: one curve per (condition, task, metric).
//!
//! Names are interned once per study: a [`Key`] is a number, and a run keeps its curves in a list by that number.

use std::collections::HashMap;

/// A (condition, task, metric), as a place in [`Keys`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub(super) u32);

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub value: f64,
    pub step: u32,
    /// The interval the run itself reports (over subjects), NaN where it reports none.
    pub low: f32,
    pub high: f32,
}

#[derive(Debug, Clone, Default)]
pub struct Keys {
    places: HashMap<String, Option<Key>>,
    names: Vec<[String; 3]>,
}

impl Keys {
    /// The key of these names, made if it is new; `None` for a metric the report does not use.
    pub(super) fn intern(&mut self, condition: &str, task: &str, metric: &str, scratch: &mut String) -> Option<Key> {
        join(scratch, condition, task, metric);
        if let Some(known) = self.places.get(scratch.as_str()) {
            return *known;
        }
        let key = used(task, metric).then(|| {
            self.names.push([condition.to_owned(), task.to_owned(), metric.to_owned()]);
            Key(self.names.len() as u32 - 1)
        });
        self.places.insert(scratch.clone(), key);
        key
    }

    /// The key of these names, where any run has it.
    pub fn find(&self, condition: &str, task: &str, metric: &str) -> Option<Key> {
        let mut name = String::new();
        join(&mut name, condition, task, metric);
        self.places.get(&name).copied().flatten()
    }

    /// Condition, task and metric of every key.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &[String; 3])> {
        self.names.iter().enumerate().map(|(place, names)| (Key(place as u32), names))
    }
}

fn join(into: &mut String, condition: &str, task: &str, metric: &str) {
    into.clear();
    for (place, part) in [condition, task, metric].into_iter().enumerate() {
        if place > 0 {
            into.push('\t');
        }
        into.push_str(part);
    }
}

/// Half the rows of an evaluation repeat reachability with the boundary included; no figure shows them.
fn used(task: &str, metric: &str) -> bool {
    task != "reach" || !metric.contains("_boundary@")
}

/// The curves of one run.
#[derive(Debug, Clone, Default)]
pub struct Curves {
    by_key: Vec<Vec<Point>>,
}

impl Curves {
    pub(super) fn push(&mut self, key: Key, point: Point) {
        let place = key.0 as usize;
        if self.by_key.len() <= place {
            self.by_key.resize_with(place + 1, Vec::new);
        }
        self.by_key[place].push(point);
    }

    /// Orders each curve by step; a step measured again after an interruption keeps its last value.
    pub(super) fn finish(&mut self) {
        for curve in &mut self.by_key {
            if !curve.is_sorted_by(|a, b| a.step < b.step) {
                curve.sort_by_key(|point| point.step);
                curve.reverse();
                curve.dedup_by_key(|point| point.step);
                curve.reverse();
            }
            curve.shrink_to_fit();
        }
    }

    pub fn get(&self, key: Key) -> &[Point] {
        self.by_key.get(key.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The last step anything was measured at.
    pub fn last_step(&self) -> Option<u32> {
        self.by_key.iter().filter_map(|curve| curve.last()).map(|point| point.step).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_measured_twice_keeps_its_last_value() {
        let mut curves = Curves::default();
        for (step, value) in [(0, 0.1), (100, 0.2), (200, 0.3), (100, 0.25), (200, 0.35)] {
            curves.push(Key(3), Point { step, value, low: f32::NAN, high: f32::NAN });
        }
        curves.finish();
        let got: Vec<_> = curves.get(Key(3)).iter().map(|point| (point.step, point.value)).collect();
        assert_eq!(got, [(0, 0.1), (100, 0.25), (200, 0.35)]);
        assert!(curves.get(Key(9)).is_empty());
    }
}
