//! Descriptor frequencies: expected occurrences per sentence.
//!
//! Frequencies are exact within a class: subjects, properties and values are drawn uniformly, so a descriptor's frequency
//! is proportional to the number of entities that Γ allows it. The number of descriptors per class is estimated from a
//! fixed sample, pooled over the classes with relation verbs and over those without. Counting each word would give 0
//! for most words of a large world.

use crate::languages::Languages;
use crate::world::World;
use crate::world::symbol::{Class, Language, Symbol};
use invitro_base::random::Stream;

/// Sentences sampled to estimate the number of descriptors per class.
const PROBE: u64 = 20_000;

/// The descriptor frequencies of a language.
#[derive(Clone, Debug)]
pub struct Frequencies<'a> {
    world: &'a World,
    /// Descriptors per sentence and class, for classes without and with relation verbs.
    per_class: [f64; 2],
}

impl<'a> Frequencies<'a> {
    /// Frequencies in sentences as the process samples them, masked words included.
    pub fn new(languages: &'a Languages, language: Language) -> Frequencies<'a> {
        let world = &languages.world;
        let stream = Stream::new(languages.seed, "frequencies");
        let mut sampler = languages.sampler();
        let mut counts = [0u64; 2];
        for row in 0..PROBE {
            let sentence = sampler.sentence(language, &mut stream.at(0, row));
            let descriptors = sentence.symbols.iter().filter(|&&symbol| world.descriptor_of(symbol).is_some());
            descriptors.filter_map(|&symbol| world.class(symbol)).for_each(|class| counts[kind(world, class)] += 1);
        }
        let classes = |wanted: usize| world.classes().filter(|&class| kind(world, class) == wanted).count().max(1);
        let per_class = [0, 1].map(|kind| counts[kind] as f64 / (PROBE as f64 * classes(kind) as f64));
        Frequencies { world, per_class }
    }

    /// The expected occurrences of a descriptor per sentence; `None` for other words.
    pub fn per_sentence(&self, symbol: Symbol) -> Option<f64> {
        let world = self.world;
        world.descriptor_of(symbol)?;
        let class = world.class(symbol)?;
        let entities = world.entity_count(class);
        let allowed = (0..entities).filter(|&i| world.allows(world.entity(class, i), symbol)).count();
        let facts = entities * world.properties(class).len() * world.valid_count();
        Some(self.per_class[kind(world, class)] * allowed as f64 / facts as f64)
    }
}

/// 1 if the class has relation verbs, else 0.
fn kind(world: &World, class: Class) -> usize {
    usize::from(!world.relations(class).is_empty())
}
