//! Fusional words: one ending for each category and class, which says both at once, and a stem that assimilates to it.

use crate::error::Result;
use crate::family::Family;
use crate::lexicon::history::affixes::{AFFIXED, descend, distinct};
use crate::lexicon::history::drift::DriftRate;
use crate::lexicon::history::laws::law::{Edges, Laws};
use crate::lexicon::letters::FamilyLetters;
use crate::lexicon::phonology::{Morphemes, Stem, is_vowel};
use crate::world::symbol::{Category, Class};
use invitro_base::random::Stream;

const VOICELESS: &[u8] = b"ptkfsc";
const VOICED: &[u8] = b"bdgvzj";

/// The endings of a family's fusional words.
#[derive(Clone, Debug)]
pub(crate) struct Endings {
    /// By category, then by node, then by class.
    endings: Vec<Vec<Vec<Stem>>>,
}

impl Endings {
    pub fn new(
        classes: usize,
        family: &Family,
        letters: &FamilyLetters,
        drift: &[DriftRate],
        laws: &[Option<Laws>],
        seed: u64,
    ) -> Result<Endings> {
        let of_category = |category: usize| {
            let rng = &mut Stream::new(seed, "lexicon/endings").at(category as u64, 0);
            let proto = distinct(classes, |rng, _| letters.proto.affix(rng), rng);
            let draws = |node: &str| Stream::new(seed, &format!("lexicon/endings/{node}")).at(category as u64, 0);
            descend(&proto, Edges { left: false, right: true }, family, letters, drift, laws, draws)
        };
        Ok(Endings { endings: (0..AFFIXED.len()).map(of_category).collect::<Result<_>>()? })
    }

    /// A stem with the ending of its category and class; words of no class have that of the first. Function words have none.
    pub fn word(&self, stem: Stem, category: Category, class: Option<Class>, node: usize) -> Morphemes {
        let empty = Stem::new(b"");
        let Some(at) = AFFIXED.iter().position(|&affixed| affixed == category) else { return [empty, stem, empty] };
        let ending = self.endings[at][node][class.map_or(0, |class| class.0 as usize)];
        [empty, assimilated(stem, ending), ending]
    }
}

/// A stem before an ending: its last consonant takes the voice of the ending's first, n is m before p, b and m, and a vowel is
/// lost before a vowel.
fn assimilated(stem: Stem, ending: Stem) -> Stem {
    let mut letters = stem.letters().to_vec();
    let (Some(&first), Some(last)) = (ending.letters().first(), letters.last_mut()) else { return stem };
    let voice = |from: &[u8], to: &[u8], letter: u8| from.iter().position(|&one| one == letter).map(|place| to[place]);
    if VOICED.contains(&first) {
        *last = voice(VOICELESS, VOICED, *last).unwrap_or(*last);
    } else if VOICELESS.contains(&first) {
        *last = voice(VOICED, VOICELESS, *last).unwrap_or(*last);
    }
    if *last == b'n' && b"pbm".contains(&first) {
        *last = b'm';
    }
    if is_vowel(first) && is_vowel(*last) && letters.len() > 2 {
        letters.pop();
    }
    Stem::new(&letters)
}
