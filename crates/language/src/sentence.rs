//! Sentences: a template from the grammar, filled under the type rules and Γ.
//!
//! A sentence carries what each word is and what it belongs to: which subject a descriptor speaks of, which verb an
//! object follows, which word a modifier modifies. Nothing has to be guessed from its text later.

use crate::analysis::{Analyser, Analysis, NONE};
use crate::grammar::{Grammar, Item};
use crate::languages::Languages;
use crate::stream::Draw;
use crate::symbol::{Category, Class, Part, Slot, Symbol};

/// The role of a word in its sentence: a slot of the grammar, or a modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Slot(Slot),
    Adjective,
    Adverb,
}

/// What is known of one word beside its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub role: Role,
    /// The number of the phrase it stands in.
    pub phrase: u16,
    /// The position of the word it belongs to: a descriptor's subject, an object's relation verb, the word a modifier
    /// modifies.
    pub head: Option<u16>,
}

/// A sentence as symbols. `symbols` and `places` run in parallel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    pub symbols: Vec<Symbol>,
    pub places: Vec<Place>,
}

impl Sentence {
    /// The positions of the words in a slot.
    pub fn positions(&self, slot: Slot) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().enumerate().filter(move |(_, p)| p.role == Role::Slot(slot)).map(|(i, _)| i)
    }
}

/// Draws sentences, reusing its scratch memory.
#[derive(Clone, Debug)]
pub struct Sampler<'a> {
    languages: &'a Languages,
    stack: Vec<Item>,
    slots: Vec<Slot>,
    parts: Vec<Part>,
    analysis: Analysis,
    symbols: Vec<Symbol>,
    /// Per word of the template, its place in the sentence.
    place: Vec<u16>,
    phrases: Vec<Phrase>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Phrase {
    relates: bool,
    class: u16,
}

impl<'a> Sampler<'a> {
    pub fn new(languages: &'a Languages) -> Sampler<'a> {
        Sampler {
            languages,
            stack: Vec::new(),
            slots: Vec::new(),
            parts: Vec::new(),
            analysis: Analysis::default(),
            symbols: Vec::new(),
            place: Vec::new(),
            phrases: Vec::new(),
        }
    }

    pub fn languages(&self) -> &'a Languages {
        self.languages
    }

    /// A new sentence.
    pub fn sentence(&mut self, draw: &mut Draw) -> Sentence {
        let mut out = Sentence::default();
        self.sample(draw, &mut out);
        out
    }

    /// Draws a sentence into `out`.
    pub fn sample(&mut self, draw: &mut Draw, out: &mut Sentence) {
        // The derivation gives the categories, the analysis their structure: for an ambiguous grammar this is the
        // reading that the checks will find.
        let analyser = &self.languages.analyser;
        loop {
            template(&self.languages.grammar, draw, &mut self.stack, &mut self.slots, &mut self.parts);
            let read = analyser.analyse(&self.parts, &mut self.analysis);
            debug_assert!(read.is_ok(), "a sampled template parses");
            if matches!(analyser, Analyser::Order(_)) || self.analysis.is_complete() {
                break;
            }
        }
        self.fill(draw);
        self.emit(draw, out);
    }

    /// A symbol for every slot: the phrases' classes, their subjects and verbs, then what depends on these.
    fn fill(&mut self, draw: &mut Draw) {
        let world = &self.languages.world;
        let Analysis { slots, phrase, head } = &self.analysis;
        self.phrases.clear();
        self.phrases.resize(phrase.last().map_or(0, |&p| p as usize + 1), Phrase::default());
        for (slot, &p) in slots.iter().zip(phrase) {
            self.phrases[p as usize].relates |= *slot == Slot::Relation;
        }
        for p in &mut self.phrases {
            // Only subject classes have relations.
            let classes = if p.relates { world.subject_class_count() } else { world.class_count() };
            p.class = draw.index(classes) as u16;
        }
        self.symbols.clear();
        for (slot, &p) in slots.iter().zip(phrase) {
            let class = Class(self.phrases[p as usize].class);
            self.symbols.push(match slot {
                Slot::Subject => world.entity(class, draw.index(world.entity_count(class))),
                Slot::Relation => {
                    let verbs = world.relations(class);
                    verbs[draw.index(verbs.len())]
                }
                Slot::Preposition => world.preposition(),
                Slot::Conjunction => world.conjunction(),
                Slot::Separator => world.separator().expect("the world has a separator if the grammar does"),
                // Objects and descriptors follow once their heads are known.
                Slot::Copula | Slot::Object | Slot::Descriptor => world.copula(),
            });
        }
        for i in 0..slots.len() {
            match slots[i] {
                Slot::Object => {
                    let verb = self.symbols[head[i] as usize];
                    let class = world.object_class(world.class(verb).expect("a relation verb has a class"));
                    self.symbols[i] = world.noun(class, draw.index(world.noun_count()));
                }
                Slot::Descriptor => {
                    let subject = self.symbols[head[i] as usize];
                    let properties = world.properties(world.class(subject).expect("an entity has a class"));
                    let property = properties[draw.index(properties.len())];
                    let key = world.key(subject).expect("an entity has a key");
                    self.symbols[i] = world.valid_descriptor(key, property, draw.index(world.valid_count()));
                }
                _ => {}
            }
        }
    }

    /// Writes the sentence, with an adjective before a noun or descriptor, an adverb before a relation verb.
    fn emit(&mut self, draw: &mut Draw, out: &mut Sentence) {
        let (world, config) = (&self.languages.world, &self.languages.config);
        out.symbols.clear();
        out.places.clear();
        self.place.clear();
        for (i, &symbol) in self.symbols.iter().enumerate() {
            let (role, rate) = match world.category(symbol) {
                Category::Noun | Category::Descriptor => (Role::Adjective, config.adjective_rate),
                Category::Relation => (Role::Adverb, config.adverb_rate),
                _ => (Role::Adverb, 0.0),
            };
            let phrase = self.analysis.phrase[i];
            if rate > 0.0 && draw.chance(rate) {
                out.symbols.push(match role {
                    Role::Adjective => world.adjective(draw.index(world.adjective_count())),
                    _ => world.adverb(draw.index(world.adverb_count())),
                });
                out.places.push(Place { role, phrase, head: Some(out.symbols.len() as u16) });
            }
            self.place.push(out.symbols.len() as u16);
            out.symbols.push(symbol);
            out.places.push(Place { role: Role::Slot(self.analysis.slots[i]), phrase, head: None });
        }
        for (i, &head) in self.analysis.head.iter().enumerate() {
            if head != NONE {
                out.places[self.place[i] as usize].head = Some(self.place[head as usize]);
            }
        }
    }
}

/// Draws the slots of a sentence and what the recogniser will see of them.
pub(crate) fn template(
    grammar: &Grammar,
    draw: &mut Draw,
    stack: &mut Vec<Item>,
    slots: &mut Vec<Slot>,
    parts: &mut Vec<Part>,
) {
    grammar.sample(draw, stack, slots);
    parts.clear();
    parts.extend(slots.iter().map(|s| s.part()));
}

/// Looks at templates of a grammar for one that cannot be filled: a descriptor or relation verb without a subject, an
/// object without a verb.
pub(crate) fn unfillable(grammar: &Grammar, analyser: &Analyser) -> Option<Vec<Slot>> {
    let (mut stack, mut slots, mut parts, mut analysis) = (Vec::new(), Vec::new(), Vec::new(), Analysis::default());
    let stream = crate::stream::Stream::new(0, "grammar/probe");
    (0..300).find_map(|row| {
        template(grammar, &mut stream.at(0, row), &mut stack, &mut slots, &mut parts);
        let read = analyser.analyse(&parts, &mut analysis);
        (read.is_err() || !analysis.is_complete()).then(|| slots.clone())
    })
}
