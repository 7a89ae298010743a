//! A study: its conditions, its runs placed among seeds and levels, and means over them.

use super::factors::{self, Factor, Levels};
use super::{Trajectory, Withheld};
use crate::words::{MaskedWord, MeasuredWord, Sample, SentencePair, WordMap};
use crate::{
    Condition, FamilyTree, FolderKind, Moment, Plan, Quantity, ReadCache, Result, Results, Run, Value, column, read,
    read_cached,
};
use invitro_base::dotted;
use invitro_stats::{Estimate, Scale, Seed, seeds};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

/// All that is known of a study, or of a run that is read alone.
#[derive(Debug, Clone)]
pub struct Study {
    /// The folder's name.
    pub name: String,
    /// Whether it is a run that is read alone.
    pub kind: FolderKind,
    /// Its plan, where there is one that can be read.
    pub plan: Option<Plan>,
    /// Runs with anything measured or planned.
    pub runs: Vec<Run>,
    /// The pairs of data seed and model seed that any run has measured or ended with, in order.
    pub seed_pairs: Vec<(f64, f64)>,
    /// How many runs the study's plan has, where there is one.
    pub planned: Option<usize>,
    /// The study's or the run's own file, as it is.
    pub config: Option<String>,
    /// Masked words, each with its run's place.
    pub words: Vec<(usize, MaskedWord)>,
    /// How many masked words the folder holds; `words` may be an even sample of them.
    pub words_in_all: usize,
    /// All masked words whose contrast was taken, each with its run's place.
    pub scored: Vec<(usize, MeasuredWord)>,
    /// Sentences in all languages.
    pub pairs: Vec<SentencePair>,
    /// The trees of the runs' languages, each with its run's place; none of the pair A and B.
    pub families: Vec<(usize, FamilyTree)>,
    /// Decoded sentences of a run.
    pub samples: Vec<Sample>,
    /// Of a run, the maps of one property's words, by step.
    pub maps: Vec<(u64, WordMap)>,
    /// What the reader should know about the data.
    pub notes: Vec<String>,
    last_step: u32,
    conditions: Vec<Condition>,
    /// Every factor with the labels of its levels.
    factors: Vec<(Factor, Vec<String>)>,
    varied: Vec<(String, Vec<String>)>,
    /// Whether its plan crosses all factors.
    crossed: bool,
    /// The first level of every setting that makes arms.
    baseline: Levels,
    /// The first step after any training that was evaluated.
    pub first_step: u32,
    /// Whether there was an evaluation before it.
    pub from_zero: bool,
}

impl Study {
    /// Reads the study or run in the folder. A run folder read alone is a study of one run.
    pub fn open(folder: &Path) -> Result<Study> {
        Ok(Study::new(read(folder)?))
    }

    /// The same, with what was read before.
    pub fn open_cached(folder: &Path, cache: &mut ReadCache) -> Result<Study> {
        Ok(Study::new(read_cached(folder, cache)?))
    }

    /// Places the runs of results.
    pub fn new(results: Results) -> Study {
        let Results {
            name,
            kind,
            runs,
            plan,
            config,
            words,
            words_in_all,
            scored,
            pairs,
            families,
            samples,
            maps,
            notes,
            ..
        } = results;
        let [data, model] =
            [column::DATA_SEED, column::MODEL_SEED].map(|column| (column, factors::distinct(&runs, column)));
        let runs = factors::with_shares(factors::with_spoken(runs));
        let (varied, conditions) = (factors::varied(&runs), conditions(&runs, plan.as_ref(), &families));
        let levels: Vec<(Factor, Vec<Value>)> = factors::factors(&varied, &runs)
            .into_iter()
            .map(|factor| (factor, factors::levels(factor, &runs, plan.as_ref())))
            .collect();
        let (mut columns, mut quantities) = (HashSet::new(), HashSet::new());
        let place = |mut run: Run| {
            run.columns.share_keys(&mut columns);
            run.curves.share_keys(&mut quantities);
            let among = |(column, seeds): &(&str, Vec<f64>)| {
                run.number(column).and_then(|seed| seeds.iter().position(|other| *other == seed)).unwrap_or(0)
            };
            let seed = Seed { data: among(&data), model: among(&model) };
            let level = |(factor, levels): &(Factor, Vec<Value>)| {
                let own = run.columns.get(factor.key())?;
                Some((*factor, levels.iter().position(|level| level == own)?))
            };
            let levels = levels.iter().filter_map(level).collect();
            Run { seed, levels, ended: run.done() || kind == FolderKind::Run, ..run }
        };
        let runs: Vec<Run> = runs.into_iter().map(place).collect();
        let begun: BTreeSet<Seed> = runs.iter().filter(|run| run.begun()).map(|run| run.seed).collect();
        let curves = || runs.iter().flat_map(|run| run.curves.values()).map(|curve| curve.steps());
        // What was measured once is no curve.
        let curves = || curves().filter(|steps| steps.len() > 1);
        let firsts = curves().filter_map(|steps| steps.iter().copied().find(|step| *step > 0));
        let (first_step, from_zero) = (firsts.min().unwrap_or(1), curves().any(|steps| steps[0] == 0));
        let arms = levels.iter().filter(|(factor, levels)| Factor::ARMS.contains(factor) && levels.len() > 1);
        let baseline: Levels = arms.map(|(factor, _)| (*factor, 0)).collect();
        let named = |seeds: &[f64], place: usize| seeds.get(place).copied().unwrap_or(0.0);
        Study {
            name,
            kind,
            seed_pairs: begun.iter().map(|seed| (named(&data.1, seed.data), named(&model.1, seed.model))).collect(),
            planned: plan.as_ref().and_then(|plan| plan.count().ok()),
            last_step: runs.iter().filter_map(|run| run.last_step()).max().unwrap_or(1).max(1),
            runs,
            config,
            words,
            words_in_all,
            scored,
            pairs,
            families,
            samples,
            maps,
            notes,
            conditions,
            factors: levels
                .into_iter()
                .map(|(factor, levels)| (factor, levels.iter().map(ToString::to_string).collect()))
                .collect(),
            varied,
            baseline,
            first_step,
            from_zero,
            crossed: plan.as_ref().is_some_and(|plan| plan.grids.len() == 1 && plan.filter.is_empty()),
            plan,
        }
    }

    /// The conditions of its runs: languages first, then masked ones, each in the order of the languages' list.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The conditions whose words were masked in training: what masked transfer is about.
    pub fn masked(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|condition| condition.masked)
    }

    /// What was withheld there.
    pub fn withheld(&self) -> Withheld {
        Withheld::from_settings(self.at(self.baseline()).map(|run| run.text("mixture.withhold")))
    }

    /// The labels of a factor's levels.
    pub fn levels(&self, factor: Factor) -> &[String] {
        self.factors.iter().find(|(own, _)| *own == factor).map_or(&[], |(_, levels)| levels)
    }

    /// The label of a run's level, empty where it has none.
    pub fn level(&self, run: &Run, factor: Factor) -> &str {
        run.level(factor).map_or("", |place| &self.levels(factor)[place])
    }

    /// The factors that take more than one level: the paper's in its order, then others by key.
    pub fn varying(&self) -> Vec<Factor> {
        let varies = |(factor, levels): &&(Factor, Vec<String>)| levels.len() > 1 && !factor.is_seed();
        self.factors.iter().filter(varies).map(|(factor, _)| *factor).collect()
    }

    /// The paper's factors that say something of its runs: languages of a list have distances and shares of their own, and
    /// λ and d are none of theirs unless they vary.
    pub fn paper_factors(&self) -> Vec<Factor> {
        let varying = self.varying();
        let says = |factor: &Factor| {
            self.families.is_empty() || ![Factor::LAMBDA, Factor::DISTANCE].contains(factor) || varying.contains(factor)
        };
        Factor::PAPER.into_iter().filter(says).collect()
    }

    /// Where runs at different levels of these factors differ in another one too, the level of that other which most runs
    /// have: only there can they be compared. Arms that are not among these factors are held at the first. Empty where all is
    /// crossed and there are no arms.
    pub fn comparable(&self, factors: &[impl Into<Option<Factor>> + Copy]) -> Levels {
        let factors: Vec<Factor> = factors.iter().filter_map(|factor| (*factor).into()).collect();
        let mut held: Levels = self.baseline.iter().copied().filter(|(arm, _)| !factors.contains(arm)).collect();
        if self.crossed {
            return held;
        }
        let free = self.varying().into_iter().filter(|other| !factors.contains(other));
        let free = free.filter(|other| !held.iter().any(|(arm, _)| arm == other)).collect::<Vec<_>>();
        held.extend(
            free.into_iter()
                .filter(|other| factors.iter().any(|factor| !self.are_crossed(*factor, *other)))
                .filter_map(|other| {
                    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
                    self.runs
                        .iter()
                        .filter_map(|run| run.level(other))
                        .for_each(|level| *counts.entry(level).or_default() += 1);
                    let usual = counts.into_iter().max_by_key(|(level, count)| (*count, Reverse(*level)))?;
                    Some((other, usual.0))
                }),
        );
        held
    }

    /// The runs that are spoken of where no arm is named: those of the first, which is as without interventions.
    pub fn baseline(&self) -> &[(Factor, usize)] {
        &self.baseline
    }

    /// Whether each level of a factor was run with the same levels of another.
    pub fn are_crossed(&self, factor: Factor, other: Factor) -> bool {
        let mut run_with: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for run in &self.runs {
            if let (Some(level), Some(at)) = (run.level(factor), run.level(other)) {
                run_with.entry(level).or_default().insert(at);
            }
        }
        let mut sets = run_with.values();
        let first = sets.next();
        self.crossed || sets.all(|set| Some(set) == first)
    }

    /// Settings with more than one value, and the values.
    pub fn varied(&self) -> &[(String, Vec<String>)] {
        &self.varied
    }

    /// Varied settings beside the four factors and the seeds: figures pool over them, and say so.
    pub fn other_factors(&self) -> Vec<&str> {
        self.varied.iter().map(|(key, _)| key.as_str()).filter(|key| factors::is_other(key)).collect()
    }

    /// The varied settings that none of these factors is about, seeds aside.
    pub fn settings_beside(&self, factors: &[Factor]) -> Vec<&str> {
        let is_beside = |key: &&str| !key.starts_with("seeds.") && !factors.iter().any(|factor| factor.covers(key));
        self.varied.iter().map(|(key, _)| key.as_str()).filter(is_beside).collect()
    }

    /// The runs at these levels.
    pub fn at<'a>(&'a self, cell: &'a [(Factor, usize)]) -> impl Iterator<Item = &'a Run> + 'a {
        self.runs.iter().filter(move |run| run.is_at(cell))
    }

    /// As [`Study::at`], but only runs that ended.
    pub fn ended<'a>(&'a self, cell: &'a [(Factor, usize)]) -> impl Iterator<Item = &'a Run> + 'a {
        self.at(cell).filter(|run| run.ended)
    }

    /// The mean over runs of a value each may have, with its interval over seeds.
    pub fn mean<'a>(
        &self,
        runs: impl Iterator<Item = &'a Run>,
        value: impl Fn(&Run) -> Option<f64>,
    ) -> Option<Estimate> {
        self.mean_on(Scale::Plain, runs, value)
    }

    /// The same on another scale than the baseline one.
    pub fn mean_on<'a>(
        &self,
        scale: Scale,
        runs: impl Iterator<Item = &'a Run>,
        value: impl Fn(&Run) -> Option<f64>,
    ) -> Option<Estimate> {
        let with = |run: &'a Run| value(run).filter(|value| value.is_finite()).map(|value| (run.seed, value));
        seeds::mean(scale, runs.filter_map(with))
    }

    /// The mean of a curve at a moment.
    pub fn read<'a>(
        &self,
        runs: impl Iterator<Item = &'a Run>,
        quantity: &Quantity,
        moment: Moment,
    ) -> Option<Estimate> {
        let scale = match (quantity.measure.scale(), moment) {
            (Scale::Share, Moment::Decline) => Scale::Signed,
            (scale, _) => scale,
        };
        self.mean_on(scale, runs, |run| run.curve(quantity).at(moment))
    }

    /// How many data seeds the runs that ended have.
    pub fn end_seeds(&self) -> usize {
        self.ended(self.baseline()).map(|run| run.seed.data).collect::<BTreeSet<_>>().len()
    }

    /// Peak, end and decline of a curve, over the runs that ended.
    pub fn trajectory(&self, cell: &[(Factor, usize)], quantity: &Quantity) -> Option<Trajectory> {
        let runs: Vec<_> = self.ended(cell).map(|run| (run.seed, run.curve(quantity))).collect();
        Trajectory::new(quantity.measure.scale(), &runs)
    }

    /// The mean curve of the runs, one estimate per step that any of them was evaluated at.
    pub fn mean_curve<'a>(&self, runs: impl Iterator<Item = &'a Run>, quantity: &Quantity) -> Vec<(u32, Estimate)> {
        let mut points: Vec<(u32, Seed, f64)> = runs
            .flat_map(|run| run.curve(quantity).points().map(|point| (point.step, run.seed, point.value)))
            .filter(|point| point.2.is_finite())
            .collect();
        points.sort_by_key(|point| point.0);
        let steps = points.chunk_by(|a, b| a.0 == b.0);
        steps
            .filter_map(|same| {
                Some((same[0].0, seeds::mean(quantity.measure.scale(), same.iter().map(|p| (p.1, p.2)))?))
            })
            .collect()
    }

    /// The last step any run was evaluated at, or 1.
    pub fn last_step(&self) -> u32 {
        self.last_step
    }

    /// The threshold of emergence that all its experiments set; `None` where they differ.
    pub fn emergence_threshold(&self) -> Option<f64> {
        let mut thresholds = self.runs.iter().map(|run| run.emergence_threshold());
        let first = thresholds.next().unwrap_or_else(|| Run::default().emergence_threshold());
        thresholds.all(|other| other == first).then_some(first)
    }
}

/// Every condition that a curve or a column of any run is of: languages first, then masked ones, each in the order of the
/// languages' list where a run or the study has kept it, or of their names.
fn conditions(runs: &[Run], plan: Option<&Plan>, families: &[(usize, FamilyTree)]) -> Vec<Condition> {
    let curves = runs.iter().flat_map(|run| run.curves.keys()).filter_map(|quantity| quantity.condition.as_ref());
    let columns: BTreeSet<&str> = runs.iter().flat_map(|run| run.columns.keys()).collect();
    let columns = columns.into_iter().filter_map(|name| name.parse::<Quantity>().ok()?.condition);
    let curves = curves.collect::<BTreeSet<_>>().into_iter().cloned();
    let mut found: Vec<Condition> = curves.chain(columns).collect::<BTreeSet<_>>().into_iter().collect();
    let listed = families.iter().map(|(_, tree)| tree).max_by_key(|tree| tree.nodes.len());
    let planned = plan.map_or(Vec::new(), |plan| dotted::names(&plan.base));
    // Copies of an entry L are L1, L2, …
    let entry = |name: &str| numbered(name).0;
    let place = |name: &str| match listed {
        Some(tree) => tree.nodes.iter().position(|node| node.name == name),
        None => planned.iter().position(|it| *it == name).or_else(|| planned.iter().position(|it| *it == entry(name))),
    };
    found.sort_by_key(|condition| {
        let name = &*condition.language;
        (condition.masked, place(name).unwrap_or(usize::MAX), numbered(name))
    });
    found
}

/// A name with the number at its end apart: L2 comes before L10.
fn numbered(name: &str) -> (String, u64) {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    (stem.to_owned(), name[stem.len()..].parse().unwrap_or(0))
}
