//! Generates a family's words by Algorithm 1 of the paper: a proto-stem for every symbol, changed along every branch of the
//! tree, with an optional prefix and suffix. Names are capitalised and never change; function words are short.
//!
//! Lengths and affixes are stratified within a category, so that even a small world has the requested word length.

use crate::error::{Error, Result};
use crate::family::{Branch, Change, Family, Node};
use crate::lexicon::calibration::{calibrate, measure};
use crate::lexicon::distinct::DistinctForms;
use crate::lexicon::history::affixes::Affixes;
use crate::lexicon::history::drift::{DriftRate, StemHistory};
use crate::lexicon::history::laws::drawn;
use crate::lexicon::history::laws::law::{Edges, Laws};
use crate::lexicon::history::morphology::fusional::Endings;
use crate::lexicon::history::morphology::harmony::harmonised;
use crate::lexicon::history::morphology::reduplicating;
use crate::lexicon::history::morphology::templatic::{self, Patterns};
use crate::lexicon::letters::FamilyLetters;
use crate::lexicon::phonology::{Letters, MAX_STEM, Morphemes, Stem, is_vowel};
use crate::world::World;
use crate::world::symbol::{Category, Symbol};
use invitro_base::random::{Rng, Stream};
use invitro_base::settings::{LanguageConfig, Morphology, require};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// Draws of a proto-stem, or of a symbol's forms, before the lexicon counts as exhausted.
pub(super) const TRIES: u64 = 1000;
/// The first draws redraw only the affixes; later ones also redraw the stem.
pub(super) const AFFIX_TRIES: u64 = 20;
/// The number of stem lengths around the mean; odd.
const SPREAD: f64 = 5.0;
const SHORTEST: f64 = 3.0;
/// The mean letters of an ending, less what stems lose before it.
const ENDING: f64 = 2.4;

/// The script of a symbol's word; names have the shared one.
pub fn script_of(world: &World, symbol: Symbol, node: &Node) -> usize {
    if world.category(symbol) == Category::Name { 0 } else { node.script }
}

/// The letters that words have beyond those of their stems; where languages make words in several ways, as with affixes.
fn added_letters(family: &Family, affixes: f64) -> f64 {
    let of_first = family.nodes()[0].morphology;
    let one = family.nodes().iter().all(|node| node.morphology == of_first);
    match of_first {
        Morphology::Fusional if one => ENDING,
        // A pattern has about as many vowels as the stem that the root is of.
        Morphology::Templatic if one => 0.0,
        _ => affixes,
    }
}

/// The part of a stem that distances are measured on: the root if one language of the family makes words of roots.
pub fn core_of(family: &Family) -> fn(Stem) -> Stem {
    match family.nodes().iter().any(|node| node.morphology == Morphology::Templatic) {
        true => |stem| Stem::new(&templatic::root(stem.letters())),
        false => |stem| stem,
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
    /// The sound laws of each node that changes by laws.
    pub laws: Vec<Option<Laws>>,
    /// The drift rate of each node for masked symbols.
    pub(super) masked_rates: Vec<DriftRate>,
    /// By symbol, the attempt that gave a unique proto-stem.
    pub(super) attempts: Vec<u64>,
}

/// The words of all symbols.
pub struct FamilyWords {
    /// By node, then by symbol.
    pub morphemes: Vec<Vec<Morphemes>>,
    /// The stems that they were made of, with the proto-language's last.
    pub stems: Vec<Vec<Stem>>,
}

/// What words are made of beside stems.
pub struct Inventories {
    pub affixes: Affixes,
    pub endings: Option<Endings>,
    pub patterns: Option<Patterns>,
}

pub struct Builder<'a> {
    pub(super) world: &'a World,
    pub(super) family: &'a Family,
    letters: &'a FamilyLetters,
    /// Mean stem length of each category.
    lengths: HashMap<Category, f64>,
    word_length: f64,
    seed: u64,
    /// Stratified numbers for the lengths of proto-stems and replacements, and for each node's prefixes and suffixes.
    proto_lengths: Vec<f64>,
    replacement_lengths: Vec<f64>,
    affix_choices: Vec<[Vec<f64>; 2]>,
    pub(super) proto_draws: Stream,
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
            let added = added_letters(family, affixes.mean_length(category));
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
            seed,
            proto_lengths: stratified("proto"),
            replacement_lengths: stratified("replacement"),
            affix_choices: family.nodes().iter().map(affix_choices).collect(),
            proto_draws: Stream::new(seed, "lexicon/stems"),
            branch_draws: family.branches().iter().map(|branch| draws("stems", branch)).collect(),
            affix_draws: family.branches().iter().map(affix_draws).collect(),
        })
    }

    /// Draws every symbol's stem in every node, branch by branch. No two symbols have the same proto-stem. `shifts`, by branch,
    /// are added to the distances that laws are drawn for.
    pub fn stems(&self, shifts: &[f64]) -> Result<Stems> {
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
        let mut laws = vec![None; rates.len()];
        let mut stems: Vec<Vec<Stem>> = vec![Vec::new(); rates.len()];
        stems.push(protos.iter().map(|(_, proto)| *proto).collect());
        let root = rates.len();
        for (at, branch) in self.family.branches().iter().enumerate() {
            let parent = branch.parent.unwrap_or(root);
            if self.family.nodes()[branch.nodes[0]].change.is_regular() {
                let drawn = self.laws(branch, shifts[at], &stems, &measured)?;
                for (&node, of_node) in branch.nodes.iter().zip(drawn) {
                    let after = |symbol: Symbol| self.after_laws(symbol, stems[parent][symbol.index()], &of_node);
                    let after =
                        self.world.symbols().map(|symbol| after(symbol).unwrap_or(stems[parent][symbol.index()]));
                    stems[node] = after.collect();
                    laws[node] = Some(of_node);
                }
                continue;
            }
            let from = |symbol: Symbol| stems[parent][symbol.index()];
            let history = |symbol: Symbol| self.history(at, symbol, protos[symbol.index()].0, from(symbol));
            let symbols: Vec<Symbol> = self.world.symbols().collect();
            let histories: Vec<StemHistory> = symbols.into_par_iter().map(history).collect();
            let siblings = branch.nodes.len();
            let core = core_of(self.family);
            let pair = |i: usize, rate| {
                let (symbol, history) = (Symbol(measured[i] as u32), &histories[measured[i]]);
                let other = if siblings > 1 { history.stem(1, rate) } else { from(symbol) };
                (core(history.stem(0, rate)), core(other))
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
        Ok(Stems { stems, masked_rates: rates.clone(), rates, laws, attempts })
    }

    /// The sound laws of a branch's nodes: of a file, or drawn.
    fn laws(&self, branch: &Branch, shift: f64, stems: &[Vec<Stem>], measured: &[usize]) -> Result<Vec<Laws>> {
        let nodes = self.family.nodes();
        let first = &nodes[branch.nodes[0]];
        if let Change::Laws(laws) = &first.change {
            return Ok(vec![laws.clone()]);
        }
        let of = |node: usize| -> Vec<Stem> { measured.iter().map(|&i| stems[node][i]).collect() };
        let parent = of(branch.parent.unwrap_or(nodes.len()));
        // A further sibling is as far from the parent as the first two.
        let distance = branch.sibling_of.map_or(branch.distance, |pair| {
            let siblings = &self.family.branches()[pair].nodes;
            let core = core_of(self.family);
            let pairs = |&node: &usize| -> Vec<(Stem, Stem)> {
                of(node).into_iter().zip(&parent).map(|(own, &from)| (core(own), core(from))).collect()
            };
            siblings.iter().map(|node| measure(&pairs(node)).relative).sum::<f64>() / siblings.len() as f64
        });
        let mut rng = Stream::new(self.seed, &format!("lexicon/laws/{}", first.name)).at(0, 0);
        let core = core_of(self.family);
        let core = |word: &[u8]| core(Stem::new(word)).letters().to_vec();
        drawn::draw(&parent, branch.nodes.len(), distance + shift, core, &mut rng).map_err(|reached| {
            Error::mismatch(format!(
                "sound laws bring {} to a distance of {reached:.2} and not to {distance:.2}: with `language.change` = \"rules\" \
                 ask for a distance from 0 to about {:.2}, or change by edits",
                self.names(&branch.nodes),
                (reached * 100.0).floor() / 100.0
            ))
        })
    }

    /// A stem after laws, which names are exempt from; `None` if it is then too short or too long for a word.
    pub(super) fn after_laws(&self, symbol: Symbol, stem: Stem, laws: &Laws) -> Option<Stem> {
        if self.world.category(symbol) == Category::Name {
            return Some(stem);
        }
        let letters = laws.apply_to(stem.letters(), Edges::WORD);
        (1..=MAX_STEM).contains(&letters.len()).then(|| Stem::new(&letters))
    }

    pub(super) fn proto(&self, symbol: Symbol, rng: &mut Rng) -> Stem {
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
    pub(super) fn branch_stems(
        &self,
        branch: usize,
        symbol: Symbol,
        attempt: u64,
        from: Stem,
        rates: &[DriftRate],
    ) -> Vec<Stem> {
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

    /// The words of every node. Branches come in order, so that no language depends
    /// on later ones. A conflicting form redraws the affixes first, then the stem at the same rate. Unspoken nodes count
    /// too, so that other languages do not depend on `spoken`.
    pub fn words(&self, drawn: &Stems, inventories: &Inventories, distinct: &DistinctForms) -> Result<FamilyWords> {
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
                    let morphemes = self.morphemes(at, symbol, &own, inventories, attempt);
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
        Ok(FamilyWords { morphemes: words, stems })
    }

    /// By branch, how much closer than asked the stems are where laws were drawn for them: the stems that were drawn anew are
    /// others than those that the laws were drawn for.
    pub fn shortfalls(&self, stems: &[Vec<Stem>]) -> Vec<f64> {
        let root = self.family.nodes().len();
        let compared: Vec<usize> =
            self.world.symbols().filter(|&s| self.world.category(s).is_compared()).map(Symbol::index).collect();
        let shortfall = |branch: &Branch| {
            let one = branch.nodes[0];
            if self.family.nodes()[one].change != Change::Rules || branch.sibling_of.is_some() {
                return 0.0;
            }
            let other = branch.nodes.get(1).copied().or(branch.parent).unwrap_or(root);
            let core = core_of(self.family);
            let pairs: Vec<_> = compared.iter().map(|&i| (core(stems[one][i]), core(stems[other][i]))).collect();
            branch.distance - measure(&pairs).relative
        };
        self.family.branches().iter().map(shortfall).collect()
    }

    /// A symbol's words in the nodes of a branch.
    pub(super) fn morphemes(
        &self,
        branch: usize,
        symbol: Symbol,
        stems: &[Stem],
        inventories: &Inventories,
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
            self.word(node, symbol, stem, inventories, numbers)
        };
        self.family.branches()[branch].nodes.iter().zip(stems).map(of_node).collect()
    }

    /// The word that a language makes of a stem; `numbers`, in [0, 1), select its prefix and suffix or what it has instead.
    pub(super) fn word(
        &self,
        node: usize,
        symbol: Symbol,
        stem: Stem,
        Inventories { affixes, endings, patterns }: &Inventories,
        numbers: [f64; 2],
    ) -> Morphemes {
        let (category, class) = (self.world.category(symbol), self.world.class(symbol));
        let of = &self.family.nodes()[node];
        let [prefix, suffix] = affixes.pick(category, node, numbers);
        let word = match (of.morphology, endings, patterns) {
            (Morphology::Fusional, Some(endings), _) => endings.word(stem, category, class, node),
            (Morphology::Templatic, _, Some(patterns)) => {
                let empty = Stem::new(b"");
                [empty, patterns.word(stem, category, node, numbers[0]), empty]
            }
            (Morphology::Reduplicating, ..) if category.is_open() => {
                [reduplicating::copy(stem, affixes.rate(), numbers[0]), stem, suffix]
            }
            _ => [prefix, stem, suffix],
        };
        if of.harmony { harmonised(word) } else { word }
    }

    pub(super) fn exhausted(&self, symbol: Symbol) -> Error {
        Error::Exhausted { wanted: self.world.len(), found: symbol.index(), length: self.word_length }
    }
}
