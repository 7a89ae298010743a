//! From where to where something can cross: a language that saw a word, and one in which it was masked.

use crate::data::Study;
use invitro_results::Condition;

/// One source and one target of transfer. In the paper there is one: from A to B†.
pub struct Crossing {
    /// A language that saw the words.
    pub source: Condition,
    /// The language in which they were masked, in sentences without them.
    pub target: Condition,
    /// The same language, in sentences with them.
    pub masked: Condition,
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
