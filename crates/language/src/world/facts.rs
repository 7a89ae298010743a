//! Withheld facts: pairs of an entity and a descriptor that Γ allows, never stated in a language though both words occur
//! there.
//!
//! Entities of one Γ would give each other's facts away, so a fact is withheld of all of them. Every descriptor is still
//! said of some entity, and of every entity still something.

use crate::corpus::sentence::Sentence;
use crate::error::Result;
use crate::family::Node;
use crate::world::World;
use crate::world::symbol::{Symbol, Terminal};
use invitro_base::random::Rng;
use invitro_base::settings::require;
use std::collections::HashMap;

/// The withheld facts of a language, perhaps none.
#[derive(Clone, Debug)]
pub struct Facts {
    /// By the number that [`World::fact`] gives; empty where nothing is withheld.
    withheld: Vec<bool>,
    count: usize,
}

impl Facts {
    /// None at all.
    pub(crate) fn none() -> Facts {
        Facts { withheld: Vec::new(), count: 0 }
    }

    /// The node's `mask_share` of all facts, by chance.
    pub(crate) fn new(world: &World, node: &Node, rng: &mut Rng) -> Result<Facts> {
        // One entity of every Γ stands for all of them.
        let mut facts: Vec<(usize, Symbol, Symbol)> = Vec::new();
        let mut known = vec![false; world.fact_count()];
        for entity in world.entities().filter(|&e| world.key(e).is_some_and(|key| (key as usize) < world.config.values))
        {
            for descriptor in world.allowed(entity) {
                let number = world.fact(entity, descriptor).expect("Γ allows it");
                if !std::mem::replace(&mut known[number], true) {
                    facts.push((number, entity, descriptor));
                }
            }
        }
        let mut stated_of: HashMap<Symbol, usize> = HashMap::new();
        for &(_, entity, descriptor) in &facts {
            *stated_of.entry(entity).or_default() += 1;
            *stated_of.entry(descriptor).or_default() += 1;
        }
        let wanted = (node.mask_share * facts.len() as f64).round() as usize;
        rng.shuffle(&mut facts);
        let (mut withheld, mut count) = (vec![false; world.fact_count()], 0);
        for &(number, entity, descriptor) in &facts {
            if count < wanted && stated_of[&entity] > 1 && stated_of[&descriptor] > 1 {
                withheld[number] = true;
                count += 1;
                for symbol in [entity, descriptor] {
                    stated_of.entry(symbol).and_modify(|left| *left -= 1);
                }
            }
        }
        require(
            wanted > 0 && count == wanted,
            node.mask_key(),
            format!("{} ({wanted} of {} facts)", node.mask_share, facts.len()),
            format!(
                "a share that leaves every descriptor some entity and every entity some descriptor: at most {:.3} here",
                count as f64 / facts.len() as f64
            ),
        )?;
        Ok(Facts { withheld, count })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether it is withheld that a descriptor is true of an entity.
    #[inline]
    pub fn contains(&self, world: &World, entity: Symbol, descriptor: Symbol) -> bool {
        self.count > 0 && world.fact(entity, descriptor).is_some_and(|number| self.withheld[number])
    }

    /// The places of the descriptors by which a sentence states one of them: a subject of which it is withheld stands in
    /// the same phrase.
    pub fn stated<'a>(&'a self, world: &'a World, sentence: &'a Sentence) -> impl Iterator<Item = usize> + 'a {
        let states = move |at: &usize| {
            let phrase = sentence.places[*at].phrase;
            let mut subjects = sentence.positions(Terminal::Subject).filter(|&s| sentence.places[s].phrase == phrase);
            subjects.any(|subject| self.contains(world, sentence.symbols[subject], sentence.symbols[*at]))
        };
        sentence.positions(Terminal::Descriptor).filter(move |at| self.count > 0 && states(at))
    }
}
