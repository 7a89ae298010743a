//! The ontology Γ: which descriptors are true of which entity.
//!
//! Each property allows the entity with key 0 a few of its values; the entity with key i gets the same set rotated by
//! i. With 40 values of which {3, 8, 21, 39} are valid at key 0, key 5 has {8, 13, 26, 4}. Entities of a class whose
//! keys agree modulo the number of values share theirs.

use crate::symbol::{Class, Property, Symbol};
use crate::world::World;

impl World {
    /// Whether Γ allows the entity this descriptor. False if its class does not own the property.
    #[inline]
    pub fn allows(&self, entity: Symbol, descriptor: Symbol) -> bool {
        let (Some(key), Some((property, value))) = (self.key(entity), self.descriptor_of(descriptor)) else {
            return false;
        };
        let turn = key as usize % self.values;
        let base = (value as usize + self.values - turn) % self.values;
        self.fits(descriptor, entity) && self.base_table[property.0 as usize * self.values + base]
    }

    /// The i-th descriptor of `property` that Γ allows an entity with this key, `i` below [`World::valid_count`].
    #[inline]
    pub fn valid_descriptor(&self, key: u16, property: Property, i: usize) -> Symbol {
        let base = self.base_values[property.0 as usize * self.valid + i] as usize;
        self.descriptor(property, (base + key as usize) % self.values)
    }

    /// Every descriptor Γ allows the entity: of each property its class owns, the valid values.
    pub fn allowed(&self, entity: Symbol) -> Vec<Symbol> {
        self.own(entity, true)
    }

    /// The descriptors of the entity's own properties that Γ forbids it.
    pub fn forbidden(&self, entity: Symbol) -> Vec<Symbol> {
        self.own(entity, false)
    }

    /// The descriptors of other classes' properties, which do not even fit the entity's type.
    pub fn foreign(&self, entity: Symbol) -> Vec<Symbol> {
        let own = self.class(entity);
        self.descriptors().filter(|&d| self.class(d) != own).collect()
    }

    fn own(&self, entity: Symbol, allowed: bool) -> Vec<Symbol> {
        let class = self.class(entity).unwrap_or(Class(u16::MAX));
        if !self.category(entity).is_entity() {
            return Vec::new();
        }
        let all = self.properties(class).iter().flat_map(|&p| (0..self.values).map(move |v| self.descriptor(p, v)));
        all.filter(|&d| self.allows(entity, d) == allowed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LanguageConfig;
    use crate::symbol::Category;

    fn paper() -> World {
        World::new(&LanguageConfig::default(), false, 3)
    }

    #[test]
    fn the_papers_world_has_the_papers_counts() {
        let world = paper();
        let count = |category| world.of_category(category).count();
        assert_eq!(count(Category::Noun), 800);
        assert_eq!(count(Category::Name), 100);
        assert_eq!(count(Category::Descriptor), 17_800);
        assert_eq!(count(Category::Relation), 100);
        assert_eq!(world.len(), 18_843);
        for class in world.classes() {
            let subject = (class.0 as usize) < 5;
            assert_eq!(world.properties(class).len(), if subject { 44 } else { 45 });
            assert_eq!(world.relations(class).len(), if subject { 20 } else { 0 });
        }
    }

    #[test]
    fn every_entity_has_four_valid_values_of_each_property_rotated_by_its_key() {
        let world = paper();
        for entity in world.entities().step_by(7) {
            let allowed = world.allowed(entity);
            let class = world.class(entity).unwrap();
            assert_eq!(allowed.len(), 4 * world.properties(class).len());
            let key = world.key(entity).unwrap();
            for &property in world.properties(class) {
                let mut turned: Vec<Symbol> = (0..4).map(|i| world.valid_descriptor(key, property, i)).collect();
                turned.sort_unstable();
                let listed: Vec<Symbol> =
                    allowed.iter().copied().filter(|&d| world.descriptor_of(d).unwrap().0 == property).collect();
                assert_eq!(turned, listed);
            }
            let partner = world.noun(class, (key as usize + 40) % 80);
            assert_eq!(world.allowed(partner), allowed, "keys that agree modulo 40 share their values");
        }
    }

    #[test]
    fn allowed_forbidden_and_foreign_split_the_descriptors() {
        let world = paper();
        let name = world.entity(Class(2), 85);
        assert_eq!(world.category(name), Category::Name);
        let sizes = [world.allowed(name).len(), world.forbidden(name).len(), world.foreign(name).len()];
        assert_eq!(sizes, [176, 44 * 36, 17_800 - 44 * 40]);
    }
}
