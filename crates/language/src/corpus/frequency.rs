//! How often a descriptor is said: its expected occurrences in a sentence.
//!
//! Within a class they are exact: subjects, properties and values are drawn uniformly, so that a descriptor is said in
//! proportion to the entities that Γ allows it. How many descriptors are said of a class follows from the grammar and is
//! taken from a fixed sample, over all classes that have relation verbs together and over all that have none, since
//! these are alike. A count of the word itself would be 0 for most words of a large world.

use crate::languages::Languages;
use crate::world::World;
use crate::world::symbol::{Class, Language, Symbol};
use invitro_base::random::Stream;

/// Sentences drawn to see how many descriptors are said of a class.
const PROBE: u64 = 20_000;

/// The frequencies of descriptors in a language.
#[derive(Clone, Debug)]
pub struct Frequencies<'a> {
    world: &'a World,
    /// Descriptors said of one class in a sentence: of one without relation verbs, and of one with them.
    said: [f64; 2],
}

impl<'a> Frequencies<'a> {
    /// In sentences of a language as the process makes them, masked words included.
    pub fn new(languages: &'a Languages, language: Language) -> Frequencies<'a> {
        let world = &languages.world;
        let stream = Stream::new(languages.seed, "frequencies");
        let mut sampler = languages.sampler();
        let mut counts = [0u64; 2];
        for row in 0..PROBE {
            let sentence = sampler.sentence(language, &mut stream.at(0, row));
            let said = sentence.symbols.iter().filter(|&&symbol| world.descriptor_of(symbol).is_some());
            said.filter_map(|&symbol| world.class(symbol)).for_each(|class| counts[kind(world, class)] += 1);
        }
        let classes = |of: usize| world.classes().filter(|&class| kind(world, class) == of).count().max(1);
        let said = [0, 1].map(|kind| counts[kind] as f64 / (PROBE as f64 * classes(kind) as f64));
        Frequencies { world, said }
    }

    /// How often a descriptor is expected in a sentence; `None` for other words.
    pub fn of(&self, symbol: Symbol) -> Option<f64> {
        let world = self.world;
        world.descriptor_of(symbol)?;
        let class = world.class(symbol)?;
        let entities = world.entity_count(class);
        let allowed = (0..entities).filter(|&i| world.allows(world.entity(class, i), symbol)).count();
        let facts = entities * world.properties(class).len() * world.valid_count();
        Some(self.said[kind(world, class)] * allowed as f64 / facts as f64)
    }
}

/// 1 where a class has relation verbs, else 0.
fn kind(world: &World, class: Class) -> usize {
    usize::from(!world.relations(class).is_empty())
}
