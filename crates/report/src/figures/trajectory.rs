//! What comes, and what stays: the conditions over training, or a masked condition by level of a factor.

use super::captions::{BANDS, Runs};
use super::facets::{Facets, variants};
use super::figure::{Chooser, Figure};
use super::groups::groups;
use super::outcomes::in_masked;
use super::progress::Progress;
use super::style::{self, Style};
use super::table::Table;
use crate::data::{Factor, FactorWords, Study};
use crate::draw::{Axis, Mark, plain};
use invitro_results::claims::{
    Estimand, EstimandKind, Expectation, FADED, LEVEL, Place, Reading, RunValue, Scope, Verdict,
};
use invitro_results::{Condition, Measure, Moment, Quantity, Scorer, Statistic, Targets, TaskMetric};
use invitro_stats::Scale;
use invitro_stats::{Estimate, digits};

/// What is drawn, a panel each: how a panel is called, and its axis.
const MEASURES: [(Measure, &str, &str); 3] = [
    (Measure::unscrambling(TaskMetric::Grammaticality), "grammatical (T₁), share", "share"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share), "reachable targets, share", "share"),
    (Measure::KNOWLEDGE, "contrast of facts, nats", "nats"),
];

pub fn figure(study: &Study) -> Figure {
    let masked: Vec<Condition> = study.masked().cloned().collect();
    let factors: Vec<Factor> = study.varying().into_iter().filter(|_| !masked.is_empty()).collect();
    // A line for each level: one masked condition at a time.
    let by_factor: Vec<(&Condition, Factor)> =
        masked.iter().flat_map(|condition| factors.iter().map(move |factor| (condition, *factor))).collect();
    let named = by_factor.iter().map(|(of, factor)| format!("{} by {}", of.label(), plain(&factor.symbol())));
    let groups = groups(study);
    let all = groups.iter().map(|group| match groups.len() {
        1 => "all conditions".to_owned(),
        _ => group.name.clone(),
    });
    let lines = all.chain(named);
    let over = Progress::all(study);
    let choosers = vec![Chooser::new("lines", "lines", lines), Progress::chooser(&over)];
    let mut table = Table::of_estimates(["lines", "measure", "condition", "level", "step"]);
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let of_level = choice.options[0].checked_sub(groups.len()).map(|place| by_factor[place]);
        let factor = of_level.map(|(_, factor)| factor);
        choice.cell.extend(study.comparable(&[factor]));
        let (lines, progress) = (&choosers[0].options[choice.options[0]], &over[choice.options[1]]);
        let shown: Vec<(Option<usize>, Condition, Style)> = match of_level {
            None => {
                let conditions = groups[choice.options[0]].conditions.iter();
                conditions.map(|(it, style)| (None, it.clone(), style.unmarked())).collect()
            }
            Some((condition, factor)) => {
                let levels = style::levels(study, factor).into_iter().enumerate();
                levels.map(|(place, style)| (Some(place), condition.clone(), style)).collect()
            }
        };
        let mut facets = Facets::new(study, &mut table, Axis::share("")).over(progress);
        for (measure, title, axis) in MEASURES {
            let curve = |cell: &[(Factor, usize)], condition: &Condition| {
                study.mean_curve(study.at(cell), &Quantity::of(measure, condition))
            };
            let cell =
                |level: Option<usize>| [&choice.cell[..], level.zip(factor).map(|(l, f)| (f, l)).as_slice()].concat();
            let cells: Vec<_> = shown.iter().map(|(level, ..)| cell(*level)).collect();
            let curves: Vec<_> = shown.iter().zip(&cells).map(|((_, it, _), cell)| curve(cell, it)).collect();
            if curves.iter().all(|curve| curve.len() < 2) {
                continue;
            }
            let values = curves.iter().flatten().map(|(_, estimate)| estimate.value);
            let panel = facets.panel(title, progress.axis());
            panel.y = if axis == "nats" { Axis::around(axis, values.chain([0.0])) } else { Axis::share(axis) };
            for ((level, condition, style), cell) in shown.iter().zip(&cells) {
                let level = level.zip(factor).map_or("", |(level, factor)| &study.levels(factor)[level]);
                let keys = [plain(lines), plain(title), condition.label(), level.to_owned()];
                let keys = keys.each_ref().map(String::as_str);
                facets.curve(&keys, style, cell.as_slice(), &Quantity::of(measure, condition));
            }
            for (((_, condition, style), cell), curve) in shown.iter().zip(&cells).zip(&curves) {
                let quantity = Quantity::of(measure, condition);
                if let (true, Some(decline)) = (condition.masked, decline(study, cell.as_slice(), &quantity)) {
                    faded(&mut facets, style, progress.per_step(study, cell.as_slice()), curve, &decline);
                }
            }
        }
        let mut layout = facets.layout([1, 3]);
        layout.share_y = false;
        layout.ratio = 0.78;
        layout.legend = style::lines(shown.iter().map(|(.., style)| style));
        layout
    });
    Figure {
        name: "trajectory",
        title: format!("What comes, and what stays{}", in_masked(study)),
        caption: format!(
            "Means over runs. Where a masked condition clearly fades, a dotted line runs from its peak to the end of training, with the decline \
             as the table below has it. Knowledge is the contrast of facts in nats: by how much a word is likelier of a subject that Γ allows it than \
             of one of the same class that Γ forbids it. {BANDS}"
        ),
        choosers,
        variants,
        table,
    }
}

/// How much a share has clearly lost, where grammar was learned.
fn decline(study: &Study, cell: &[(Factor, usize)], quantity: &Quantity) -> Option<Estimate> {
    let condition = quantity.condition.clone().filter(|_| quantity.measure.scale() == Scale::Share)?;
    let (measures, place) = (vec![quantity.measure], Place::Condition(condition));
    let first = Reading { measures, place, moment: Moment::Decline };
    let value = RunValue { first, second: None, is_ratio: false };
    let found = Scope::new(study).at(cell).estimate(&Estimand { kind: EstimandKind::Mean, value, at: Vec::new() });
    let fades = |decline: &Estimate| Verdict::new(decline, Expectation::Above(0.0), FADED, LEVEL) == Verdict::Supported;
    found.estimate.filter(|decline| found.reason.is_none() && fades(decline))
}

/// From the peak of a curve to the end.
fn faded(facets: &mut Facets, style: &Style, per_step: f64, curve: &[(u32, Estimate)], decline: &Estimate) {
    let peak = curve.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value).then(b.0.cmp(&a.0)));
    if let (Some((step, peak)), Some((last, end))) = (peak, curve.last()) {
        let [from, to] = [step, last].map(|step| f64::from(*step) * per_step);
        let mut dotted = |from, to| facets.mark(Mark::Segment { from, to, colour: style.colour, dash: "1.5 1.5" });
        dotted((from, peak.value), (to, peak.value));
        dotted((to, peak.value), (to, end.value));
        facets.mark(Mark::Label { x: to, y: peak.value + 0.04, text: digits(-decline.value) });
    }
}
