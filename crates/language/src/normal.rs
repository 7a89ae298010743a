//! A general recogniser: any grammar, ambiguous, recursive, with unit rules and silent marks, in a normal form that
//! the CYK algorithm can read.
//!
//! Silent nonterminals are taken out of the rules with their probability, longer rules are cut in two, and chains of
//! unit rules are summed in closed form, (I - U)⁻¹. Two readings of the same table: [`Normal::log_probability`] sums
//! over all parses, [`Normal::analyse`] keeps the most probable one.

use crate::analysis::{Analysis, NONE};
use crate::chains::{best_chains, silent_probability, spoken, sum_chains};
use crate::grammar::{Grammar, Item};
use crate::symbol::{Part, Slot};

/// Words weigh this much more than their probability inside the table, so that long sentences do not underflow.
const SCALE: f64 = 4.0;

#[derive(Clone, Copy, Debug)]
struct Pair {
    left: usize,
    right: usize,
    weight: f64,
}

/// A grammar in normal form.
#[derive(Clone, Debug)]
pub struct Normal {
    /// The grammar's own nonterminals come first; those beyond were made by cutting rules.
    own: usize,
    pairs: Vec<Vec<Pair>>,
    words: Vec<Vec<(Slot, f64)>>,
    /// Σ over unit chains from one nonterminal to another, and the best single chain.
    closure: Vec<Vec<f64>>,
    best_chain: Vec<Vec<f64>>,
}

impl Normal {
    pub fn new(grammar: &Grammar) -> Normal {
        let own = grammar.nonterminals().len();
        let silent = silent_probability(grammar);
        let mut normal = Normal {
            own,
            pairs: vec![Vec::new(); own],
            words: vec![Vec::new(); own],
            closure: Vec::new(),
            best_chain: Vec::new(),
        };
        let mut units = vec![vec![0.0; own]; own];
        for (n, units) in units.iter_mut().enumerate() {
            for production in grammar.possible(n) {
                for (items, weight) in spoken(&production.items, production.probability, &silent) {
                    match items[..] {
                        [] => {}
                        [Item::Nonterminal(m)] => units[m] += weight,
                        [Item::Word(slot)] => normal.words[n].push((slot, weight)),
                        _ => normal.cut(n, &items, weight),
                    }
                }
            }
        }
        normal.closure = sum_chains(&units);
        normal.best_chain = best_chains(&units);
        normal
    }

    /// A rule of two items or more, cut into pairs from the left.
    fn cut(&mut self, parent: usize, items: &[Item], weight: f64) {
        let left = self.single(items[0]);
        let right = if items.len() == 2 {
            self.single(items[1])
        } else {
            let rest = self.add();
            self.cut(rest, &items[1..], 1.0);
            rest
        };
        self.pairs[parent].push(Pair { left, right, weight });
    }

    fn single(&mut self, item: Item) -> usize {
        match item {
            Item::Nonterminal(n) => n,
            Item::Word(slot) => {
                let n = self.add();
                self.words[n].push((slot, 1.0));
                n
            }
            Item::Silent => unreachable!("silent marks are dropped before rules are cut"),
        }
    }

    fn add(&mut self) -> usize {
        self.pairs.push(Vec::new());
        self.words.push(Vec::new());
        self.pairs.len() - 1
    }

    fn size(&self) -> usize {
        self.pairs.len()
    }

    /// The natural logarithm of the probability that the grammar makes this category sequence, over all parses;
    /// minus infinity if it makes none.
    pub fn log_probability(&self, parts: &[Part]) -> f64 {
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
                        let fitting = self.words[x].iter().filter(|(slot, _)| slot.part() == parts[i]);
                        *sum = fitting.map(|(_, w)| w * SCALE).sum();
                    }
                    for pair in &self.pairs[x] {
                        for split in 1..length {
                            *sum += pair.weight
                                * table[cell(n, i, split) * size + pair.left]
                                * table[cell(n, i + split, length - split) * size + pair.right];
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

    /// The structure of the most probable parse; of equally probable ones the first by rule and split.
    pub fn analyse(&self, parts: &[Part], out: &mut Analysis) -> Result<(), usize> {
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
        let mut slots = vec![Slot::Subject; n];
        chart.walk(0, n, 0, &mut slots, &mut constituents);
        let mut phrase = 0;
        for &slot in &slots {
            out.push(slot, phrase, NONE);
            phrase += u16::from(slot == Slot::Separator);
        }
        attach(out, &constituents);
        Ok(())
    }
}

/// Objects to the verb of the smallest constituent that has one (the nearest before them in it, else the nearest
/// after); descriptors to the last subject of their phrase. Constituents come innermost first.
fn attach(out: &mut Analysis, constituents: &[(usize, usize)]) {
    for i in 0..out.slots.len() {
        out.head[i] = match out.slots[i] {
            Slot::Object => constituents
                .iter()
                .filter(|&&(from, to)| from <= i && i < to)
                .find_map(|&(from, to)| {
                    let verb = |&k: &usize| out.slots[k] == Slot::Relation;
                    (from..i).rev().find(verb).or_else(|| (i + 1..to).find(verb))
                })
                .map_or(NONE, |k| k as u16),
            Slot::Descriptor => (0..out.slots.len())
                .rev()
                .find(|&k| out.slots[k] == Slot::Subject && out.phrase[k] == out.phrase[i])
                .map_or(NONE, |k| k as u16),
            _ => NONE,
        };
    }
}

/// The best parse of X over a span: its logarithm, and how the end of its unit chain splits.
#[derive(Clone, Copy, Debug)]
struct Best {
    weight: f64,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Nothing,
    Word(Slot),
    Pair { left: usize, right: usize, split: usize },
}

struct Chart<'a> {
    normal: &'a Normal,
    length: usize,
    table: Vec<Best>,
}

impl<'a> Chart<'a> {
    fn new(normal: &'a Normal, parts: &[Part]) -> Chart<'a> {
        let (n, size) = (parts.len(), normal.size());
        let nothing = Best { weight: f64::NEG_INFINITY, step: Step::Nothing };
        let mut chart = Chart { normal, length: n, table: vec![nothing; n * (n + 1) / 2 * size] };
        let mut base = vec![nothing; size];
        for length in 1..=n {
            for (i, &part) in parts[..=n - length].iter().enumerate() {
                for (x, best) in base.iter_mut().enumerate() {
                    *best = chart.base(x, i, length, part);
                }
                for x in 0..size {
                    let mut best = base[x];
                    if x < normal.own {
                        for (y, other) in base.iter().enumerate().take(normal.own) {
                            let weight = normal.best_chain[x][y].ln() + other.weight;
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

    fn base(&self, x: usize, i: usize, length: usize, part: Part) -> Best {
        let mut best = Best { weight: f64::NEG_INFINITY, step: Step::Nothing };
        if length == 1 {
            for &(slot, weight) in self.normal.words[x].iter().filter(|(slot, _)| slot.part() == part) {
                if weight.ln() > best.weight {
                    best = Best { weight: weight.ln(), step: Step::Word(slot) };
                }
            }
        }
        for pair in &self.normal.pairs[x] {
            for split in 1..length {
                let weight = pair.weight.ln()
                    + self.best(i, split, pair.left).weight
                    + self.best(i + split, length - split, pair.right).weight;
                if weight > best.weight {
                    best = Best { weight, step: Step::Pair { left: pair.left, right: pair.right, split } };
                }
            }
        }
        best
    }

    fn best(&self, i: usize, length: usize, x: usize) -> Best {
        self.table[cell(self.length, i, length) * self.normal.size() + x]
    }

    /// Collects the slots and, innermost first, the spans of the grammar's own nonterminals.
    fn walk(&self, i: usize, length: usize, x: usize, slots: &mut [Slot], constituents: &mut Vec<(usize, usize)>) {
        match self.best(i, length, x).step {
            Step::Word(slot) => slots[i] = slot,
            Step::Pair { left, right, split } => {
                self.walk(i, split, left, slots, constituents);
                self.walk(i + split, length - split, right, slots, constituents);
            }
            Step::Nothing => unreachable!("only parsed spans are walked"),
        }
        if x < self.normal.own {
            constituents.push((i, i + length));
        }
    }
}

/// Where the span of `length` words from `i` lies in a table of all spans of `n` words.
#[inline]
fn cell(n: usize, i: usize, length: usize) -> usize {
    let rows = length - 1;
    rows * n - rows * rows.saturating_sub(1) / 2 + i
}

fn dot(row: &[f64], values: &[f64]) -> f64 {
    row.iter().zip(values).map(|(a, b)| a * b).sum()
}
