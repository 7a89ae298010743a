//! What the columns `condition`, `task` and `metric` of a row name. The runs of a study name the same few hundred quantities
//! in millions of rows: each is parsed once, over all files.

use crate::table::ColumnBatch;
use crate::{Condition, Quantity};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard};

static NAMES: LazyLock<RwLock<Names>> = LazyLock::new(RwLock::default);

/// All names seen so far. Places stay what they are.
#[derive(Default)]
pub(super) struct Names {
    places: HashMap<String, usize>,
    names: Vec<Name>,
    quantities: Vec<NamedQuantity>,
    by_quantity: HashMap<Arc<Quantity>, usize>,
    groups: HashMap<(Option<Condition>, &'static str), usize>,
}

/// The texts of the three columns, and the place of the quantity they name.
pub(super) struct Name {
    pub texts: [String; 3],
    /// None for what this version does not know.
    pub quantity: Option<usize>,
}

pub(super) struct NamedQuantity {
    pub quantity: Arc<Quantity>,
    /// One number for all quantities of a condition and a task.
    pub group: usize,
}

impl Names {
    /// The name at a place that a [`NameCursor`] found.
    pub fn name(&self, place: usize) -> &Name {
        &self.names[place]
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The quantity at a place.
    pub fn quantity(&self, place: usize) -> &NamedQuantity {
        &self.quantities[place]
    }

    fn insert(&mut self, texts: [&str; 3]) {
        let joined = texts.join("\t");
        if self.places.contains_key(&joined) {
            return;
        }
        let [condition, task, metric] = texts;
        let quantity =
            Quantity::from_columns(condition, task, metric).ok().map(|quantity| self.insert_parsed(quantity.into()));
        self.places.insert(joined, self.names.len());
        self.names.push(Name { texts: texts.map(str::to_owned), quantity });
    }

    fn insert_parsed(&mut self, quantity: Arc<Quantity>) -> usize {
        if let Some(&place) = self.by_quantity.get(&quantity) {
            return place;
        }
        let groups = self.groups.len();
        let group = *self.groups.entry((quantity.condition.clone(), quantity.measure.columns().0)).or_insert(groups);
        self.by_quantity.insert(quantity.clone(), self.quantities.len());
        self.quantities.push(NamedQuantity { quantity, group });
        self.quantities.len() - 1
    }
}

/// The names, read by one who may add to them. Nobody who holds them may wait for another thread.
pub(super) struct KnownNames(Option<RwLockReadGuard<'static, Names>>);

/// The names as they are now.
pub(super) fn known() -> KnownNames {
    KnownNames(Some(NAMES.read().unwrap_or_else(PoisonError::into_inner)))
}

impl KnownNames {
    fn insert(&mut self, texts: [&str; 3]) {
        self.0 = None;
        NAMES.write().unwrap_or_else(PoisonError::into_inner).insert(texts);
        *self = known();
    }
}

impl Deref for KnownNames {
    type Target = Names;

    fn deref(&self) -> &Names {
        self.0.as_ref().expect("held but while one is added")
    }
}

/// Finds names row by row. What followed a name once is likely to follow it again.
#[derive(Default)]
pub(super) struct NameCursor {
    last: usize,
    followed_by: Vec<usize>,
    scratch: String,
}

impl NameCursor {
    /// The place of the name that these texts are.
    pub fn find(&mut self, names: &mut KnownNames, texts: [&[u8]; 3]) -> usize {
        let is = |name: &Name| name.texts.iter().map(|text| text.as_bytes()).eq(texts);
        let expected = self.followed_by.get(self.last).copied();
        if let Some(place) = expected.filter(|&place| names.names.get(place).is_some_and(is)) {
            self.last = place;
            return place;
        }
        let texts = texts.map(|text| std::str::from_utf8(text).unwrap_or_default());
        self.scratch.clear();
        for part in [texts[0], "\t", texts[1], "\t", texts[2]] {
            self.scratch.push_str(part);
        }
        let place = loop {
            if let Some(&place) = names.places.get(&self.scratch) {
                break place;
            }
            names.insert(texts);
        };
        if self.followed_by.len() <= self.last {
            self.followed_by.resize(self.last + 1, usize::MAX);
        }
        self.followed_by[self.last] = place;
        self.last = place;
        place
    }

    /// That of a row of a table, its texts in the columns from the third on.
    pub fn find_row(&mut self, names: &mut KnownNames, columns: &[ColumnBatch], row: usize) -> usize {
        self.find(names, [2, 3, 4].map(|column| columns[column].bytes(row)))
    }
}
