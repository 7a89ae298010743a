//! Generates a family's words by Algorithm 1 of the paper: a proto-stem for every symbol, changed along every branch of the
//! tree, with an optional prefix and suffix. Names are capitalised and never change; function words are short.
//!
//! Lengths and affixes are stratified within a category, so that even a small world has the requested word length.

use crate::error::{Error, Result};
use crate::family::{Branch, Family, Node};
use crate::lexicon::calibration::{calibrate, calibrate_within, measure};
use crate::lexicon::history::affixes::Affixes;
use crate::lexicon::history::drift::{DriftRate, StemHistory};
use crate::lexicon::letters::FamilyLetters;
use crate::lexicon::phonology::{Letters, Morphemes, Stem, is_vowel};
use crate::world::World;
use crate::world::mask::Mask;
use crate::world::symbol::{Category, Symbol};
use invitro_base::random::{Rng, Stream};
use invitro_base::settings::{LanguageConfig, require};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// Draws of a proto-stem, or of a symbol's forms, before the lexicon counts as exhausted.
const TRIES: u64 = 1000;
/// The first draws redraw only the affixes; later ones also redraw the stem.
const AFFIX_TRIES: u64 = 20;
/// The number of stem lengths around the mean; odd.
const SPREAD: f64 = 5.0;
const SHORTEST: f64 = 3.0;
/// How far masked stems may be from the distance asked for because they must differ.
const TOLERANCE: f64 = 0.02;

/// The script of a symbol's word; names have the shared one.
pub fn script_of(world: &World, symbol: Symbol, node: &Node) -> usize {
    if world.category(symbol) == Category::Name { 0 } else { node.script }
}

/// The rule that a form that is masked in one language occurs in no other: else training would show the string. Clones,
/// which are equal by design, are exempt.
pub struct DistinctForms<'a> {
    masks: &'a [Mask],
    /// By two nodes, whether their forms can differ.
    can_differ: Vec<Vec<bool>>,
}

impl<'a> DistinctForms<'a> {
    pub fn new(family: &Family, masks: &'a [Mask], affix_rate: f64) -> DistinctForms<'a> {
        let count = family.nodes().len();
        let can_differ = |one: usize, other: usize| affix_rate > 0.0 || !family.have_equal_stems(one, other);
        let can_differ = (0..count).map(|one| (0..count).map(|other| can_differ(one, other)).collect()).collect();
        DistinctForms { masks, can_differ }
    }

    /// Whether the symbol is masked in one of the nodes.
    fn is_masked(&self, symbol: Symbol, nodes: &[usize]) -> bool {
        nodes.iter().any(|&node| self.masks[node].contains(symbol))
    }

    /// Whether two nodes may have these forms.
    fn allows(&self, symbol: Symbol, (one, form): (usize, &str), (other, another): (usize, &str)) -> bool {
        form != another || !self.is_masked(symbol, &[one, other]) || !self.can_differ[one][other]
    }
}

/// A stratified number in [0, 1) for each symbol: one from each of n equal steps, n being the size of its category.
fn stratified(world: &World, seed: u64, purpose: &str) -> Vec<f64> {
    // The stream's name decides every word that is drawn: it must stay.
    let stream = Stream::new(seed, &format!("lexicon/deal/{purpose}"));
    let mut numbers = vec![0.0; world.len()];
    for category in Category::ALL {
        let mut rng = stream.at(0, category as u64);
        let mut symbols: Vec<Symbol> = world.of_category(category).collect();
        rng.shuffle(&mut symbols);
        let n = symbols.len() as f64;
        for (i, symbol) in symbols.into_iter().enumerate() {
            numbers[symbol.index()] = (i as f64 + rng.unit()) / n;
        }
    }
    numbers
}

/// The stems of all symbols.
pub struct Stems {
    /// By node, with the proto-language last, then by symbol.
    pub stems: Vec<Vec<Stem>>,
    /// The drift rate of each node.
    pub rates: Vec<DriftRate>,
    /// The drift rate of each node for masked symbols.
    masked_rates: Vec<DriftRate>,
    /// By symbol, the attempt that gave a unique proto-stem.
    attempts: Vec<u64>,
}

/// Masked stems of two languages that are not at the distance asked for.
pub struct MovedStems {
    pub names: String,
    pub asked: f64,
    pub measured: f64,
}

pub struct Builder<'a> {
    world: &'a World,
    family: &'a Family,
    letters: &'a FamilyLetters,
    /// Mean stem length of each category.
    lengths: HashMap<Category, f64>,
    word_length: f64,
    /// Stratified numbers for the lengths of proto-stems and replacements, and for each node's prefixes and suffixes.
    proto_lengths: Vec<f64>,
    replacement_lengths: Vec<f64>,
    affix_choices: Vec<[Vec<f64>; 2]>,
    proto_draws: Stream,
    /// By branch.
    branch_draws: Vec<Stream>,
    affix_draws: Vec<Stream>,
}

impl<'a> Builder<'a> {
    pub fn new(
        world: &'a World,
        config: &LanguageConfig,
        family: &'a Family,
        letters: &'a FamilyLetters,
        affixes: &Affixes,
        seed: u64,
    ) -> Result<Builder<'a>> {
        let mut lengths = HashMap::new();
        for category in Category::ALL {
            let added = affixes.mean_length(category);
            let mean = if category.is_open() { config.word_length - added } else { SHORTEST };
            require(
                mean >= SHORTEST,
                "language.word_length",
                config.word_length,
                format!("at least {:.1}: {added:.1} letters of affixes and {SHORTEST} of stem", SHORTEST + added),
            )?;
            lengths.insert(category, mean);
        }
        let stratified = |purpose: &str| stratified(world, seed, purpose);
        let affix_choices = |node: &Node| ["prefix", "suffix"].map(|kind| stratified(&format!("{kind} {}", node.name)));
        let draws = |purpose: &str, branch: &Branch| {
            let first = &family.nodes()[branch.nodes[0]].name;
            Stream::new(seed, &format!("lexicon/{purpose}/{first}"))
        };
        let affix_draws = |branch: &Branch| match branch.is_root_pair() {
            true => Stream::new(seed, "lexicon/forms"),
            false => draws("forms", branch),
        };
        Ok(Builder {
            world,
            family,
            letters,
            lengths,
            word_length: config.word_length,
            proto_lengths: stratified("proto"),
            replacement_lengths: stratified("replacement"),
            affix_choices: family.nodes().iter().map(affix_choices).collect(),
            proto_draws: Stream::new(seed, "lexicon/stems"),
            branch_draws: family.branches().iter().map(|branch| draws("stems", branch)).collect(),
            affix_draws: family.branches().iter().map(affix_draws).collect(),
        })
    }

    /// Draws every symbol's stem in every node, branch by branch. No two symbols have the same proto-stem.
    pub fn stems(&self) -> Result<Stems> {
        let mut taken: HashSet<Stem> = HashSet::with_capacity(self.world.len());
        let proto = |symbol: Symbol| {
            let drawn = |attempt| (attempt, self.proto(symbol, &mut self.proto_draws.at(attempt, symbol.0.into())));
            let free = (0..TRIES).map(drawn).find(|&(_, proto)| taken.insert(proto));
            free.ok_or_else(|| self.exhausted(symbol))
        };
        let protos: Vec<(u64, Stem)> = self.world.symbols().map(proto).collect::<Result<_>>()?;
        let measured: Vec<usize> =
            self.world.symbols().filter(|&s| self.world.category(s).is_compared()).map(Symbol::index).collect();

        let mut rates = vec![DriftRate::at(0.0); self.family.nodes().len()];
        let mut stems: Vec<Vec<Stem>> = vec![Vec::new(); rates.len()];
        stems.push(protos.iter().map(|(_, proto)| *proto).collect());
        let root = rates.len();
        for (at, branch) in self.family.branches().iter().enumerate() {
            let from = |symbol: Symbol| stems[branch.parent.unwrap_or(root)][symbol.index()];
            let history = |symbol: Symbol| self.history(at, symbol, protos[symbol.index()].0, from(symbol));
            let symbols: Vec<Symbol> = self.world.symbols().collect();
            let histories: Vec<StemHistory> = symbols.into_par_iter().map(history).collect();
            let siblings = branch.nodes.len();
            let pair = |i: usize, rate| {
                let (symbol, history) = (Symbol(measured[i] as u32), &histories[measured[i]]);
                let other = if siblings > 1 { history.stem(1, rate) } else { from(symbol) };
                (history.stem(0, rate), other)
            };
            let rate = match branch.sibling_of {
                Some(first) => rates[self.family.branches()[first].nodes[0]],
                None => calibrate(measured.len(), branch.distance, pair),
            };
            let own: Vec<Vec<Stem>> = (0..siblings)
                .map(|i| {
                    (0..)
                        .zip(&histories)
                        .map(|(symbol, history)| history.stem(i, self.rate(Symbol(symbol), rate)))
                        .collect()
                })
                .collect();
            for (&node, own) in branch.nodes.iter().zip(own) {
                rates[node] = rate;
                stems[node] = own;
            }
        }
        let attempts = protos.into_iter().map(|(attempt, _)| attempt).collect();
        Ok(Stems { stems, masked_rates: rates.clone(), rates, attempts })
    }

    fn proto(&self, symbol: Symbol, rng: &mut Rng) -> Stem {
        let length = self.length(symbol, &self.proto_lengths);
        loop {
            let stem = self.letters.proto.stem(length, rng);
            // Function words need a consonant to be distinct.
            if self.world.category(symbol).is_open() || !stem.letters().iter().all(|&l| is_vowel(l)) {
                return stem;
            }
        }
    }

    /// The changes of a symbol's stem along a branch.
    fn history(&self, branch: usize, symbol: Symbol, attempt: u64, from: Stem) -> StemHistory {
        let Branch { nodes, .. } = &self.family.branches()[branch];
        let letters: Vec<&Letters> = nodes.iter().map(|&node| &self.letters.nodes[node]).collect();
        let length = self.length(symbol, &self.replacement_lengths);
        let row = symbol.0.into();
        if self.family.branches()[branch].is_root_pair() {
            // The root's siblings continue the random stream of its stem.
            let mut rng = self.proto_draws.at(attempt, row);
            self.proto(symbol, &mut rng);
            return StemHistory::new(from, &letters, length, &mut rng);
        }
        StemHistory::new(from, &letters, length, &mut self.branch_draws[branch].at(attempt, row))
    }

    /// A symbol's stems in the nodes of a branch, at the calibrated rates.
    fn branch_stems(&self, branch: usize, symbol: Symbol, attempt: u64, from: Stem, rates: &[DriftRate]) -> Vec<Stem> {
        let history = self.history(branch, symbol, attempt, from);
        let nodes = self.family.branches()[branch].nodes.iter().enumerate();
        nodes.map(|(i, &node)| history.stem(i, self.rate(symbol, rates[node]))).collect()
    }

    /// The rate of a symbol: 0 for names.
    fn rate(&self, symbol: Symbol, rate: DriftRate) -> DriftRate {
        if self.world.category(symbol) == Category::Name { DriftRate::at(0.0) } else { rate }
    }

    /// A stem's length, spread evenly around its category's mean.
    fn length(&self, symbol: Symbol, numbers: &[f64]) -> usize {
        let category = self.world.category(symbol);
        let number = numbers[symbol.index()];
        if !category.is_open() {
            return 2 + (number * 3.0) as usize;
        }
        let mean = self.lengths[&category];
        let spread = SPREAD.min(1.0 + 2.0 * (mean - SHORTEST).floor());
        (mean - (spread - 1.0) / 2.0 + number * spread).floor() as usize
    }

    /// The words of every node, with the proto-language's stems last. Branches come in order, so that no language depends
    /// on later ones. A conflicting form redraws the affixes first, then the stem at the same rate. Unspoken nodes count
    /// too, so that other languages do not depend on `spoken`.
    pub fn words(&self, drawn: &Stems, affixes: &Affixes, distinct: &DistinctForms) -> Result<Vec<Vec<Morphemes>>> {
        let root = self.family.nodes().len();
        let form = |parts: &Morphemes| parts.each_ref().map(Stem::as_str).concat().into_boxed_str();
        let mut owner: HashMap<Box<str>, Symbol> = HashMap::with_capacity(root * self.world.len());
        let mut stems = drawn.stems.clone();
        let mut forms: Vec<Vec<Box<str>>> = vec![Vec::new(); root];
        let mut words: Vec<Vec<Morphemes>> = vec![Vec::with_capacity(self.world.len()); root];
        for (at, branch) in self.family.branches().iter().enumerate() {
            let parent = branch.parent.unwrap_or(root);
            let rates = |symbol| match distinct.is_masked(symbol, &branch.nodes) {
                true => &drawn.masked_rates,
                false => &drawn.rates,
            };
            let earlier: Vec<usize> = (0..root).filter(|&node| !forms[node].is_empty()).collect();
            for symbol in self.world.symbols() {
                let i = symbol.index();
                let mut own: Vec<Stem> = if stems[parent][i] == drawn.stems[parent][i] {
                    branch.nodes.iter().map(|&node| drawn.stems[node][i]).collect()
                } else {
                    self.branch_stems(at, symbol, drawn.attempts[i], stems[parent][i], rates(symbol))
                };
                let mut attempt = 0;
                let (morphemes, new) = loop {
                    let morphemes = self.morphemes(at, symbol, &own, affixes, attempt);
                    // Compared in the shared alphabet, so that the script does not affect the words.
                    let new: Vec<Box<str>> = morphemes.iter().map(form).collect();
                    let is_free = |form: &str| owner.get(form).is_none_or(|&s| s == symbol);
                    let of_branch = || branch.nodes.iter().copied().zip(new.iter().map(|form| &**form));
                    let all = || earlier.iter().map(|&node| (node, &*forms[node][i])).chain(of_branch());
                    let fits = |one: (usize, &str)| {
                        all().all(|other| other.0 == one.0 || distinct.allows(symbol, one, other)) && is_free(one.1)
                    };
                    if of_branch().all(fits) {
                        break (morphemes, new);
                    }
                    attempt += 1;
                    if attempt == TRIES {
                        return Err(self.exhausted(symbol));
                    }
                    if attempt >= AFFIX_TRIES {
                        // Beyond the attempts that `stems` can have used.
                        let attempt = TRIES + attempt;
                        if branch.is_root_pair() {
                            stems[root][i] = self.proto(symbol, &mut self.proto_draws.at(attempt, symbol.0.into()));
                        }
                        own = self.branch_stems(at, symbol, attempt, stems[parent][i], rates(symbol));
                    }
                };
                for (k, (&node, (morphemes, form))) in
                    branch.nodes.iter().zip(morphemes.into_iter().zip(new)).enumerate()
                {
                    stems[node][i] = own[k];
                    words[node].push(morphemes);
                    owner.insert(form.clone(), symbol);
                    forms[node].push(form);
                }
            }
        }
        let empty = Stem::new(b"");
        words.push(stems[root].iter().map(|&proto| [empty, proto, empty]).collect());
        Ok(words)
    }

    /// Calibrates the masked words of a root pair by themselves, where no affix can make them differ: those with equal
    /// stems are redrawn, so that at the others' rate they would be further apart than asked.
    pub fn calibrate_masked(&self, drawn: &mut Stems, distinct: &DistinctForms) {
        let (root, branches) = (self.family.nodes().len(), self.family.branches());
        for (at, branch) in branches.iter().enumerate().filter(|(_, branch)| branch.is_root_pair()) {
            let masked = self.masked(branch, distinct);
            let stems_at = |symbol: Symbol, attempt: u64, rate: DriftRate| {
                let from = match attempt < TRIES {
                    true => drawn.stems[root][symbol.index()],
                    false => self.proto(symbol, &mut self.proto_draws.at(attempt, symbol.0.into())),
                };
                self.branch_stems(at, symbol, attempt, from, &vec![rate; root])
            };
            // The attempts of `words`.
            let pair = |i: usize, rate| {
                let redraws = TRIES + AFFIX_TRIES..2 * TRIES;
                let attempts = std::iter::once(drawn.attempts[masked[i].index()]).chain(redraws);
                let mut pairs = attempts.map(|attempt| stems_at(masked[i], attempt, rate)).map(|own| (own[0], own[1]));
                let first = pairs.next().expect("there is an attempt");
                if first.0 != first.1 { first } else { pairs.find(|(one, other)| one != other).unwrap_or(first) }
            };
            // Below a quarter of the others' rate nearly all stems are equal, and redrawn.
            let most = drawn.rates[branch.nodes[0]].edits + drawn.rates[branch.nodes[0]].replaced;
            let rate = calibrate_within(most / 4.0..most, masked.len(), branch.distance, pair);
            let own: Vec<Vec<Stem>> = masked.iter().map(|&s| stems_at(s, drawn.attempts[s.index()], rate)).collect();
            for (k, &node) in branch.nodes.iter().enumerate() {
                drawn.masked_rates[node] = rate;
                for (symbol, own) in masked.iter().zip(&own) {
                    drawn.stems[node][symbol.index()] = own[k];
                }
            }
        }
    }

    /// The symbols that count for distances and are masked in a node of the branch.
    fn masked(&self, branch: &Branch, distinct: &DistinctForms) -> Vec<Symbol> {
        let counts = |s: &Symbol| self.world.category(*s).is_compared() && distinct.is_masked(*s, &branch.nodes);
        self.world.symbols().filter(counts).collect()
    }

    /// How far redrawing has moved the masked stems of some branch: its nodes, the distance as drawn, and as in `words`.
    pub fn moved_masked(
        &self,
        drawn: &Stems,
        words: &[Vec<Morphemes>],
        distinct: &DistinctForms,
    ) -> Option<MovedStems> {
        let moved = |branch: &Branch| {
            let masked = self.masked(branch, distinct);
            let one = branch.nodes[0];
            let other = branch.nodes.get(1).copied().or(branch.parent).unwrap_or(self.family.nodes().len());
            let drawn_pairs: Vec<_> =
                masked.iter().map(|s| (drawn.stems[one][s.index()], drawn.stems[other][s.index()])).collect();
            let pairs: Vec<_> = masked.iter().map(|s| (words[one][s.index()][1], words[other][s.index()][1])).collect();
            if pairs == drawn_pairs {
                return None;
            }
            let [from, to] = [measure(&drawn_pairs).relative, measure(&pairs).relative];
            let node = |node: usize| self.family.nodes().get(node).map_or("the proto-language", |node| &node.name);
            ((to - from).abs() > TOLERANCE && (to - branch.distance).abs() > TOLERANCE).then(|| MovedStems {
                names: format!("{} and {}", node(one), node(other)),
                asked: branch.distance,
                measured: to,
            })
        };
        self.family.branches().iter().find_map(moved)
    }

    /// A symbol's words in the nodes of a branch.
    fn morphemes(
        &self,
        branch: usize,
        symbol: Symbol,
        stems: &[Stem],
        affixes: &Affixes,
        attempt: u64,
    ) -> Vec<Morphemes> {
        let category = self.world.category(symbol);
        if category == Category::Name {
            let empty = Stem::new(b"");
            return stems.iter().map(|stem| [empty, stem.capitalised(), empty]).collect();
        }
        let mut rng = self.affix_draws[branch].at(attempt, symbol.0.into());
        let of_node = |(&node, &stem): (&usize, &Stem)| {
            // Stratified at first; random after a collision.
            let numbers = self.affix_choices[node]
                .each_ref()
                .map(|choice| if attempt == 0 { choice[symbol.index()] } else { rng.unit() });
            let [prefix, suffix] = affixes.pick(category, node, numbers);
            [prefix, stem, suffix]
        };
        self.family.branches()[branch].nodes.iter().zip(stems).map(of_node).collect()
    }

    fn exhausted(&self, symbol: Symbol) -> Error {
        Error::Exhausted { wanted: self.world.len(), found: symbol.index(), length: self.word_length }
    }
}
