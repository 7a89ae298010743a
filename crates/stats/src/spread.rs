//! How a statistic varies between seeds: intervals of any level, and what more data seeds would give.

use crate::Interval;
use crate::student::t_quantile;
use std::sync::LazyLock;

/// The scale on which the spread of a statistic over seeds is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As it is: nats, steps, standardised effects.
    Plain,
    /// The logit, for what lies between 0 and 1.
    Share,
    /// Fisher's z, for what lies between -1 and 1: correlations, and differences of shares.
    Signed,
    /// The logarithm, for steps.
    Positive,
}

impl Scale {
    /// What is closer to a bound than this is taken to be at this distance: there the scale has no end.
    fn edge(self) -> f64 {
        match self {
            Scale::Plain => 0.0,
            // Half a sentence of a thousand.
            Scale::Share => 5e-4,
            Scale::Signed => 1e-6,
            Scale::Positive => 1.0,
        }
    }

    pub(crate) fn to(self, value: f64) -> f64 {
        let edge = self.edge();
        match self {
            Scale::Plain => value,
            Scale::Share => {
                let share = value.clamp(edge, 1.0 - edge);
                (share / (1.0 - share)).ln()
            }
            Scale::Signed => value.clamp(edge - 1.0, 1.0 - edge).atanh(),
            Scale::Positive => value.max(edge).ln(),
        }
    }

    pub(crate) fn back(self, value: f64) -> f64 {
        match self {
            Scale::Plain => value,
            Scale::Share => 1.0 / (1.0 + (-value).exp()),
            Scale::Signed => value.tanh(),
            Scale::Positive => value.exp(),
        }
    }
}

/// How a statistic varies between seeds, on its scale: enough for an interval of any level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub(crate) scale: Scale,
    /// Where the interval is centred.
    pub(crate) centre: f64,
    pub(crate) squares: Squares,
    /// No interval is narrower than the one with this centre and these squares.
    pub(crate) least: Option<(f64, Squares)>,
    pub(crate) negated: bool,
}

/// Squared deviations when groups are left out, and how many groups there are: data seeds, model seeds, pairs of both.
pub(crate) type Squares = [(f64, usize); 3];

impl Spread {
    /// The interval around a value that leaves out a share `alpha`.
    pub fn interval(&self, value: f64, alpha: f64) -> Interval {
        // What is closer to a bound than the scale's edge is at the edge.
        let width = |centre: f64, half: f64| {
            let ends = [centre - half, centre + half].map(|end| self.scale.to(self.scale.back(end)));
            (ends[1] - ends[0]) / 2.0
        };
        let own = half_width(&self.squares, alpha);
        let half = match &self.least {
            Some((centre, squares)) => width(self.centre, own).max(width(*centre, half_width(squares, alpha))),
            None => own,
        };
        let sign = if self.negated { -1.0 } else { 1.0 };
        let ends = [self.centre - half, self.centre + half].map(|end| sign * self.scale.back(end));
        Interval { low: ends[0].min(ends[1]).min(value), high: ends[0].max(ends[1]).max(value) }
    }

    /// The two-sided *p* of a value against 0: the share that the interval which ends at 0 leaves out.
    pub fn p(&self, value: f64) -> f64 {
        // 50 halvings are exact to the last digit that is shown.
        let (mut excluded, mut held) = (1.0, 0.0);
        for _ in 0..50 {
            let alpha = (excluded + held) / 2.0;
            let Interval { low, high } = self.interval(value, alpha);
            *(if low <= 0.0 && high >= 0.0 { &mut held } else { &mut excluded }) = alpha;
        }
        excluded
    }

    pub(crate) fn negated(self) -> Spread {
        Spread { negated: !self.negated, ..self }
    }

    /// The same over data seeds alone. Model seeds within a data seed reduce noise, and are no more worlds. `None` where
    /// there are fewer than two data seeds.
    pub fn over_data_seeds(&self) -> Option<Spread> {
        let alone = |[data, ..]: Squares| [data, (0.0, 1), (0.0, 1)];
        let least = self.least.map(|(centre, squares)| (centre, alone(squares)));
        (self.squares[0].1 > 1).then_some(Spread { squares: alone(self.squares), least, ..*self })
    }

    /// The spread over data seeds that so many of them would likely have: squared errors of a mean fall as their number
    /// grows. `None` where errors do not follow that rule (shares of runs in which something holds).
    pub fn projected(&self, data_seeds: usize) -> Option<Spread> {
        let own = self.over_data_seeds().filter(|own| own.least.is_none())?;
        let (squares, groups) = own.squares[0];
        let squares = squares * (groups as f64 - 1.0) / (data_seeds as f64 - 1.0);
        Some(Spread { squares: [(squares, data_seeds), (0.0, 1), (0.0, 1)], ..own })
    }

    /// The standard deviation between data seeds on the scale, and the number of data seeds that it was taken over.
    pub(crate) fn deviation_on_scale(&self) -> Option<(f64, usize)> {
        let (squares, groups) = self.projected(self.squares[0].1)?.squares[0];
        Some(((squares * (groups as f64 - 1.0)).sqrt(), groups))
    }

    /// The standard deviation between data seeds in the units of the value.
    pub fn deviation(&self) -> Option<f64> {
        let slope = match (self.scale, self.scale.back(self.centre)) {
            (Scale::Plain, _) => 1.0,
            (Scale::Share, value) => value * (1.0 - value),
            (Scale::Signed, value) => 1.0 - value * value,
            (Scale::Positive, value) => value,
        };
        Some(self.deviation_on_scale()?.0 * slope)
    }
}

/// Half the width of the interval that leaves out a share `alpha`.
pub(crate) fn half_width(&[data, model, both]: &Squares, alpha: f64) -> f64 {
    let square = |(squares, groups): (f64, usize)| {
        if groups < 2 { 0.0 } else { student(groups, alpha).powi(2) * squares * (groups as f64 - 1.0) / groups as f64 }
    };
    let [data, model, both] = [data, model, both].map(square);
    (data + model - both).max(data).max(model).sqrt()
}

/// Student's t for this many groups, two or more; figures ask for that of 95 % intervals thousands of times.
fn student(groups: usize, alpha: f64) -> f64 {
    static FIRST: LazyLock<Vec<f64>> = LazyLock::new(|| (1..32).map(|df| t_quantile(0.05, f64::from(df))).collect());
    let known = FIRST.get(groups - 2).copied().filter(|_| alpha == 0.05);
    known.unwrap_or_else(|| t_quantile(alpha, (groups - 1) as f64))
}
