//! Did knowledge cross? The contrasts of facts and of types at the end of training, where they are above 0, and which
//! bridge foretells them. The paper's measure cannot ask this.

use super::contrasts::{Place, places};
use super::crossings::main_source;
use super::design::{BRIDGE, COGNATE, bridge_of};
use super::transfer::{Transfer, in_masked};
use crate::data::{Factor, Study};
use crate::wording::spoken;
use invitro_results::{Condition, Measure, Moment, Quantity, SEEDS, Statistic, Targets, Verdict, knowledge};
use invitro_stats::{Estimate, Scale, seeds};

pub struct Knowledge {
    /// Where the contrasts were taken, and what they are there, in the order of [`CONTRASTS`].
    pub rows: Vec<(String, [Option<Estimate>; 4])>,
    /// How far the cognate bridge correlates more strongly with the contrast in nats than the general bridge does.
    pub cognate: Option<Estimate>,
    pub sentence: String,
}

/// Set, statistic, and what the contrast is called.
pub const CONTRASTS: [(Targets, Statistic, &str); 4] = [
    (Targets::Facts, Statistic::Share, "facts, share of targets"),
    (Targets::Facts, Statistic::LogProb, "facts, nats"),
    (Targets::Types, Statistic::Share, "types, share of targets"),
    (Targets::Types, Statistic::LogProb, "types, nats"),
];

pub fn of(study: &Study) -> Knowledge {
    let row = |place: Place| {
        let contrasts = CONTRASTS.map(|(targets, statistic, _)| end(study, &place.quantity(targets, statistic)));
        (place.title, contrasts)
    };
    Knowledge {
        rows: places(study).into_iter().map(row).collect(),
        cognate: cognate_over_general(study),
        sentence: told(study).join(" ") + &by_run(study) + &by_cell(study),
    }
}

/// The mean at the end of training.
fn end(study: &Study, quantity: &Quantity) -> Option<Estimate> {
    study.read(study.ended(study.plain()), quantity, Moment::End)
}

/// What is said of each masked condition, beside the language that it could have received most from.
fn answers(study: &Study) -> Vec<(Verdict, String)> {
    let answer = |masked: &Condition| {
        let seen = main_source(study, Measure::KNOWLEDGE, masked)?;
        Some(knowledge(&seen, &study.end_of(Measure::KNOWLEDGE, masked), study.withheld()))
    };
    study.masked().filter_map(answer).collect()
}

/// Whether it crossed, by masked condition.
pub fn verdicts(study: &Study) -> Vec<Verdict> {
    answers(study).into_iter().map(|(verdict, _)| verdict).collect()
}

/// Whether it crossed into every masked condition; `None` where there is none.
pub fn verdict(study: &Study) -> Option<Verdict> {
    let verdicts = verdicts(study);
    (!verdicts.is_empty()).then(|| Verdict::all(verdicts))
}

/// One sentence for each masked condition.
pub fn told(study: &Study) -> Vec<String> {
    let sentences: Vec<String> = answers(study).into_iter().map(|(_, sentence)| sentence).collect();
    if sentences.is_empty() { vec!["No run has measured a condition with masked words.".into()] } else { sentences }
}

/// Why nothing may be said of knowledge in masked words: it is not clear that facts were learned where they were seen.
pub fn gate(study: &Study) -> Option<String> {
    study.masked().find_map(|masked| {
        let seen = main_source(study, Measure::KNOWLEDGE, masked)?;
        let learned = Verdict::of(seen.estimate.as_ref(), 0.0, 0.0);
        let unclear = !matches!(learned, Verdict::Supported | Verdict::NotJudged);
        unclear.then(|| format!("facts were not clearly learned in {}", seen.label))
    })
}

/// Where it shows, in nats.
fn by_cell(study: &Study) -> String {
    let mut cells = Vec::new();
    for (vocab, vocab_label) in study.levels(Factor::Vocab).iter().enumerate() {
        for (distance, distance_label) in study.levels(Factor::Distance).iter().enumerate() {
            let cell = [&[(Factor::Vocab, vocab), (Factor::Distance, distance)], study.plain()].concat();
            let mean = study.mean(study.ended(&cell), |run| Transfer::Nats.value(study, run));
            cells.extend(mean.map(|mean| (format!("|*V*| = {vocab_label}, *d* = {distance_label}"), mean)));
        }
    }
    // Where other languages or scripts are pooled in a cell, it says nothing of either.
    let pools = study.varying().into_iter().any(Factor::is_kind_of_languages);
    if pools || gate(study).is_some() || cells.len() < 2 || cells.iter().any(|(_, mean)| mean.data_seeds < SEEDS) {
        return String::new();
    }
    let is_above = |mean: &Estimate| Verdict::of(Some(mean), 0.0, 0.0) == Verdict::Supported;
    let above = cells.iter().filter(|(_, mean)| is_above(mean)).count();
    let most = cells.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value)).filter(|(_, mean)| is_above(mean));
    let most =
        most.map_or(String::new(), |(name, mean)| format!(", with the largest mean at {name}: {}", spoken(mean)));
    format!(
        " In nats it is above 0{} with its interval in {above} of {} cells of |*V*| × *d*{most}.",
        in_masked(study),
        cells.len()
    )
}

/// How many runs are sure of it themselves: the interval of a run is over its subjects, whatever other seeds would give.
fn by_run(study: &Study) -> String {
    let quantities: Vec<Quantity> = study.masked().map(|masked| Quantity::of(Measure::KNOWLEDGE, masked)).collect();
    let curves = study.ended(study.plain()).flat_map(|run| quantities.iter().map(|quantity| run.curve(quantity)));
    let intervals: Vec<_> = curves.filter_map(|curve| curve.last()?.interval()).collect();
    let above = intervals.iter().filter(|interval| interval.above(0.0)).count();
    let below = intervals.iter().filter(|interval| interval.below(0.0)).count();
    let sure = intervals.len();
    if sure == 0 {
        return String::new();
    }
    format!(
        " Of the {sure} {} with an interval of their own{}, over pairs of subjects and in nats, {above} lie wholly above 0 and \
         {below} wholly below it; chance alone would give {:.0} of each on average, and often far more or fewer, since runs of a \
         data seed share their words and targets.",
        if quantities.len() > 1 { "contrasts" } else { "runs" },
        in_masked(study),
        0.025 * sure as f64
    )
}

/// |r| of the cognate bridge with the contrast less |r| of the general bridge, over the same runs.
fn cognate_over_general(study: &Study) -> Option<Estimate> {
    let rows: Vec<_> = study
        .ended(study.plain())
        .filter_map(|run| {
            let bridges = [bridge_of(study, run, COGNATE)?, bridge_of(study, run, BRIDGE)?];
            Some((run.seed, bridges, Transfer::Nats.value(study, run)?))
        })
        .collect();
    if rows.len() < 3 {
        return None;
    }
    let rows = rows.into_iter().map(|(seed, [c, g], y)| (seed, [1.0, c, g, y, c * c, g * g, y * y, c * y, g * y]));
    seeds::estimate(Scale::Signed, rows, |&[n, c, g, y, cc, gg, yy, cy, gy]| {
        let r = |x: f64, xx: f64, xy: f64| {
            let (vx, vy) = (xx - x * x / n, yy - y * y / n);
            (vx > 1e-12 * n && vy > 1e-12 * n).then(|| (xy - x * y / n) / (vx * vy).sqrt())
        };
        Some(r(c, cc, cy)?.abs() - r(g, gg, gy)?.abs())
    })
}
