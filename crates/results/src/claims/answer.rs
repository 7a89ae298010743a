//! The claims of a study, answered: each with its estimate and verdict, at each level of what it is broken down by, and under
//! each reading. The primary ones are adjusted together.

use super::claim::{Claim, Claims, Readings, Test};
use super::estimand::{Estimand, EstimandKind};
use super::estimate::Estimated;
use super::looks::Looks;
use super::rounds::{complete_seeds, runs_of};
use super::scope::Scope;
use super::verdict::{Expectation, LEVEL, Reason, Verdict, holm};
use crate::{Condition, Crossing, Fraction, Levels, Moment, Statistic, Study};
use rayon::prelude::*;
use std::collections::HashSet;

/// A claim, and what the runs say of it.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The claim.
    pub claim: Claim,
    /// The masked condition it is answered for, where it is for each.
    pub masked: Option<Condition>,
    /// The estimate; `None` for a claim that other claims decide.
    pub estimated: Estimated,
    /// What it says.
    pub verdict: Verdict,
    /// The level at which the verdict was reached.
    pub alpha: f64,
    /// When the runs are looked at: after each data seed for a primary claim of a study that plans itself.
    pub looks: Looks,
    /// Of a claim that others decide: their ids and verdicts.
    pub parts: Vec<(String, Verdict)>,
    /// At each combination of the levels it is broken down by.
    pub cells: Vec<LevelAnswer>,
    /// The numbers beside the estimate.
    pub beside: Vec<(Estimand, Estimated)>,
    /// Under each reading that gives an estimate, from the lowest to the highest.
    pub specifications: Vec<Specification>,
    /// Readings that give none: nearly all runs are at a bound of the measure, or alike.
    pub without: usize,
}

/// A claim at some levels.
#[derive(Debug, Clone)]
pub struct LevelAnswer {
    /// The levels.
    pub levels: Levels,
    /// The estimate there.
    pub estimated: Estimated,
    /// What it says.
    pub verdict: Verdict,
}

/// A claim under one reading.
#[derive(Debug, Clone)]
pub struct Specification {
    /// The settings of its runs, by key; empty where a reading takes all runs.
    pub settings: Vec<(String, String)>,
    /// K, where it is read otherwise.
    pub top: Option<Fraction>,
    /// How targets are counted, where that is read otherwise.
    pub counted: Option<Statistic>,
    /// When curves are read, where that is read otherwise.
    pub moment: Option<Moment>,
    /// Which crossing counts, where that is read otherwise.
    pub crossing: Option<Crossing>,
    /// The estimate.
    pub estimated: Estimated,
    /// What it says.
    pub verdict: Verdict,
}

impl Claim {
    /// What an estimate says of it, by an interval of this level.
    pub fn verdict(&self, estimated: &Estimated, alpha: f64) -> Verdict {
        let Some(estimate) = &estimated.estimate else {
            return Verdict::NotTested(estimated.reason.clone().unwrap_or(Reason::NotMeasured));
        };
        let Some(expect) = self.expect else { return Verdict::NotTested(Reason::NoExpectation) };
        match (Verdict::new(estimate, expect, self.margin, alpha), &estimated.reason) {
            (too_few @ Verdict::NotTested(_), _) => too_few,
            (_, Some(reason)) => Verdict::NotTested(reason.clone()),
            (verdict, None) => verdict,
        }
    }

    /// The same at one of several looks; of a study that is looked at once, over all of its seeds.
    fn verdict_at_look(&self, estimated: &Estimated, alpha: f64, looks: Looks) -> Verdict {
        match looks {
            Looks::Once => self.verdict(estimated, alpha),
            Looks::AfterEachSeed => looks.verdict(self, estimated, alpha),
        }
    }
}

/// Answers the claims, in their order; one that is for each masked condition once for each.
pub fn answer(study: &Study, claims: &Claims) -> Vec<Answer> {
    let masked: Vec<Condition> = study.masked().cloned().collect();
    let scopes: Vec<(&Claim, Option<&Condition>)> = claims
        .claims
        .iter()
        .flat_map(|claim| claim.scopes(&masked).into_iter().map(move |masked| (claim, masked)))
        .collect();
    let plans_itself = study.plan.as_ref().is_some_and(|plan| plan.until.is_some());
    let complete = plans_itself.then(|| runs_of(study, &complete_seeds(study)));
    // What decides a primary claim is looked at as it is.
    let primary = claims.claims.iter().filter(|claim| claim.primary);
    let deciding: HashSet<&str> = primary.flat_map(|claim| claims.deciding(claim)).map(|part| &*part.id).collect();
    let answered = |(claim, masked): &(&Claim, Option<&Condition>)| {
        let is_looked_at = claim.primary || deciding.contains(&*claim.id);
        Answer::new(study, claim, *masked, complete.as_deref().filter(|_| is_looked_at))
    };
    let mut answers: Vec<Answer> = scopes.par_iter().map(answered).collect();
    let tested: Vec<Answer> = answers.clone();
    answers.iter_mut().for_each(|answer| answer.set_verdict(&tested, LEVEL));
    let primary: Vec<usize> = (0..answers.len()).filter(|place| answers[*place].claim.primary).collect();
    let levels = holm(primary.len(), |place, alpha| answers[primary[place]].verdict_at(&tested, alpha));
    for (place, alpha) in primary.into_iter().zip(levels) {
        answers[place].set_verdict(&tested, alpha);
    }
    answers
}

impl Answer {
    /// `complete`: the runs of complete data seeds, where the study is looked at after each.
    fn new(study: &Study, claim: &Claim, masked: Option<&Condition>, complete: Option<&[usize]>) -> Answer {
        let scope = Scope { masked, only: complete, ..Scope::new(study) };
        let mut answer = Answer {
            claim: claim.clone(),
            masked: masked.cloned(),
            estimated: Estimated::default(),
            verdict: Verdict::Inconclusive,
            alpha: LEVEL,
            looks: if complete.is_some() { Looks::AfterEachSeed } else { Looks::Once },
            parts: Vec::new(),
            cells: Vec::new(),
            beside: Vec::new(),
            specifications: Vec::new(),
            without: 0,
        };
        let Test::Estimand(estimand) = &claim.test else { return answer };
        let looks = answer.looks;
        let shown = |estimated| if complete.is_some() { looks.shown(estimated) } else { estimated };
        answer.estimated = shown(scope.estimate(estimand));
        let cell = |levels: Levels| {
            let estimated = shown(scope.at(&levels).estimate(estimand));
            let verdict = claim.verdict_at_look(&estimated, LEVEL, looks);
            LevelAnswer { levels, estimated, verdict }
        };
        answer.cells = study.cells(&claim.by).into_par_iter().map(cell).collect();
        answer.beside = claim.beside.iter().map(|other| (other.clone(), scope.estimate(other))).collect();
        if let Some(readings) = &claim.readings {
            let all = specifications(scope, claim, estimand, readings, looks);
            let number = all.len();
            answer.specifications = all.into_iter().filter(|one| is_estimated(&one.estimated)).collect();
            answer.without = number - answer.specifications.len();
            let value = |one: &Specification| one.estimated.estimate.map_or(0.0, |estimate| estimate.value);
            answer.specifications.sort_by(|a, b| value(a).total_cmp(&value(b)));
        }
        answer
    }

    /// Whether it is clearly there, and its whole interval is within the margin.
    pub fn is_small(&self) -> bool {
        let Some((estimate, expect)) = self.estimated.estimate.zip(self.claim.expect) else { return false };
        let level = match self.looks {
            Looks::Once => Some(self.alpha),
            looks => looks.level(self.alpha, estimate.data_seeds),
        };
        self.verdict == Verdict::Supported
            && !matches!(expect, Expectation::Within(_) | Expectation::Value(_))
            && level.is_some_and(|level| Verdict::is_small(&estimate, expect, self.claim.margin, level))
    }

    /// The verdict at a level; of a claim that others decide, by theirs.
    fn verdict_at(&self, all: &[Answer], alpha: f64) -> Verdict {
        match &self.claim.test {
            Test::Estimand(_) => self.claim.verdict_at_look(&self.estimated, alpha, self.looks),
            Test::All(ids) => Verdict::all(&self.verdicts_of(all, ids, alpha)),
        }
    }

    fn verdicts_of(&self, all: &[Answer], ids: &[String], alpha: f64) -> Vec<Verdict> {
        let parts = all.iter().filter(|other| ids.contains(&other.claim.id));
        let parts =
            parts.filter(|other| self.masked.is_none() || other.masked.is_none() || other.masked == self.masked);
        parts.map(|part| part.verdict_at(all, alpha)).collect()
    }

    fn set_verdict(&mut self, all: &[Answer], alpha: f64) {
        self.verdict = self.verdict_at(all, alpha);
        self.alpha = alpha;
        if let Test::All(ids) = &self.claim.test {
            let parts = ids.iter().map(|id| (id, self.verdicts_of(all, std::slice::from_ref(id), alpha)));
            self.parts = parts.map(|(id, verdicts)| (id.clone(), Verdict::all(&verdicts))).collect();
        }
    }
}

/// An estimate of a saturated measure says nothing.
fn is_estimated(estimated: &Estimated) -> bool {
    let is_finite = estimated.estimate.is_some_and(|estimate| estimate.value.is_finite());
    is_finite && estimated.reason != Some(Reason::Saturated)
}

/// A reading: the settings of its runs and their places, how targets are counted, K, the moment, the crossing.
type Wanted<'a> = (
    &'a [(String, String)],
    Option<&'a [usize]>,
    Option<Statistic>,
    Option<Fraction>,
    Option<Moment>,
    Option<Crossing>,
);

/// A list of choices, or the claim's own.
fn choices<T: Copy>(list: &[T]) -> Vec<Option<T>> {
    if list.is_empty() { vec![None] } else { list.iter().copied().map(Some).collect() }
}

/// The claim under every reading: settings outermost, then how targets are counted, K, the moment, the crossing.
fn specifications(
    scope: Scope,
    claim: &Claim,
    estimand: &Estimand,
    readings: &Readings,
    looks: Looks,
) -> Vec<Specification> {
    let settings = if readings.settings { groups(&scope, estimand) } else { vec![(Vec::new(), None)] };
    let mut wanted: Vec<Wanted> = Vec::new();
    for (settings, runs) in &settings {
        for counted in choices(&readings.counted) {
            for top in choices(&readings.tops) {
                for moment in choices(&readings.moments) {
                    for crossing in choices(&readings.crossings) {
                        wanted.push((settings, runs.as_deref(), counted, top, moment, crossing));
                    }
                }
            }
        }
    }
    let specified = |&(settings, only, counted, top, moment, crossing): &Wanted| {
        let mut read = estimand.clone();
        for reading in read.value.readings_mut() {
            let as_read =
                reading.measures.iter().map(|measure| measure.reach_read_as(top, counted).unwrap_or(*measure));
            reading.measures = as_read.collect();
            reading.measures.truncate(if counted.is_some() { 1 } else { usize::MAX });
            reading.moment = moment.unwrap_or(reading.moment);
        }
        if let (EstimandKind::Order(own), Some(crossing)) = (&mut read.kind, crossing) {
            *own = crossing;
        }
        let estimated = Scope { only: only.or(scope.only), ..scope }.estimate(&read);
        let verdict = claim.verdict_at_look(&estimated, LEVEL, looks);
        let settings = settings.to_vec();
        Specification { settings, top, counted, moment, crossing, estimated, verdict }
    };
    wanted.par_iter().map(specified).collect()
}

/// The runs of each combination of the study's further settings, by their places.
fn groups(scope: &Scope, estimand: &Estimand) -> Vec<(Vec<(String, String)>, Option<Vec<usize>>)> {
    let study = scope.study;
    let mut found: Vec<(Vec<(String, String)>, Option<Vec<usize>>)> = Vec::new();
    for run in scope.runs(estimand) {
        let value = |key: &str| run.columns.get(key).map_or(String::new(), ToString::to_string);
        let settings: Vec<(String, String)> =
            study.other_factors().into_iter().map(|key| (key.to_owned(), value(key))).collect();
        let place = study.runs.iter().position(|other| std::ptr::eq(other, run)).expect("a run of the study");
        match found.iter_mut().find(|(own, _)| *own == settings) {
            Some((_, Some(places))) => places.push(place),
            _ => found.push((settings, Some(vec![place]))),
        }
    }
    found
}
