//! Did knowledge cross? The contrasts of facts and of types at the end of training, where they are above 0, and which
//! bridge foretells them. The paper's measure cannot ask this; it is answered by the same rule as the hypotheses.

use super::outcome::Outcome;
use super::verdict::{Verdict, judge};
use crate::data::{Factor, Study};
use crate::figures::{bounded, places_of_contrast, spoken};
use crate::stats::{Estimate, seeds};

pub struct Knowledge {
    /// Where the contrasts were taken, and what they are there, in the order of [`CONTRASTS`].
    pub rows: Vec<(&'static str, [Option<Estimate>; 4])>,
    /// How far the cognate bridge correlates more strongly with the contrast in B†, in nats, than the general bridge does.
    pub cognate: Option<Estimate>,
    pub verdict: Verdict,
    pub sentence: String,
}

/// Set, statistic, and what the contrast is called.
pub const CONTRASTS: [(&str, &str, &str); 4] = [
    ("facts", "share@0.1", "facts, share of targets"),
    ("facts", "logprob", "facts, nats"),
    ("types", "share@0.1", "types, share of targets"),
    ("types", "logprob", "types, nats"),
];

pub fn of(study: &Study) -> Knowledge {
    let rows: Vec<_> = places_of_contrast()
        .map(|(title, condition, symbols)| {
            let mean = |(set, statistic, _): (&str, &str, &str)| {
                let key = study.key(condition, "reach", &format!("network.{set}{symbols}.{statistic}"));
                study.mean(study.ended(&[]), |run| run.last(key))
            };
            (title, CONTRASTS.map(mean))
        })
        .collect();
    let facts = |place: &str| rows.iter().find(|row| row.0 == place).map_or([None, None], |row| [row.1[0], row.1[1]]);
    let (in_a, masked) = (facts("A"), facts("B†"));
    let (verdict, sentence) = answer(in_a, masked);
    Knowledge {
        cognate: cognate_over_general(study),
        verdict,
        sentence: sentence + &by_run(study) + &by_cell(study),
        rows,
    }
}

/// From the contrasts of facts, in share of targets and in nats, in A and in B†: what is learned, or crossed, shows in both.
fn answer(in_a: [Option<Estimate>; 2], masked: [Option<Estimate>; 2]) -> (Verdict, String) {
    let ([Some(_), Some(_)], [Some(share), Some(nats)]) = (in_a, masked) else {
        return (Verdict::CannotTell, "Cannot tell: no run that ended has measured it.".into());
    };
    let judged = |pair: [Option<Estimate>; 2]| pair.map(|estimate| judge(estimate.as_ref(), 0.0, 0.0));
    let learned = judged(in_a) == [Verdict::Supported; 2];
    let (verdict, word) = match judged(masked) {
        _ if share.interval.is_none() || nats.interval.is_none() => {
            (Verdict::CannotTell, "Cannot tell without a second seed")
        }
        _ if !learned => (Verdict::CannotTell, "The facts were not learned in A, so none could cross"),
        [Verdict::Supported, Verdict::Supported] => (Verdict::Supported, "Knowledge crossed"),
        [Verdict::Opposed, Verdict::Opposed] => (Verdict::Opposed, "What crossed misleads"),
        [Verdict::Supported, Verdict::CannotTell] | [Verdict::CannotTell, Verdict::Supported] => {
            (Verdict::CannotTell, "Signs that knowledge crossed, in one of the two contrasts")
        }
        _ => (Verdict::CannotTell, "Over all settings and these seeds, it cannot be told whether knowledge crossed"),
    };
    let told = |pair: [Option<Estimate>; 2]| {
        let [share, nats] = pair.map(|estimate| estimate.as_ref().map_or(String::new(), bounded));
        format!("{share} in share of targets, {nats} in nats")
    };
    (verdict, format!("{word}: the contrast of facts in A is {}; in B† it is {}.", told(in_a), told(masked)))
}

/// Where it shows, in nats.
fn by_cell(study: &Study) -> String {
    let (vocabs, distances) = (study.levels(Factor::Vocab), study.levels(Factor::Distance));
    let mut cells = Vec::new();
    for (vocab, vocab_level) in vocabs.iter().enumerate() {
        for (distance, distance_level) in distances.iter().enumerate() {
            let cell = [(Factor::Vocab, vocab), (Factor::Distance, distance)];
            let mean = study.mean(study.ended(&cell), |run| Outcome::Nats.value(study, run));
            cells.extend(
                mean.map(|mean| (format!("|*V*| = {}, *d* = {}", vocab_level.label, distance_level.label), mean)),
            );
        }
    }
    let Some((name, most)) = cells.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value)).filter(|_| cells.len() > 1)
    else {
        return String::new();
    };
    let above = cells.iter().filter(|(_, mean)| judge(Some(mean), 0.0, 0.0) == Verdict::Supported).count();
    format!(
        " In nats it is above 0 in B† with its interval in {above} of {} cells of |*V*| × *d*, most at {name}: {}.",
        cells.len(),
        spoken(most)
    )
}

/// How many runs are sure of it themselves: the interval of a run is over its subjects, whatever other seeds would give.
fn by_run(study: &Study) -> String {
    let Some(key) = study.key("B_masked", "reach", "network.facts.logprob") else { return String::new() };
    let last: Vec<_> = study.ended(&[]).filter_map(|run| run.curve(Some(key)).last()).collect();
    let (above, below) =
        (last.iter().filter(|at| at.low > 0.0).count(), last.iter().filter(|at| at.high < 0.0).count());
    let sure = last.iter().filter(|at| at.low.is_finite()).count();
    if sure == 0 {
        return String::new();
    }
    format!(
        " Of the {sure} runs with an interval of their own in B†, over subjects and in nats, {above} lie wholly above 0 and \
         {below} wholly below; chance alone would give {:.0} of each on average, and often far more or fewer, since runs of a \
         data seed share their words and targets.",
        0.025 * sure as f64
    )
}

/// |r| of the cognate bridge with the contrast less |r| of the general bridge, over the same runs.
fn cognate_over_general(study: &Study) -> Option<Estimate> {
    let rows: Vec<_> = study
        .ended(&[])
        .filter_map(|run| {
            let bridges = [run.number("cognate_bridge.jaccard")?, run.number("bridge.jaccard")?];
            Some((run.seed, bridges, Outcome::Nats.value(study, run)?))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    #[test]
    fn what_crossed_shows_in_both_contrasts() {
        let with =
            |low, high| Some(Estimate { value: 0.5 * (low + high), interval: Some(Interval { low, high }), runs: 9 });
        let known = [with(0.1, 0.2), with(2.0, 3.0)];
        let nothing = [with(-0.1, 0.2), with(-2.0, 3.0)];
        assert_eq!(answer(known, known).0, Verdict::Supported);
        assert_eq!(answer(known, nothing).0, Verdict::CannotTell);
        assert_eq!(answer(known, [with(-0.2, -0.1), with(-3.0, -2.0)]).0, Verdict::Opposed);
        let (verdict, said) = answer(known, [with(-0.1, 0.2), with(2.0, 3.0)]);
        assert!(verdict == Verdict::CannotTell && said.starts_with("Signs"), "{said}");
        let (verdict, said) = answer(nothing, known);
        assert!(verdict == Verdict::CannotTell && said.starts_with("The facts were not learned"), "{said}");
        assert!(answer([None, None], known).1.starts_with("Cannot tell"));
    }
}
