//! Intervals over data seeds and model seeds.
//!
//! A run belongs to one data seed and one model seed, and runs that share either are not independent: a tokenizer's
//! measures are even the same for every model seed. So seeds count, not runs. The statistic is taken again with each
//! group of runs left out in turn (the jackknife), which gives its error over such groups, and Student's t with one
//! degree of freedom less than groups gives half the width of an interval. This is done with data seeds as groups, with
//! model seeds, and with pairs of both. The squares of the first two add up, less that of the pairs, which both count
//! (two-way clusters, after Cameron, Gelbach and Miller); the result is never less than the larger of the two.
//!
//! Where model seeds change nothing, or each was used with one data seed, that is Student's interval over data seeds:
//! 0.1, 0.2 and 0.3 from three of them give 0.2 ± 0.248, however many model seeds each was used with.
//!
//! Shares, correlations and differences of either have a range: their spread is taken on the scale of the logit or of
//! Fisher's z ([`Scale`]), and so the interval stays inside the range.
//!
//! A statistic is a function of sums over runs (1, x, y, x², …), so each pair of seeds is summed once, and leaving out
//! a group costs one more sum, however many runs there are.

use crate::describe::deviation;
pub use crate::spread::Scale;
use crate::spread::{Spread, Squares, half_width};
use crate::student::t_quantile;
use crate::{Estimate, Interval};
use std::collections::BTreeMap;

/// The seeds of a run, as places in the study's sorted lists of data seeds and of model seeds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed {
    /// The data seed's place.
    pub data: usize,
    /// The model seed's place.
    pub model: usize,
}

/// The statistic of all runs, with its interval. `None` where it is undefined (no run, no variance).
pub fn estimate<const N: usize>(
    scale: Scale,
    rows: impl IntoIterator<Item = (Seed, [f64; N])>,
    statistic: impl Fn(&[f64; N]) -> Option<f64>,
) -> Option<Estimate> {
    estimate_wide(scale, N, rows, |sums| statistic(sums.try_into().expect("N sums per row")))
}

/// The same with a number of sums known only at run time.
pub fn estimate_wide(
    scale: Scale,
    width: usize,
    rows: impl IntoIterator<Item = (Seed, impl AsRef<[f64]>)>,
    statistic: impl Fn(&[f64]) -> Option<f64>,
) -> Option<Estimate> {
    let mut pairs = Groups::new();
    let mut runs = 0;
    let (mut first, mut alike) = (None, true);
    for (seed, row) in rows {
        let row = row.as_ref();
        alike &= first.get_or_insert_with(|| row.to_vec()) == row;
        add(pairs.entry((seed.data, seed.model)).or_insert_with(|| vec![0.0; width]), row);
        runs += 1;
    }
    let statistic = |sums: &[f64]| statistic(sums).filter(|value| value.is_finite());
    let mut total = vec![0.0; width];
    pairs.values().for_each(|pair| add(&mut total, pair));
    let value = (runs > 0).then(|| statistic(&total)).flatten()?;
    let scaled = scale.to(value);
    // That two seeds agree to the last digit, where their runs do not, is chance, and says nothing of a third. At a bound
    // of its range a share has nowhere else to go.
    let at_bound = scale == Scale::Share && (value == 0.0 || value == 1.0);
    let by_chance = |half: f64| !alike && !at_bound && half <= rounding(scaled);
    let on_scale = |sums: &[f64]| statistic(sums).map(|value| scale.to(value));
    let squares = squares(&pairs, &on_scale, scaled).filter(|squares| !by_chance(half_width(squares, 0.05)));
    let spread = squares.map(|squares| Spread { scale, centre: scaled, squares, least: None, negated: false });
    let interval = spread.map(|spread| spread.interval(value, 0.05));
    let by_data = merged(&pairs, |(data, _)| (data, 0));
    let of_two = match by_data.values().collect::<Vec<_>>()[..] {
        [first, second] => statistic(first).zip(statistic(second)).map(|(first, second)| [first, second]),
        _ => None,
    };
    Some(Estimate { value, interval, runs, data_seeds: by_data.len(), of_two, spread })
}

/// The mean of the values.
pub fn mean(scale: Scale, rows: impl IntoIterator<Item = (Seed, f64)>) -> Option<Estimate> {
    estimate(scale, rows.into_iter().map(|(seed, value)| (seed, [1.0, value])), |[n, sum]| Some(sum / n))
}

/// A statistic that is no function of sums, by its values without each data seed in turn; without an interval where one of those
/// is undefined.
pub fn jackknife(value: f64, without: &[Option<f64>], runs: usize) -> Estimate {
    let left: Option<Vec<f64>> = without.iter().copied().collect();
    let spread = left.as_ref().filter(|left| left.len() > 1).map(|left| {
        let squares = left.iter().map(|left| (left - value).powi(2)).sum();
        let squares = [(squares, left.len()), (0.0, 1), (0.0, 1)];
        Spread { scale: Scale::Plain, centre: value, squares, least: None, negated: false }
    });
    let of_two = left.filter(|left| left.len() == 2).map(|left| [left[1], left[0]]);
    let interval = spread.map(|spread| spread.interval(value, 0.05));
    Estimate { value, interval, runs, data_seeds: without.len(), of_two, spread }
}

/// How much larger the mean of the second is than that of the first, where the two have no seeds in common: Welch's interval over
/// the means of data seeds, which never ends outside of the range of its scale. `None` where either is empty; without an
/// interval where either has a single data seed.
///
/// 0.1, 0.2, 0.3 and 0.5, 0.6, 0.7 give 0.4 ± 0.227, with four degrees of freedom.
pub fn unpaired(scale: Scale, first: &[(Seed, f64)], second: &[(Seed, f64)]) -> Option<Estimate> {
    let [one, other] = [first, second].map(|rows| by_data_seed(rows.iter().copied()));
    if one.is_empty() || other.is_empty() {
        return None;
    }
    let mean = |rows: &[(Seed, f64)]| rows.iter().map(|row| row.1).sum::<f64>() / rows.len() as f64;
    let value = mean(second) - mean(first);
    let interval = (one.len() > 1 && other.len() > 1).then(|| {
        let [a, b] = [&one, &other].map(|means| deviation(means).powi(2) / means.len() as f64);
        let freedom = |square: f64, means: &[f64]| square.powi(2) / (means.len() as f64 - 1.0);
        let df = (a + b).powi(2) / (freedom(a, &one) + freedom(b, &other));
        let half = if a + b > 0.0 { t_quantile(0.05, df) * (a + b).sqrt() } else { 0.0 };
        let bound = if scale == Scale::Signed { 1.0 } else { f64::INFINITY };
        Interval { low: (value - half).max(-bound), high: (value + half).min(bound) }
    });
    let (runs, data_seeds) = (first.len() + second.len(), one.len() + other.len());
    Some(Estimate { value, interval, runs, data_seeds, of_two: None, spread: None })
}

/// The mean of every data seed, in their order.
pub fn by_data_seed(rows: impl IntoIterator<Item = (Seed, f64)>) -> Vec<f64> {
    let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (seed, value) in rows {
        let (sum, count) = sums.entry(seed.data).or_default();
        *sum += value;
        *count += 1.0;
    }
    sums.into_values().map(|(sum, count)| sum / count).collect()
}

/// The share of runs in which something holds. Its spread is that of the data seeds' own shares, with half a seed added
/// on either side (Haldane and Anscombe's correction), so that "in all of them" has an interval too: of three seeds that all
/// agree it holds one half, however many runs and model seeds each has. On the logit's scale no interval is narrower than that:
/// seeds that agree less are never the surer for it.
pub fn proportion(rows: impl IntoIterator<Item = (Seed, bool)>) -> Option<Estimate> {
    let rows: Vec<(Seed, f64)> = rows.into_iter().map(|(seed, holds)| (seed, f64::from(u8::from(holds)))).collect();
    let value = rows.iter().map(|row| row.1).sum::<f64>() / rows.len() as f64;
    let groups = groups(&rows.iter().map(|row| row.0).collect::<Vec<_>>());
    let width = 2 * (groups.iter().max()? + 1);
    let corrected = |value: &dyn Fn(f64) -> f64| {
        let sums = rows.iter().zip(&groups).map(|((seed, holds), &group)| {
            let mut sums = vec![0.0; width];
            sums[2 * group..][..2].copy_from_slice(&[1.0, value(*holds)]);
            (*seed, sums)
        });
        estimate_wide(Scale::Share, width, sums, |sums| {
            let shares = || sums.chunks_exact(2).filter(|group| group[0] > 0.0).map(|group| group[1] / group[0]);
            Some((shares().sum::<f64>() + 0.5) / (shares().count() as f64 + 1.0))
        })
    };
    let unanimous = corrected(&|_| 1.0)?.spread;
    let corrected = corrected(&|holds| holds)?;
    let spread = unanimous.map(|least| {
        let squares = corrected.spread.map_or(least.squares, |own| own.squares);
        let (scale, centre) = (Scale::Share, Scale::Share.to(corrected.value));
        Spread { scale, centre, squares, least: Some((least.centre, least.squares)), negated: false }
    });
    let interval = spread.map(|spread| spread.interval(value, 0.05));
    let shares = by_data_seed(rows);
    Some(Estimate { value, interval, spread, of_two: shares.try_into().ok(), ..corrected })
}

/// Pearson's r of the pairs.
pub fn pearson(rows: impl IntoIterator<Item = (Seed, f64, f64)>) -> Option<Estimate> {
    pearson_within(1, rows.into_iter().map(|(seed, x, y)| (seed, 0, x, y)))
}

/// Pearson's r of the pairs once the means of their group, of so many, are taken off. Without a seed the groups have other means.
pub fn pearson_within(groups: usize, rows: impl IntoIterator<Item = (Seed, usize, f64, f64)>) -> Option<Estimate> {
    within(Scale::Signed, groups, rows, |vx, vy, both| (vy > 0.0).then(|| both / (vx * vy).sqrt()))
}

/// The slope of the second of each pair on the first, in the same way.
pub fn slope_within(groups: usize, rows: impl IntoIterator<Item = (Seed, usize, f64, f64)>) -> Option<Estimate> {
    within(Scale::Plain, groups, rows, |vx, _, both| Some(both / vx))
}

/// A statistic of the sums of squares of both and of their products, about the means of groups. A sum that is zero but for
/// rounding is 0; where the first is, there is no statistic.
fn within(
    scale: Scale,
    groups: usize,
    rows: impl IntoIterator<Item = (Seed, usize, f64, f64)>,
    statistic: impl Fn(f64, f64, f64) -> Option<f64>,
) -> Option<Estimate> {
    let rows: Vec<_> = rows.into_iter().collect();
    let n = rows.len() as f64;
    // Sums of squares about the mean lose nothing to cancellation; about zero they would.
    let mx = rows.iter().map(|row| row.2).sum::<f64>() / n;
    let my = rows.iter().map(|row| row.3).sum::<f64>() / n;
    let rows = rows.iter().map(|&(seed, group, x, y)| {
        let (x, y) = (x - mx, y - my);
        let mut sums = vec![0.0; 6 * groups];
        sums[6 * group..][..6].copy_from_slice(&[1.0, x, y, x * x, y * y, x * y]);
        (seed, sums)
    });
    estimate_wide(scale, 6 * groups, rows, |sums| {
        let (mut all, mut vx, mut vy, mut both) = (0.0, 0.0, 0.0, 0.0);
        for group in sums.chunks_exact(6).filter(|group| group[0] > 0.0) {
            let [n, x, y, xx, yy, xy] = group.try_into().expect("six sums");
            all += n;
            vx += xx - x * x / n;
            vy += yy - y * y / n;
            both += xy - x * y / n;
        }
        let vy = if vy > 1e-14 * all { vy } else { 0.0 };
        (vx > 1e-14 * all).then(|| statistic(vx, vy, both)).flatten()
    })
}

/// The groups within which runs may move together: data seeds, or model seeds where there is only one data seed.
pub fn groups(seeds: &[Seed]) -> Vec<usize> {
    let one_world = seeds.windows(2).all(|pair| pair[0].data == pair[1].data);
    seeds.iter().map(|seed| if one_world { seed.model } else { seed.data }).collect()
}

/// Sums over the runs of each group, by data seed and model seed.
type Groups = BTreeMap<(usize, usize), Vec<f64>>;

fn add(sum: &mut [f64], more: &[f64]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum += more;
    }
}

/// The pairs of seeds, merged where they agree in the seeds that are kept.
fn merged(pairs: &Groups, kept: impl Fn((usize, usize)) -> (usize, usize)) -> Groups {
    let mut groups = Groups::new();
    for (seed, sums) in pairs {
        add(groups.entry(kept(*seed)).or_insert_with(|| vec![0.0; sums.len()]), sums);
    }
    groups
}

/// The squared deviations over data seeds, model seeds and pairs of both.
fn squares(pairs: &Groups, statistic: &impl Fn(&[f64]) -> Option<f64>, value: f64) -> Option<Squares> {
    let by_data = merged(pairs, |(data, _)| (data, 0));
    let data = squares_over(&by_data, statistic, value)?;
    let model = squares_over(&merged(pairs, |(_, model)| (0, model)), statistic, value)?;
    // One data seed that gives the same with every model seed says nothing about others.
    if by_data.len() < 2 && half_width(&[(0.0, 1), model, (0.0, 1)], 0.05) <= rounding(value) {
        return None;
    }
    Some([data, model, squares_over(pairs, statistic, value).unwrap_or((0.0, 1))])
}

/// The rounding error of a statistic. A difference near zero has that of its parts, which are of order one or larger.
fn rounding(value: f64) -> f64 {
    1e-12 * value.abs().max(1.0)
}

/// The squared deviations of the statistic without each group from that of all, and how many groups there are; `None` where
/// it is undefined without one of them. They are about the value of all runs, so that a bias counts too.
fn squares_over(groups: &Groups, statistic: &impl Fn(&[f64]) -> Option<f64>, value: f64) -> Option<(f64, usize)> {
    if groups.len() < 2 {
        return Some((0.0, 1));
    }
    let left: Vec<f64> = all_but_one(groups).iter().map(|sums| statistic(sums)).collect::<Option<_>>()?;
    Some((left.iter().map(|left| (left - value).powi(2)).sum(), left.len()))
}

/// For each group the sums of all others: those before it and those after it, so that nothing is lost to subtraction.
fn all_but_one(groups: &Groups) -> Vec<Vec<f64>> {
    let sums: Vec<&Vec<f64>> = groups.values().collect();
    let mut running = vec![0.0; sums[0].len()];
    let mut remaining = Vec::with_capacity(sums.len());
    for sum in &sums {
        remaining.push(running.clone());
        add(&mut running, sum);
    }
    running.fill(0.0);
    for (other, sum) in remaining.iter_mut().zip(&sums).rev() {
        add(other, &running);
        add(&mut running, sum);
    }
    remaining
}
