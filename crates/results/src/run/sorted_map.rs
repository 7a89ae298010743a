//! What runs keep by name, in little memory.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

/// A map as two lists, its keys in order and their values. Runs have hundreds of keys, and many have the same: such maps can
/// share their keys.
#[derive(Debug, PartialEq)]
pub struct SortedMap<K: ?Sized, V> {
    keys: Arc<Vec<Arc<K>>>,
    values: Vec<V>,
}

impl<K: Ord + ?Sized, V> SortedMap<K, V> {
    fn place(&self, key: &K) -> Result<usize, usize> {
        self.keys.binary_search_by(|own| (**own).cmp(key))
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.place(key).ok().map(|place| &self.values[place])
    }

    /// Whether a key has a value.
    pub fn contains_key(&self, key: &K) -> bool {
        self.place(key).is_ok()
    }

    /// Gives a key a value in place of the one it may have.
    pub fn insert(&mut self, key: impl Into<Arc<K>>, value: V) {
        let key = key.into();
        match self.place(&key) {
            Ok(place) => self.values[place] = value,
            Err(place) => {
                Arc::make_mut(&mut self.keys).insert(place, key);
                self.values.insert(place, value);
            }
        }
    }

    /// Takes out the value of a key.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.place(key).ok()?;
        Arc::make_mut(&mut self.keys).remove(place);
        Some(self.values.remove(place))
    }

    /// The pairs from a key on.
    pub fn starting_at(&self, key: &K) -> impl Iterator<Item = (&K, &V)> {
        self.iter().skip(self.place(key).unwrap_or_else(|place| place))
    }
}

impl<K: ?Sized, V> SortedMap<K, V> {
    /// The pairs.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.keys().zip(&self.values)
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.keys.iter().map(|key| &**key)
    }

    /// The values, in order of their keys.
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.values.iter()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl<K: Eq + Hash + ?Sized, V> SortedMap<K, V> {
    /// Takes the same keys out of these, or adds its own for others.
    pub fn share_keys(&mut self, known: &mut HashSet<Arc<Vec<Arc<K>>>>) {
        match known.get(&self.keys) {
            Some(keys) => self.keys = keys.clone(),
            None => drop(known.insert(self.keys.clone())),
        }
    }
}

impl<K: ?Sized, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap { keys: Arc::default(), values: Vec::new() }
    }
}

impl<K: ?Sized, V: Clone> Clone for SortedMap<K, V> {
    fn clone(&self) -> Self {
        SortedMap { keys: self.keys.clone(), values: self.values.clone() }
    }
}

/// Of pairs with one key the last counts.
impl<K: Ord + ?Sized, V, N: Into<Arc<K>>> FromIterator<(N, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut pairs: Vec<(Arc<K>, V)> = pairs.into_iter().map(|(key, value)| (key.into(), value)).collect();
        pairs.reverse();
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        pairs.dedup_by(|a, b| a.0 == b.0);
        let (keys, mut values): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        values.shrink_to_fit();
        SortedMap { keys: keys.into(), values }
    }
}

impl<K: Ord + ?Sized, V, N: Into<Arc<K>>, const C: usize> From<[(N, V); C]> for SortedMap<K, V> {
    fn from(pairs: [(N, V); C]) -> Self {
        pairs.into_iter().collect()
    }
}
