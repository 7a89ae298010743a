//! The distances of masked words: calibrated by themselves where drawing them anew would move them, and measured.

use crate::family::Branch;
use crate::lexicon::builder::{AFFIX_TRIES, Builder, Inventories, Stems, TRIES, core_of};
use crate::lexicon::calibration::{calibrate_within, measure};
use crate::lexicon::distinct::DistinctForms;
use crate::lexicon::history::drift::DriftRate;
use crate::lexicon::phonology::Stem;
use crate::world::symbol::Symbol;
use invitro_base::settings::Morphology;

/// How far stems may be from the distance asked for because some were drawn anew.
pub(super) const TOLERANCE: f64 = 0.02;

/// Masked stems of two languages that are not at the distance asked for.
pub struct MovedStems {
    pub names: String,
    /// What was asked, or what they were before masked words were drawn again.
    pub asked: f64,
    pub measured: f64,
    /// Whether laws made them.
    pub is_regular: bool,
}

impl Builder<'_> {
    /// Calibrates the masked words of a root pair by themselves, where no affix can make them differ: those with equal
    /// stems are redrawn, so that at the others' rate they would be further apart than asked.
    pub fn calibrate_masked(&self, drawn: &mut Stems, inventories: &Inventories, distinct: &DistinctForms) {
        let (root, branches) = (self.family.nodes().len(), self.family.branches());
        for (at, branch) in branches.iter().enumerate().filter(|(_, branch)| branch.is_root_pair()) {
            let masked = self.masked(branch, distinct);
            let stems_at = |symbol: Symbol, attempt: u64, rate: DriftRate| {
                let from = match attempt < TRIES {
                    true => drawn.stems[root][symbol.index()],
                    false => self.proto(symbol, &mut self.proto_draws.at(attempt, symbol.0.into())),
                };
                self.branch_stems(at, symbol, attempt, from, &vec![rate; root])
            };
            let core = core_of(self.family);
            // An ending that differs tells words of one stem apart; an affix that happens to, not always.
            let is_fusional = branch.nodes.iter().all(|&n| self.family.nodes()[n].morphology == Morphology::Fusional);
            let are_equal = |symbol: Symbol, own: &[Stem]| {
                own[0] == own[1]
                    && (!is_fusional || {
                        let words = self.morphemes(at, symbol, own, inventories, 0);
                        words[0] == words[1]
                    })
            };
            // The attempts of `words`.
            let pair = |i: usize, rate| {
                let redraws = TRIES + AFFIX_TRIES..2 * TRIES;
                let attempts = std::iter::once(drawn.attempts[masked[i].index()]).chain(redraws);
                let mut pairs = attempts.map(|attempt| stems_at(masked[i], attempt, rate)).peekable();
                let first = pairs.peek().expect("there is an attempt").clone();
                let own = pairs.find(|own| !are_equal(masked[i], own)).unwrap_or(first);
                (core(own[0]), core(own[1]))
            };
            // Below a quarter of the others' rate nearly all stems are equal, and redrawn.
            let most = drawn.rates[branch.nodes[0]].edits + drawn.rates[branch.nodes[0]].replaced;
            let rate = calibrate_within(most / 4.0..most, masked.len(), branch.distance, pair);
            let own: Vec<Vec<Stem>> = masked.iter().map(|&s| stems_at(s, drawn.attempts[s.index()], rate)).collect();
            for (k, &node) in branch.nodes.iter().enumerate() {
                drawn.masked_rates[node] = rate;
                for (symbol, own) in masked.iter().zip(&own) {
                    drawn.stems[node][symbol.index()] = own[k];
                }
            }
        }
    }

    /// The symbols that count for distances and are masked in a node of the branch.
    fn masked(&self, branch: &Branch, distinct: &DistinctForms) -> Vec<Symbol> {
        let counts = |s: &Symbol| self.world.category(*s).is_compared() && distinct.is_masked(*s, &branch.nodes);
        self.world.symbols().filter(counts).collect()
    }

    /// How far redrawing has moved the masked stems of some branch: its nodes, the distance as drawn, and as in `words`.
    pub fn moved_masked(&self, drawn: &Stems, stems: &[Vec<Stem>], distinct: &DistinctForms) -> Option<MovedStems> {
        let moved = |branch: &Branch| {
            let masked = self.masked(branch, distinct);
            let one = branch.nodes[0];
            let other = branch.nodes.get(1).copied().or(branch.parent).unwrap_or(self.family.nodes().len());
            let core = core_of(self.family);
            let pairs_of = |stems: &[Vec<Stem>]| -> Vec<(Stem, Stem)> {
                let pair = |s: &Symbol| (core(stems[one][s.index()]), core(stems[other][s.index()]));
                masked.iter().map(pair).collect()
            };
            let (drawn_pairs, pairs) = (pairs_of(&drawn.stems), pairs_of(stems));
            if self.family.nodes()[one].change.is_regular() {
                // Others are drawn anew too, as homophones: only the words that laws left equal move the distance.
                let was_equal = |at: &usize| drawn_pairs[*at].0 == drawn_pairs[*at].1 && pairs[*at].0 != pairs[*at].1;
                let share = (0..masked.len()).filter(was_equal).count() as f64 / masked.len().max(1) as f64;
                let asked = if branch.by_file { measure(&drawn_pairs).relative } else { branch.distance };
                let moved = MovedStems {
                    names: self.names(&[one, other]),
                    asked,
                    measured: measure(&pairs).relative,
                    is_regular: true,
                };
                return (share * asked > TOLERANCE).then_some(moved);
            }
            if pairs == drawn_pairs {
                return None;
            }
            let [from, to] = [measure(&drawn_pairs).relative, measure(&pairs).relative];
            ((to - from).abs() > TOLERANCE && (to - branch.distance).abs() > TOLERANCE).then(|| MovedStems {
                names: self.names(&[one, other]),
                asked: branch.distance,
                measured: to,
                is_regular: false,
            })
        };
        self.family.branches().iter().find_map(moved)
    }

    /// `A and B`
    pub(super) fn names(&self, nodes: &[usize]) -> String {
        let name = |&node: &usize| self.family.nodes().get(node).map_or("the proto-language", |node| &node.name);
        nodes.iter().map(name).collect::<Vec<_>>().join(" and ")
    }
}
