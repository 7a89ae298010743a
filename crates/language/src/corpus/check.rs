//! Checks sentences at four nested levels: known words, grammar, types, facts.
//!
//! - valid: every word is a word of the language
//! - grammatical: valid, and its categories, without the modifiers, parse under G
//! - types: grammatical, and every descriptor fits its subject's class, every relation verb all subjects of its phrase
//!   and its own objects, which are nouns, and every modifier directly precedes a word it may modify
//! - facts: types hold, and every descriptor is one Γ allows its subject

use crate::grammar::analysis::Analysis;
use crate::languages::Languages;
use crate::world::symbol::{Category, Language, Symbol, Terminal, WordClass};
use serde::Serialize;

/// The number of constraints of one kind in a sentence, and how many hold. Zero of zero unless the sentence is grammatical.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Satisfied constraints.
    pub held: u32,
    /// All constraints.
    pub of: u32,
}

impl Tally {
    fn count(&mut self, holds: bool) {
        self.of += 1;
        self.held += u32::from(holds);
    }

    /// Whether all hold.
    pub fn all(self) -> bool {
        self.held == self.of
    }
}

/// The results of all checks on one sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SentenceVerdict {
    /// Every word is known.
    pub valid: bool,
    /// The categories parse.
    pub grammatical: bool,
    /// The type rules hold.
    pub types: bool,
    /// Γ allows every descriptor.
    pub facts: bool,
    /// Relation verbs whose subjects and objects fit.
    pub relation: Tally,
    /// Descriptors that fit their subject's class.
    pub descriptor: Tally,
    /// Adjectives before a word they may modify.
    pub adjective: Tally,
    /// Adverbs before a word they may modify.
    pub adverb: Tally,
    /// Descriptors that Γ allows their subject.
    pub gamma: Tally,
    /// The number of words.
    pub words: usize,
    /// The positions of words that the language does not have.
    pub unknown: Vec<usize>,
    /// The first failure, by the checks' order and then by position.
    pub failure: Option<Failure>,
}

/// Why a sentence fails. Positions count words from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Failure {
    /// No words at all.
    Empty,
    /// The language does not have the word `at`.
    UnknownWord { at: usize },
    /// Too long to be parsed: so many words without the modifiers, of at most so many. Nothing is known of its grammar.
    TooLong { words: usize, most: usize },
    /// The grammar does not allow the word `at`; if `at` is the length, the sentence ends too early.
    Ungrammatical { at: usize },
    /// The descriptor `at` does not fit its subject's class, or has no subject.
    DescriptorClass { at: usize, subject: Option<usize> },
    /// The relation verb `at` does not fit a subject's class, or has no subject.
    SubjectClass { at: usize, subject: Option<usize> },
    /// The relation verb `at` does not take such an object.
    ObjectClass { at: usize, object: usize },
    /// The modifier `at` does not precede a word it may modify.
    Modifier { at: usize },
    /// Γ does not allow the subject the descriptor `at`.
    Fact { at: usize, subject: usize },
}

impl Failure {
    /// A name for tables of failures, as in the JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::Empty => "empty",
            Failure::UnknownWord { .. } => "unknown_word",
            Failure::TooLong { .. } => "too_long",
            Failure::Ungrammatical { .. } => "ungrammatical",
            Failure::DescriptorClass { .. } => "descriptor_class",
            Failure::SubjectClass { .. } => "subject_class",
            Failure::ObjectClass { .. } => "object_class",
            Failure::Modifier { .. } => "modifier",
            Failure::Fact { .. } => "fact",
        }
    }
}

/// A text with its verdict, explained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked<'t> {
    /// The input text.
    pub text: &'t str,
    /// The results of the checks.
    #[serde(flatten)]
    pub verdict: SentenceVerdict,
    /// Each word's symbol; `None` for words that the language does not have.
    pub symbols: Vec<Option<String>>,
    /// The first failure in words.
    pub reason: Option<String>,
}

/// Checks sentences, reusing its scratch memory.
#[derive(Clone, Debug)]
pub struct Checker<'a> {
    languages: &'a Languages,
    symbols: Vec<Symbol>,
    parts: Vec<WordClass>,
    /// The position of each part's word.
    at: Vec<usize>,
    analysis: Analysis,
}

impl Languages {
    /// A checker for sentences of these languages.
    pub fn checker(&self) -> Checker<'_> {
        let (symbols, parts, at, analysis) = Default::default();
        Checker { languages: self, symbols, parts, at, analysis }
    }
}

impl Checker<'_> {
    /// Checks a text: words of one language, separated by white space.
    pub fn text(&mut self, text: &str, language: Language) -> SentenceVerdict {
        let lexicon = &self.languages.lexicon;
        self.words(text.split_whitespace().map(|word| lexicon.symbol(word, language)), language)
    }

    /// A text's verdict with its symbols, and the first failure in words.
    pub fn explained<'t>(&self, text: &'t str, language: Language, verdict: SentenceVerdict) -> Checked<'t> {
        let symbol = |word| self.languages.lexicon.symbol(word, language).map(|s| self.languages.world.label(s));
        let symbols = text.split_whitespace().map(symbol).collect();
        let reason = verdict.failure.as_ref().map(|failure| self.reason(failure, text, language));
        Checked { text, verdict, symbols, reason }
    }

    /// Checks words that are already looked up; `None` is a word that the language does not have.
    pub fn words(&mut self, words: impl IntoIterator<Item = Option<Symbol>>, language: Language) -> SentenceVerdict {
        let mut symbols = std::mem::take(&mut self.symbols);
        symbols.clear();
        let mut unknown = Vec::new();
        let mut count = 0;
        for word in words {
            match word {
                Some(symbol) => symbols.push(symbol),
                None => unknown.push(count),
            }
            count += 1;
        }
        let verdict = match unknown.first() {
            None => self.symbols(&symbols, language),
            Some(&at) => {
                let failure = Some(Failure::UnknownWord { at });
                SentenceVerdict { words: count, unknown, failure, ..SentenceVerdict::default() }
            }
        };
        self.symbols = symbols;
        verdict
    }

    /// Checks a sentence given as symbols, by the grammar of a language.
    pub fn symbols(&mut self, symbols: &[Symbol], language: Language) -> SentenceVerdict {
        let mut verdict = SentenceVerdict { words: symbols.len(), ..SentenceVerdict::default() };
        if symbols.is_empty() {
            verdict.failure = Some(Failure::Empty);
            return verdict;
        }
        verdict.valid = true;
        let world = &self.languages.world;
        self.parts.clear();
        self.at.clear();
        for (i, &symbol) in symbols.iter().enumerate() {
            if let Some(part) = world.category(symbol).part() {
                self.parts.push(part);
                self.at.push(i);
            }
        }
        let parser = &self.languages.syntax(language).parser;
        let (words, most) = (self.parts.len(), parser.most_words());
        if words > most {
            verdict.failure = Some(Failure::TooLong { words, most });
            return verdict;
        }
        if let Err(part) = parser.parse(&self.parts, &mut self.analysis) {
            let at = self.at.get(part).copied().unwrap_or(symbols.len());
            verdict.failure = Some(Failure::Ungrammatical { at });
            return verdict;
        }
        verdict.grammatical = true;
        self.types(symbols, &mut verdict);
        verdict
    }

    /// Checks the type rules and Γ, word by word.
    fn types(&self, symbols: &[Symbol], verdict: &mut SentenceVerdict) {
        let world = &self.languages.world;
        let (mut types_failure, mut fact_failure) = (None, None);
        let mut next = 0;
        for (i, &symbol) in symbols.iter().enumerate() {
            let category = world.category(symbol);
            let failure = if category.is_modifier() {
                let holds = symbols.get(i + 1).is_some_and(|&s| world.modifies(category, world.category(s)));
                let tally = if category == Category::Adjective { &mut verdict.adjective } else { &mut verdict.adverb };
                tally.count(holds);
                (!holds).then_some(Failure::Modifier { at: i })
            } else {
                let part = next;
                next += 1;
                match self.analysis.terminals[part] {
                    Terminal::Descriptor => {
                        let subject = self.at.get(self.analysis.head[part] as usize).copied();
                        let fits = subject.is_some_and(|s| world.fits(symbol, symbols[s]));
                        verdict.descriptor.count(fits);
                        if let Some(subject) = subject {
                            let allowed = world.allows(symbols[subject], symbol);
                            verdict.gamma.count(allowed);
                            if !allowed {
                                fact_failure.get_or_insert(Failure::Fact { at: i, subject });
                            }
                        }
                        (!fits).then_some(Failure::DescriptorClass { at: i, subject })
                    }
                    Terminal::Relation => {
                        let failure = self.relation(symbols, part);
                        verdict.relation.count(failure.is_none());
                        failure
                    }
                    _ => None,
                }
            };
            types_failure = types_failure.or(failure);
        }
        verdict.types = types_failure.is_none();
        verdict.facts = verdict.types && fact_failure.is_none();
        verdict.failure = types_failure.or(fact_failure);
    }

    /// The first subject or object that does not fit a relation verb.
    fn relation(&self, symbols: &[Symbol], verb: usize) -> Option<Failure> {
        let world = &self.languages.world;
        let Analysis { terminals, phrase, head } = &self.analysis;
        let at = self.at[verb];
        let mut has_subject = false;
        for other in 0..terminals.len() {
            let word = self.at[other];
            match terminals[other] {
                Terminal::Subject if phrase[other] == phrase[verb] => {
                    has_subject = true;
                    if !world.fits(symbols[at], symbols[word]) {
                        return Some(Failure::SubjectClass { at, subject: Some(word) });
                    }
                }
                Terminal::Object if head[other] as usize == verb && !world.fits_object(symbols[at], symbols[word]) => {
                    return Some(Failure::ObjectClass { at, object: word });
                }
                _ => {}
            }
        }
        (!has_subject).then_some(Failure::SubjectClass { at, subject: None })
    }

    /// A failure in words, for the sentence it was found in.
    pub fn reason(&self, failure: &Failure, text: &str, language: Language) -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        let world = &self.languages.world;
        let word = |at: usize| format!("`{}`", words[at]);
        let symbol = |at: usize| self.languages.lexicon.symbol(words[at], language);
        let category = |at: usize| match symbol(at).map(|s| world.category(s)) {
            None => "an unknown word".to_owned(),
            Some(Category::Relation) => "a relation verb".to_owned(),
            Some(c @ (Category::Adjective | Category::Adverb)) => format!("an {}", c.name()),
            Some(c) => format!("a {}", c.name()),
        };
        let class = |at: usize| {
            symbol(at).and_then(|s| world.class(s)).map_or("no class".to_owned(), |c| format!("class {}", c.0))
        };
        match *failure {
            Failure::Empty => "there are no words".into(),
            Failure::UnknownWord { at } => format!("word {} {} is not a word of {}", at + 1, word(at), language.name()),
            Failure::TooLong { words, most } => format!(
                "the sentence has {words} words without its modifiers; under the grammar `{}`, sentences of at most {most} \
                 can be parsed",
                self.languages.grammar(language).name()
            ),
            Failure::Ungrammatical { at } if at < words.len() => {
                format!("the grammar does not allow word {} {}, {}, here", at + 1, word(at), category(at))
            }
            Failure::Ungrammatical { .. } => {
                "the grammar has no sentence of these categories, or not yet its end".into()
            }
            Failure::DescriptorClass { at, subject: Some(s) } => format!(
                "the descriptor {} describes {}, but its subject {} is of {}",
                word(at),
                class(at),
                word(s),
                class(s)
            ),
            Failure::DescriptorClass { at, subject: None } => format!("the descriptor {} has no subject", word(at)),
            Failure::SubjectClass { at, subject: Some(s) } => format!(
                "the relation verb {} takes subjects of {}, but {} is of {}",
                word(at),
                class(at),
                word(s),
                class(s)
            ),
            Failure::SubjectClass { at, subject: None } => format!("the relation verb {} has no subject", word(at)),
            Failure::ObjectClass { at, object } => {
                let wanted = symbol(at).and_then(|s| world.class(s)).map_or(0, |c| world.object_class(c).0);
                let given = format!("{} of {}", category(object), class(object));
                format!(
                    "the relation verb {} takes nouns of class {wanted} as objects, but {} is {given}",
                    word(at),
                    word(object)
                )
            }
            Failure::Modifier { at } => {
                let before =
                    words.get(at + 1).map_or("the end".into(), |_| format!("{} ({})", word(at + 1), category(at + 1)));
                format!("{}, {}, stands before {before}, which it cannot modify", word(at), category(at))
            }
            Failure::Fact { at, subject } => format!("{} is not true of {}", word(at), word(subject)),
        }
    }
}
