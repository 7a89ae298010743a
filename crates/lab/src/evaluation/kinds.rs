//! Kinds of symbols that a model is asked for: those masked nowhere, then those masked in each language that has a mask.
//!
//! A condition with a mask is asked for its own masked symbols, one without for the symbols masked nowhere. A language
//! that has no mask at all is asked for those masked elsewhere too, on their own: what is compared across languages is
//! then the same symbols.
//!
//! A question begins as a sentence of its language does, up to where a descriptor of the subject may stand: with the
//! subject and the copula (svo), the subject (sov), the copula and the subject (vso). Where descriptors come before their
//! subjects (vos) there is no such beginning, and the language is asked nothing.

use invitro_language::{Condition, Language, Languages, Stream, Symbol};

/// Whether sentences of a language can begin so that a descriptor of a given subject comes next.
pub fn can_be_asked(languages: &Languages, language: Language) -> bool {
    languages.world.entities().next().is_some_and(|entity| languages.opening(entity, language).is_some())
}

/// The kinds, and who is asked for them. 0 is the kind of symbols masked nowhere.
#[derive(Clone, Debug)]
pub struct Kinds {
    masked: Vec<Language>,
    /// Those that can be asked.
    pub conditions: Vec<Condition>,
    /// How many languages there are.
    pub languages: usize,
}

impl Kinds {
    pub fn new(languages: &Languages) -> Kinds {
        let conditions = languages.conditions().into_iter().filter(|c| can_be_asked(languages, c.language)).collect();
        Kinds { masked: languages.masked().collect(), conditions, languages: languages.all().len() }
    }

    pub fn count(&self) -> usize {
        1 + self.masked.len()
    }

    /// Whether a language is asked anything.
    pub fn asks(&self, language: Language) -> bool {
        self.conditions.iter().any(|condition| condition.language == language)
    }

    /// The kinds of masked symbols, each with its language.
    pub fn masked(&self) -> impl Iterator<Item = (usize, Language)> + '_ {
        (1..).zip(self.masked.iter().copied())
    }

    /// Whether a symbol is of a kind, said of an entity: where facts are withheld, one word is of several.
    pub fn has(&self, languages: &Languages, kind: usize, symbol: Symbol, entity: Symbol) -> bool {
        match kind.checked_sub(1) {
            None => !self.masked.iter().any(|&language| languages.never_says(language, symbol, entity)),
            Some(at) => languages.never_says(self.masked[at], symbol, entity),
        }
    }

    /// Whether a descriptor is of a kind, of whomever it is said.
    pub fn has_of_some(&self, languages: &Languages, kind: usize, symbol: Symbol) -> bool {
        let world = &languages.world;
        let mut entities = world.entities();
        match languages.facts(languages.all()[0]) {
            None => entities.next().is_some_and(|any| self.has(languages, kind, symbol, any)),
            Some(_) => entities.any(|of| world.allows(of, symbol) && self.has(languages, kind, symbol, of)),
        }
    }

    /// What a condition is asked for: whether it is masked elsewhere, and the kinds that are asked together. A symbol may
    /// be of several of them.
    pub fn of(&self, condition: Condition) -> Vec<(bool, Vec<usize>)> {
        let own = self.masked().find(|(_, language)| *language == condition.language);
        match own {
            Some((kind, _)) if condition.masked => vec![(false, vec![kind])],
            Some(_) => vec![(false, vec![0])],
            None => vec![(false, vec![0]), (true, (1..self.count()).collect())],
        }
    }

    /// The stream that draws of a kind; the first masked language shares that of the symbols masked nowhere.
    pub fn stream(&self, languages: &Languages, kind: usize, name: &str) -> Stream {
        match kind {
            0 | 1 => Stream::new(languages.seed, name),
            other => Stream::new(languages.seed, &format!("{name}/{}", self.masked[other - 1].name())),
        }
    }

    /// What sets the kinds of one stream apart.
    pub fn row(&self, kind: usize) -> u64 {
        u64::from(kind > 0)
    }
}
