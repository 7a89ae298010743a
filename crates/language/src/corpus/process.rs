//! The true process: the probability of a sentence or of a whole training sequence. A model with perfect knowledge of
//! the languages would have this loss, so it is the floor under every loss curve.
//!
//! The probability of a sentence is the probability of its categories under the grammar, summed over parses, times the
//! probability of each symbol. The probability of a sequence adds the task, the language, and the prompt given the sentence.

use crate::corpus::task::{Sequence, Task, choices};
use crate::grammar::analysis::{Analysis, NONE};
use crate::grammar::cyk::Cyk;
use crate::languages::Languages;
use crate::world::symbol::{Category, Language, Symbol, Terminal};
use invitro_base::random::Stream;
use invitro_base::settings::{Given, MixtureConfig};

/// Log-probabilities, in nats, under the process that generates the sentences.
#[derive(Clone, Debug)]
pub struct Process<'a> {
    languages: &'a Languages,
    /// The grammar of each language.
    cyk: Vec<Cyk>,
    /// By language, the share of sentences with a masked word.
    masked_shares: Vec<f64>,
    /// By target and source language, the share of sentences that either withholds; empty without translations.
    masked_pairs: Vec<Vec<f64>>,
}

/// Sentences sampled to estimate the share with a masked word.
const PROBE: u64 = 20_000;

impl<'a> Process<'a> {
    /// The process of these languages.
    pub fn new(languages: &'a Languages) -> Process<'a> {
        let stream = Stream::new(languages.seed, "process/masked");
        let mut sampler = languages.sampler();
        // The share of sentences, sampled in the first language, that any of the languages withholds.
        let mut masked_share = |group: &[Language]| {
            if !languages.masked().any(|masked| group.contains(&masked)) {
                return 0.0;
            }
            let withheld = |&row: &u64| {
                let sentence = sampler.sentence(group[0], &mut stream.at(0, row));
                group.iter().any(|&language| languages.withholds(language, &sentence))
            };
            (0..PROBE).filter(withheld).count() as f64 / PROBE as f64
        };
        let all = languages.all();
        let masked_shares = all.iter().map(|&language| masked_share(&[language])).collect();
        let pairs = if languages.translates { all } else { &[] };
        let masked_pairs =
            pairs.iter().map(|&to| all.iter().map(|&from| masked_share(&[to, from])).collect()).collect();
        let cyk = all.iter().map(|&language| Cyk::new(languages.grammar(language))).collect();
        Process { languages, cyk, masked_shares, masked_pairs }
    }

    /// The share of a language's sentences with a masked word, estimated from a fixed sample.
    pub fn masked_share(&self, language: Language) -> f64 {
        self.masked_shares[language.index()]
    }

    /// The share of sequences in the same language, or in the same translation direction, that training withholds.
    pub fn withheld_share(&self, sequence: &Sequence) -> f64 {
        let to = sequence.language.index();
        sequence.from.map_or(self.masked_shares[to], |from| self.masked_pairs[to][from.index()])
    }

    /// The size of a language's text relative to the first language's, without the masked rows: |D_B| / |D_A|.
    pub fn size_left(&self, language: Language, mixture: &MixtureConfig) -> f64 {
        let family = &self.languages.family;
        let sizes = if mixture.schedule.is_empty() { family.sizes(mixture) } else { family.shares(mixture) };
        let left = |language: Language| share_left(self.masked_share(language), mixture);
        let first = self.languages.all()[0];
        sizes[language.index()] / sizes[0] * left(language) / left(first)
    }

    /// ln P(sentence) in a language; minus infinity if the process never generates it.
    pub fn sentence(&self, symbols: &[Symbol], language: Language) -> f64 {
        let mut checker = self.languages.checker();
        if !checker.symbols(symbols, language).facts {
            return f64::NEG_INFINITY;
        }
        let (world, config) = (&self.languages.world, &self.languages.config);
        let one_of = |n: usize| -(n as f64).ln();
        let heads: Vec<Symbol> = symbols.iter().copied().filter(|&s| !world.category(s).is_modifier()).collect();
        let parts: Vec<_> = heads.iter().filter_map(|&s| world.category(s).part()).collect();
        let mut analysis = Analysis::default();
        if self.languages.syntax(language).parser.parse(&parts, &mut analysis).is_err() {
            return f64::NEG_INFINITY;
        }
        let analysis = &analysis;
        let mut sum = self.cyk[language.index()].log_probability(&parts);
        let phrases = analysis.phrase.last().map_or(0, |&p| p + 1);
        for phrase in 0..phrases {
            let words = |terminal| {
                (0..heads.len()).filter(move |&i| analysis.phrase[i] == phrase && analysis.terminals[i] == terminal)
            };
            let relates = words(Terminal::Relation).next().is_some();
            sum += one_of(if relates { world.subject_class_count() } else { config.classes });
            // All conjoined subjects have one class.
            let mut classes = words(Terminal::Subject).map(|i| world.class(heads[i]));
            let first = classes.next();
            if classes.any(|class| Some(class) != first) {
                return f64::NEG_INFINITY;
            }
        }
        for (i, &symbol) in heads.iter().enumerate() {
            let class = world.class(symbol);
            sum += match (analysis.terminals[i], class) {
                (Terminal::Subject, Some(class)) => one_of(world.entity_count(class)),
                (Terminal::Relation, Some(class)) => one_of(world.relations(class).len()),
                (Terminal::Object, _) => one_of(world.noun_count()),
                (Terminal::Descriptor, Some(class)) => one_of(world.properties(class).len() * world.valid_count()),
                _ => 0.0,
            };
            debug_assert!(analysis.head[i] == NONE || (analysis.head[i] as usize) < heads.len());
        }
        for (i, &symbol) in symbols.iter().enumerate() {
            let (rate, choices) = match world.category(symbol) {
                Category::Noun | Category::Descriptor => (config.adjective_rate, config.adjectives),
                Category::Relation => (config.adverb_rate, config.adverbs),
                _ => continue,
            };
            let modified = i > 0 && world.category(symbols[i - 1]).is_modifier();
            sum += if modified { rate.ln() + one_of(choices) } else { (1.0 - rate).ln() };
        }
        sum
    }

    /// ln P(prompt | sentence) of a sequence's task.
    pub fn prompt(&self, sequence: &Sequence) -> f64 {
        let orders = ln_orders(&sequence.prompt);
        match sequence.task {
            Task::T0 | Task::T3 => 0.0,
            Task::T1 => {
                let (mut a, mut b) = (sequence.prompt.clone(), sequence.sentence.symbols.clone());
                a.sort_unstable();
                b.sort_unstable();
                if a == b { -orders } else { f64::NEG_INFINITY }
            }
            Task::T2 => pick_probability(sequence, self.languages.given).ln() - orders,
        }
    }

    /// ln P(switched words | sequence) of a training row.
    pub fn switching(&self, sequence: &Sequence, mixture: &MixtureConfig) -> f64 {
        let others = self.languages.all().len() - 1;
        if mixture.code_switch == 0.0 || sequence.task == Task::T3 || others == 0 {
            return 0.0;
        }
        let chance = mixture.code_switch / others as f64;
        let may_switch = |symbol: Symbol, to: Language| {
            to != sequence.language
                && !(mixture.withholds() && self.languages.withholds_word(to, symbol, &sequence.sentence))
        };
        let ln_chance = |&(symbol, _): &(Symbol, usize)| {
            if sequence.switched.iter().any(|(switched, _)| *switched == symbol) {
                return chance.ln();
            }
            let choices = self.languages.all().iter().filter(|&&to| may_switch(symbol, to)).count();
            (1.0 - chance * choices as f64).ln()
        };
        counts(&sequence.sentence.symbols).iter().map(ln_chance).sum()
    }

    /// The probabilities, before normalisation, of all languages within a language, given that no row is redrawn.
    fn language_weights(&self, mixture: &MixtureConfig) -> Vec<f64> {
        let shares = self.languages.family.shares(mixture).into_iter();
        shares.zip(&self.masked_shares).map(|(share, &masked)| share * share_left(masked, mixture)).collect()
    }

    /// ln P(language | task) of a training row, given that it was not redrawn, or of a translation's direction, in which
    /// it is redrawn.
    pub fn opening(&self, sequence: &Sequence, mixture: &MixtureConfig) -> f64 {
        let languages = self.languages.all().len();
        if sequence.from.is_some() {
            return -((languages * (languages - 1)) as f64).ln();
        }
        let weights = self.language_weights(mixture);
        weights[sequence.language.index()].ln() - weights.iter().sum::<f64>().ln()
    }

    /// ln P(sequence) of a training row, given that it was not redrawn: task, language, sentence, prompt, switched words.
    pub fn sequence(&self, sequence: &Sequence, mixture: &MixtureConfig) -> f64 {
        if sequence.masked && mixture.withholds() {
            return f64::NEG_INFINITY;
        }
        let task = match sequence.from {
            None => (1.0 - mixture.translation) * mixture.tasks[sequence.task as usize],
            Some(_) => mixture.translation,
        };
        // The last logarithm conditions on a sentence that is not redrawn.
        let left = share_left(self.withheld_share(sequence), mixture);
        task.ln() + self.opening(sequence, mixture) - left.ln()
            + self.sentence(&sequence.sentence.symbols, sequence.language)
            + self.prompt(sequence)
            + self.switching(sequence, mixture)
    }
}

/// The share of rows that training may show.
fn share_left(masked: f64, mixture: &MixtureConfig) -> f64 {
    if mixture.withholds() { 1.0 - masked } else { 1.0 }
}

/// The logarithm of the number of distinct orders of these words.
fn ln_orders(words: &[Symbol]) -> f64 {
    ln_factorial(words.len()) - counts(words).iter().map(|&(_, n)| ln_factorial(n)).sum::<f64>()
}

fn ln_factorial(n: usize) -> f64 {
    (2..=n).map(|k| (k as f64).ln()).sum()
}

fn choose(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

fn counts(words: &[Symbol]) -> Vec<(Symbol, usize)> {
    let mut sorted = words.to_vec();
    sorted.sort_unstable();
    let mut counts: Vec<(Symbol, usize)> = Vec::new();
    for s in sorted {
        match counts.last_mut() {
            Some((last, n)) if *last == s => *n += 1,
            _ => counts.push((s, 1)),
        }
    }
    counts
}

/// The probability that T2 picks these words, in any order. A word may occur as subject and as object, and in several
/// phrases: the sum runs over all ways to pick it.
fn pick_probability(sequence: &Sequence, given: Given) -> f64 {
    let all: Vec<Vec<(Symbol, usize)>> = choices(&sequence.sentence, given).iter().map(|words| counts(words)).collect();
    let taken = all.iter().map(|words| vec![0; words.len()]).collect();
    Picks { all, taken, given }.probability(&counts(&sequence.prompt))
}

/// The words among which T2 chooses, with their counts, and how many of each it takes.
struct Picks {
    all: Vec<Vec<(Symbol, usize)>>,
    taken: Vec<Vec<usize>>,
    given: Given,
}

impl Picks {
    /// Sums over the ways to distribute the remaining prompt words.
    fn probability(&mut self, prompt: &[(Symbol, usize)]) -> f64 {
        let Some((&(symbol, n), remaining)) = prompt.split_first() else {
            return self.all.iter().zip(&self.taken).map(|(words, taken)| self.of_one(words, taken)).product();
        };
        let place = |words: &Vec<(Symbol, usize)>| words.iter().position(|&(word, _)| word == symbol);
        let places: Vec<(usize, usize)> =
            self.all.iter().enumerate().filter_map(|(k, words)| Some((k, place(words)?))).collect();
        self.distributed(n, &places, remaining)
    }

    /// The same for `n` equal words that come from these places.
    fn distributed(&mut self, n: usize, places: &[(usize, usize)], remaining: &[(Symbol, usize)]) -> f64 {
        match places {
            [] if n > 0 => 0.0,
            [] => self.probability(remaining),
            [(k, i), later @ ..] => (0..=n)
                .map(|here| {
                    self.taken[*k][*i] = here;
                    self.distributed(n - here, later, remaining)
                })
                .sum(),
        }
    }

    /// The probability of the picks from one choice. Their number is uniform from one to all, or one; and so is the choice
    /// given the number.
    fn of_one(&self, words: &[(Symbol, usize)], taken: &[usize]) -> f64 {
        let (all, wanted) = (words.iter().map(|&(_, n)| n).sum::<usize>(), taken.iter().sum::<usize>());
        if wanted == 0 || (self.given == Given::OnePerPhrase && wanted > 1) {
            return 0.0;
        }
        let ways: f64 = words.iter().zip(taken).map(|(&(_, n), &k)| choose(n, k)).product();
        let numbers = if self.given == Given::OneToAll { all } else { 1 };
        ways / choose(all, wanted) / numbers as f64
    }
}
