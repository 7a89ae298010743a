//! Kinds of symbols that a model is asked for: those masked nowhere (kind 0), then those masked in each language that has
//! a mask.
//!
//! A condition with a mask is asked for its own masked symbols, one without for the symbols masked nowhere. A language
//! without a mask is also asked, apart, for the symbols masked elsewhere, so that languages are compared on the same symbols.
//!
//! A prompt begins as a sentence of its language does, up to where a descriptor of the subject may follow: subject and
//! copula (svo), subject (sov), copula and subject (vso). Where descriptors come before their subjects (vos) there is no
//! such prompt, and the language is left out.

use invitro_language::{Language, LanguageCondition, Languages, Stream, Symbol};

/// Whether a sentence of the language can begin so that a descriptor of a given subject comes next.
pub fn can_be_prompted(languages: &Languages, language: Language) -> bool {
    languages.world.entities().next().is_some_and(|entity| languages.opening(entity, language).is_some())
}

/// The kinds of symbols, and the conditions that are asked for them.
#[derive(Clone, Debug)]
pub struct SymbolKinds {
    masked: Vec<Language>,
    /// The conditions whose language can be prompted.
    pub conditions: Vec<LanguageCondition>,
    /// How many languages there are.
    pub languages: usize,
}

impl SymbolKinds {
    pub fn new(languages: &Languages) -> SymbolKinds {
        let conditions =
            languages.conditions().into_iter().filter(|c| can_be_prompted(languages, c.language)).collect();
        SymbolKinds { masked: languages.masked().collect(), conditions, languages: languages.all().len() }
    }

    pub fn count(&self) -> usize {
        1 + self.masked.len()
    }

    /// Whether the language can be prompted.
    pub fn prompts(&self, language: Language) -> bool {
        self.conditions.iter().any(|condition| condition.language == language)
    }

    /// The kinds of masked symbols, each with its language.
    pub fn masked(&self) -> impl Iterator<Item = (usize, Language)> + '_ {
        (1..).zip(self.masked.iter().copied())
    }

    /// Whether a symbol is of a kind when it describes an entity. Where facts are withheld, one word is of several kinds.
    pub fn has(&self, languages: &Languages, kind: usize, symbol: Symbol, entity: Symbol) -> bool {
        match kind.checked_sub(1) {
            None => !self.masked.iter().any(|&language| languages.never_says(language, symbol, entity)),
            Some(at) => languages.never_says(self.masked[at], symbol, entity),
        }
    }

    /// Whether a descriptor is of a kind for some entity that Γ allows it.
    pub fn has_for_some_entity(&self, languages: &Languages, kind: usize, symbol: Symbol) -> bool {
        let world = &languages.world;
        let mut entities = world.entities();
        match languages.facts(languages.all()[0]) {
            None => entities.next().is_some_and(|any| self.has(languages, kind, symbol, any)),
            Some(_) => entities.any(|entity| world.allows(entity, symbol) && self.has(languages, kind, symbol, entity)),
        }
    }

    /// The sets of kinds that a condition is asked for, each with whether its symbols are masked elsewhere.
    pub fn asked_in(&self, condition: LanguageCondition) -> Vec<(bool, Vec<usize>)> {
        let own = self.masked().find(|(_, language)| *language == condition.language);
        match own {
            Some((kind, _)) if condition.masked => vec![(false, vec![kind])],
            Some(_) => vec![(false, vec![0])],
            None => vec![(false, vec![0]), (true, (1..self.count()).collect())],
        }
    }

    /// The random stream of a kind; the first masked language shares that of the symbols masked nowhere.
    pub fn stream(&self, languages: &Languages, kind: usize, name: &str) -> Stream {
        match kind {
            0 | 1 => Stream::new(languages.seed, name),
            other => Stream::new(languages.seed, &format!("{name}/{}", self.masked[other - 1].name())),
        }
    }

    /// The row that separates the kinds which share a stream.
    pub fn row(&self, kind: usize) -> u64 {
        u64::from(kind > 0)
    }
}
