//! Withheld facts: pairs of an entity and a descriptor that Γ allows but a language never states, though it has both words.
//!
//! Entities with the same Γ would reveal each other's facts, so a fact is withheld for all of them. Every descriptor still
//! applies to some entity, and every entity still has a descriptor.

use crate::corpus::sentence::Sentence;
use crate::error::Result;
use crate::family::Node;
use crate::world::World;
use crate::world::symbol::{Symbol, Terminal};
use invitro_base::random::Rng;
use invitro_base::settings::require;
use std::collections::HashMap;

/// The withheld facts of a language.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Indexed by [`World::fact`]; empty if nothing is withheld.
    withheld: Vec<bool>,
    count: usize,
}

impl Facts {
    /// No facts.
    pub(crate) fn none() -> Facts {
        Facts { withheld: Vec::new(), count: 0 }
    }

    /// A random share of all facts: the node's `mask_share`.
    pub(crate) fn new(world: &World, node: &Node, rng: &mut Rng) -> Result<Facts> {
        // One entity represents all with the same Γ.
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
            // The numbers are rounded so that they work themselves.
            match wanted {
                0 => {
                    format!("a share that withholds a fact: at least {} here", (1e3 / facts.len() as f64).ceil() / 1e3)
                }
                _ => format!(
                    "a share that leaves every descriptor some entity and every entity some descriptor: at most {} here",
                    (1e3 * count as f64 / facts.len() as f64).floor() / 1e3
                ),
            },
        )?;
        Ok(Facts { withheld, count })
    }

    /// The number of withheld facts.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether the fact that a descriptor is true of an entity is withheld.
    #[inline]
    pub fn contains(&self, world: &World, entity: Symbol, descriptor: Symbol) -> bool {
        self.count > 0 && world.fact(entity, descriptor).is_some_and(|number| self.withheld[number])
    }

    /// The positions of descriptors that state a withheld fact about a subject of the same phrase.
    pub fn stated<'a>(&'a self, world: &'a World, sentence: &'a Sentence) -> impl Iterator<Item = usize> + 'a {
        let states = move |at: &usize| {
            let phrase = sentence.places[*at].phrase;
            let mut subjects = sentence.positions(Terminal::Subject).filter(|&s| sentence.places[s].phrase == phrase);
            subjects.any(|subject| self.contains(world, sentence.symbols[subject], sentence.symbols[*at]))
        };
        sentence.positions(Terminal::Descriptor).filter(move |at| self.count > 0 && states(at))
    }
}
