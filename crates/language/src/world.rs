//! The world both languages speak of: classes, their entities, the properties they own, the relations between them.
//!
//! Symbols are numbered in one run by category: nouns, names, descriptors, relation verbs, adjectives, adverbs, then
//! the function words. The ontology Γ, which values of a property fit which entity, is in [`crate::gamma`].
//!
//! The paper's world has 10 classes, 800 nouns, 100 names, 445 descriptive properties of 40 values, 100 relations.

use crate::config::LanguageConfig;
use crate::deal::{deal, deal_properties, valid_values};
use crate::stream::Stream;
use crate::symbol::{Category, Class, Property, Symbol};

/// What is known of one symbol. `owner` is its class (entities: their own; descriptors: the property's owner;
/// relations: the subject class), `major` and `minor` number it within its category.
#[derive(Clone, Copy, Debug)]
struct Entry {
    category: Category,
    owner: u16,
    major: u16,
    minor: u16,
}

/// Classes, properties, entities, relations and Γ.
#[derive(Clone, Debug)]
pub struct World {
    entries: Vec<Entry>,
    classes: usize,
    nouns: usize,
    names: usize,
    pub(crate) values: usize,
    pub(crate) valid: usize,
    adjectives: usize,
    adverbs: usize,
    /// Per class, the properties it owns, in rising order.
    properties: Vec<Vec<Property>>,
    property_class: Vec<Class>,
    /// Per subject class, its relation verbs.
    relations: Vec<Vec<Symbol>>,
    first_name: u32,
    first_descriptor: u32,
    first_relation: u32,
    first_adjective: u32,
    first_adverb: u32,
    copula: Symbol,
    separator: bool,
    /// Per property, the values valid for the entity with key 0, in rising order, `valid` of them each.
    pub(crate) base_values: Vec<u16>,
    /// The same as a table: property × value.
    pub(crate) base_table: Vec<bool>,
}

impl World {
    /// Builds the world of a validated config. `separator` says whether the grammar can join phrases, and the world
    /// so needs a word for it.
    pub(crate) fn new(config: &LanguageConfig, separator: bool, seed: u64) -> World {
        let subjects = config.subject_classes();
        let property_class = deal_properties(config, seed);
        let mut properties = vec![Vec::new(); config.classes];
        for (p, class) in property_class.iter().enumerate() {
            properties[class.0 as usize].push(Property(p as u16));
        }
        let relation_class = deal(config.relations, subjects, &mut Stream::new(seed, "world/relations").at(0, 0));

        let mut entries = Vec::new();
        let mut push = |category, owner: usize, major: usize, minor: usize| {
            entries.push(Entry { category, owner: owner as u16, major: major as u16, minor: minor as u16 });
            entries.len() as u32
        };
        let mut end = 0;
        for class in 0..config.classes {
            for key in 0..config.nouns() {
                end = push(Category::Noun, class, class, key);
            }
        }
        let first_name = end;
        for class in 0..subjects {
            for key in 0..config.names {
                end = push(Category::Name, class, class, key);
            }
        }
        let first_descriptor = end;
        for (property, class) in property_class.iter().enumerate() {
            for value in 0..config.values {
                end = push(Category::Descriptor, class.0 as usize, property, value);
            }
        }
        let first_relation = end;
        let mut relations = vec![Vec::new(); subjects];
        for (verb, &class) in relation_class.iter().enumerate() {
            relations[class].push(Symbol(end));
            end = push(Category::Relation, class, verb, 0);
        }
        let first_adjective = end;
        for i in 0..config.adjectives {
            end = push(Category::Adjective, 0, i, 0);
        }
        let first_adverb = end;
        for i in 0..config.adverbs {
            end = push(Category::Adverb, 0, i, 0);
        }
        let copula = Symbol(end);
        for category in [Category::Copula, Category::Preposition, Category::Conjunction] {
            push(category, 0, 0, 0);
        }
        if separator {
            push(Category::Separator, 0, 0, 0);
        }

        let (base_values, base_table) = valid_values(config, seed);
        World {
            entries,
            classes: config.classes,
            nouns: config.nouns(),
            names: config.names,
            values: config.values,
            valid: config.valid_values(),
            adjectives: config.adjectives,
            adverbs: config.adverbs,
            properties,
            property_class,
            relations,
            first_name,
            first_descriptor,
            first_relation,
            first_adjective,
            first_adverb,
            copula,
            separator,
            base_values,
            base_table,
        }
    }

    /// How many symbols there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn symbols(&self) -> impl DoubleEndedIterator<Item = Symbol> + ExactSizeIterator + use<> {
        (0..self.entries.len() as u32).map(Symbol)
    }

    pub fn of_category(&self, category: Category) -> impl Iterator<Item = Symbol> + '_ {
        self.symbols().filter(move |&s| self.category(s) == category)
    }

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

    /// An entity's number within its class; nouns and names are counted apart.
    #[inline]
    pub fn key(&self, symbol: Symbol) -> Option<u16> {
        let entry = &self.entries[symbol.index()];
        entry.category.is_entity().then_some(entry.minor)
    }

    pub fn classes(&self) -> impl ExactSizeIterator<Item = Class> + use<> {
        (0..self.classes as u16).map(Class)
    }

    pub fn class_count(&self) -> usize {
        self.classes
    }

    pub fn subject_class_count(&self) -> usize {
        self.classes / 2
    }

    /// The class of the objects of a subject class's relations: c + 5 in the paper's world.
    #[inline]
    pub fn object_class(&self, subject: Class) -> Class {
        Class(subject.0 + (self.classes / 2) as u16)
    }

    pub fn property_count(&self) -> usize {
        self.property_class.len()
    }

    pub fn value_count(&self) -> usize {
        self.values
    }

    /// How many values of a property Γ allows each entity.
    pub fn valid_count(&self) -> usize {
        self.valid
    }

    #[inline]
    pub fn properties(&self, class: Class) -> &[Property] {
        &self.properties[class.0 as usize]
    }

    pub fn property_class(&self, property: Property) -> Class {
        self.property_class[property.0 as usize]
    }

    /// The relation verbs of a subject class; none for an object class.
    #[inline]
    pub fn relations(&self, class: Class) -> &[Symbol] {
        self.relations.get(class.0 as usize).map_or(&[], Vec::as_slice)
    }

    #[inline]
    pub fn noun(&self, class: Class, key: usize) -> Symbol {
        debug_assert!(key < self.nouns);
        Symbol((class.0 as usize * self.nouns + key) as u32)
    }

    pub fn noun_count(&self) -> usize {
        self.nouns
    }

    /// How many entities a class has, nouns and names together.
    #[inline]
    pub fn entity_count(&self, class: Class) -> usize {
        if (class.0 as usize) < self.classes / 2 { self.nouns + self.names } else { self.nouns }
    }

    /// The i-th entity of a class: its nouns, then its names.
    #[inline]
    pub fn entity(&self, class: Class, i: usize) -> Symbol {
        if i < self.nouns {
            return self.noun(class, i);
        }
        Symbol(self.first_name + (class.0 as usize * self.names + i - self.nouns) as u32)
    }

    /// All entities: nouns and names of every class.
    pub fn entities(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.first_descriptor).map(Symbol)
    }

    /// All descriptors: every value of every property.
    pub fn descriptors(&self) -> impl ExactSizeIterator<Item = Symbol> + use<> {
        (self.first_descriptor..self.first_relation).map(Symbol)
    }

    #[inline]
    pub fn descriptor(&self, property: Property, value: usize) -> Symbol {
        Symbol(self.first_descriptor + (property.0 as usize * self.values + value) as u32)
    }

    pub fn adjective_count(&self) -> usize {
        self.adjectives
    }

    pub fn adverb_count(&self) -> usize {
        self.adverbs
    }

    #[inline]
    pub fn adjective(&self, i: usize) -> Symbol {
        Symbol(self.first_adjective + i as u32)
    }

    #[inline]
    pub fn adverb(&self, i: usize) -> Symbol {
        Symbol(self.first_adverb + i as u32)
    }

    #[inline]
    pub fn copula(&self) -> Symbol {
        self.copula
    }

    #[inline]
    pub fn preposition(&self) -> Symbol {
        Symbol(self.copula.0 + 1)
    }

    #[inline]
    pub fn conjunction(&self) -> Symbol {
        Symbol(self.copula.0 + 2)
    }

    /// The word between phrases, in a world whose grammar joins them.
    #[inline]
    pub fn separator(&self) -> Option<Symbol> {
        self.separator.then_some(Symbol(self.copula.0 + 3))
    }

    /// Type rule: a descriptor fits an entity whose class owns its property.
    #[inline]
    pub fn fits(&self, descriptor: Symbol, entity: Symbol) -> bool {
        self.entries[descriptor.index()].owner == self.entries[entity.index()].owner
    }

    /// Type rule: a relation verb fits subjects of its subject class.
    #[inline]
    pub fn fits_subject(&self, relation: Symbol, entity: Symbol) -> bool {
        self.entries[relation.index()].owner == self.entries[entity.index()].owner
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
