//! Parses a category sequence into its [`Analysis`]: the fast parser for the built-in grammars, CYK for any other.

use crate::grammar::analysis::{Analysis, NONE};
use crate::grammar::cyk::Cyk;
use crate::grammar::fast_parser::FastParser;
use crate::grammar::{BUILT_IN, Grammar, RuleItem};
use crate::world::symbol::{Terminal, WordClass};
use invitro_base::limits;
use invitro_base::random::{Rng, Stream};

/// A parser of category sequences.
#[derive(Clone, Debug)]
pub enum Parser {
    /// For the built-in grammars with any probabilities: one pass from left to right.
    Fast(FastParser),
    /// For any grammar: the most probable parse.
    Cyk(Box<Cyk>),
}

impl Parser {
    /// The fast parser if the grammar has the rules of a built-in one, else CYK.
    pub fn new(grammar: &Grammar) -> Parser {
        for (name, _) in BUILT_IN {
            let built_in = Grammar::load(name).expect("built-in grammars are valid");
            if same_shape(grammar, &built_in) {
                return Parser::Fast(FastParser::named(name, grammar.can_make(Terminal::Separator)));
            }
        }
        Parser::Cyk(Box::new(Cyk::new(grammar)))
    }

    /// The number of words up to which it parses: in its analysis, positions have 16 bits.
    pub fn most_words(&self) -> usize {
        match self {
            Parser::Fast(_) => NONE as usize,
            Parser::Cyk(_) => limits::SENTENCE_WORDS,
        }
    }

    /// Fills `out`, or returns the position of the first word that the grammar does not allow: the sequence's length if
    /// it ends too early or no single word is at fault. Longer sequences than [`Parser::most_words`] are not parsed.
    #[inline]
    pub fn parse(&self, parts: &[WordClass], out: &mut Analysis) -> Result<(), usize> {
        match self {
            _ if parts.len() > self.most_words() => Err(parts.len()),
            Parser::Fast(fast) => fast.parse(parts, out),
            Parser::Cyk(cyk) => cyk.parse(parts, out),
        }
    }
}

/// Whether two grammars have the same rules and the same possible ones, except for the rule that joins phrases.
fn same_shape(a: &Grammar, b: &Grammar) -> bool {
    let n = a.nonterminals().len();
    n == b.nonterminals().len()
        && (0..n).all(|i| {
            let (p, q) = (a.productions(i), b.productions(i));
            p.len() == q.len()
                && p.iter().zip(q).enumerate().all(|(k, (x, y))| {
                    let joins = i == 0 && k == 1;
                    x.items == y.items && (joins || (x.probability > 0.0) == (y.probability > 0.0))
                })
        })
}

/// A sampled template: the terminals of a sentence and their word classes, with scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    stack: Vec<RuleItem>,
    pub(crate) terminals: Vec<Terminal>,
    pub(crate) parts: Vec<WordClass>,
}

impl Template {
    /// Samples another template from the grammar.
    pub(crate) fn sample(&mut self, grammar: &Grammar, rng: &mut Rng) {
        grammar.sample(rng, &mut self.stack, &mut self.terminals);
        self.parts.clear();
        self.parts.extend(self.terminals.iter().map(|t| t.part()));
    }
}

/// Searches sampled templates for one that cannot be filled: a descriptor or relation verb without a subject, or an
/// object without a verb.
pub(crate) fn unfillable(grammar: &Grammar, parser: &Parser) -> Option<Vec<Terminal>> {
    let (mut template, mut analysis) = (Template::default(), Analysis::default());
    let stream = Stream::new(0, "grammar/probe");
    (0..300).find_map(|row| {
        template.sample(grammar, &mut stream.at(0, row));
        let parsed = parser.parse(&template.parts, &mut analysis);
        (parsed.is_err() || !analysis.is_complete()).then(|| template.terminals.clone())
    })
}
