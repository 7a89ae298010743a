//! Bridges against masked transfer: over all runs and within each |V|.
//!
//! Pearson's r and p over runs are the paper's; beside them Spearman's, the interval over seeds, and a permutation
//! test over tokenizers (means over the runs that one tokenizer serves) that shuffles within |V|.

use super::design::{BRIDGE, COGNATE, bridge_of};
use super::transfer::Transfer;
use crate::data::factors::{BALANCED, shapes_tokenizer};
use crate::data::{Factor, Run, Study};
use invitro_results::{Bridge, Measure, Similarity};
use invitro_stats::correlation::{Correlation, pearson, spearman};
use invitro_stats::{Estimate, permutation, seeds};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The mean bridges, and what they are called.
pub const BRIDGES: [(Measure, &str); 4] = [
    (BRIDGE, "*β̂*"),
    (COGNATE, "cognate *β̂*"),
    (Measure::Bridge(Bridge::General, Similarity::Dice), "*β̂* (Dice)"),
    (Measure::Bridge(Bridge::General, Similarity::Containment), "*β̂* (containment)"),
];

pub struct Correlated {
    pub transfer: Transfer,
    pub bridge: Measure,
    pub name: &'static str,
    /// A level of |V|, or all.
    pub vocab: Option<usize>,
    pub pearson: Option<Correlation>,
    pub spearman: Option<Correlation>,
    /// Pearson's r with its interval over seeds.
    pub over_seeds: Option<Estimate>,
    /// Over all runs only: r with its interval over seeds once the mean of every |V|, and of every kind of languages
    /// ([`held`]), is taken off both sides, and p when transfer is shuffled within |V|.
    pub within_vocab: Option<Estimate>,
    pub permuted: Option<f64>,
}

pub fn all(study: &Study) -> Vec<Correlated> {
    let levels = study.levels(Factor::Vocab).len();
    let cells: Vec<Option<usize>> = std::iter::once(None).chain((0..levels).map(Some)).collect();
    let mut all = Vec::new();
    for transfer in Transfer::ALL {
        for bridge in BRIDGES {
            let cells = cells.iter().filter(|vocab| vocab.is_none() || levels > 1);
            all.extend(cells.map(|&vocab| (transfer, bridge, vocab)));
        }
    }
    all.into_par_iter().map(|(transfer, bridge, vocab)| correlated(study, transfer, bridge, vocab)).collect()
}

fn correlated(
    study: &Study,
    transfer: Transfer,
    (bridge, name): (Measure, &'static str),
    vocab: Option<usize>,
) -> Correlated {
    let cell: Vec<(Factor, usize)> = vocab.map(|level| (Factor::Vocab, level)).into_iter().collect();
    let cell = [&cell[..], study.plain()].concat();
    let values = |run| Some((run, bridge_of(study, run, bridge)?, transfer.value(study, run)?));
    let runs: Vec<(&Run, f64, f64)> = study.ended(&cell).filter_map(values).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = runs.iter().map(|(_, x, y)| (*x, *y)).unzip();
    let pearson = pearson(&x, &y);
    // Two bridges are enough to permute; Dice and containment follow the first closely.
    let permuted = vocab.is_none() && pearson.is_some() && [BRIDGE, COGNATE].contains(&bridge);
    Correlated {
        transfer,
        bridge,
        name,
        vocab,
        spearman: spearman(&x, &y),
        over_seeds: pearson.and_then(|_| seeds::pearson(runs.iter().map(|(run, x, y)| (run.seed, *x, *y)))),
        pearson,
        within_vocab: if vocab.is_none() { within_vocab(study, &runs) } else { None },
        permuted: if permuted { self::permuted(study, &runs) } else { None },
    }
}

/// What is held when a bridge is compared with transfer: |V|, and which languages there are and how they are written.
/// Both bridge and transfer differ between these, whatever the one has to do with the other.
pub fn held(study: &Study) -> Vec<Factor> {
    let is_held = |factor: &Factor| *factor == Factor::Vocab || factor.is_kind_of_languages();
    study.varying().into_iter().filter(is_held).collect()
}

/// r of what is left once the means of what is [`held`] are taken off both sides: more than a difference between these.
fn within_vocab(study: &Study, runs: &[(&Run, f64, f64)]) -> Option<Estimate> {
    let held = held(study);
    let kind = |run: &Run| -> Vec<Option<usize>> { held.iter().map(|&factor| run.level(factor)).collect() };
    let kinds: BTreeSet<_> = runs.iter().map(|(run, ..)| kind(run)).collect();
    let places: BTreeMap<_, _> = kinds.into_iter().zip(0..).collect();
    seeds::pearson_within(places.len(), runs.iter().map(|(run, x, y)| (run.seed, places[&kind(run)], *x, *y)))
}

/// What decides a tokenizer: the levels, the data seed, and what else the study varies of languages and tokenizers.
pub type Tokenizer = ([Option<usize>; 4], usize, Vec<String>);

/// The tokenizer of a run. A balanced one is trained on as much of A as of B, whatever λ is.
pub fn tokenizer(study: &Study, run: &Run) -> Tokenizer {
    let balanced = run.text(Factor::Regime.key()) == Some(BALANCED);
    let levels = Factor::ALL.map(|factor| run.level(factor).filter(|_| !(balanced && factor == Factor::Lambda)));
    let value = |key: &str| run.columns.get(key).map_or(String::new(), ToString::to_string);
    (levels, run.seed.data, study.other_factors().into_iter().filter(|key| shapes_tokenizer(key)).map(value).collect())
}

fn permuted(study: &Study, runs: &[(&Run, f64, f64)]) -> Option<f64> {
    let mut tokenizers: BTreeMap<Tokenizer, Vec<(f64, f64)>> = BTreeMap::new();
    for (run, x, y) in runs {
        tokenizers.entry(tokenizer(study, run)).or_default().push((*x, *y));
    }
    let mut table = (Vec::new(), Vec::new(), Vec::new());
    for (([vocab, ..], ..), values) in &tokenizers {
        let n = values.len() as f64;
        table.0.push(values.iter().map(|value| value.0).sum::<f64>() / n);
        table.1.push(values.iter().map(|value| value.1).sum::<f64>() / n);
        table.2.push(vocab.unwrap_or(0));
    }
    permutation::correlation_p(&table.0, &table.1, &table.2)
}
