//! Arms: runs that differ in one setting alone, which pieces are shared, how words are cut or what is withheld. What that
//! changes, word by word.

use super::crossings::source;
use super::transfer::Transfer;
use crate::data::factors::ARMS;
use crate::data::{Cell, Factor, Run, Study};
use crate::wording::listed;
use invitro_results::{Measure, Moment, Quantity, SEEDS, Verdict, capital};
use invitro_stats::digits;
use invitro_stats::strata::{Difference, Value, difference};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::Hash;

/// Two levels of a setting, the first less the second.
pub struct Comparison {
    pub factor: Factor,
    pub levels: [usize; 2],
    /// The |V| and d it is taken at; empty where it is over all.
    pub cell: Cell,
    pub difference: Option<Difference>,
    /// Whether it is of whole runs: where facts are withheld there are no masked words to compare.
    pub of_runs: bool,
    pub verdict: Verdict,
    pub sentence: String,
}

/// The settings that make arms and vary here.
pub fn factors(study: &Study) -> Vec<Factor> {
    let varying = study.varying();
    ARMS.iter().map(|key| Factor::of(key)).filter(|factor| varying.contains(factor)).collect()
}

/// Every arm against the first, which is as a run without interventions; and pieces of cognates against other pieces,
/// which are as much of the text. Over all other settings, then at each |V| and d.
pub fn all(study: &Study) -> Vec<Comparison> {
    let mut wanted = Vec::new();
    for factor in factors(study) {
        let levels = study.levels(factor);
        let place = |name: &str| levels.iter().position(|level| level == name);
        let mut pairs: Vec<[usize; 2]> = (1..levels.len()).map(|level| [level, 0]).collect();
        pairs.extend(place("cognate").zip(place("other")).map(|(one, other)| [one, other]).filter(|pair| pair[1] != 0));
        for cell in std::iter::once(Cell::new()).chain(cells(study)) {
            wanted.extend(pairs.iter().map(|&levels| (factor, levels, cell.clone())));
        }
    }
    wanted.into_par_iter().map(|(factor, levels, cell)| compared(study, factor, levels, cell)).collect()
}

/// Each |V| and d, where either varies.
pub fn cells(study: &Study) -> Vec<Cell> {
    let varying = study.varying();
    let mut cells = vec![Cell::new()];
    for factor in [Factor::Vocab, Factor::Distance].into_iter().filter(|factor| varying.contains(factor)) {
        let levels = 0..study.levels(factor).len();
        cells = cells.iter().flat_map(|cell| levels.clone().map(|at| [&cell[..], &[(factor, at)]].concat())).collect();
    }
    cells.retain(|cell| !cell.is_empty());
    cells
}

/// Numbers for things that are the same.
pub(super) struct Numbers<K>(HashMap<K, usize>);

impl<K: Hash + Eq> Numbers<K> {
    pub(super) fn new() -> Numbers<K> {
        Numbers(HashMap::new())
    }

    pub(super) fn of(&mut self, thing: K) -> usize {
        let next = self.0.len();
        *self.0.entry(thing).or_insert(next)
    }
}

fn compared(study: &Study, factor: Factor, levels: [usize; 2], cell: Cell) -> Comparison {
    let [one, other] = levels.map(|level| study.levels(factor)[level].as_str());
    let name = format!("arms {} {one} {other}", factor.key());
    let runs = arm_runs(study, factor, levels, &cell);
    let by_word = difference(&name, &words(study, &runs));
    let of_runs = by_word.is_none();
    let difference = by_word.or_else(|| difference(&name, &whole_runs(study, &runs)));
    let gate = levels.iter().find_map(|level| not_known(study, &[&cell[..], &[(factor, *level)]].concat()));
    let (verdict, sentence) = told(study, factor, [one, other], difference.as_ref(), of_runs, gate, &cell);
    Comparison { factor, levels, cell, difference, of_runs, verdict, sentence }
}

/// Of every run that ended in one of two arms: which, and a number for its other settings.
fn arm_runs(
    study: &Study,
    factor: Factor,
    levels: [usize; 2],
    cell: &[(Factor, usize)],
) -> Vec<Option<(usize, usize)>> {
    let is_other = |key: &&String| *key != factor.key() && !key.starts_with("seeds.");
    let others: Vec<&String> = study.varied().iter().map(|(key, _)| key).filter(is_other).collect();
    let mut settings = Numbers::new();
    let mut of_run = |run: &Run| {
        let is_in = run.done() && cell.iter().all(|(factor, level)| run.level(*factor) == Some(*level));
        let arm = levels.iter().position(|level| is_in && run.level(factor) == Some(*level))?;
        let setting = |key: &&String| run.columns.get(*key).map_or(String::new(), ToString::to_string);
        Some((arm, settings.of(others.iter().map(setting).collect::<Vec<_>>())))
    };
    study.runs.iter().map(&mut of_run).collect()
}

/// The masked words of those runs.
fn words(study: &Study, runs: &[Option<(usize, usize)>]) -> Vec<Value> {
    let (mut kinds, mut words, mut all) = (Numbers::new(), Numbers::new(), Vec::new());
    for (run, word) in &study.asked {
        let Some((arm, settings)) = runs[*run] else { continue };
        let (Some(letters), Some(pieces)) = (word.traits.letters, word.traits.pieces) else { continue };
        let Some(value) = word.contrast else { continue };
        all.push(Value {
            second: arm == 1,
            seed: study.runs[*run].seed,
            settings,
            kind: kinds.of((letters, pieces, &word.masked_in)),
            word: words.of((&word.symbol, &word.masked_in)),
            value,
        });
    }
    all
}

/// Each of those runs with its contrast in masked conditions.
fn whole_runs(study: &Study, runs: &[Option<(usize, usize)>]) -> Vec<Value> {
    let value = |(run, arm): (&Run, &Option<(usize, usize)>)| {
        let ((arm, settings), value) = (*arm).zip(Transfer::Nats.value(study, run))?;
        Some(Value { second: arm == 1, seed: run.seed, settings, kind: 0, word: 0, value })
    };
    study.runs.iter().zip(runs).filter_map(value).collect()
}

/// Why nothing may be said of masked words in these runs: the facts are not clearly known where the words were seen.
pub fn not_known(study: &Study, cell: &[(Factor, usize)]) -> Option<String> {
    study.masked().find_map(|masked| {
        let source = source(study, Measure::KNOWLEDGE, masked)?;
        let known = study.read(study.ended(cell), &Quantity::of(Measure::KNOWLEDGE, &source), Moment::End);
        let unclear = !matches!(Verdict::of(known.as_ref(), 0.0, 0.0), Verdict::Supported | Verdict::NotJudged);
        let held = cell.iter().map(|(factor, level)| factor.said(&study.levels(*factor)[*level]));
        let held: Vec<String> = held.collect();
        let held = if held.is_empty() { String::new() } else { format!(" with {}", held.join(", ")) };
        unclear.then(|| format!("facts were not clearly learned in {}{held}", source.label()))
    })
}

fn told(
    study: &Study,
    factor: Factor,
    [one, other]: [&str; 2],
    difference: Option<&Difference>,
    of_runs: bool,
    gate: Option<String>,
    cell: &[(Factor, usize)],
) -> (Verdict, String) {
    let masked: Vec<String> = study.masked().map(|masked| masked.label()).collect();
    let pooled: Vec<String> = [Factor::Vocab, Factor::Distance]
        .into_iter()
        .filter(|factor| study.varying().contains(factor) && !cell.iter().any(|(held, _)| held == factor))
        .map(|factor| factor.symbol().to_owned())
        .collect();
    let pooled = if pooled.is_empty() { String::new() } else { format!(", over all {},", listed(&pooled)) };
    let (one, other) = (factor.said(one), factor.said(other));
    let what = match of_runs {
        false => format!("the contrast of the words of {}{pooled}", masked.join(", ")),
        // What is withheld differs, and so does what is asked for.
        true => format!("the contrast in {}{pooled}", masked.join(", ")),
    };
    let Some(found) = difference else {
        return (Verdict::CannotTell, format!("{one} and {other} have no runs to compare that are otherwise alike."));
    };
    let (estimate, seeds) = (&found.estimate, found.estimate.data_seeds);
    let verdict = match (&gate, Verdict::of(Some(estimate), 0.0, 0.0)) {
        (Some(_), _) => Verdict::NotJudged,
        (None, verdict) => verdict,
    };
    let interval = |sign: f64| match estimate.interval {
        Some(it) => {
            let (low, high) = if sign > 0.0 { (it.low, it.high) } else { (-it.high, -it.low) };
            format!("{} [{}, {}]", digits(sign * estimate.value), digits(low), digits(high))
        }
        None => digits(sign * estimate.value),
    };
    // p is in the table alone: it tells these models apart, not the arms.
    let sentence = match verdict {
        Verdict::Supported => {
            format!("With {one} {what} is higher than with {other} by {} nats.", interval(1.0))
        }
        Verdict::Contradicted => {
            format!("With {one} {what} is lower than with {other} by {} nats.", interval(-1.0))
        }
        Verdict::NotJudged if seeds < SEEDS => format!(
            "What {one} changes in {what} is not judged, with {} where {SEEDS} are needed: less that with {other} it is {estimate} nats.",
            if seeds == 1 { "one data seed".into() } else { format!("{seeds} data seeds") }
        ),
        Verdict::NotJudged => format!(
            "What {one} changes in {what} is not judged, since {}: less that with {other} it is {estimate} nats.",
            gate.unwrap_or_default()
        ),
        _ => format!("It cannot be told whether {one} changes {what}: less that with {other} it is {estimate} nats."),
    };
    (verdict, capital(&sentence))
}
