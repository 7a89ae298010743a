//! Probabilistic context-free grammars, read from text in the paper's notation and validated.
//!
//! ```text
//! NP -> subjectID [0.8]
//!     | NP Conj NP [0.2]
//! subjectID -> 'subjectID' [1.0]
//! ```
//!
//! The first rule's left side is the start. Terminals are quoted and are the paper's ten. `'[P]'` and `'<eos>'` mark the
//! start of a phrase and the end; they are silent. `#` starts a comment.

pub mod analysis;
pub mod cyk;
pub(crate) mod fast_parser;
pub(crate) mod notation;
pub mod parser;
pub(crate) mod unit_closure;

use crate::error::{Error, Result};
use crate::grammar::notation::Rule;
pub use crate::grammar::notation::{Production, RuleItem};
use crate::grammar::unit_closure::unit_closure;
use crate::world::symbol::Terminal;
use invitro_base::limits;
use invitro_base::random::Rng;

/// The built-in grammars: the paper's word order and three others.
pub const BUILT_IN: [(&str, &str); 4] = [
    ("svo", include_str!("built_in/svo.txt")),
    ("sov", include_str!("built_in/sov.txt")),
    ("vso", include_str!("built_in/vso.txt")),
    ("vos", include_str!("built_in/vos.txt")),
];

/// A validated grammar. Nonterminal 0 is the start.
#[derive(Clone, Debug)]
pub struct Grammar {
    name: String,
    text: String,
    names: Vec<String>,
    productions: Vec<Vec<Production>>,
    /// Per nonterminal, the productions' cumulative probabilities, for sampling.
    cumulative: Vec<Vec<f64>>,
}

impl Grammar {
    /// Loads `svo`, `sov`, `vso`, `vos`, or a file: its path, or its name in [`invitro_base::named_files`].
    pub fn load(given: &str) -> Result<Grammar> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == given) {
            return Grammar::parse(name, text);
        }
        let wrong = |why: String| Error::GrammarFile { given: given.into(), why };
        let content = match invitro_base::named_files::content(given) {
            Some(content) => content.to_vec(),
            None => limits::read_file(given.as_ref()).map_err(|e| wrong(e.to_string()))?,
        };
        let text = String::from_utf8(content).map_err(|_| wrong("it is not text".into()))?;
        // A fault is one of the user's own file, not of the copy that a run keeps.
        let path = invitro_base::named_files::path(given).map(|path| path.display().to_string());
        Grammar::read(path.as_deref().unwrap_or(given), given, &text)
    }

    /// Reads and validates a grammar; `name` is for error messages.
    pub fn parse(name: &str, text: &str) -> Result<Grammar> {
        Grammar::read(name, name, text)
    }

    /// The same, with a name of its own that error messages have for its file.
    fn read(file: &str, name: &str, text: &str) -> Result<Grammar> {
        let rules = notation::read(file, text)?;
        let (names, productions, lines) = notation::resolve(file, &rules)?;
        let cumulative = |list: &Vec<Production>| {
            let mut sum = 0.0;
            list.iter().map(|p| (sum += p.probability, sum).1).collect()
        };
        let cumulative = productions.iter().map(cumulative).collect();
        let grammar = Grammar { name: name.into(), text: text.into(), names, productions, cumulative };
        grammar.validate(file, &rules, &lines)?;
        Ok(grammar)
    }

    /// Its built-in name, or the file it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The nonterminals' names; the first is the start.
    pub fn nonterminals(&self) -> &[String] {
        &self.names
    }

    /// A nonterminal's productions, those of probability 0 included.
    pub fn productions(&self, nonterminal: usize) -> &[Production] {
        &self.productions[nonterminal]
    }

    /// Whether a sentence can contain this terminal.
    pub fn can_make(&self, terminal: Terminal) -> bool {
        let reached = self.reached(|production| production.probability > 0.0);
        let possible = (0..self.names.len()).filter(|&n| reached[n]).flat_map(|n| self.possible(n));
        possible.flat_map(|production| &production.items).any(|item| *item == RuleItem::Word(terminal))
    }

    /// The nonterminals that the start reaches by productions that satisfy `counts`.
    fn reached(&self, counts: impl Fn(&Production) -> bool) -> Vec<bool> {
        let mut seen = vec![false; self.names.len()];
        let mut queue = vec![0];
        seen[0] = true;
        while let Some(n) = queue.pop() {
            for item in self.productions[n].iter().filter(|p| counts(p)).flat_map(|p| &p.items) {
                match *item {
                    RuleItem::Nonterminal(m) if !std::mem::replace(&mut seen[m], true) => queue.push(m),
                    _ => {}
                }
            }
        }
        seen
    }

    /// Samples a template: the terminals of a sentence, without modifiers. A template of more than
    /// [`limits::SENTENCE_WORDS`] is drawn again. `stack` is scratch.
    #[inline]
    pub fn sample(&self, rng: &mut Rng, stack: &mut Vec<RuleItem>, out: &mut Vec<Terminal>) {
        out.clear();
        stack.clear();
        stack.push(RuleItem::Nonterminal(0));
        while let Some(item) = stack.pop() {
            match item {
                RuleItem::Silent => {}
                RuleItem::Word(_) if out.len() == limits::SENTENCE_WORDS => return self.sample(rng, stack, out),
                RuleItem::Word(terminal) => out.push(terminal),
                RuleItem::Nonterminal(n) => {
                    let list = &self.productions[n];
                    let pick = if list.len() == 1 { 0 } else { self.choose(n, rng.unit()) };
                    stack.extend(list[pick].items.iter().rev());
                }
            }
        }
    }

    /// The production whose share of [0, 1) contains `u`; the last possible one if rounding left a gap.
    #[inline]
    fn choose(&self, n: usize, u: f64) -> usize {
        let cumulative = &self.cumulative[n];
        cumulative.iter().position(|&c| u < c).unwrap_or_else(|| {
            self.productions[n].iter().rposition(|p| p.probability > 0.0).expect("probabilities sum to 1")
        })
    }

    /// Checks that probabilities sum to 1, every rule is reached and productive, and sentences end, are not empty and
    /// can be parsed.
    fn validate(&self, file: &str, rules: &[Rule], lines: &[usize]) -> Result<()> {
        let fault = |line, fault: String| Err(Error::Grammar { name: file.into(), line, fault });
        for (n, list) in self.productions.iter().enumerate() {
            let sum: f64 = list.iter().map(|p| p.probability).sum();
            if (sum - 1.0).abs() > 1e-6 {
                return fault(lines[n], format!("the probabilities of `{}` sum to {sum}, not to 1", self.names[n]));
            }
        }
        // A rule behind a probability of 0 may be switched off on purpose; an unreachable rule is a mistake.
        if let Some(n) = self.reached(|_| true).iter().position(|&reached| !reached) {
            let (name, start) = (&self.names[n], &self.names[0]);
            return fault(lines[n], format!("`{name}` is never reached from the start, `{start}`"));
        }
        let productive = self.fixpoint(|n, done| {
            self.possible(n).any(|p| p.items.iter().all(|i| !matches!(i, RuleItem::Nonterminal(m) if !done[*m])))
        });
        if let Some(n) = productive.iter().position(|&p| !p) {
            return fault(lines[n], format!("`{}` never ends: no way out of its own rules", self.names[n]));
        }
        if let Some(n) = self.endless() {
            let line = rules.iter().find(|r| r.left == self.names[n]).map_or(lines[n], |r| r.line);
            return fault(line, format!("`{}` has no finite expected length: sentences may never end", self.names[n]));
        }
        let empty = self.fixpoint(|n, done| {
            self.possible(n).any(|p| {
                p.items.iter().all(|i| match i {
                    RuleItem::Silent => true,
                    RuleItem::Word(_) => false,
                    RuleItem::Nonterminal(m) => done[*m],
                })
            })
        });
        if empty[0] {
            return fault(lines[0], format!("`{}` can be a sentence without words", self.names[0]));
        }
        let mut symbols = 0.0;
        for (n, production) in (0..self.names.len()).flat_map(|n| self.possible(n).map(move |p| (n, p))) {
            let is_optional = |item: &&RuleItem| matches!(item, RuleItem::Nonterminal(m) if empty[*m]);
            let ways = 2f64.powi(production.items.iter().filter(is_optional).count() as i32);
            symbols += ways * production.items.len() as f64;
            if symbols > limits::GRAMMAR_SYMBOLS as f64 {
                let (name, most) = (&self.names[n], limits::GRAMMAR_SYMBOLS);
                let counted = "counting a rule once for every choice of symbols that become no word";
                let given = format!("the rules up to `{name}` have {symbols:.0} symbols, {counted}");
                return fault(lines[n], format!("{given}; a grammar may have at most {most}"));
            }
        }
        let [words, all] = self.mean_length();
        for (mean, what, most) in
            [(words, "words", limits::MEAN_WORDS), (all, "symbols in their derivation", limits::MEAN_SYMBOLS)]
        {
            if mean > most {
                let given = format!("the sentences of `{}` have on average {mean:.0} {what}", self.names[0]);
                return fault(lines[0], format!("{given}; at most {most} are allowed"));
            }
        }
        Ok(())
    }

    /// The mean numbers of words and of all symbols in the derivation of a sentence.
    fn mean_length(&self) -> [f64; 2] {
        let uses = &unit_closure(&self.children())[0];
        let mean_of = |counts: fn(&RuleItem) -> bool| {
            let items = |p: &Production| p.probability * p.items.iter().filter(|item| counts(item)).count() as f64;
            (0..uses.len()).map(|n| uses[n] * self.possible(n).map(items).sum::<f64>()).sum()
        };
        [mean_of(|item| matches!(item, RuleItem::Word(_))), mean_of(|_| true)]
    }

    /// The matrix of expected children: how often a nonterminal occurs in another's right side, on average.
    fn children(&self) -> Vec<Vec<f64>> {
        let n = self.names.len();
        let mut children = vec![vec![0.0f64; n]; n];
        for (row, productions) in children.iter_mut().zip(&self.productions) {
            for p in productions {
                for item in &p.items {
                    if let RuleItem::Nonterminal(to) = item {
                        row[*to] += p.probability;
                    }
                }
            }
        }
        children
    }

    pub(crate) fn possible(&self, n: usize) -> impl Iterator<Item = &Production> {
        self.productions[n].iter().filter(|p| p.probability > 0.0)
    }

    /// The smallest set of nonterminals closed under `joins`.
    fn fixpoint(&self, joins: impl Fn(usize, &[bool]) -> bool) -> Vec<bool> {
        let mut done = vec![false; self.names.len()];
        loop {
            let before = done.clone();
            for (n, done) in done.iter_mut().enumerate() {
                *done = *done || joins(n, &before);
            }
            if done == before {
                return done;
            }
        }
    }

    /// A nonterminal of infinite expected length. The matrix of expected children is squared until it vanishes or
    /// diverges.
    fn endless(&self) -> Option<usize> {
        let n = self.names.len();
        let mut power = self.children();
        for _ in 0..32 {
            let largest = power.iter().flatten().fold(0.0f64, |a, &b| a.max(b));
            if largest < 1e-9 {
                return None;
            }
            if largest > 1e12 {
                break;
            }
            let square = |i: usize, j: usize| (0..n).map(|k| power[i][k] * power[k][j]).sum::<f64>();
            power = (0..n).map(|i| (0..n).map(|j| square(i, j)).collect()).collect();
        }
        (0..n).max_by(|&a, &b| power[a][a].total_cmp(&power[b][b]).then(b.cmp(&a)))
    }
}
