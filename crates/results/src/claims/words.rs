//! Estimates over masked words: their mean, the coefficient of a covariate among the words of a run, and two arms compared
//! word by word.

use super::estimand::Bound;
use super::estimate::{Detail, Estimates, WordRegression};
use super::names::{Covariate, Outcome};
use super::scope::Scope;
use super::verdict::Reason;
use crate::words::MeasuredWord;
use crate::{Factor, Run, Study};
use invitro_stats::clusters::{WordRows, over_seeds, two_way};
use invitro_stats::discontinuity::{self, Point};
use invitro_stats::regression::NamedColumn;
use invitro_stats::strata::{self, ArmDifference};
use invitro_stats::{Estimate, Scale, Seed, seeds};
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// Numbers for things that are the same.
pub(super) struct Numbers<K>(HashMap<K, usize>);

impl<K: Hash + Eq> Numbers<K> {
    pub fn new() -> Numbers<K> {
        Numbers(HashMap::new())
    }

    pub fn number(&mut self, thing: K) -> usize {
        let next = self.0.len();
        *self.0.entry(thing).or_insert(next)
    }
}

/// The places of some runs in their study.
fn places(study: &Study, runs: &[&Run]) -> Vec<bool> {
    study.runs.iter().map(|run| runs.iter().any(|it| std::ptr::eq(*it, run))).collect()
}

impl<'a> Scope<'a> {
    /// The words of these runs that the scope is about.
    fn words(&self, runs: &[&Run]) -> impl Iterator<Item = &'a (usize, MeasuredWord)> {
        let is_in = places(self.study, runs);
        let language = self.masked.map(|masked| masked.language.clone());
        let is_meant = move |word: &MeasuredWord| language.as_ref().is_none_or(|it| *word.masked_in == **it);
        self.study.scored.iter().filter(move |(run, word)| is_in[*run] && is_meant(word))
    }

    /// The mean of an outcome over the words within these bounds; a mean for every data seed first.
    pub(super) fn word_mean(
        &self,
        runs: &[&Run],
        outcome: Outcome,
        bounds: &[(Covariate, Bound, f64)],
    ) -> Option<(Estimate, usize)> {
        let is_meant = |word: &MeasuredWord| {
            bounds.iter().all(|(own, bound, value)| own.value(word).is_some_and(|it| bound.holds(it, *value)))
        };
        let words = self.words(runs).filter(|(_, word)| is_meant(word));
        let values: Vec<(Seed, f64)> =
            words.filter_map(|(run, word)| Some((self.study.runs[*run].seed, outcome.value(word)?))).collect();
        let scale = if outcome == Outcome::Reachable { Scale::Share } else { Scale::Plain };
        let by_data = seeds::by_data_seed(values.iter().copied());
        let rows = by_data.into_iter().enumerate().map(|(data, value)| (Seed { data, model: 0 }, value));
        Some((seeds::mean(scale, rows)?, values.len()))
    }

    /// The regression of an outcome on covariates among the words of each run.
    pub(super) fn word_regression(
        &self,
        runs: &[&Run],
        outcome: Outcome,
        controls: &[Covariate],
    ) -> Option<WordRegression> {
        let columns = controls.iter().map(|covariate| NamedColumn::new(covariate.name(), Vec::new())).collect();
        let mut rows = WordRows { columns, y: Vec::new(), runs: Vec::new() };
        let (mut symbols, mut data, mut numbers) = (Vec::new(), Vec::new(), Numbers::new());
        for (run, word) in self.words(runs) {
            let values: Option<Vec<f64>> = controls.iter().map(|covariate| covariate.value(word)).collect();
            let Some((values, y)) = values.zip(outcome.value(word)) else { continue };
            rows.columns.iter_mut().zip(values).for_each(|(column, value)| column.values.push(value));
            rows.y.push(y);
            rows.runs.push(*run);
            let seed = self.study.runs[*run].seed.data;
            // A symbol of another data seed is one of another world.
            symbols.push(numbers.number((seed, &word.symbol, &word.masked_in)));
            data.push(seed);
        }
        let clustered = two_way(&rows, [&symbols, &data])?;
        let over_seeds = over_seeds(&rows, |run| self.study.runs[run].seed);
        let runs = rows.runs.iter().collect::<BTreeSet<_>>().len();
        Some(WordRegression { clustered, over_seeds, runs })
    }

    /// By how much an outcome jumps where the ranks of a run's words cross |V|, over the words within a share `width` of |V|.
    pub(super) fn jump(&self, runs: &[&Run], outcome: Outcome, width: f64) -> Estimates {
        let point = |(run, word): &(usize, MeasuredWord)| {
            let vocab = self.study.runs[*run].number(Factor::VOCAB.key())?;
            // The last rank of one piece is |V| - 1.
            let x = (f64::from(word.traits.rank?) + 0.5) / vocab - 1.0;
            Some(Point { run: *run, x, y: outcome.value(word)? })
        };
        let mut points: Vec<Point> = self.words(runs).filter_map(point).collect();
        if points.is_empty() {
            return Err(Reason::NotMeasured);
        }
        points.retain(|point| point.x.abs() <= width);
        let detail = Detail { words: points.len(), ..Detail::default() };
        Ok((discontinuity::jump(&points, |run| self.study.runs[run].seed), detail))
    }

    /// The contrast of every word in the runs of one arm less the same in the runs of another, all else equal.
    pub(super) fn word_difference(
        &self,
        factor: Factor,
        names: [&str; 2],
        arms: [&[&Run]; 2],
    ) -> Option<ArmDifference> {
        let study = self.study;
        let of_arms = arms.map(|runs| places(study, runs));
        let further: Vec<&str> = study.settings_beside(&[factor]);
        let mut settings = Numbers::new();
        let setting = |run: &Run, key: &&str| run.columns.get(*key).map_or(String::new(), ToString::to_string);
        let mut settings_of =
            |run: &Run| settings.number(further.iter().map(|key| setting(run, key)).collect::<Vec<_>>());
        let by_run: Vec<usize> = study.runs.iter().map(&mut settings_of).collect();
        let (mut kinds, mut words, mut all) = (Numbers::new(), Numbers::new(), Vec::new());
        for (run, word) in self.words(&arms.concat()) {
            let (Some(letters), Some(pieces)) = (word.traits.letters, word.traits.pieces) else { continue };
            let Some(value) = word.contrast else { continue };
            all.push(strata::ArmValue {
                second: of_arms[1][*run],
                seed: study.runs[*run].seed,
                settings: by_run[*run],
                kind: kinds.number((letters, pieces, &word.masked_in)),
                word: words.number((&word.symbol, &word.masked_in)),
                value,
            });
        }
        strata::difference(&format!("arms {} {} {}", factor.key(), names[0], names[1]), &all)
    }
}
