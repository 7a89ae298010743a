//! The CYK parser, for any grammar: ambiguous, recursive, with unit rules and silent marks. It is the slow twin of the
//! fast parser, and its oracle in tests.
//!
//! The grammar is converted to Chomsky normal form: silent nonterminals are removed with their probability, longer rules
//! become binary, and chains of unit rules are summed in closed form, (I - U)⁻¹. [`Cyk::log_probability`] sums over all
//! parses (the inside algorithm); [`Cyk::parse`] finds the most probable one.

use crate::grammar::analysis::{Analysis, NONE};
use crate::grammar::unit_closure::{best_chains, silent_probability, unit_closure, without_silent};
use crate::grammar::{Grammar, RuleItem};
use crate::world::symbol::{Terminal, WordClass};

/// Scales the weight of each word in the chart, so that long sentences do not underflow.
const SCALE: f64 = 4.0;

/// `X -> left right`.
#[derive(Clone, Copy, Debug)]
struct BinaryRule {
    left: usize,
    right: usize,
    weight: f64,
}

/// A grammar in Chomsky normal form, its rules indexed by their left side.
#[derive(Clone, Debug)]
pub struct Cyk {
    /// The number of the grammar's own nonterminals, which come first; split rules add further ones.
    own: usize,
    binary: Vec<Vec<BinaryRule>>,
    lexical: Vec<Vec<(Terminal, f64)>>,
    /// The unit closure: Σ over chains of unit rules from one nonterminal to another.
    closure: Vec<Vec<f64>>,
    /// The probability of the most probable such chain.
    best_chain: Vec<Vec<f64>>,
}

impl Cyk {
    /// Removes silent items, splits long rules, sums unit chains.
    pub fn new(grammar: &Grammar) -> Cyk {
        let own = grammar.nonterminals().len();
        let silent = silent_probability(grammar);
        let mut cyk = Cyk {
            own,
            binary: vec![Vec::new(); own],
            lexical: vec![Vec::new(); own],
            closure: Vec::new(),
            best_chain: Vec::new(),
        };
        let mut units = vec![vec![0.0; own]; own];
        for (n, units) in units.iter_mut().enumerate() {
            for production in grammar.possible(n) {
                for (items, weight) in without_silent(&production.items, production.probability, &silent) {
                    match items[..] {
                        [] => {}
                        [RuleItem::Nonterminal(m)] => units[m] += weight,
                        [RuleItem::Word(terminal)] => cyk.lexical[n].push((terminal, weight)),
                        _ => cyk.binarise(n, &items, weight),
                    }
                }
            }
        }
        cyk.closure = unit_closure(&units);
        cyk.best_chain = best_chains(&units);
        cyk
    }

    /// A rule of two items or more as binary rules, from the left.
    fn binarise(&mut self, parent: usize, items: &[RuleItem], weight: f64) {
        let left = self.single(items[0]);
        let right = if items.len() == 2 {
            self.single(items[1])
        } else {
            let tail = self.add();
            self.binarise(tail, &items[1..], 1.0);
            tail
        };
        self.binary[parent].push(BinaryRule { left, right, weight });
    }

    fn single(&mut self, item: RuleItem) -> usize {
        match item {
            RuleItem::Nonterminal(n) => n,
            RuleItem::Word(terminal) => {
                let n = self.add();
                self.lexical[n].push((terminal, 1.0));
                n
            }
            RuleItem::Silent => unreachable!("silent marks are dropped before rules are split"),
        }
    }

    fn add(&mut self) -> usize {
        self.binary.push(Vec::new());
        self.lexical.push(Vec::new());
        self.binary.len() - 1
    }

    fn size(&self) -> usize {
        self.binary.len()
    }

    /// ln P(category sequence), over all parses; minus infinity if there is none.
    pub fn log_probability(&self, parts: &[WordClass]) -> f64 {
        let (n, size) = (parts.len(), self.size());
        if n == 0 {
            return f64::NEG_INFINITY;
        }
        // table[cell(i, j)][X]: the weight of X over the words i..j.
        let mut table = vec![0.0; n * (n + 1) / 2 * size];
        let mut base = vec![0.0; size];
        for length in 1..=n {
            for i in 0..=n - length {
                base.fill(0.0);
                for (x, sum) in base.iter_mut().enumerate() {
                    if length == 1 {
                        let fitting = self.lexical[x].iter().filter(|(terminal, _)| terminal.part() == parts[i]);
                        *sum = fitting.map(|(_, w)| w * SCALE).sum();
                    }
                    for rule in &self.binary[x] {
                        for split in 1..length {
                            *sum += rule.weight
                                * table[cell(n, i, split) * size + rule.left]
                                * table[cell(n, i + split, length - split) * size + rule.right];
                        }
                    }
                }
                let out = &mut table[cell(n, i, length) * size..][..size];
                for (x, value) in out.iter_mut().enumerate() {
                    *value = if x < self.own { dot(&self.closure[x], &base) } else { base[x] };
                }
            }
        }
        table[cell(n, 0, n) * size].ln() - n as f64 * SCALE.ln()
    }

    /// The structure of the most probable parse; ties go to the first rule and split.
    pub fn parse(&self, parts: &[WordClass], out: &mut Analysis) -> Result<(), usize> {
        out.clear();
        let n = parts.len();
        if n == 0 {
            return Err(0);
        }
        let chart = Chart::new(self, parts);
        if chart.best(0, n, 0).weight == f64::NEG_INFINITY {
            return Err(n);
        }
        let mut constituents = Vec::new();
        let mut terminals = vec![Terminal::Subject; n];
        chart.walk(0, n, 0, &mut terminals, &mut constituents);
        let mut phrase = 0;
        for &terminal in &terminals {
            out.push(terminal, phrase, NONE);
            phrase += u16::from(terminal == Terminal::Separator);
        }
        attach(out, &constituents);
        Ok(())
    }
}

/// Sets the heads. An object's head is the verb of the smallest constituent that has one (the nearest before it, else
/// the nearest after); a descriptor's is the last subject of its phrase. Constituents come innermost first.
fn attach(out: &mut Analysis, constituents: &[(usize, usize)]) {
    for i in 0..out.terminals.len() {
        out.head[i] = match out.terminals[i] {
            Terminal::Object => constituents
                .iter()
                .filter(|&&(from, to)| from <= i && i < to)
                .find_map(|&(from, to)| {
                    let verb = |&k: &usize| out.terminals[k] == Terminal::Relation;
                    (from..i).rev().find(verb).or_else(|| (i + 1..to).find(verb))
                })
                .map_or(NONE, |k| k as u16),
            Terminal::Descriptor => (0..out.terminals.len())
                .rev()
                .find(|&k| out.terminals[k] == Terminal::Subject && out.phrase[k] == out.phrase[i])
                .map_or(NONE, |k| k as u16),
            _ => NONE,
        };
    }
}

/// The best parse of X over a span: its log-probability, and how the end of its unit chain splits.
#[derive(Clone, Copy, Debug)]
struct Best {
    weight: f64,
    step: ParseStep,
}

#[derive(Clone, Copy, Debug)]
enum ParseStep {
    Nothing,
    Word(Terminal),
    Binary { left: usize, right: usize, split: usize },
}

struct Chart<'a> {
    cyk: &'a Cyk,
    length: usize,
    table: Vec<Best>,
}

impl<'a> Chart<'a> {
    fn new(cyk: &'a Cyk, parts: &[WordClass]) -> Chart<'a> {
        let (n, size) = (parts.len(), cyk.size());
        let nothing = Best { weight: f64::NEG_INFINITY, step: ParseStep::Nothing };
        let mut chart = Chart { cyk, length: n, table: vec![nothing; n * (n + 1) / 2 * size] };
        let mut base = vec![nothing; size];
        for length in 1..=n {
            for (i, &part) in parts[..=n - length].iter().enumerate() {
                for (x, best) in base.iter_mut().enumerate() {
                    *best = chart.base(x, i, length, part);
                }
                for x in 0..size {
                    let mut best = base[x];
                    if x < cyk.own {
                        for (y, other) in base.iter().enumerate().take(cyk.own) {
                            let weight = cyk.best_chain[x][y].ln() + other.weight;
                            if y != x && weight > best.weight {
                                best = Best { weight, ..*other };
                            }
                        }
                    }
                    chart.table[cell(n, i, length) * size + x] = best;
                }
            }
        }
        chart
    }

    fn base(&self, x: usize, i: usize, length: usize, part: WordClass) -> Best {
        let mut best = Best { weight: f64::NEG_INFINITY, step: ParseStep::Nothing };
        if length == 1 {
            for &(terminal, weight) in self.cyk.lexical[x].iter().filter(|(terminal, _)| terminal.part() == part) {
                if weight.ln() > best.weight {
                    best = Best { weight: weight.ln(), step: ParseStep::Word(terminal) };
                }
            }
        }
        for rule in &self.cyk.binary[x] {
            for split in 1..length {
                let weight = rule.weight.ln()
                    + self.best(i, split, rule.left).weight
                    + self.best(i + split, length - split, rule.right).weight;
                if weight > best.weight {
                    best = Best { weight, step: ParseStep::Binary { left: rule.left, right: rule.right, split } };
                }
            }
        }
        best
    }

    fn best(&self, i: usize, length: usize, x: usize) -> Best {
        self.table[cell(self.length, i, length) * self.cyk.size() + x]
    }

    /// Collects the terminals and, innermost first, the spans of the grammar's own nonterminals.
    fn walk(
        &self,
        i: usize,
        length: usize,
        x: usize,
        terminals: &mut [Terminal],
        constituents: &mut Vec<(usize, usize)>,
    ) {
        match self.best(i, length, x).step {
            ParseStep::Word(terminal) => terminals[i] = terminal,
            ParseStep::Binary { left, right, split } => {
                self.walk(i, split, left, terminals, constituents);
                self.walk(i + split, length - split, right, terminals, constituents);
            }
            ParseStep::Nothing => unreachable!("only parsed spans are walked"),
        }
        if x < self.cyk.own {
            constituents.push((i, i + length));
        }
    }
}

/// The index of the span of `length` words from `i` in a table of all spans of `n` words.
#[inline]
fn cell(n: usize, i: usize, length: usize) -> usize {
    let rows = length - 1;
    rows * n - rows * rows.saturating_sub(1) / 2 + i
}

fn dot(row: &[f64], values: &[f64]) -> f64 {
    row.iter().zip(values).map(|(a, b)| a * b).sum()
}
