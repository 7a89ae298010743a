//! How alike two sets of vectors are, pair by pair: nearest neighbours by cosine, MEXA's rule, debiased CKA, and a map.
//!
//! Sources of the definitions: P@1 of word translation, Mikolov et al. 2013 (arXiv 1309.4168), with vectors less the mean of
//! their language as Artetxe et al. 2016 have them; MEXA, Kargaran et al. 2024 (arXiv 2410.05873); linear CKA, Kornblith et
//! al. 2019 (arXiv 1905.00414), with the unbiased HSIC of Song et al. 2012 in all three terms, as Nguyen et al. 2021 (arXiv
//! 2010.15327) use it and Murphy et al. 2024 (arXiv 2405.01012) recommend it.

use crate::quantile;
use invitro_base::random::Stream;

/// The inner product, in sixteen parts that a processor adds at once. Plain loops: iterators of other crates may come
/// less optimised.
pub fn dot(one: &[f32], other: &[f32]) -> f32 {
    let whole = one.len() / 16 * 16;
    let other = &other[..one.len()];
    let mut sums = [0.0f32; 16];
    let mut at = 0;
    while at < whole {
        for part in 0..16 {
            sums[part] += one[at + part] * other[at + part];
        }
        at += 16;
    }
    let mut sum = 0.0;
    for part in sums {
        sum += part;
    }
    for at in whole..one.len() {
        sum += one[at] * other[at];
    }
    sum
}

/// The mean of some vectors.
pub fn mean_vector<'a>(vectors: impl IntoIterator<Item = &'a [f32]>) -> Vec<f32> {
    let (mut mean, mut count) = (Vec::new(), 0.0);
    for vector in vectors {
        mean.resize(vector.len(), 0.0);
        mean.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
        count += 1.0;
    }
    mean.iter_mut().for_each(|sum| *sum /= count);
    mean
}

/// Vectors less their mean.
pub fn centred(vectors: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mean = mean_vector(vectors.iter().map(Vec::as_slice));
    let less = |vector: &Vec<f32>| vector.iter().zip(&mean).map(|(value, mean)| value - mean).collect();
    vectors.iter().map(less).collect()
}

/// The cosine of every vector with every vector of another set; 0 with a vector of length 0.
pub fn cosines(ones: &[Vec<f32>], others: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let unit = |vector: &Vec<f32>| -> Vec<f32> {
        let length = dot(vector, vector).sqrt();
        vector.iter().map(|value| if length > 0.0 { value / length } else { 0.0 }).collect()
    };
    let others: Vec<Vec<f32>> = others.iter().map(unit).collect();
    ones.iter().map(unit).map(|one| others.iter().map(|other| dot(&one, other)).collect()).collect()
}

/// Rows as columns.
pub fn transposed(rows: &[Vec<f32>]) -> Vec<Vec<f32>> {
    (0..rows.first().map_or(0, Vec::len)).map(|at| rows.iter().map(|row| row[at]).collect()).collect()
}

/// Whether the cosine at `own` is the largest of a row: 1, or its share where several are equally large.
pub fn is_nearest(row: &[f32], own: usize) -> f64 {
    if row.iter().any(|&cosine| cosine > row[own]) {
        return 0.0;
    }
    1.0 / row.iter().filter(|&&cosine| cosine == row[own]).count() as f64
}

/// The cosine at `own` less the largest other of the row; `None` where there is no other.
pub fn margin(row: &[f32], own: usize) -> Option<f64> {
    let others = row.iter().enumerate().filter(|(at, _)| *at != own).map(|(_, &cosine)| cosine);
    others.reduce(f32::max).map(|other| f64::from(row[own] - other))
}

/// The share of pairs whose cosine exceeds every other in its row and its column, by MEXA's rule.
pub fn mexa(cosines: &[Vec<f32>]) -> f64 {
    let exceeds = |own: usize| {
        let others = (0..cosines.len()).filter(|&other| other != own);
        others.clone().all(|other| cosines[own][own] > cosines[own][other])
            && others.clone().all(|other| cosines[own][own] > cosines[other][own])
    };
    (0..cosines.len()).filter(|&own| exceeds(own)).count() as f64 / cosines.len() as f64
}

/// The inner products of some vectors with each other, centred so that their products estimate HSIC without bias.
pub struct CentredGram {
    n: usize,
    /// `[n, n]`, 0 on the diagonal.
    values: Vec<f64>,
    norm: f64,
}

impl CentredGram {
    /// Of at least four vectors; `None` of fewer.
    pub fn new(vectors: &[Vec<f32>]) -> Option<CentredGram> {
        let n = vectors.len();
        if n < 4 {
            return None;
        }
        // The same whether or not the vectors are centred, but more exact if they are.
        let vectors = centred(vectors);
        let mut values = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..i {
                let product = f64::from(dot(&vectors[i], &vectors[j]));
                (values[i * n + j], values[j * n + i]) = (product, product);
            }
        }
        let sums: Vec<f64> = values.chunks(n).map(|row| row.iter().sum()).collect();
        let (less_one, less_two) = (n as f64 - 1.0, n as f64 - 2.0);
        let all = sums.iter().sum::<f64>() / (less_one * less_two);
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                values[i * n + j] += all - (sums[i] + sums[j]) / less_two;
            }
        }
        let norm = values.iter().map(|value| value * value).sum::<f64>().sqrt();
        Some(CentredGram { n, values, norm })
    }

    /// The inner product with another, whose vectors come in this order.
    fn product(&self, other: &CentredGram, order: &[usize]) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.n {
            let (own, other) = (&self.values[i * self.n..][..self.n], &other.values[order[i] * self.n..][..self.n]);
            for j in 0..self.n {
                sum += own[j] * other[order[j]];
            }
        }
        sum
    }

    /// Debiased linear CKA with another set of as many vectors; `None` where either does not vary.
    pub fn cka(&self, other: &CentredGram) -> Option<f64> {
        (self.norm > 0.0 && other.norm > 0.0).then(|| self.cka_in_order(other, &(0..self.n).collect::<Vec<_>>()))
    }

    /// The same, where both vary, with the other's vectors in this order.
    fn cka_in_order(&self, other: &CentredGram, order: &[usize]) -> f64 {
        self.product(other, order) / (self.norm * other.norm)
    }
}

/// The debiased CKA of pairs of sets, mean over pairs, and the 97.5th percentile of the same with vectors paired at random.
pub fn mean_cka(pairs: &[[CentredGram; 2]], permutations: u64, stream: &Stream) -> Option<(f64, f64)> {
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let value = mean(pairs.iter().filter_map(|[one, other]| one.cka(other)).collect())?;
    let permuted = |permutation: u64| {
        let one_pair = |(at, [one, other]): (usize, &[CentredGram; 2])| {
            let mut order: Vec<usize> = (0..one.n).collect();
            stream.at(permutation, at as u64).shuffle(&mut order);
            (one.norm > 0.0 && other.norm > 0.0).then(|| one.cka_in_order(other, &order))
        };
        mean(pairs.iter().enumerate().filter_map(one_pair).collect())
    };
    let mut null: Vec<f64> = (0..permutations).filter_map(permuted).collect();
    null.sort_unstable_by(f64::total_cmp);
    Some((value, quantile(&null, 0.975)))
}

/// The places of vectors on the plane of their two principal components, each of which points to where its largest
/// coordinate is above 0.
pub fn on_plane(vectors: &[Vec<f32>]) -> Vec<[f64; 2]> {
    let vectors = centred(vectors);
    let n = vectors.len();
    let mut gram: Vec<Vec<f64>> =
        vectors.iter().map(|one| vectors.iter().map(|other| f64::from(dot(one, other))).collect()).collect();
    let [x, y] = [(); 2].map(|()| {
        // Power iteration from a start that no symmetry of the data is likely to share.
        let mut own: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64 * 0.7548).fract()).collect();
        let mut value = 0.0;
        for _ in 0..200 {
            let next: Vec<f64> = gram.iter().map(|row| row.iter().zip(&own).map(|(a, b)| a * b).sum()).collect();
            value = next.iter().map(|x| x * x).sum::<f64>().sqrt();
            if value <= 0.0 {
                break;
            }
            own = next.into_iter().map(|x| x / value).collect();
        }
        for (row, one) in gram.iter_mut().zip(&own) {
            row.iter_mut().zip(&own).for_each(|(cell, other)| *cell -= value * one * other);
        }
        let largest = own.iter().copied().fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most });
        let scale = value.max(0.0).sqrt() * if largest < 0.0 { -1.0 } else { 1.0 };
        own.into_iter().map(|x| x * scale).collect::<Vec<f64>>()
    });
    x.into_iter().zip(y).map(|(x, y)| [x, y]).collect()
}
