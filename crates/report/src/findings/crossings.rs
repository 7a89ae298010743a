//! From where to where something can cross: a language that saw a word, and one in which it was masked.

use crate::data::{Run, Study};
use invitro_results::{Condition, Measure, Measured, Quantity};

/// One source and one target of transfer. In the paper there is one: from A to B†.
pub struct Crossing {
    /// A language that saw the words.
    pub source: Condition,
    /// The language in which they were masked, in sentences without them.
    pub target: Condition,
    /// The same language, in sentences with them.
    pub masked: Condition,
}

/// From the first language, the one of most text in the paper, into every masked condition of a language that has less:
/// what the paper says of a majority and a minority language.
pub fn from_first(study: &Study) -> Vec<Crossing> {
    let mut first: Vec<Crossing> = Vec::new();
    for crossing in crossings(study) {
        if first.iter().all(|before| before.masked != crossing.masked) {
            first.push(crossing);
        }
    }
    first.retain(|crossing| has_more(study, &crossing.source, &crossing.target));
    first
}

/// Whether a language has more text than another, as far as runs tell: in the pair the first has.
fn has_more(study: &Study, one: &Condition, other: &Condition) -> bool {
    let Some((_, tree)) = study.families.first() else {
        let alike = |run: &Run| run.number("mixture.sampling") == Some(0.0);
        return !study.runs.iter().any(alike);
    };
    let share = |condition: &Condition| {
        let node = tree.nodes.iter().find(|node| *node.name == *condition.language);
        node.and_then(|node| node.share)
    };
    share(one).zip(share(other)).is_none_or(|(one, other)| one > other)
}

/// The measure at the end of training in the language from which something could have crossed into a masked condition.
pub fn main_source(study: &Study, measure: Measure, masked: &Condition) -> Option<Measured> {
    source(study, measure, masked).map(|source| study.end_of(measure, &source))
}

/// That language: the first that has no masked words of its own and is in as many runs as the masked one. `None` where
/// there is none.
pub fn source(study: &Study, measure: Measure, masked: &Condition) -> Option<Condition> {
    let runs = |condition: &Condition| {
        let quantity = Quantity::of(measure, condition);
        study.ended(study.plain()).filter(|run| run.curve(&quantity).end().is_some()).count()
    };
    let saw_all = |source: &Condition| study.masked().all(|other| other.language != source.language);
    let sources = || crossings(study).into_iter().filter(|it| it.masked == *masked).map(|it| it.source);
    let of_masked = runs(masked);
    let source = sources().find(|it| saw_all(it) && runs(it) >= of_masked).or_else(|| sources().find(saw_all));
    source.or_else(|| sources().next())
}

pub fn crossings(study: &Study) -> Vec<Crossing> {
    let sources = |masked: &Condition| {
        let other = |condition: &&Condition| !condition.masked && condition.language != masked.language;
        study.conditions().iter().filter(other).cloned().collect::<Vec<_>>()
    };
    let crossing = |masked: &Condition, source| Crossing {
        source,
        target: Condition { masked: false, ..masked.clone() },
        masked: masked.clone(),
    };
    study.masked().flat_map(|masked| sources(masked).into_iter().map(move |source| crossing(masked, source))).collect()
}
