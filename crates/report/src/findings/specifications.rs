//! The paper's claims under every reading of what it leaves open: how runs were made, where a study varies that, how reachability
//! is counted (*K*, any target or the share of them) and when it is read, or which crossing counts. Each reading is a
//! specification, and a claim's are sorted by what they come to.

use super::claims::{Judged, less, more};
use super::crossings::{Crossing, from_first};
use super::design::{BRIDGE, Design, LAMBDA, SIMILARITY, VOCAB, bridge_of};
use super::order::{Milestone, Order};
use super::stages::{Crossed, Stage};
use super::transfer::{gate, in_masked, is_saturated};
use crate::data::factors::said;
use crate::data::{Run, Study};
use crate::stats::{Estimate, mean, seeds};
use invitro_results::{
    Condition, Fraction, MARGIN, Measure, Moment, Quantity, Scorer, Statistic, Targets, TokenizerMetric, Verdict, Words,
};
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
    /// The claim.
    pub paper: String,
    /// What was computed.
    pub measured: String,
    /// Where a claim begins to hold.
    pub neutral: f64,
    pub specifications: Vec<Specification>,
    /// Readings that give none: nearly all runs are alike.
    pub without: usize,
}

/// The runs of one way to make them, and what is particular to it.
struct Setting<'a> {
    choices: Vec<Choice>,
    runs: Vec<&'a Run>,
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

/// Reachability, as it is counted and read.
type Counted = (Statistic, Fraction, Moment);

fn of_reachability(study: &Study, settings: &[Setting]) -> Vec<SpecificationCurve> {
    let gate = gate(study).is_some();
    let counted = [Statistic::Any, Statistic::Share].into_iter().flat_map(|statistic| {
        Fraction::ALL
            .into_iter()
            .flat_map(move |top| [Moment::Peak, Moment::End].map(|moment| (statistic, top, moment)))
    });
    let counted: Vec<Counted> = counted.collect();
    let masked = in_masked(study);
    let claims: [(&str, String, &(dyn Fn(&Design, &[&Run]) -> Judged + Sync)); 3] = [
        ("*β̂* correlates with masked reachability.", "Pearson's *r*".into(), &|design: &Design, runs: &[&Run]| {
            let rows = runs.iter().zip(&design.y);
            let rows = rows.filter_map(|(run, y)| Some((run.seed, bridge_of(study, run, BRIDGE)?, *y)));
            more(seeds::pearson(rows), (0.0, MARGIN))
        }),
        (
            "Masked reachability falls as |*V*| grows.",
            format!("effect of {VOCAB} on reachability{masked}"),
            &|design, _| less(design.slope(VOCAB)),
        ),
        ("*λ* matters more than *d*.", format!("|effect of {LAMBDA}| − |effect of {SIMILARITY}|"), &|design, _| {
            let difference = design.effect(&[LAMBDA, SIMILARITY], |effects| effects[0].abs() - effects[1].abs());
            more(difference, (0.0, MARGIN))
        }),
    ];
    let curve = |(paper, measured, judge): &(&str, String, &(dyn Fn(&Design, &[&Run]) -> Judged + Sync))| {
        let readings = settings.iter().flat_map(|setting| counted.iter().map(move |counted| (setting, *counted)));
        let readings: Vec<(&Setting, Counted)> = readings.collect();
        let judged = |(setting, counted): &(&Setting, Counted)| {
            let value = |run: &Run| reached(study, run, *counted);
            let with: Vec<&Run> =
                setting.runs.iter().copied().filter(|run| value(run).is_some_and(f64::is_finite)).collect();
            let design = Design::new(study, with.iter().copied(), false, value);
            let (statistic, top, moment) = counted;
            let choices = [
                ("*K*", format!("{top} |*V*|")),
                ("counted", if *statistic == Statistic::Any { "any target" } else { "share" }.to_owned()),
                ("read", if *moment == Moment::Peak { "at the peak" } else { "at the end" }.to_owned()),
            ];
            let mut choices: Vec<Choice> = choices.map(|(what, how)| (what.to_owned(), how)).into();
            choices.splice(0..0, setting.choices.iter().cloned());
            let judged = if is_saturated(&design.y) || design.y.len() != with.len() {
                (None, Verdict::NotJudged)
            } else {
                judge(&design, &with)
            };
            (choices, if gate { (judged.0, Verdict::NotJudged) } else { judged })
        };
        sorted(paper, measured.clone(), 0.0, readings.par_iter().map(judged).collect())
    };
    claims.iter().map(curve).collect()
}

/// Reachability in the masked conditions of a run.
fn reached(study: &Study, run: &Run, (statistic, top, moment): Counted) -> Option<f64> {
    let measure = Measure::reach_at(Scorer::Network, Targets::Allowed, statistic, top);
    let of = |condition: &Condition| run.curve(&Quantity::of(measure, condition)).at(moment);
    let values: Vec<f64> = study.masked().filter_map(of).collect();
    (!values.is_empty()).then(|| mean(&values))
}

fn of_tokenizers(study: &Study, settings: &[Setting], crossing: &Crossing) -> Vec<SpecificationCurve> {
    let fertility =
        |condition: &Condition| Quantity::of(Measure::Tokenizer(Words::Text, TokenizerMetric::Fertility), condition);
    let (of_target, of_source) = (fertility(&crossing.target), fertility(&crossing.source));
    let gap = |run: &Run| Some(run.once(&of_target)? - run.once(&of_source)?);
    let overlap = |run: &Run| run.over_pairs(Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap));
    let each = |judge: &dyn Fn(&[&Run]) -> Judged| -> Vec<(Vec<Choice>, Judged)> {
        settings.iter().map(|setting| (setting.choices.clone(), judge(&setting.runs))).collect()
    };
    let design =
        |runs: &[&Run], value: &dyn Fn(&Run) -> Option<f64>| Design::new(study, runs.iter().copied(), false, value);
    let (target, source) = (crossing.target.label(), crossing.source.label());
    vec![
        sorted(
            &format!("{target} is more fragmented than {source}."),
            format!("pieces a word of {target} − of {source}"),
            0.0,
            each(&|runs| more(study.mean(runs.iter().copied(), gap), (0.0, 0.0))),
        ),
        sorted(
            "That gap is largest at small *λ*.",
            format!("effect of {LAMBDA} on that difference"),
            0.0,
            each(&|runs| less(design(runs, &gap).slope(LAMBDA))),
        ),
        sorted(
            "Vocabulary overlap falls as |*V*| grows.",
            format!("effect of {VOCAB} on the overlap"),
            0.0,
            each(&|runs| less(design(runs, &overlap).slope(VOCAB))),
        ),
    ]
}

fn of_orders(settings: &[Setting], crossing: &Crossing) -> Vec<SpecificationCurve> {
    let Crossing { source, target, masked } = crossing;
    let at = |condition: &Condition, stage: Stage| -> Milestone { (condition.clone(), stage) };
    let orders = [
        (
            format!("{} comes before {}.", source.label(), target.label()),
            at(source, Stage::TYPES),
            at(target, Stage::TYPES),
        ),
        (
            format!("{} comes before {}.", target.label(), masked.label()),
            at(target, Stage::TYPES),
            at(masked, Stage::TYPES),
        ),
        ("Types come before masked reachability.".into(), at(masked, Stage::TYPES), at(masked, Stage::Reachable)),
    ];
    let curve = |(paper, first, second): (String, Milestone, Milestone)| {
        let readings = settings.iter().flat_map(|setting| Crossed::ALL.map(|crossed| (setting, crossed)));
        let judged = |(setting, crossed): (&Setting, Crossed)| {
            let crossing = match crossed {
                Crossed::First => "first",
                Crossed::Lasting => "lasting",
            };
            let choices = setting.choices.iter().cloned().chain([("crossing".to_owned(), crossing.to_owned())]);
            let order = Order::of(setting.runs.iter().copied(), crossed, &first, &second);
            (choices.collect(), more(order.share, (0.5, 0.0)))
        };
        sorted(&paper, "share of the runs with an order".into(), 0.5, readings.map(judged).collect())
    };
    orders.into_iter().map(curve).collect()
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
    SpecificationCurve { paper: paper.to_owned(), measured, neutral, specifications, without }
}
