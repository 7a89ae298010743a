//! The paper's claims under every reading: how runs were made, where a study varies that, how reachability
//! is counted (*K*, any target or the share of them) and when it is read, or which crossing counts. Each reading is a
//! specification, and a claim's are sorted by what they come to.

use super::claims::{Judged, cannot_fail, fertility_gap, less, more, ordered};
use super::crossings::{Crossing, from_first};
use super::design::{BRIDGE, Design, LAMBDA, SIMILARITY, VOCAB, bridge_of};
use super::order::{Milestone, Order};
use super::stages::Crossed;
use super::transfer::{gate, in_masked, is_saturated, mean_in_masked};
use crate::data::factors::said;
use crate::data::{Run, Study};
use invitro_results::{Fraction, MARGIN, Measure, Moment, Scorer, Statistic, Targets, TokenizerMetric, Verdict, Words};
use invitro_stats::{Estimate, seeds};
use rayon::prelude::*;

/// What was left open, and how it was read.
pub type Choice = (String, String);

pub struct Specification {
    pub choices: Vec<Choice>,
    pub estimate: Estimate,
    pub verdict: Verdict,
}

/// A claim under each reading that gives an estimate, from the lowest to the highest.
pub struct SpecificationCurve {
    /// The claim, without a full stop: a title.
    pub paper: String,
    /// What was computed.
    pub measured: String,
    /// Where a claim begins to hold.
    pub neutral: f64,
    pub specifications: Vec<Specification>,
    /// Readings that give none: nearly all runs are at a bound of the measure, or alike.
    pub without: usize,
}

impl SpecificationCurve {
    /// How many readings agree with the claim, differ from it, and cannot be told.
    pub fn counts(&self) -> [usize; 3] {
        let count = |word| self.specifications.iter().filter(|one| one.verdict.of_claim() == word).count();
        let [agree, differ] = ["agrees", "differs"].map(count);
        [agree, differ, self.specifications.len() - agree - differ]
    }
}

/// The runs of one way to make them, and what is particular to it.
struct Setting<'a> {
    choices: Vec<Choice>,
    runs: Vec<&'a Run>,
}

impl Setting<'_> {
    /// Its own choices, and those of a reading.
    fn with<const N: usize>(&self, more: [(&str, String); N]) -> Vec<Choice> {
        self.choices.iter().cloned().chain(more.map(|(what, how)| (what.to_owned(), how))).collect()
    }
}

fn settings(study: &Study) -> Vec<Setting<'_>> {
    let keys = study.other_factors();
    let mut settings: Vec<Setting> = Vec::new();
    for run in study.ended(study.plain()) {
        let value = |key: &&str| run.columns.get(*key).map_or(String::new(), ToString::to_string);
        let choices: Vec<Choice> = keys.iter().map(|key| (said(key).to_owned(), value(key))).collect();
        match settings.iter_mut().find(|setting| setting.choices == choices) {
            Some(setting) => setting.runs.push(run),
            None => settings.push(Setting { choices, runs: vec![run] }),
        }
    }
    settings
}

/// The claims that have more than one reading here.
pub fn all(study: &Study) -> Vec<SpecificationCurve> {
    let settings = settings(study);
    let mut curves = of_reachability(study, &settings);
    let crossings = from_first(study);
    curves.extend(crossings.first().into_iter().flat_map(|crossing| of_tokenizers(study, &settings, crossing)));
    curves.extend(crossings.first().into_iter().flat_map(|crossing| of_orders(&settings, crossing)));
    curves.retain(|curve| curve.specifications.len() > 1);
    curves
}

/// How reachability is counted, and when it is read.
type Counted = (Statistic, Fraction, Moment);

/// The verdict on a claim of the runs with their reachability, and of the factors' effects on it.
type Judge<'a> = &'a (dyn Fn(&[(&Run, f64)], &Design) -> Judged + Sync);

fn of_reachability(study: &Study, settings: &[Setting]) -> Vec<SpecificationCurve> {
    let not_learned = gate(study).is_some();
    let moments = [Moment::Peak, Moment::End];
    let tops =
        |statistic| Fraction::ALL.into_iter().flat_map(move |top| moments.map(|moment| (statistic, top, moment)));
    let counted: Vec<Counted> = [Statistic::Any, Statistic::Share].into_iter().flat_map(tops).collect();
    let readings = settings.iter().flat_map(|setting| counted.iter().map(move |counted| (setting, *counted)));
    let readings: Vec<(&Setting, Counted)> = readings.collect();
    let curve = |paper: &str, measured: String, judge: Judge| {
        let judged = |(setting, (statistic, top, moment)): &(&Setting, Counted)| {
            let measure = Measure::reach_at(Scorer::Network, Targets::Allowed, *statistic, *top);
            let value = |run: &Run| mean_in_masked(study, run, measure, *moment).filter(|value| value.is_finite());
            let reached = setting.runs.iter().filter_map(|run| Some((*run, value(run)?)));
            let reached: Vec<(&Run, f64)> = reached.collect();
            let values: Vec<f64> = reached.iter().map(|(_, value)| *value).collect();
            let (estimate, verdict) = match is_saturated(&values) {
                true => (None, Verdict::NotJudged),
                false => judge(&reached, &Design::new(study, setting.runs.iter().copied(), false, value)),
            };
            let choices = [
                ("*K*", format!("{top} |*V*|")),
                ("counted", if *statistic == Statistic::Any { "any target" } else { "share" }.to_owned()),
                ("read", if *moment == Moment::Peak { "at the peak" } else { "at the end" }.to_owned()),
            ];
            (setting.with(choices), (estimate, if not_learned { Verdict::NotJudged } else { verdict }))
        };
        sorted(paper, measured, 0.0, readings.par_iter().map(judged).collect())
    };
    let masked = in_masked(study);
    vec![
        curve("*β̂* correlates with masked reachability.", "Pearson's *r*".into(), &|reached, _| {
            let row = |(run, value): &(&Run, f64)| Some((run.seed, bridge_of(study, run, BRIDGE)?, *value));
            more(seeds::pearson(reached.iter().filter_map(row)), (0.0, MARGIN))
        }),
        curve(
            "Masked reachability falls as |*V*| grows.",
            format!("effect of {VOCAB} on reachability{masked}"),
            &|_, design| less(design.slope(VOCAB)),
        ),
        curve(
            "*λ* matters more than *d*.",
            format!("|effect of {LAMBDA}| − |effect of {SIMILARITY}|"),
            &|_, design| more(design.lambda_over_distance(), (0.0, MARGIN)),
        ),
    ]
}

fn of_tokenizers(study: &Study, settings: &[Setting], crossing: &Crossing) -> Vec<SpecificationCurve> {
    let gap = fertility_gap(crossing);
    let overlap = |run: &Run| run.over_pairs(Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap));
    let slope = |runs: &[&Run], value: &dyn Fn(&Run) -> Option<f64>, factor| {
        Design::new(study, runs.iter().copied(), false, value).slope(factor)
    };
    let curve = |paper: &str, measured: String, judge: &dyn Fn(&[&Run]) -> Judged| {
        let judged = |setting: &Setting| (setting.choices.clone(), judge(&setting.runs));
        sorted(paper, measured, 0.0, settings.iter().map(judged).collect())
    };
    let (target, source) = (crossing.target.label(), crossing.source.label());
    vec![
        curve(
            &format!("{target} is more fragmented than {source}."),
            format!("pieces a word of {target} − of {source}"),
            &|runs| more(study.mean(runs.iter().copied(), &gap), (0.0, 0.0)),
        ),
        curve("That gap is largest at small *λ*.", format!("effect of {LAMBDA} on that difference"), &|runs| {
            less(slope(runs, &gap, LAMBDA))
        }),
        curve("Vocabulary overlap falls as |*V*| grows.", format!("effect of {VOCAB} on the overlap"), &|runs| {
            less(slope(runs, &overlap, VOCAB))
        }),
    ]
}

fn of_orders(settings: &[Setting], crossing: &Crossing) -> Vec<SpecificationCurve> {
    let curve = |(paper, first, second): (String, Milestone, Milestone)| {
        let readings = settings.iter().flat_map(|setting| Crossed::ALL.map(|crossed| (setting, crossed)));
        let judged = |(setting, crossed): (&Setting, Crossed)| {
            let which = match crossed {
                Crossed::First => "first",
                Crossed::Lasting => "lasting",
            };
            let order = Order::of(setting.runs.iter().copied(), crossed, &first, &second);
            (setting.with([("crossing", which.to_owned())]), more(order.share, (0.5, 0.0)))
        };
        sorted(&paper, "share of the runs with an order".into(), 0.5, readings.map(judged).collect())
    };
    let may_fail = |(_, first, second): &(String, Milestone, Milestone)| !cannot_fail(first, second);
    ordered(crossing, false).into_iter().filter(may_fail).map(curve).collect()
}

fn sorted(paper: &str, measured: String, neutral: f64, all: Vec<(Vec<Choice>, Judged)>) -> SpecificationCurve {
    let readings = all.len();
    let with = |(choices, (estimate, verdict)): (Vec<Choice>, Judged)| {
        estimate.filter(|estimate| estimate.value.is_finite()).map(|estimate| Specification {
            choices,
            estimate,
            verdict,
        })
    };
    let mut specifications: Vec<Specification> = all.into_iter().filter_map(with).collect();
    specifications.sort_by(|a, b| a.estimate.value.total_cmp(&b.estimate.value));
    let without = readings - specifications.len();
    SpecificationCurve { paper: paper.trim_end_matches('.').to_owned(), measured, neutral, specifications, without }
}
