//! The rule that a form that is masked in one language occurs in no other: else training would show the string.

use crate::family::Family;
use crate::world::mask::Mask;
use crate::world::symbol::Symbol;
use invitro_base::settings::LanguageConfig;

/// The rule. Clones, which are equal by design, are exempt.
pub struct DistinctForms<'a> {
    masks: &'a [Mask],
    /// By two nodes, whether their forms can differ.
    can_differ: Vec<Vec<bool>>,
}

impl<'a> DistinctForms<'a> {
    pub fn new(family: &Family, masks: &'a [Mask], config: &LanguageConfig) -> DistinctForms<'a> {
        let count = family.nodes().len();
        let can_differ = |one: usize, other: usize| {
            let [of_one, of_other] = [one, other].map(|node| family.nodes()[node].morphology);
            of_one != of_other || config.words_of_a_stem_vary(of_one) || !family.have_equal_stems(one, other)
        };
        let can_differ = (0..count).map(|one| (0..count).map(|other| can_differ(one, other)).collect()).collect();
        DistinctForms { masks, can_differ }
    }

    /// Whether the symbol is masked in one of the nodes.
    pub(super) fn is_masked(&self, symbol: Symbol, nodes: &[usize]) -> bool {
        nodes.iter().any(|&node| self.masks[node].contains(symbol))
    }

    /// Whether two nodes may have these forms.
    pub(super) fn allows(&self, symbol: Symbol, (one, form): (usize, &str), (other, another): (usize, &str)) -> bool {
        form != another || !self.is_masked(symbol, &[one, other]) || !self.can_differ[one][other]
    }
}
