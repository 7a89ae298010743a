//! A measure over training: its peak, its end, its decline, and when it emerged.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

/// When a curve is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// At the end of training.
    End,
    /// Where it is largest: the paper's reading.
    Peak,
    /// What is lost until the end, from the step at which the runs of other data seeds peak: see [`before_decline`](crate::before_decline).
    Decline,
    /// At the step where the runs of other data seeds peak: what a decline starts from.
    Before,
    /// What is lost from the run's own peak, which noise alone makes positive.
    OwnDecline,
    /// After this step.
    Step(u32),
    /// The step at which it emerged, dated by this crossing of its threshold.
    Emergence(Crossing),
}

/// Which crossing of its threshold a measure's emergence is dated by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Crossing {
    /// The first: the paper's.
    First,
    /// The one after which it stays above.
    Lasting,
    /// Half of the way from its first value to its last, where it rises: for measures that do not begin at 0.
    Half,
}

impl Crossing {
    /// All.
    pub const ALL: [Crossing; 3] = [Crossing::First, Crossing::Lasting, Crossing::Half];

    /// `first`, `lasting`, `half`.
    pub fn name(self) -> &'static str {
        match self {
            Crossing::First => "first",
            Crossing::Lasting => "lasting",
            Crossing::Half => "half",
        }
    }
}

impl Moment {
    /// As claims name it: `peak`, `end`, `before`, `decline`, `own decline`, `step 4000`, `emergence`, `lasting emergence`,
    /// `half`.
    pub fn name(self) -> String {
        match self {
            Moment::End => "end".into(),
            Moment::Peak => "peak".into(),
            Moment::Decline => "decline".into(),
            Moment::Before => "before".into(),
            Moment::OwnDecline => "own decline".into(),
            Moment::Step(step) => format!("step {step}"),
            Moment::Emergence(Crossing::First) => "emergence".into(),
            Moment::Emergence(Crossing::Lasting) => "lasting emergence".into(),
            Moment::Emergence(Crossing::Half) => "half".into(),
        }
    }
}

/// One evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The step after which it was evaluated.
    pub step: u32,
    /// NaN where the task was evaluated and there was nothing to count.
    pub value: f64,
    /// The 95 % interval the run itself reports, over pairs of subjects; NaN where it reports none.
    pub low: f32,
    /// Its upper end.
    pub high: f32,
}

impl CurvePoint {
    /// A value without an interval.
    pub fn without_interval(step: u32, value: f64) -> CurvePoint {
        CurvePoint { step, value, low: f32::NAN, high: f32::NAN }
    }

    /// The run's own interval.
    pub fn interval(&self) -> Option<invitro_stats::Interval> {
        let (low, high) = (f64::from(self.low), f64::from(self.high));
        (low.is_finite() && high.is_finite()).then_some(invitro_stats::Interval { low, high })
    }
}

/// When something emerged in a run that was measured to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emergence {
    /// At this step.
    At(u32),
    /// It was never seen.
    Never,
}

impl Emergence {
    /// The step, where there is one.
    pub fn step(self) -> Option<u32> {
        match self {
            Emergence::At(step) => Some(step),
            Emergence::Never => None,
        }
    }
}

thread_local! {
    /// Steps that this thread has read: most curves of a study have the same.
    static STEPS: RefCell<HashSet<Arc<Vec<u32>>>> = RefCell::default();
}

/// Steps that all curves that have them share.
fn shared(steps: Vec<u32>) -> Arc<Vec<u32>> {
    STEPS.with_borrow_mut(|known| match known.get(&steps) {
        Some(steps) => steps.clone(),
        None => {
            let steps = Arc::new(steps);
            known.insert(steps.clone());
            steps
        }
    })
}

/// The evaluations of one measure, by rising step. A study has a million of these in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve {
    steps: Arc<Vec<u32>>,
    values: Box<[f64]>,
    /// Ends of the intervals; empty where no point has one.
    intervals: Box<[[f32; 2]]>,
}

impl Curve {
    /// Points in any order; of a step that was measured again after an interruption the last counts.
    pub fn new(mut points: Vec<CurvePoint>) -> Curve {
        if !points.is_sorted_by(|a, b| a.step < b.step) {
            points.sort_by_key(|point| point.step);
            points.reverse();
            points.dedup_by_key(|point| point.step);
            points.reverse();
        }
        let has_intervals = points.iter().any(|point| !(point.low.is_nan() && point.high.is_nan()));
        let intervals = points.iter().filter(|_| has_intervals).map(|point| [point.low, point.high]);
        Curve {
            steps: shared(points.iter().map(|point| point.step).collect()),
            values: points.iter().map(|point| point.value).collect(),
            intervals: intervals.collect(),
        }
    }

    /// The points.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = CurvePoint> + ExactSizeIterator {
        (0..self.len()).map(|place| self.point(place))
    }

    fn point(&self, place: usize) -> CurvePoint {
        let [low, high] = self.intervals.get(place).copied().unwrap_or([f32::NAN; 2]);
        CurvePoint { step: self.steps[place], value: self.values[place], low, high }
    }

    /// The steps, rising.
    pub fn steps(&self) -> &[u32] {
        &self.steps
    }

    /// How many evaluations there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The same curve with further points.
    pub(crate) fn with(&self, further: impl IntoIterator<Item = CurvePoint>) -> Curve {
        Curve::new(self.points().chain(further).collect())
    }

    /// Whether nothing was evaluated.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The last evaluation.
    pub fn last(&self) -> Option<CurvePoint> {
        self.points().next_back()
    }

    /// The value at the end of training; `None` where there was nothing to count.
    pub fn end(&self) -> Option<f64> {
        self.values.last().copied().filter(|value| value.is_finite())
    }

    /// The first of the largest values.
    pub fn peak(&self) -> Option<CurvePoint> {
        let finite = self.values.iter().enumerate().filter(|(_, value)| value.is_finite());
        let best = finite.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(place, _)| self.point(place))
    }

    /// The value at a moment that the curve alone decides; `None` for a decline, which other runs date, and for emergence,
    /// which needs a threshold.
    pub fn at(&self, moment: Moment) -> Option<f64> {
        match moment {
            Moment::Peak => self.peak().map(|point| point.value),
            Moment::End => self.end(),
            Moment::OwnDecline => self.decline(),
            Moment::Step(step) => self.value_at(step),
            Moment::Before | Moment::Decline | Moment::Emergence(_) => None,
        }
    }

    /// The value of the evaluation at that step.
    pub fn value_at(&self, step: u32) -> Option<f64> {
        let place = self.steps.binary_search(&step).ok()?;
        Some(self.values[place]).filter(|value| value.is_finite())
    }

    /// How far the end is below the peak.
    pub fn decline(&self) -> Option<f64> {
        Some(self.peak()?.value - self.end()?)
    }

    /// The first evaluated step at which the value exceeds the threshold (the paper's emergence). `None` where there is no
    /// telling: one evaluation does not say since when, and in none may there have been anything to count.
    ///
    /// ```
    /// use invitro_results::{Curve, CurvePoint, Emergence};
    /// let curve = Curve::new([(0, 0.0), (50, 0.02), (100, 0.3)].map(|(step, value)| CurvePoint::without_interval(step, value)).into());
    /// assert_eq!(curve.emergence(0.02), Some(Emergence::At(100)));
    /// assert_eq!(curve.emergence(0.5), Some(Emergence::Never));
    /// assert_eq!(Curve::new(vec![CurvePoint::without_interval(100, 0.3)]).emergence(0.02), None);
    /// ```
    pub fn emergence(&self, threshold: f64) -> Option<Emergence> {
        self.first(|point| point.value > threshold)
    }

    /// The first step from which on it exceeds the threshold at every evaluation: a model that says one sentence
    /// whatever it is asked can be above it for a moment before it has learned anything. Evaluations with nothing to count
    /// are passed over.
    ///
    /// ```
    /// use invitro_results::{Curve, CurvePoint, Emergence};
    /// let of = |values: &[f64]| {
    ///     Curve::new(values.iter().enumerate().map(|(at, &value)| CurvePoint::without_interval(50 * at as u32, value)).collect())
    /// };
    /// assert_eq!(of(&[0.0, 0.3, 0.0, 0.4, 0.5]).lasting_emergence(0.02), Some(Emergence::At(150)));
    /// assert_eq!(of(&[0.0, 0.3, 0.0]).lasting_emergence(0.02), Some(Emergence::Never));
    /// assert_eq!(of(&[0.0, 0.3, f64::NAN, 0.2]).lasting_emergence(0.02), Some(Emergence::At(50)));
    /// assert_eq!(of(&[0.0, 0.3, f64::NAN]).lasting_emergence(0.02), Some(Emergence::At(50)));
    /// ```
    pub fn lasting_emergence(&self, threshold: f64) -> Option<Emergence> {
        self.lasting(|point| point.value > threshold)
    }

    /// The first step from which on the run's own interval lies above 0, or the value above the threshold where it
    /// has none.
    pub fn lasting_above_zero(&self, threshold: f64) -> Option<Emergence> {
        self.lasting(|point| point.low > 0.0 || (point.low.is_nan() && point.value > threshold))
    }

    /// The first step at which it is at least half of the way from its first value to its last; `None` where it does not rise.
    ///
    /// ```
    /// use invitro_results::{Curve, CurvePoint, Emergence};
    /// let of = |values: &[f64]| {
    ///     Curve::new(values.iter().enumerate().map(|(at, &value)| CurvePoint::without_interval(50 * at as u32, value)).collect())
    /// };
    /// assert_eq!(of(&[0.4, 0.5, 0.7, 0.8]).half_way(), Some(Emergence::At(100)));
    /// assert_eq!(of(&[0.4, 0.5, 0.3]).half_way(), None);
    /// assert_eq!(of(&[0.4]).half_way(), None);
    /// ```
    pub fn half_way(&self) -> Option<Emergence> {
        let (first, last) = (self.counted().next()?.value, self.counted().next_back()?.value);
        if last > first { self.first(|point| point.value >= (first + last) / 2.0) } else { None }
    }

    fn first(&self, holds: impl Fn(&CurvePoint) -> bool) -> Option<Emergence> {
        self.dated(self.counted().find(&holds))
    }

    fn lasting(&self, holds: impl Fn(&CurvePoint) -> bool) -> Option<Emergence> {
        self.dated(self.counted().rev().take_while(holds).last())
    }

    /// The evaluations with something to count.
    fn counted(&self) -> impl DoubleEndedIterator<Item = CurvePoint> {
        self.points().filter(|point| !point.value.is_nan())
    }

    /// One evaluation alone does not date anything.
    fn dated(&self, found: Option<CurvePoint>) -> Option<Emergence> {
        let is_dated = self.len() > 1 && self.counted().next().is_some();
        is_dated.then(|| found.map_or(Emergence::Never, |point| Emergence::At(point.step)))
    }
}
