//! The words of a family in which some language changes by sound laws.
//!
//! Laws have no exceptions, so a word cannot be changed alone where two become homophones, or where a masked word would have
//! the form it has elsewhere. Instead the proto-stem is drawn anew before the laws apply, in all languages at once.

use crate::error::Result;
use crate::family::Change;
use crate::lexicon::builder::{AFFIX_TRIES, Builder, FamilyWords, Inventories, Stems, TRIES};
use crate::lexicon::distinct::DistinctForms;
use crate::lexicon::history::laws::drawn::is_word;
use crate::lexicon::phonology::{Morphemes, Stem};
use crate::world::symbol::{Category, Symbol};
use std::collections::{HashMap, HashSet};

impl Builder<'_> {
    /// The words of every node. No two symbols have one form, in any language, nor one
    /// stem where laws made it.
    pub fn regular_words(
        &self,
        drawn: &Stems,
        inventories: &Inventories,
        distinct: &DistinctForms,
    ) -> Result<FamilyWords> {
        let root = self.family.nodes().len();
        let form = |parts: &Morphemes| parts.each_ref().map(Stem::as_str).concat().into_boxed_str();
        let mut owner: HashMap<Box<str>, Symbol> = HashMap::with_capacity(root * self.world.len());
        let mut taken: Vec<HashSet<Stem>> = vec![HashSet::new(); root];
        let mut words: Vec<Vec<Morphemes>> = vec![Vec::with_capacity(self.world.len()); root];
        let mut all_stems: Vec<Vec<Stem>> = vec![Vec::with_capacity(self.world.len()); root + 1];
        let empty = Stem::new(b"");
        for symbol in self.world.symbols() {
            let mut attempt = 0;
            let (stems, own, forms) = loop {
                if attempt == TRIES {
                    return Err(self.exhausted(symbol));
                }
                let of_stem = if attempt < AFFIX_TRIES { drawn.attempts[symbol.index()] } else { TRIES + attempt };
                let proto = self.proto(symbol, &mut self.proto_draws.at(of_stem, symbol.0.into()));
                let stems = self.tree_stems(symbol, of_stem, proto, drawn).filter(|stems| {
                    (0..root).all(|node| drawn.laws[node].is_none() || !taken[node].contains(&stems[node]))
                });
                let Some(stems) = stems else {
                    attempt = AFFIX_TRIES.max(attempt + 1);
                    continue;
                };
                let mut own = vec![[empty; 3]; root];
                for (at, branch) in self.family.branches().iter().enumerate() {
                    let of_branch: Vec<Stem> = branch.nodes.iter().map(|&node| stems[node]).collect();
                    let morphemes = self.morphemes(at, symbol, &of_branch, inventories, attempt);
                    branch.nodes.iter().zip(morphemes).for_each(|(&node, parts)| own[node] = parts);
                }
                let forms: Vec<Box<str>> = own.iter().map(form).collect();
                let is_free = |form: &str| owner.get(form).is_none_or(|&other| other == symbol);
                let differs = |one: usize| {
                    (0..one).all(|other| distinct.allows(symbol, (one, &forms[one]), (other, &forms[other])))
                };
                if (0..root).all(|node| is_free(&forms[node]) && differs(node)) {
                    taken.iter_mut().zip(&stems).for_each(|(taken, &stem)| _ = taken.insert(stem));
                    break ([&stems[..], &[proto]].concat(), own, forms);
                }
                attempt += 1;
            };
            all_stems.iter_mut().zip(stems).for_each(|(all, stem)| all.push(stem));
            (0..root).for_each(|node| words[node].push(own[node]));
            owner.extend(forms.into_iter().map(|form| (form, symbol)));
        }
        Ok(FamilyWords { morphemes: words, stems: all_stems })
    }

    /// A symbol's stem in every node; `None` if laws made something else than a word.
    fn tree_stems(&self, symbol: Symbol, attempt: u64, proto: Stem, drawn: &Stems) -> Option<Vec<Stem>> {
        let nodes = self.family.nodes();
        let mut stems = vec![proto; nodes.len()];
        for (at, branch) in self.family.branches().iter().enumerate() {
            let from = branch.parent.map_or(proto, |parent| stems[parent]);
            if !nodes[branch.nodes[0]].change.is_regular() {
                let own = self.branch_stems(at, symbol, attempt, from, &drawn.rates);
                branch.nodes.iter().zip(own).for_each(|(&node, stem)| stems[node] = stem);
                continue;
            }
            for &node in &branch.nodes {
                let after = self.after_laws(symbol, from, drawn.laws[node].as_ref()?)?;
                let may_be_any =
                    matches!(nodes[node].change, Change::Laws(_)) || self.world.category(symbol) == Category::Name;
                if !may_be_any && !is_word(after.letters()) {
                    return None;
                }
                stems[node] = after;
            }
        }
        Some(stems)
    }
}
