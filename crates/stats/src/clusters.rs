//! Least squares with a fixed effect for every run, and errors that allow words to move together in two ways at once.
//!
//! The fixed effects are taken off by subtracting every run's means, which leaves the coefficients as they are with an
//! indicator for each. The covariance is that of Cameron, Gelbach and Miller: clustered one way, plus the other way, less by
//! both at once, each with its factor G/(G-1) · (N-1)/(N-K), where K counts the runs; Student's t has one degree of freedom
//! less than there are clusters the way that has fewer. It is what statsmodels computes for
//! `fit(cov_type="cluster", cov_kwds={"groups": …}, use_t=True)` with two columns of groups and the runs as indicators, but
//! never less than clustered one way alone.
//!
//! A symbol of one data seed has nothing to do with that of another: each has its own world, with its own facts and words.
//! So symbols are clusters within data seeds, and both ways together come to data seeds alone, as statsmodels has it. With
//! three of them that is by chance far too little at times; the rule above then has the error over symbols, with the t of data
//! seeds.
//!
//! [`over_seeds`] has the same coefficients with intervals from leaving out each data seed in turn, as everywhere in a report.
//! In simulated studies of 3 and of 5 data seeds these hold the slope in 94 to 96 of 100, whether or not slopes differ between data
//! seeds; the two-way ones in 98 to 100, and symbols alone in 87 where slopes differ. Verdicts go by leaving out seeds.

use crate::linear::{inverse, solve};
use crate::regression::{Effect, NamedColumn, Regression, independent};
use crate::seeds::{self, Scale, Seed};
use crate::student::{t_quantile, t_two_sided};
use crate::{Estimate, Interval};
use std::collections::{BTreeMap, BTreeSet};

/// Words in runs, with what they are explained by. All lists have a place for every row.
pub struct WordRows {
    pub columns: Vec<NamedColumn>,
    pub y: Vec<f64>,
    /// The run of each row.
    pub runs: Vec<usize>,
}

/// Rows without their runs' means: what is left varies within runs.
struct Within {
    columns: Vec<NamedColumn>,
    y: Vec<f64>,
    dropped: Vec<String>,
    runs: usize,
}

impl WordRows {
    fn within(&self) -> Within {
        let places = self.runs.iter().max().map_or(0, |last| last + 1);
        let mut counts = vec![0.0f64; places];
        self.runs.iter().for_each(|run| counts[*run] += 1.0);
        let centred = |values: &[f64]| -> Vec<f64> {
            let mut sums = vec![0.0; places];
            self.runs.iter().zip(values).for_each(|(run, value)| sums[*run] += value);
            self.runs.iter().zip(values).map(|(run, value)| value - sums[*run] / counts[*run]).collect()
        };
        // What differs between runs alone is taken off whole, but for rounding.
        let varies = |before: &NamedColumn, after: &NamedColumn| {
            let size = before.values.iter().fold(1.0f64, |size, value| size.max(value.abs()));
            after.values.iter().any(|value| value.abs() > 1e-9 * size)
        };
        let (mut columns, mut dropped) = (Vec::new(), Vec::new());
        for column in &self.columns {
            let after = NamedColumn::new(column.name.clone(), centred(&column.values));
            if varies(column, &after) {
                columns.push(after);
            } else {
                dropped.push(column.name.clone());
            }
        }
        let (_, dependent) = independent(&columns);
        columns.retain(|column| !dependent.contains(&column.name));
        dropped.extend(dependent);
        Within { columns, y: centred(&self.y), dropped, runs: counts.iter().filter(|count| **count > 0.0).count() }
    }
}

/// The regression with errors clustered both ways. A way with fewer than two clusters says nothing and is left out. `None`
/// where no column varies within runs, no way is left, or there are not more rows than coefficients.
pub fn two_way(rows: &WordRows, ways: [&[usize]; 2]) -> Option<Regression> {
    let Within { columns, y, dropped, runs } = rows.within();
    let (count, width) = (y.len(), columns.len());
    let coefficients = width + runs;
    let clusters = ways.map(|way| way.iter().collect::<BTreeSet<_>>().len());
    let fewest = clusters.into_iter().filter(|clusters| *clusters > 1).min();
    let (Some(fewest), true) = (fewest, width > 0 && count > coefficients) else { return None };
    let (gram, right) = sums(&columns, &y, 0..count);
    let bread = inverse(&gram, width).ok()?;
    let dot = |place: usize, with: &[f64]| -> f64 { (0..width).map(|k| bread[place * width + k] * with[k]).sum() };
    let values: Vec<f64> = (0..width).map(|place| dot(place, &right)).collect();
    let residual =
        |row: usize| y[row] - columns.iter().zip(&values).map(|(column, b)| column.values[row] * b).sum::<f64>();
    let residuals: Vec<f64> = (0..count).map(residual).collect();
    // The variances of all coefficients, clustered by these labels: squared projections of the clusters' scores.
    let clustered = |labels: &dyn Fn(usize) -> (usize, usize)| -> Vec<f64> {
        let mut scores: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        for (row, residual) in residuals.iter().enumerate() {
            let score = scores.entry(labels(row)).or_insert_with(|| vec![0.0; width]);
            score.iter_mut().zip(&columns).for_each(|(score, column)| *score += column.values[row] * residual);
        }
        let groups = scores.len() as f64;
        if groups < 2.0 {
            return vec![0.0; width];
        }
        let factor = groups / (groups - 1.0) * (count as f64 - 1.0) / (count - coefficients) as f64;
        let square = |place: usize| scores.values().map(|score| dot(place, score).powi(2)).sum::<f64>();
        (0..width).map(|place| factor * square(place)).collect()
    };
    let one = clustered(&|row| (ways[0][row], 0));
    let other = clustered(&|row| (0, ways[1][row]));
    // With one cluster a way, clusters by both are those of the other way.
    let both = if clusters.contains(&1) { vec![0.0; width] } else { clustered(&|row| (ways[0][row], ways[1][row])) };
    let df = fewest as f64 - 1.0;
    let effect = |(place, column): (usize, &NamedColumn)| {
        let variance = (one[place] + other[place] - both[place]).max(one[place]).max(other[place]);
        let (value, error) = (values[place], variance.sqrt());
        let half = t_quantile(0.05, df) * error;
        let p = if error > 0.0 { t_two_sided(value / error, df) } else { 0.0 };
        let interval = Interval { low: value - half, high: value + half };
        Effect { name: column.name.clone(), value, error, interval, p }
    };
    let effects = columns.iter().enumerate().map(effect).collect();
    let [left, total] = [&residuals, &y].map(|values| values.iter().map(|value| value * value).sum::<f64>());
    let r_squared = if total > 0.0 { 1.0 - left / total } else { 0.0 };
    Some(Regression { effects, r_squared, rows: count, groups: fewest, dropped })
}

/// Sums of products of the columns with each other and with y, over some rows.
fn sums(columns: &[NamedColumn], y: &[f64], rows: impl Iterator<Item = usize> + Clone) -> (Vec<f64>, Vec<f64>) {
    let product = |a: &[f64], b: &[f64]| rows.clone().map(|row| a[row] * b[row]).sum::<f64>();
    let gram = columns.iter().flat_map(|a| columns.iter().map(|b| product(&a.values, &b.values))).collect();
    (gram, columns.iter().map(|column| product(&column.values, y)).collect())
}

/// The coefficients that are identified, each with its interval over seeds. `of_runs` has the seed of every run that a row
/// names.
pub fn over_seeds(rows: &WordRows, of_runs: impl Fn(usize) -> Seed) -> Vec<(String, Option<Estimate>)> {
    let Within { columns, y, .. } = rows.within();
    let width = columns.len();
    let mut by_run: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    rows.runs.iter().enumerate().for_each(|(row, run)| by_run.entry(*run).or_default().push(row));
    let summed: Vec<(Seed, Vec<f64>)> = by_run
        .into_iter()
        .map(|(run, rows)| {
            let (gram, right) = sums(&columns, &y, rows.iter().copied());
            (of_runs(run), [gram, right].concat())
        })
        .collect();
    let estimate = |place: usize| {
        seeds::estimate_wide(Scale::Plain, width * (width + 1), summed.iter().cloned(), |sums| {
            let (gram, right) = sums.split_at(width * width);
            solve(gram, right).ok().map(|coefficients| coefficients[place])
        })
    };
    columns.iter().enumerate().map(|(place, column)| (column.name.clone(), estimate(place))).collect()
}
