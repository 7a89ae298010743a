//! Least squares with errors that allow runs of one group (here: one data seed) to move together.
//!
//! The covariance is the cluster-robust sandwich with the usual small-sample factor G/(G-1) · (N-1)/(N-K), and
//! intervals use Student's t with G - 1 degrees of freedom: what statsmodels computes for
//! `fit(cov_type="cluster", use_t=True)`. With z-scored columns the coefficients are standardised effects: standard
//! deviations of y per standard deviation of x.

use crate::describe::{deviation, mean};
use crate::linear::{inverse, solve};
use crate::seeds::{self, Scale, Seed};
use crate::student::{t_quantile, t_two_sided};
use crate::{Estimate, Interval};

#[derive(Debug, Clone)]
pub struct Effect {
    pub name: String,
    pub value: f64,
    pub error: f64,
    pub interval: Interval,
    pub p: f64,
}

/// The share of a normal distribution beyond one standard error, on both sides.
pub const BEYOND_ONE_ERROR: f64 = 0.317_310_507_862_914;

#[derive(Debug, Clone)]
pub struct Regression {
    /// One per column; the intercept is estimated and left out.
    pub effects: Vec<Effect>,
    pub r_squared: f64,
    pub rows: usize,
    pub groups: usize,
    /// Columns that do not vary, or are a combination of those before them, and so were left out.
    pub dropped: Vec<String>,
}

/// A named column.
#[derive(Debug, Clone)]
pub struct NamedColumn {
    pub name: String,
    pub values: Vec<f64>,
}

impl NamedColumn {
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self { name: name.into(), values }
    }

    /// z-scores, or `None` where nothing varies.
    pub fn standardised(&self) -> Option<Self> {
        let values = standardise(&self.values)?;
        Some(Self { name: self.name.clone(), values })
    }
}

pub fn standardise(values: &[f64]) -> Option<Vec<f64>> {
    let (centre, spread) = (mean(values), deviation(values));
    (spread > 1e-12 * (1.0 + centre.abs())).then(|| values.iter().map(|value| (value - centre) / spread).collect())
}

/// The columns that can stand together, z-scored, and the names of those that cannot.
pub fn independent(columns: &[NamedColumn]) -> (Vec<NamedColumn>, Vec<String>) {
    let mut independent: Vec<NamedColumn> = Vec::new();
    let mut dropped = Vec::new();
    for column in columns {
        match column.standardised() {
            Some(column) => {
                independent.push(column);
                if inverse(&cross(&independent), independent.len()).is_err() {
                    dropped.extend(independent.pop().map(|column| column.name));
                }
            }
            None => dropped.push(column.name.clone()),
        }
    }
    (independent, dropped)
}

/// The variance inflation factor of a column: 1 / (1 − R²) of its regression on the others. 1 where it is orthogonal to them.
pub fn inflation(columns: &[NamedColumn], place: usize) -> Option<f64> {
    let (cross, width) = (cross(columns), columns.len());
    let inverted = inverse(&cross, width).ok()?;
    let diagonal = place * (width + 1);
    Some(cross[diagonal] * inverted[diagonal])
}

fn cross(columns: &[NamedColumn]) -> Vec<f64> {
    let dot = |a: &NamedColumn, b: &NamedColumn| a.values.iter().zip(&b.values).map(|(a, b)| a * b).sum::<f64>();
    columns.iter().flat_map(|a| columns.iter().map(move |b| dot(a, b))).collect()
}

/// The regression of z-scored `y` on the z-scored columns. `None` where y does not vary, no column is left, or there
/// are not more rows than columns or fewer than two groups.
pub fn standardised(columns: &[NamedColumn], y: &[f64], groups: &[usize]) -> Option<Regression> {
    let y = standardise(y)?;
    let (columns, dropped) = independent(columns);
    let fitted = least_squares(&columns, &y, groups)?;
    Some(Regression { dropped, ..fitted })
}

/// The regression of `y` on the columns as they are, plus an intercept.
pub fn least_squares(columns: &[NamedColumn], y: &[f64], groups: &[usize]) -> Option<Regression> {
    let (rows, width) = (y.len(), columns.len() + 1);
    let mut distinct = groups.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let clusters = distinct.len();
    if columns.is_empty() || rows <= width || clusters < 2 {
        return None;
    }
    let design = |row: usize, column: usize| if column == 0 { 1.0 } else { columns[column - 1].values[row] };
    let mut gram = vec![0.0; width * width];
    let mut right = vec![0.0; width];
    for (row, value) in y.iter().enumerate() {
        for a in 0..width {
            right[a] += design(row, a) * value;
            for b in 0..width {
                gram[a * width + b] += design(row, a) * design(row, b);
            }
        }
    }
    let bread = inverse(&gram, width).ok()?;
    let coefficients: Vec<f64> =
        (0..width).map(|a| (0..width).map(|b| bread[a * width + b] * right[b]).sum()).collect();
    let residual = |row: usize| y[row] - (0..width).map(|c| coefficients[c] * design(row, c)).sum::<f64>();

    let mut scores = vec![0.0; clusters * width];
    let mut squares = 0.0;
    for (row, group) in groups.iter().enumerate() {
        let group = distinct.binary_search(group).expect("a group of the list it was made from");
        let residual = residual(row);
        squares += residual * residual;
        for column in 0..width {
            scores[group * width + column] += design(row, column) * residual;
        }
    }
    let factor = clusters as f64 / (clusters as f64 - 1.0) * (rows as f64 - 1.0) / (rows - width) as f64;
    let df = clusters as f64 - 1.0;
    let reach = t_quantile(0.05, df);
    let effect = |column: usize| {
        // One diagonal entry of bread · meat · bread: the squared projections of the cluster scores.
        let variance: f64 = scores
            .chunks_exact(width)
            .map(|score| (0..width).map(|k| bread[column * width + k] * score[k]).sum::<f64>().powi(2))
            .sum();
        let (value, error) = (coefficients[column], (factor * variance).sqrt());
        let interval = Interval { low: value - reach * error, high: value + reach * error };
        let p = if error > 0.0 { t_two_sided(value / error, df) } else { 0.0 };
        Effect { name: columns[column - 1].name.clone(), value, error, interval, p }
    };
    let total: f64 = y.iter().map(|value| (value - mean(y)).powi(2)).sum();
    let r_squared = if total > 0.0 { 1.0 - squares / total } else { 0.0 };
    Some(Regression { effects: (1..width).map(effect).collect(), r_squared, rows, groups: clusters, dropped: vec![] })
}

impl Regression {
    pub fn effect(&self, name: &str) -> Option<&Effect> {
        self.effects.iter().find(|effect| effect.name == name)
    }
}

/// A function of the standardised coefficients (in the order of `columns`, all of which must stand together), with
/// its interval over seeds. Columns are z-scored once, over all runs, so leaving runs out moves the coefficients only.
pub fn over_seeds(
    of_rows: &[Seed],
    columns: &[NamedColumn],
    y: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
) -> Option<Estimate> {
    let y = standardise(y)?;
    let columns: Vec<NamedColumn> = columns.iter().map(NamedColumn::standardised).collect::<Option<_>>()?;
    let width = columns.len() + 1;
    if of_rows.len() <= width {
        return None;
    }
    let rows = of_rows.iter().enumerate().map(|(row, seed)| {
        let x = |column: usize| if column == 0 { 1.0 } else { columns[column - 1].values[row] };
        let mut sums = Vec::with_capacity(width * (width + 1));
        for a in 0..width {
            sums.extend((0..width).map(|b| x(a) * x(b)));
        }
        sums.extend((0..width).map(|a| x(a) * y[row]));
        (*seed, sums)
    });
    seeds::estimate_wide(Scale::Plain, width * (width + 1), rows, |sums| {
        let (gram, right) = sums.split_at(width * width);
        solve(gram, right).ok().map(|coefficients| statistic(&coefficients[1..]))
    })
}
