//! The ontology Γ: the descriptors that are true of each entity.
//!
//! Each property allows the entity with key 0 a few of its values; the entity with key i has the same set rotated by i.
//! If {3, 8, 21, 39} out of 40 values are valid at key 0, key 5 has {8, 13, 26, 4}. Entities of a class whose keys agree
//! modulo the number of values share their values.

use crate::world::World;
use crate::world::symbol::{Class, Property, Symbol};

impl World {
    /// Whether Γ allows the entity this descriptor. False if its class does not own the property.
    #[inline]
    pub fn allows(&self, entity: Symbol, descriptor: Symbol) -> bool {
        let (Some(key), Some((property, value))) = (self.key(entity), self.descriptor_of(descriptor)) else {
            return false;
        };
        let turn = key as usize % self.config.values;
        let base = (value as usize + self.config.values - turn) % self.config.values;
        self.fits(descriptor, entity) && self.base_table[property.0 as usize * self.config.values + base]
    }

    /// The number of the fact that a descriptor is true of an entity, if it is. Entities with the same Γ share it.
    #[inline]
    pub fn fact(&self, entity: Symbol, descriptor: Symbol) -> Option<usize> {
        let (key, (property, value)) = (self.key(entity)?, self.descriptor_of(descriptor)?);
        if !self.fits(descriptor, entity) {
            return None;
        }
        let (values, property) = (self.config.values, property.0 as usize);
        let turn = key as usize % self.period[self.class(entity)?.0 as usize];
        let base = (value as usize + values - turn) % values;
        let valid = &self.base_values[property * self.valid..][..self.valid];
        let place = valid.iter().position(|&value| value as usize == base)?;
        Some((property * values + value as usize) * self.valid + place)
    }

    /// The number of facts.
    pub(crate) fn fact_count(&self) -> usize {
        self.property_count() * self.config.values * self.valid
    }

    /// The i-th descriptor of `property` that Γ allows an entity with this key, `i` below [`World::valid_count`].
    #[inline]
    pub fn valid_descriptor(&self, key: u16, property: Property, i: usize) -> Symbol {
        let base = self.base_values[property.0 as usize * self.valid + i] as usize;
        self.descriptor(property, (base + key as usize) % self.config.values)
    }

    /// Every descriptor Γ allows the entity: of each property its class owns, the valid values.
    pub fn allowed(&self, entity: Symbol) -> Vec<Symbol> {
        self.own_descriptors(entity, true)
    }

    /// The descriptors of the entity's own properties that Γ forbids it.
    pub fn forbidden(&self, entity: Symbol) -> Vec<Symbol> {
        self.own_descriptors(entity, false)
    }

    /// The descriptors of other classes' properties, which do not even fit the entity's type.
    pub fn foreign(&self, entity: Symbol) -> Vec<Symbol> {
        let own = self.class(entity);
        self.descriptors().filter(|&d| self.class(d) != own).collect()
    }

    fn own_descriptors(&self, entity: Symbol, allowed: bool) -> Vec<Symbol> {
        let class = self.class(entity).unwrap_or(Class(u16::MAX));
        if !self.category(entity).is_entity() {
            return Vec::new();
        }
        let all =
            self.properties(class).iter().flat_map(|&p| (0..self.config.values).map(move |v| self.descriptor(p, v)));
        all.filter(|&d| self.allows(entity, d) == allowed).collect()
    }
}
