//! Reorders the words of a sentence for another grammar.
//!
//! ```text
//! svo   the trader gives to the cup and is tall
//! sov   the trader the cup to gives and tall is
//! ```

use crate::corpus::sentence::{Role, Sentence, WordPlace};
use crate::grammar::fast_parser::WordOrder;
use crate::grammar::parser::Parser;
use crate::languages::Languages;
use crate::world::symbol::{Language, Symbol, Terminal};

/// A phrase without word order: its subjects, as positions, and its predicates.
#[derive(Default)]
struct Clause {
    subjects: Vec<usize>,
    predicates: Vec<Predicate>,
}

/// A descriptor, or a relation verb with its objects.
enum Predicate {
    Descriptor(usize),
    Relation(usize, Vec<usize>),
}

impl Languages {
    /// The words of a sentence in another language's order. The order changes only between built-in grammars.
    pub fn reordered(&self, sentence: &Sentence, from: Language, to: Language) -> Vec<Symbol> {
        let order = |language: Language| match &self.syntax(language).parser {
            Parser::Fast(parser) => Some(parser.order()),
            Parser::Cyk(_) => None,
        };
        match (order(from), order(to)) {
            (Some(from), Some(to)) if from != to => {
                SentenceWriter { languages: self, sentence, out: Vec::new() }.write(to)
            }
            _ => sentence.symbols.clone(),
        }
    }
}

struct SentenceWriter<'a> {
    languages: &'a Languages,
    sentence: &'a Sentence,
    out: Vec<Symbol>,
}

impl SentenceWriter<'_> {
    fn write(mut self, order: WordOrder) -> Vec<Symbol> {
        for (at, clause) in self.clauses().iter().enumerate() {
            if at > 0 {
                self.out.extend(self.languages.world.separator());
            }
            self.clause(clause, order);
        }
        self.out
    }

    /// The phrases, in order.
    fn clauses(&self) -> Vec<Clause> {
        let mut clauses: Vec<Clause> = Vec::new();
        for (at, place) in self.sentence.places.iter().enumerate() {
            let phrase = place.phrase as usize;
            if clauses.len() <= phrase {
                clauses.resize_with(phrase + 1, Clause::default);
            }
            let Clause { subjects, predicates } = &mut clauses[phrase];
            match place.role {
                Role::Terminal(Terminal::Subject) => subjects.push(at),
                Role::Terminal(Terminal::Descriptor) => predicates.push(Predicate::Descriptor(at)),
                Role::Terminal(Terminal::Relation) => predicates.push(Predicate::Relation(at, self.objects(at))),
                _ => {}
            }
        }
        clauses
    }

    /// The objects of a relation verb.
    fn objects(&self, verb: usize) -> Vec<usize> {
        let is_of_verb = |&at: &usize| self.sentence.places[at].head == Some(verb as u16);
        self.sentence.positions(Terminal::Object).filter(is_of_verb).collect()
    }

    fn clause(&mut self, Clause { subjects, predicates }: &Clause, order: WordOrder) {
        match order {
            WordOrder::Svo | WordOrder::Sov => {
                self.list(subjects);
                self.predicates(predicates, order);
            }
            WordOrder::Vos => {
                self.predicates(predicates, order);
                self.list(subjects);
            }
            WordOrder::Vso => {
                let world = &self.languages.world;
                match predicates.first() {
                    Some(Predicate::Descriptor(at)) => {
                        self.out.push(world.copula());
                        self.list(subjects);
                        self.word(*at);
                    }
                    Some(Predicate::Relation(verb, objects)) => {
                        self.word(*verb);
                        self.list(subjects);
                        self.out.push(world.preposition());
                        self.list(objects);
                    }
                    None => self.list(subjects),
                }
                if let [_, further @ ..] = &predicates[..]
                    && !further.is_empty()
                {
                    self.out.push(world.conjunction());
                    self.predicates(further, order);
                }
            }
        }
    }

    fn predicates(&mut self, predicates: &[Predicate], order: WordOrder) {
        let world = &self.languages.world;
        for (i, predicate) in predicates.iter().enumerate() {
            if i > 0 {
                self.out.push(world.conjunction());
            }
            match (predicate, order) {
                (Predicate::Descriptor(at), WordOrder::Sov) => {
                    self.word(*at);
                    self.out.push(world.copula());
                }
                (Predicate::Descriptor(at), _) => {
                    self.out.push(world.copula());
                    self.word(*at);
                }
                (Predicate::Relation(verb, objects), WordOrder::Sov) => {
                    self.list(objects);
                    self.out.push(world.preposition());
                    self.word(*verb);
                }
                (Predicate::Relation(verb, objects), _) => {
                    self.word(*verb);
                    self.out.push(world.preposition());
                    self.list(objects);
                }
            }
        }
    }

    /// Writes words with conjunctions between them.
    fn list(&mut self, words: &[usize]) {
        for (i, &at) in words.iter().enumerate() {
            if i > 0 {
                self.out.push(self.languages.world.conjunction());
            }
            self.word(at);
        }
    }

    /// Writes a word with its modifier.
    fn word(&mut self, at: usize) {
        let Sentence { symbols, places } = self.sentence;
        let modifies =
            |place: &&WordPlace| matches!(place.role, Role::Adjective | Role::Adverb) && place.head == Some(at as u16);
        if at > 0 && places.get(at - 1).filter(modifies).is_some() {
            self.out.push(symbols[at - 1]);
        }
        self.out.push(symbols[at]);
    }
}
