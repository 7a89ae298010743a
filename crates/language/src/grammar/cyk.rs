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
    left: u16,
    right: u16,
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
    /// By the end of a chain of unit rules, its possible starts and the log-probability of the best chain from each.
    best_chains: Vec<Vec<(usize, f64)>>,
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
            best_chains: Vec::new(),
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
        let best = best_chains(&units);
        let starts =
            |y: usize| (0..own).filter(|&x| x != y && best[x][y] > 0.0).map(|x| (x, best[x][y].ln())).collect();
        cyk.best_chains = (0..own).map(starts).collect();
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
        self.binary[parent].push(BinaryRule { left: left as u16, right: right as u16, weight });
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
        let mut lengths = Lengths::new(n, size);
        let mut base = vec![0.0; size];
        for length in 1..=n {
            for i in 0..=n - length {
                for (x, sum) in base.iter_mut().enumerate() {
                    *sum = 0.0;
                    if length == 1 {
                        let fitting = self.lexical[x].iter().filter(|(terminal, _)| terminal.part() == parts[i]);
                        *sum = fitting.map(|(_, w)| w * SCALE).sum();
                    }
                    for rule in &self.binary[x] {
                        for &split in lengths.of(i, rule.left) {
                            let split = split as usize;
                            *sum += rule.weight
                                * table[cell(n, i, split) * size + rule.left as usize]
                                * table[cell(n, i + split, length - split) * size + rule.right as usize];
                        }
                    }
                }
                let possible: Vec<usize> = (0..self.own).filter(|&y| base[y] > 0.0).collect();
                for (x, &base_x) in base.iter().enumerate() {
                    let weight = match x < self.own {
                        true => possible.iter().map(|&y| self.closure[x][y] * base[y]).sum(),
                        false => base_x,
                    };
                    table[cell(n, i, length) * size + x] = weight;
                    if weight != 0.0 {
                        lengths.push(i, x, length);
                    }
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
        if !chart.best(0, n, 0).is_possible() {
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

impl Best {
    fn is_possible(&self) -> bool {
        self.weight > f64::NEG_INFINITY
    }
}

#[derive(Clone, Copy, Debug)]
enum ParseStep {
    Nothing,
    Word(Terminal),
    Binary { left: u16, right: u16, split: u16 },
}

/// The lengths of the spans that each nonterminal derives from each word on, ascending. Most spans are derived by few
/// nonterminals, so that a parser that visits these alone is fast.
struct Lengths {
    size: usize,
    lengths: Vec<Vec<u16>>,
}

impl Lengths {
    fn new(words: usize, size: usize) -> Lengths {
        Lengths { size, lengths: vec![Vec::new(); words * size] }
    }

    fn of(&self, i: usize, x: u16) -> &[u16] {
        &self.lengths[i * self.size + x as usize]
    }

    fn push(&mut self, i: usize, x: usize, length: usize) {
        self.lengths[i * self.size + x].push(length as u16);
    }
}

struct Chart<'a> {
    cyk: &'a Cyk,
    words: usize,
    table: Vec<Best>,
    lengths: Lengths,
}

impl<'a> Chart<'a> {
    fn new(cyk: &'a Cyk, parts: &[WordClass]) -> Chart<'a> {
        let (n, size) = (parts.len(), cyk.size());
        let nothing = Best { weight: f64::NEG_INFINITY, step: ParseStep::Nothing };
        let table = vec![nothing; n * (n + 1) / 2 * size];
        let mut chart = Chart { cyk, words: n, table, lengths: Lengths::new(n, size) };
        let mut base = vec![nothing; size];
        for length in 1..=n {
            for (i, &part) in parts[..=n - length].iter().enumerate() {
                for (x, best) in base.iter_mut().enumerate() {
                    *best = chart.base(x, i, length, part);
                }
                let cells = &mut chart.table[cell(n, i, length) * size..][..size];
                cells.copy_from_slice(&base);
                for (other, starts) in base.iter().zip(&cyk.best_chains).filter(|(base, _)| base.is_possible()) {
                    for &(x, chain) in starts {
                        let weight = chain + other.weight;
                        if weight > cells[x].weight {
                            cells[x] = Best { weight, ..*other };
                        }
                    }
                }
                for (x, _) in cells.iter().enumerate().filter(|(_, best)| best.is_possible()) {
                    chart.lengths.push(i, x, length);
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
            let log_weight = rule.weight.ln();
            for &split in self.lengths.of(i, rule.left) {
                let (left, right) = (rule.left as usize, rule.right as usize);
                let weight = log_weight
                    + self.best(i, split.into(), left).weight
                    + self.best(i + split as usize, length - split as usize, right).weight;
                if weight > best.weight {
                    best = Best { weight, step: ParseStep::Binary { left: rule.left, right: rule.right, split } };
                }
            }
        }
        best
    }

    fn best(&self, i: usize, length: usize, x: usize) -> Best {
        self.table[cell(self.words, i, length) * self.cyk.size() + x]
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
                let split = split as usize;
                self.walk(i, split, left.into(), terminals, constituents);
                self.walk(i + split, length - split, right.into(), terminals, constituents);
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
