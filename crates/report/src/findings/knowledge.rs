//! Did knowledge cross? The contrast of facts and of types at the end of training, where it is above 0, and which
//! bridge foretells it. The paper's measure cannot ask this; it is answered by the same rule as the hypotheses.

use super::verdict::{Verdict, judge};
use crate::data::{Factor, Run, Study};
use crate::figures::{places_of_contrast, spoken};
use crate::stats::{Estimate, seeds};

pub struct Knowledge {
    /// Where the contrast was taken, and there the contrast of facts and of types.
    pub rows: Vec<(&'static str, Option<Estimate>, Option<Estimate>)>,
    /// How far the cognate bridge correlates more strongly with the contrast in B† than the general bridge does.
    pub cognate: Option<Estimate>,
    pub verdict: Verdict,
    pub sentence: String,
}

fn contrast(study: &Study, run: &Run, condition: &str, set: &str) -> Option<f64> {
    run.last(study.key(condition, "reach", &format!("network.{set}.share@0.1")))
}

pub fn of(study: &Study) -> Knowledge {
    let mean = |condition: &str, set: &str| study.mean(study.ended(&[]), |run| contrast(study, run, condition, set));
    let rows: Vec<_> = places_of_contrast()
        .map(|(title, condition, symbols)| {
            let [facts, types] = ["facts", "types"].map(|set| mean(condition, &format!("{set}{symbols}")));
            (title, facts, types)
        })
        .collect();
    let (in_a, masked) = (mean("A", "facts"), mean("B_masked", "facts"));
    let verdict = judge(masked.as_ref(), 0.0, 0.0);
    Knowledge { rows, cognate: cognate_over_general(study), verdict, sentence: sentence(study, verdict, in_a, masked) }
}

fn sentence(study: &Study, verdict: Verdict, in_a: Option<Estimate>, masked: Option<Estimate>) -> String {
    let (Some(in_a), Some(masked)) = (in_a, masked) else {
        return "Cannot tell: no run that ended has measured it.".into();
    };
    let word = match verdict {
        _ if masked.interval.is_none() => "Cannot tell without a second seed",
        _ if judge(Some(&in_a), 0.0, 0.0) != Verdict::Supported => {
            "The facts were not learned in A, so none could cross"
        }
        Verdict::Supported => "Knowledge crossed",
        Verdict::Opposed => "What crossed misleads",
        _ => "Over all settings and these seeds, it cannot be told whether knowledge crossed",
    };
    let mut said = format!("{word}: the contrast of facts is {} in A and {} in B†.", spoken(&in_a), spoken(&masked));
    said.push_str(&by_run(study));
    let (vocabs, distances) = (study.levels(Factor::Vocab), study.levels(Factor::Distance));
    let mut cells = Vec::new();
    for (vocab, vocab_level) in vocabs.iter().enumerate() {
        for (distance, distance_level) in distances.iter().enumerate() {
            let cell = [(Factor::Vocab, vocab), (Factor::Distance, distance)];
            let mean = study.mean(study.ended(&cell), |run| contrast(study, run, "B_masked", "facts"));
            cells.extend(
                mean.map(|mean| (format!("|*V*| = {}, *d* = {}", vocab_level.label, distance_level.label), mean)),
            );
        }
    }
    if cells.len() > 1 {
        let above = cells.iter().filter(|(_, mean)| judge(Some(mean), 0.0, 0.0) == Verdict::Supported).count();
        said.push_str(&format!(
            " In B† it is above 0 with its interval in {above} of {} cells of |*V*| × *d*",
            cells.len()
        ));
        if let Some((name, mean)) = cells.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value)) {
            said.push_str(&format!(", most at {name}: {}", spoken(mean)));
        }
        said.push('.');
    }
    said
}

/// How many runs are sure of it themselves: the interval of a run is over its subjects, whatever other seeds would give.
fn by_run(study: &Study) -> String {
    let Some(key) = study.key("B_masked", "reach", "network.facts.share@0.1") else { return String::new() };
    let last: Vec<_> = study.ended(&[]).filter_map(|run| run.curve(Some(key)).last()).collect();
    let (above, below) =
        (last.iter().filter(|at| at.low > 0.0).count(), last.iter().filter(|at| at.high < 0.0).count());
    let sure = last.iter().filter(|at| at.low.is_finite()).count();
    format!(
        " Of the {sure} runs with an interval of their own in B†, over subjects, {above} lie wholly above 0 and {below} \
         wholly below; chance alone would give {:.0} of each on average, and often far more or fewer, since runs of a data \
         seed share their words and targets.",
        0.025 * sure as f64
    )
}

/// |r| of the cognate bridge with the contrast less |r| of the general bridge, over the same runs.
fn cognate_over_general(study: &Study) -> Option<Estimate> {
    let rows: Vec<_> = study
        .ended(&[])
        .filter_map(|run| {
            let bridges = [run.number("cognate_bridge.jaccard")?, run.number("bridge.jaccard")?];
            Some((run.seed, bridges, contrast(study, run, "B_masked", "facts")?))
        })
        .collect();
    if rows.len() < 3 {
        return None;
    }
    let rows = rows.into_iter().map(|(seed, [c, g], y)| (seed, [1.0, c, g, y, c * c, g * g, y * y, c * y, g * y]));
    seeds::estimate(rows, |&[n, c, g, y, cc, gg, yy, cy, gy]| {
        let r = |x: f64, xx: f64, xy: f64| {
            let (vx, vy) = (xx - x * x / n, yy - y * y / n);
            (vx > 1e-12 * n && vy > 1e-12 * n).then(|| (xy - x * y / n) / (vx * vy).sqrt())
        };
        Some(r(c, cc, cy)?.abs() - r(g, gg, gy)?.abs())
    })
}
