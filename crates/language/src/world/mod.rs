//! The world that all languages describe: classes, their entities, their properties, and relations between them.
//!
//! Symbols are numbered by category: nouns, names, descriptors, relation verbs, adjectives, adverbs, then the function
//! words. The ontology Γ is in `gamma.rs`.
//!
//! The paper's world has 10 classes, 800 nouns, 100 names, 445 descriptive properties of 40 values, 100 relations.

pub(crate) mod assign;
pub(crate) mod facts;
pub(crate) mod gamma;
pub(crate) mod mask;
pub(crate) mod symbol;

use crate::world::assign::{assign, assign_properties, valid_values};
use crate::world::symbol::{Category, Class, Property, Symbol};
use invitro_base::random::Stream;
use invitro_base::settings::LanguageConfig;

/// A symbol's category, class and number. `owner` is the class of an entity, the owner of a descriptor's property, or a
/// relation's subject class; `major` and `minor` number the symbol within its category.
#[derive(Clone, Copy, Debug)]
struct SymbolEntry {
    category: Category,
    owner: u16,
    major: u16,
    minor: u16,
}

/// Classes, properties, entities, relations and Γ.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) config: LanguageConfig,
    entries: Vec<SymbolEntry>,
    /// The first symbol of each category.
    first: [u32; Category::ALL.len()],
    /// The number of values of a property that Γ allows an entity.
    pub(crate) valid: usize,
    /// Per class, the properties it owns, in rising order.
    properties: Vec<Vec<Property>>,
    /// Per subject class, its relation verbs.
    relations: Vec<Vec<Symbol>>,
    /// Per property, the values valid for the entity with key 0, in rising order, `valid` of them each.
    pub(crate) base_values: Vec<u16>,
    /// The same as a table: property × value.
    pub(crate) base_table: Vec<bool>,
    /// Per class, the rotation after which the sets of all its properties repeat: the number of values, except in tiny
    /// worlds. Entities whose keys agree modulo it have the same Γ.
    pub(crate) period: Vec<usize>,
}

impl World {
    /// Builds the world of a validated config. `separator`: whether the world has a word that joins phrases.
    pub(crate) fn new(config: &LanguageConfig, separator: bool, seed: u64) -> World {
        let subjects = config.subject_classes();
        let property_class = assign_properties(config, seed);
        let mut properties = vec![Vec::new(); config.classes];
        for (p, class) in property_class.iter().enumerate() {
            properties[class.0 as usize].push(Property(p as u16));
        }
        let relation_class = assign(config.relations, subjects, &mut Stream::new(seed, "world/relations").at(0, 0));

        let mut entries = Vec::new();
        let mut push = |category, owner: usize, major: usize, minor: usize| {
            entries.push(SymbolEntry { category, owner: owner as u16, major: major as u16, minor: minor as u16 });
            Symbol(entries.len() as u32 - 1)
        };
        for class in 0..config.classes {
            for key in 0..config.nouns() {
                push(Category::Noun, class, class, key);
            }
        }
        for class in 0..subjects {
            for key in 0..config.names {
                push(Category::Name, class, class, key);
            }
        }
        for (property, class) in property_class.iter().enumerate() {
            for value in 0..config.values {
                push(Category::Descriptor, class.0 as usize, property, value);
            }
        }
        let mut relations = vec![Vec::new(); subjects];
        for (verb, &class) in relation_class.iter().enumerate() {
            relations[class].push(push(Category::Relation, class, verb, 0));
        }
        for i in 0..config.adjectives {
            push(Category::Adjective, 0, i, 0);
        }
        for i in 0..config.adverbs {
            push(Category::Adverb, 0, i, 0);
        }
        for category in [Category::Copula, Category::Preposition, Category::Conjunction] {
            push(category, 0, 0, 0);
        }
        if separator {
            push(Category::Separator, 0, 0, 0);
        }

        let first = Category::ALL.map(|category| entries.partition_point(|entry| entry.category < category) as u32);
        let (base_values, base_table) = valid_values(config, seed);
        let rows: Vec<&[bool]> = base_table.chunks(config.values).collect();
        let repeats = |row: &[bool], turn: usize| (0..row.len()).all(|v| row[v] == row[(v + turn) % row.len()]);
        let period = |own: &Vec<Property>| {
            let all_repeat = |&turn: &usize| own.iter().all(|property| repeats(rows[property.0 as usize], turn));
            (1..config.values).find(all_repeat).unwrap_or(config.values)
        };
        let period = properties.iter().map(period).collect();
        let (config, valid) = (config.clone(), config.valid_values());
        World { config, entries, first, valid, properties, relations, base_values, base_table, period }
    }

    /// The number of symbols.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Every symbol.
    pub fn symbols(&self) -> impl DoubleEndedIterator<Item = Symbol> + ExactSizeIterator + use<> {
        (0..self.entries.len() as u32).map(Symbol)
    }

    /// The symbols of a category.
    pub fn of_category(&self, category: Category) -> impl ExactSizeIterator<Item = Symbol> + use<> {
        let end = self.first.get(category as usize + 1).copied().unwrap_or(self.len() as u32);
        (self.first[category as usize]..end).map(Symbol)
    }

    /// A symbol's category.
    #[inline]
    pub fn category(&self, symbol: Symbol) -> Category {
        self.entries[symbol.index()].category
    }

    /// An entity's class, the class that owns a descriptor's property, or a relation verb's subject class.
    #[inline]
    pub fn class(&self, symbol: Symbol) -> Option<Class> {
        let entry = &self.entries[symbol.index()];
        ((entry.category as u8) <= Category::Relation as u8).then_some(Class(entry.owner))
    }

    /// A descriptor's property and value.
    #[inline]
    pub fn descriptor_of(&self, symbol: Symbol) -> Option<(Property, u16)> {
        let entry = &self.entries[symbol.index()];
        (entry.category == Category::Descriptor).then_some((Property(entry.major), entry.minor))
    }

    /// An entity's number within its class; nouns and names are numbered separately.
    #[inline]
    pub fn key(&self, symbol: Symbol) -> Option<u16> {
        let entry = &self.entries[symbol.index()];
        entry.category.is_entity().then_some(entry.minor)
    }

    /// Every class.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = Class> + use<> {
        (0..self.config.classes as u16).map(Class)
    }

    /// The number of classes that contain subjects of relations.
    pub fn subject_class_count(&self) -> usize {
        self.config.subject_classes()
    }

    /// The class of the objects of a subject class's relations: c + 5 in the paper's world.
    #[inline]
    pub fn object_class(&self, subject: Class) -> Class {
        Class(subject.0 + self.subject_class_count() as u16)
    }

    /// The number of descriptive properties.
    pub fn property_count(&self) -> usize {
        self.config.descriptive()
    }

    /// The number of values of a property that Γ allows each entity.
    pub fn valid_count(&self) -> usize {
        self.valid
    }

    /// The properties that a class owns.
    #[inline]
    pub fn properties(&self, class: Class) -> &[Property] {
        &self.properties[class.0 as usize]
    }

    /// The relation verbs of a subject class; none for an object class.
    #[inline]
    pub fn relations(&self, class: Class) -> &[Symbol] {
        self.relations.get(class.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// A noun by its class and key.
    #[inline]
    pub fn noun(&self, class: Class, key: usize) -> Symbol {
        debug_assert!(key < self.noun_count());
        Symbol((class.0 as usize * self.noun_count() + key) as u32)
    }

    /// The number of nouns of a class.
    #[inline]
    pub fn noun_count(&self) -> usize {
        self.config.nouns()
    }

    /// The number of entities of a class: nouns and names.
    #[inline]
    pub fn entity_count(&self, class: Class) -> usize {
        if (class.0 as usize) < self.subject_class_count() { self.config.entities } else { self.noun_count() }
    }

    /// The i-th entity of a class: its nouns, then its names.
    #[inline]
    pub fn entity(&self, class: Class, i: usize) -> Symbol {
        match i.checked_sub(self.noun_count()) {
            None => self.noun(class, i),
            Some(name) => self.nth(Category::Name, class.0 as usize * self.config.names + name),
        }
    }

    /// All entities: nouns and names of every class.
    pub fn entities(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.first[Category::Descriptor as usize]).map(Symbol)
    }

    /// All descriptors: every value of every property.
    pub fn descriptors(&self) -> impl ExactSizeIterator<Item = Symbol> + use<> {
        self.of_category(Category::Descriptor)
    }

    /// A descriptor by its property and value.
    #[inline]
    pub fn descriptor(&self, property: Property, value: usize) -> Symbol {
        self.nth(Category::Descriptor, property.0 as usize * self.config.values + value)
    }

    #[inline]
    fn nth(&self, category: Category, i: usize) -> Symbol {
        Symbol(self.first[category as usize] + i as u32)
    }

    /// An adjective by its number.
    #[inline]
    pub fn adjective(&self, i: usize) -> Symbol {
        self.nth(Category::Adjective, i)
    }

    /// An adverb by its number.
    #[inline]
    pub fn adverb(&self, i: usize) -> Symbol {
        self.nth(Category::Adverb, i)
    }

    /// The copula.
    #[inline]
    pub fn copula(&self) -> Symbol {
        self.nth(Category::Copula, 0)
    }

    /// The preposition.
    #[inline]
    pub fn preposition(&self) -> Symbol {
        self.nth(Category::Preposition, 0)
    }

    /// The conjunction.
    #[inline]
    pub fn conjunction(&self) -> Symbol {
        self.nth(Category::Conjunction, 0)
    }

    /// The word between phrases, if a grammar joins phrases.
    #[inline]
    pub fn separator(&self) -> Option<Symbol> {
        self.of_category(Category::Separator).next()
    }

    /// Type rule: a descriptor fits entities whose class owns its property; a relation verb fits its subject class.
    #[inline]
    pub fn fits(&self, predicate: Symbol, subject: Symbol) -> bool {
        self.entries[predicate.index()].owner == self.entries[subject.index()].owner
    }

    /// Type rule: a relation verb fits objects of its object class, and objects are nouns.
    #[inline]
    pub fn fits_object(&self, relation: Symbol, entity: Symbol) -> bool {
        let object = self.entries[entity.index()];
        let class = self.object_class(Class(self.entries[relation.index()].owner));
        object.category == Category::Noun && object.owner == class.0
    }

    /// Type rule: adjectives modify nouns and descriptors, adverbs modify relation verbs.
    #[inline]
    pub fn modifies(&self, modifier: Category, head: Category) -> bool {
        match modifier {
            Category::Adjective => matches!(head, Category::Noun | Category::Descriptor),
            Category::Adverb => head == Category::Relation,
            _ => false,
        }
    }

    /// A symbol's name in exports: `noun.3.17` is noun 17 of class 3, `desc.120.7` value 7 of property 120.
    pub fn label(&self, symbol: Symbol) -> String {
        let entry = &self.entries[symbol.index()];
        match entry.category {
            Category::Noun => format!("noun.{}.{}", entry.owner, entry.minor),
            Category::Name => format!("name.{}.{}", entry.owner, entry.minor),
            Category::Descriptor => format!("desc.{}.{}", entry.major, entry.minor),
            Category::Relation => format!("rel.{}", entry.major),
            Category::Adjective => format!("adj.{}", entry.major),
            Category::Adverb => format!("adv.{}", entry.major),
            function => function.name().to_owned(),
        }
    }
}
