//! The verdict of an estimate on a claim: one rule for all.
//!
//! Nothing is tested on fewer than [`SEEDS`] data seeds, and nothing about transfer where the thing was not learned in the
//! language that saw it.

use super::fields::{ClaimError, Result, number};
use crate::Condition;
use invitro_stats::{Estimate, Interval};

/// Data seeds below which nothing is tested.
pub const SEEDS: usize = 3;

/// Standardised effects and correlations smaller than this are equivalent to none.
pub const MARGIN: f64 = 0.1;

/// Declines of shares smaller than this are equivalent to none.
pub const FADED: f64 = 0.02;

/// A predictor whose variance inflation factor exceeds this is all but a combination of the others: its effect is not tested.
/// The usual rule of thumb (Sheather 2009).
pub const INFLATION: f64 = 5.0;

/// The share of intervals that may miss what they estimate.
pub const LEVEL: f64 = 0.05;

/// The expected value of an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expectation {
    /// More than this.
    Above(f64),
    /// Less than this.
    Below(f64),
    /// More or less than this.
    OtherThan(f64),
    /// No farther from 0 than this.
    Within(f64),
    /// This.
    Value(f64),
}

impl Expectation {
    pub(super) fn parse(value: toml::Value) -> Result<Expectation> {
        let toml::Value::String(text) = &value else { return number(&value).map(Expectation::Value) };
        let wrong =
            || ClaimError(format!("`{text}` must be `above X`, `below X`, `other than X`, `within ±X` or a number"));
        let (relation, bound) = text.rsplit_once(' ').ok_or_else(wrong)?;
        let bound: f64 = bound.trim_start_matches('±').replace('−', "-").parse().map_err(|_| wrong())?;
        match relation {
            "above" => Ok(Expectation::Above(bound)),
            "below" => Ok(Expectation::Below(bound)),
            "other than" => Ok(Expectation::OtherThan(bound)),
            "within" if bound > 0.0 => Ok(Expectation::Within(bound)),
            _ => Err(wrong()),
        }
    }

    /// The value that decides between the sides.
    pub fn neutral(self) -> f64 {
        match self {
            Expectation::Above(value)
            | Expectation::Below(value)
            | Expectation::OtherThan(value)
            | Expectation::Value(value) => value,
            Expectation::Within(_) => 0.0,
        }
    }

    /// The ranges that decide: an interval that lies wholly within one of them is no inconclusive one.
    pub fn deciding(self, margin: f64) -> Vec<[f64; 2]> {
        let outside = |low: f64, high: f64| [[f64::NEG_INFINITY, low], [high, f64::INFINITY]];
        let neutral = self.neutral();
        let (outside, equal) = match self {
            Expectation::Within(bound) => (outside(-bound, bound), bound),
            _ => (outside(neutral, neutral), margin),
        };
        let equal = (equal > 0.0).then_some([neutral - equal, neutral + equal]);
        outside.into_iter().chain(equal).collect()
    }

    /// What an interval says of it; one within `margin` of the neutral value that is not wholly where it was expected is
    /// equivalent to it.
    fn decide(self, interval: Interval, margin: f64) -> Verdict {
        let is_equal = |margin: f64| margin > 0.0 && interval.within(self.neutral() - margin, self.neutral() + margin);
        let (above, below) = (interval.above(self.neutral()), interval.below(self.neutral()));
        match self {
            Expectation::Within(bound) if is_equal(bound) => Verdict::Supported,
            Expectation::Within(bound) if interval.above(bound) || interval.below(-bound) => Verdict::Contradicted,
            Expectation::Within(_) => Verdict::Inconclusive,
            Expectation::Value(_) if is_equal(margin) => Verdict::Supported,
            Expectation::Value(_) if above || below => Verdict::Contradicted,
            Expectation::Above(_) if above => Verdict::Supported,
            Expectation::Below(_) if below => Verdict::Supported,
            Expectation::OtherThan(_) if above || below => Verdict::Supported,
            _ if is_equal(margin) => Verdict::Equivalent,
            Expectation::Above(_) if below => Verdict::Contradicted,
            Expectation::Below(_) if above => Verdict::Contradicted,
            _ => Verdict::Inconclusive,
        }
    }
}

/// What an estimate says of a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The interval lies wholly where it was expected.
    Supported,
    /// It lies wholly on the other side.
    Contradicted,
    /// A difference was expected, and it lies wholly within the margin of none, not on the expected side alone.
    Equivalent,
    /// It holds the neutral value.
    Inconclusive,
    /// It could not be tested.
    NotTested(Reason),
}

/// Why a claim could not be tested.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// So many data seeds, where [`SEEDS`] are needed.
    TooFewSeeds(usize),
    /// Grammar or facts were not learned in the language that saw all words: its share of grammatical sentences, or whether
    /// it is about facts.
    NotLearned {
        /// The language.
        condition: Condition,
        /// The share of its sentences that are grammatical; `None` where facts were not learned.
        grammatical: Option<f64>,
    },
    /// Nearly all runs are at a bound of the measure, or alike.
    Saturated,
    /// There is hardly any of it at any time, so that it cannot decline.
    Absent,
    /// The runs do not vary what it compares.
    NotVaried,
    /// No run has measured it.
    NotMeasured,
    /// Both of an order are measured, but in no run do they come.
    NeverBoth,
    /// One of the two is counted among the other, so that it comes later by definition.
    Nested,
    /// The other predictors of the regression nearly determine the one in question: its variance inflation factor.
    Collinear(f64),
    /// The first language has no more text than the one with masked words.
    NoMajority,
    /// The claim states no expectation.
    NoExpectation,
}

impl Verdict {
    /// The verdict's word.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Supported => "supported",
            Verdict::Contradicted => "contradicted",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotTested(_) => "not tested",
        }
    }

    /// By an interval that misses what it estimates with probability `alpha`.
    pub fn new(estimate: &Estimate, expect: Expectation, margin: f64, alpha: f64) -> Verdict {
        if estimate.data_seeds < SEEDS {
            return Verdict::NotTested(Reason::TooFewSeeds(estimate.data_seeds));
        }
        estimate.interval_at(alpha).map_or(Verdict::Inconclusive, |interval| expect.decide(interval, margin))
    }

    /// Whether an estimate is smaller than `margin` with its whole interval, though it may be clearly there.
    pub fn is_small(estimate: &Estimate, expect: Expectation, margin: f64, alpha: f64) -> bool {
        let (neutral, interval) = (expect.neutral(), estimate.interval_at(alpha));
        interval.is_some_and(|interval| interval.within(neutral - margin, neutral + margin))
    }

    /// Whether an estimate lies above 0 with its interval.
    pub fn is_above_zero(estimate: &Estimate) -> bool {
        Verdict::new(estimate, Expectation::Above(0.0), 0.0, LEVEL) == Verdict::Supported
    }

    /// Of several claims that must all hold: the first of these that any has.
    pub fn all(verdicts: &[Verdict]) -> Verdict {
        let ranks: [fn(&Verdict) -> bool; 5] = [
            |verdict| *verdict == Verdict::Contradicted,
            |verdict| *verdict == Verdict::Equivalent,
            |verdict| matches!(verdict, Verdict::NotTested(_)),
            |verdict| *verdict == Verdict::Inconclusive,
            |_| true,
        ];
        let first = ranks.iter().find_map(|is_it| verdicts.iter().find(|verdict| is_it(verdict)));
        first.cloned().unwrap_or(Verdict::NotTested(Reason::NotMeasured))
    }

    /// Whether it was tested and decided either way.
    pub fn is_decided(&self) -> bool {
        matches!(self, Verdict::Supported | Verdict::Contradicted | Verdict::Equivalent)
    }
}

/// Holm's step-down adjustment: the level at which each of several claims is tested, so that all verdicts together are wrong
/// with probability 5 % at most. `verdict` is that of a claim at a level. Of n that are left, those decided at 5 % / n are
/// done; the others are tried again among themselves.
///
/// ```
/// use invitro_results::claims::{Verdict, holm};
/// // Decided at these levels or larger ones.
/// let needed = [0.001, 0.02, 0.04];
/// let verdict = |place: usize, alpha: f64| if alpha >= needed[place] { Verdict::Supported } else { Verdict::Inconclusive };
/// assert_eq!(holm(3, verdict), [0.05 / 3.0, 0.05 / 2.0, 0.05]);
/// ```
pub fn holm(claims: usize, verdict: impl Fn(usize, f64) -> Verdict) -> Vec<f64> {
    let mut levels = vec![LEVEL; claims];
    let is_tested = |place: &usize| !matches!(verdict(*place, LEVEL), Verdict::NotTested(_));
    let mut left: Vec<usize> = (0..claims).filter(is_tested).collect();
    while !left.is_empty() {
        let level = LEVEL / left.len() as f64;
        left.iter().for_each(|place| levels[*place] = level);
        let before = left.len();
        left.retain(|place| !verdict(*place, level).is_decided());
        if left.len() == before {
            break;
        }
    }
    levels
}
