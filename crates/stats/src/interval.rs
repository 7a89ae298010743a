//! A number with its 95 % interval.

use crate::format::{digits, with_interval};
use crate::spread::Spread;
use std::fmt;

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Half of its width.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether all of it lies above the bound.
    pub fn above(&self, bound: f64) -> bool {
        self.low > bound
    }

    /// Whether all of it lies below the bound.
    pub fn below(&self, bound: f64) -> bool {
        self.high < bound
    }

    /// Whether all of it lies between the two.
    pub fn within(&self, low: f64, high: f64) -> bool {
        self.low >= low && self.high <= high
    }

    /// Whether the value lies in it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A mean or other statistic over runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The statistic.
    pub value: f64,
    /// Its interval, where there is one.
    pub interval: Option<Interval>,
    /// The runs behind it.
    pub runs: usize,
    /// The data seeds behind it.
    pub data_seeds: usize,
    /// What each of two data seeds gives alone: with so few, that is shown instead of an interval.
    pub of_two: Option<[f64; 2]>,
    /// How it varies between seeds, where it has an interval over them.
    pub spread: Option<Spread>,
}

impl Estimate {
    /// One run's number, with the interval that the run itself reports.
    pub fn of_run(value: f64, interval: Option<Interval>) -> Estimate {
        Estimate { value, interval, runs: 1, data_seeds: 1, of_two: None, spread: None }
    }

    /// The interval that leaves out a share `alpha` instead of 5 %.
    pub fn interval_at(&self, alpha: f64) -> Option<Interval> {
        if alpha == 0.05 { self.interval } else { Some(self.spread?.interval(self.value, alpha)) }
    }

    /// With its sign turned, for predictions of less.
    pub fn negated(self) -> Estimate {
        let of_two = self.of_two.map(|seeds| seeds.map(|value| -value));
        let interval = self.interval.map(|it| Interval { low: -it.high, high: -it.low });
        Estimate { value: -self.value, interval, of_two, spread: self.spread.map(Spread::negated), ..self }
    }
}

/// `0.33 [0.27, 0.40]`; the value alone where there is no interval; `0.30 and 0.36` of two data seeds.
impl fmt::Display for Estimate {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        if let Some([first, second]) = self.of_two {
            return write!(out, "{} and {}", digits(first), digits(second));
        }
        match self.interval {
            Some(Interval { low, high }) => out.write_str(&with_interval(self.value, low, high)),
            None => out.write_str(&digits(self.value)),
        }
    }
}
