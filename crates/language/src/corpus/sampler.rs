//! Samples sentences: a template from the grammar, filled under the type rules and Γ.

use super::sentence::{Role, Sentence, WordPlace};
use crate::grammar::analysis::{Analysis, NONE};
use crate::grammar::parser::{Parser, Template};
use crate::languages::{Languages, Syntax};
use crate::world::symbol::{Category, Class, Language, Symbol, Terminal};
use invitro_base::random::Rng;

/// Samples sentences, reusing its scratch memory.
#[derive(Clone, Debug)]
pub struct Sampler<'a> {
    languages: &'a Languages,
    template: Template,
    analysis: Analysis,
    symbols: Vec<Symbol>,
    /// The position in the sentence of each word of the template.
    position: Vec<u16>,
    phrases: Vec<Phrase>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Phrase {
    relates: bool,
    class: u16,
}

impl Languages {
    /// A sampler of sentences.
    pub fn sampler(&self) -> Sampler<'_> {
        let (template, analysis, symbols, position, phrases) = Default::default();
        Sampler { languages: self, template, analysis, symbols, position, phrases }
    }
}

impl<'a> Sampler<'a> {
    /// The languages whose sentences are sampled.
    pub fn languages(&self) -> &'a Languages {
        self.languages
    }

    /// A new sentence of a language.
    pub fn sentence(&mut self, language: Language, rng: &mut Rng) -> Sentence {
        let mut out = Sentence::default();
        self.sample(language, rng, &mut out);
        out
    }

    /// Draws a sentence into `out`.
    pub fn sample(&mut self, language: Language, rng: &mut Rng, out: &mut Sentence) {
        // The structure comes from the parser, not from the derivation, so that the checks of an ambiguous grammar agree.
        let Syntax { grammar, parser } = self.languages.syntax(language);
        loop {
            self.template.sample(grammar, rng);
            let parsed = parser.parse(&self.template.parts, &mut self.analysis);
            debug_assert!(parsed.is_ok(), "a sampled template parses");
            if matches!(parser, Parser::Fast(_)) || self.analysis.is_complete() {
                break;
            }
        }
        self.fill(rng);
        self.emit(rng, out);
    }

    /// Draws a symbol for every terminal: the phrases' classes, subjects and verbs, then their dependents.
    fn fill(&mut self, rng: &mut Rng) {
        let world = &self.languages.world;
        let Analysis { terminals, phrase, head } = &self.analysis;
        self.phrases.clear();
        self.phrases.resize(phrase.last().map_or(0, |&p| p as usize + 1), Phrase::default());
        for (terminal, &p) in terminals.iter().zip(phrase) {
            self.phrases[p as usize].relates |= *terminal == Terminal::Relation;
        }
        for p in &mut self.phrases {
            // Only subject classes have relations.
            let classes = if p.relates { world.subject_class_count() } else { world.config.classes };
            p.class = rng.index(classes) as u16;
        }
        self.symbols.clear();
        for (terminal, &p) in terminals.iter().zip(phrase) {
            let class = Class(self.phrases[p as usize].class);
            self.symbols.push(match terminal {
                Terminal::Subject => world.entity(class, rng.index(world.entity_count(class))),
                Terminal::Relation => {
                    let verbs = world.relations(class);
                    verbs[rng.index(verbs.len())]
                }
                Terminal::Preposition => world.preposition(),
                Terminal::Conjunction => world.conjunction(),
                Terminal::Separator => world.separator().expect("the world has a separator if the grammar does"),
                // Placeholders: objects and descriptors need their heads.
                Terminal::Copula | Terminal::Object | Terminal::Descriptor => world.copula(),
            });
        }
        for i in 0..terminals.len() {
            match terminals[i] {
                Terminal::Object => {
                    let verb = self.symbols[head[i] as usize];
                    let class = world.object_class(world.class(verb).expect("a relation verb has a class"));
                    self.symbols[i] = world.noun(class, rng.index(world.noun_count()));
                }
                Terminal::Descriptor => {
                    let subject = self.symbols[head[i] as usize];
                    let properties = world.properties(world.class(subject).expect("an entity has a class"));
                    let property = properties[rng.index(properties.len())];
                    let key = world.key(subject).expect("an entity has a key");
                    self.symbols[i] = world.valid_descriptor(key, property, rng.index(world.valid_count()));
                }
                _ => {}
            }
        }
    }

    /// Writes the sentence, with an adjective before a noun or descriptor, an adverb before a relation verb.
    fn emit(&mut self, rng: &mut Rng, out: &mut Sentence) {
        let (world, config) = (&self.languages.world, &self.languages.config);
        out.symbols.clear();
        out.places.clear();
        self.position.clear();
        for (i, &symbol) in self.symbols.iter().enumerate() {
            let (role, rate) = match world.category(symbol) {
                Category::Noun | Category::Descriptor => (Role::Adjective, config.adjective_rate),
                Category::Relation => (Role::Adverb, config.adverb_rate),
                _ => (Role::Adverb, 0.0),
            };
            let phrase = self.analysis.phrase[i];
            if rate > 0.0 && rng.chance(rate) {
                out.symbols.push(match role {
                    Role::Adjective => world.adjective(rng.index(config.adjectives)),
                    _ => world.adverb(rng.index(config.adverbs)),
                });
                out.places.push(WordPlace { role, phrase, head: Some(out.symbols.len() as u16) });
            }
            self.position.push(out.symbols.len() as u16);
            out.symbols.push(symbol);
            out.places.push(WordPlace { role: Role::Terminal(self.analysis.terminals[i]), phrase, head: None });
        }
        for (i, &head) in self.analysis.head.iter().enumerate() {
            if head != NONE {
                out.places[self.position[i] as usize].head = Some(self.position[head as usize]);
            }
        }
    }
}
