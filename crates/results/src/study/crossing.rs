//! From where to where something can cross: a language that saw a word, and one in which it was masked.

use super::{Levels, Study};
use crate::{Condition, Measure, Quantity};

impl Study {
    /// The language from which something could have crossed into a masked condition: the first that has no masked words of
    /// its own and was measured in as many runs.
    pub fn source(&self, measure: Measure, masked: &Condition) -> Option<Condition> {
        let runs = |condition: &Condition| {
            let quantity = Quantity::in_condition(measure, condition);
            self.ended(self.baseline()).filter(|run| run.curve(&quantity).end().is_some()).count()
        };
        let saw_all = |source: &&Condition| self.masked().all(|other| other.language != source.language);
        let sources: Vec<&Condition> = self.sources(masked).filter(saw_all).collect();
        let measured = || {
            let in_masked = runs(masked);
            sources.iter().copied().find(|it| runs(it) >= in_masked)
        };
        let of_several = if sources.len() > 1 { measured() } else { None };
        of_several.or(sources.first().copied()).or_else(|| self.sources(masked).next()).cloned()
    }

    /// The first other language, where it has more text than the one with masked words: the majority language of the paper.
    pub fn majority(&self, masked: &Condition) -> Option<Condition> {
        self.sources(masked).next().filter(|first| self.has_more_text(first, masked)).cloned()
    }

    /// The other languages, in order.
    pub fn sources<'a>(&'a self, masked: &'a Condition) -> impl Iterator<Item = &'a Condition> {
        self.conditions().iter().filter(|condition| !condition.masked && condition.language != masked.language)
    }

    /// Whether a language has more text than another, as far as runs tell: of a pair, the first has.
    fn has_more_text(&self, one: &Condition, other: &Condition) -> bool {
        let Some((_, tree)) = self.families.first() else {
            return !self.runs.iter().any(|run| run.number("mixture.sampling") == Some(0.0));
        };
        let share = |condition: &Condition| {
            let node = tree.nodes.iter().find(|node| *node.name == *condition.language);
            node.and_then(|node| node.share)
        };
        share(one).zip(share(other)).is_none_or(|(one, other)| one > other)
    }

    /// Each combination of levels of those of these factors that vary; none where none does.
    pub fn cells(&self, factors: &[super::Factor]) -> Vec<Levels> {
        let mut cells = vec![Levels::new()];
        for factor in factors.iter().filter(|factor| self.levels(**factor).len() > 1) {
            let levels = 0..self.levels(*factor).len();
            cells =
                cells.iter().flat_map(|cell| levels.clone().map(|at| [&cell[..], &[(*factor, at)]].concat())).collect();
        }
        cells.retain(|cell| !cell.is_empty());
        cells
    }
}
