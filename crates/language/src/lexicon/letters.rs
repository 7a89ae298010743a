//! The letters of a family: each language's ranking drifts from its parent's.

use crate::family::{Branch, Family};
use crate::lexicon::phonology::Letters;
use invitro_base::random::Stream;
use invitro_base::settings::LanguageConfig;

/// The letters of the proto-language and of every node.
pub struct FamilyLetters {
    pub proto: Letters,
    pub nodes: Vec<Letters>,
}

impl FamilyLetters {
    pub fn new(config: &LanguageConfig, family: &Family, seed: u64) -> FamilyLetters {
        let stream = Stream::new(seed, "lexicon/letters");
        let proto = Letters::proto(config.zipf, &mut stream.at(0, 0));
        let mut nodes = vec![None; family.nodes().len()];
        for Branch { parent, nodes: own, distance, .. } in family.branches() {
            // Laws change words and draw no letters.
            let is_regular = family.nodes()[own[0]].change.is_regular();
            let drift = if is_regular { 0.0 } else { config.letter_drift * distance };
            for &node in own {
                let from = parent.and_then(|parent| nodes[parent].as_ref()).unwrap_or(&proto);
                let letters: Letters = from.descend(drift, &mut stream.at(0, 1 + node as u64));
                nodes[node] = Some(letters);
            }
        }
        FamilyLetters { proto, nodes: nodes.into_iter().flatten().collect() }
    }
}
