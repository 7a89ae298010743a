//! Words that a language has of the first one, after all changes: loans and false friends. Its descendants do not inherit them.
//!
//! A loan has the first language's stem and the borrower's affixes. A false friend is a word of the first
//! language, whole, that means another symbol of the same category; the friends of a category exchange their forms in a circle.
//! A form is unique within a language, but may mean another symbol in another. A masked word that is a loan still differs from all its other forms. A
//! masked word that is a false friend has, by definition, the form of another symbol in the first language.

use crate::error::{Error, Result};
use crate::family::Family;
use crate::lexicon::builder::{Builder, FamilyWords, Inventories};
use crate::lexicon::phonology::{Morphemes, Stem};
use crate::world::World;
use crate::world::mask::Mask;
use crate::world::symbol::{Category, Symbol};
use invitro_base::random::Stream;
use std::collections::HashSet;

/// Draws of a loan's affixes.
const TRIES: u64 = 40;

/// Which words are loans and false friends.
#[derive(Clone, Debug, Default)]
pub struct Contact {
    /// By node, the loans.
    loans: Vec<HashSet<Symbol>>,
    /// By node and symbol, the symbol whose form in the first language it has.
    friends: Vec<Vec<Option<Symbol>>>,
}

impl Contact {
    /// Whether a node's word is a loan.
    pub(crate) fn is_loan(&self, symbol: Symbol, node: usize) -> bool {
        self.loans.get(node).is_some_and(|loans| loans.contains(&symbol))
    }

    /// The symbol whose form in the first language is a word of another in this node.
    pub(crate) fn friend(&self, symbol: Symbol, node: usize) -> Option<Symbol> {
        *self.friends.get(node)?.get(symbol.index())?
    }

    /// Replaces words by loans and false friends.
    pub(crate) fn apply(
        world: &World,
        family: &Family,
        masks: &[Mask],
        builder: &Builder,
        inventories: &Inventories,
        words: &mut FamilyWords,
        seed: u64,
    ) -> Result<Contact> {
        let nodes = family.nodes();
        if nodes.iter().all(|node| node.loans == 0.0 && node.false_friends == 0.0) {
            return Ok(Contact::default());
        }
        let donor = (0..nodes.len()).find(|&node| nodes[node].language.is_some()).unwrap_or(0);
        let form = |parts: &Morphemes| parts.iter().map(Stem::as_str).collect::<String>();
        let mut contact =
            Contact { loans: vec![HashSet::new(); nodes.len()], friends: vec![vec![None; world.len()]; nodes.len()] };
        for (at, node) in nodes.iter().enumerate().filter(|(at, _)| *at != donor) {
            if node.false_friends > 0.0 && node.script != nodes[donor].script {
                return Err(Error::mismatch(format!(
                    "{} and {} have different scripts, so that no word of one is a word of the other: leave `false_friends` \
                     of {} at 0",
                    nodes[donor].name, node.name, node.name
                )));
            }
            let draws = |purpose: &str| Stream::new(seed, &format!("lexicon/{purpose}/{}", node.name));
            let mut free: Vec<Vec<Symbol>> = Vec::new();
            for category in Category::ALL.into_iter().filter(|category| category.is_compared()) {
                let mut symbols: Vec<Symbol> = world.of_category(category).collect();
                draws("friends").at(0, category as u64).shuffle(&mut symbols);
                let count = (node.false_friends * symbols.len() as f64).round() as usize;
                // One alone has nobody to exchange forms with.
                let count = if count == 1 { 2.min(symbols.len() / 2 * 2) } else { count };
                let rest = symbols.split_off(count);
                for (place, &symbol) in symbols.iter().enumerate() {
                    let friend = symbols[(place + 1) % symbols.len()];
                    words.morphemes[at][symbol.index()] = words.morphemes[donor][friend.index()];
                    words.stems[at][symbol.index()] = words.stems[donor][friend.index()];
                    contact.friends[at][symbol.index()] = Some(friend);
                }
                free.push(rest);
            }
            let mut own: HashSet<String> = words.morphemes[at].iter().map(form).collect();
            let others = (0..nodes.len()).filter(|&other| other != at).flat_map(|other| &words.morphemes[other]);
            let elsewhere: HashSet<String> = others.map(form).collect();
            for mut symbols in free {
                let Some(&first) = symbols.first() else { continue };
                let category = world.category(first);
                draws("loans").at(0, category as u64).shuffle(&mut symbols);
                let wanted = (node.loans * world.of_category(category).count() as f64).round() as usize;
                let mut left = wanted;
                for symbol in symbols {
                    if left == 0 {
                        break;
                    }
                    let i = symbol.index();
                    let stem = words.stems[donor][i];
                    let is_masked = masks.iter().any(|mask| mask.contains(symbol));
                    let before = form(&words.morphemes[at][i]);
                    let mut rng = draws("loans").at(1, symbol.0.into());
                    let mut candidates =
                        (0..TRIES).map(|_| builder.word(at, symbol, stem, inventories, [rng.unit(), rng.unit()]));
                    let own_elsewhere: Vec<String> = (0..nodes.len())
                        .filter(|&other| other != at)
                        .map(|other| form(&words.morphemes[other][i]))
                        .collect();
                    let fits = |word: &Morphemes| {
                        let form = form(word);
                        // A form of another language is one of this symbol, and of a masked one never.
                        let is_free = !elsewhere.contains(&form) || (!is_masked && own_elsewhere.contains(&form));
                        (form == before || !own.contains(&form)) && is_free
                    };
                    if let Some(word) = candidates.find(fits) {
                        own.remove(&before);
                        own.insert(form(&word));
                        words.morphemes[at][i] = word;
                        words.stems[at][i] = stem;
                        contact.loans[at].insert(symbol);
                        left -= 1;
                    }
                }
                if left > 0 {
                    return Err(Error::mismatch(format!(
                        "only {} of the {wanted} loans of {} among its words of the category {} can be had: ask for fewer \
                         loans or false friends, or for more affixes, which tell masked loans apart",
                        wanted - left,
                        node.name,
                        category.name()
                    )));
                }
            }
        }
        Ok(contact)
    }
}
