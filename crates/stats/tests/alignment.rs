//! How alike two sets of vectors are: identical, permuted, independent and rotated ones.

use invitro_base::random::Stream;
use invitro_stats::alignment::*;

fn random(n: usize, width: usize, row: u64) -> Vec<Vec<f32>> {
    let mut rng = Stream::new(7, "alignment").at(0, row);
    (0..n).map(|_| (0..width).map(|_| rng.unit() as f32 - 0.5).collect()).collect()
}

fn p_at_1(ones: &[Vec<f32>], others: &[Vec<f32>], own: impl Fn(usize) -> usize) -> f64 {
    let all = cosines(ones, others);
    all.iter().enumerate().map(|(at, row)| is_nearest(row, own(at))).sum::<f64>() / all.len() as f64
}

/// Givens rotations of neighbouring axes, one after the other.
fn rotated(vectors: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let rotate = |vector: &Vec<f32>| {
        let mut vector = vector.clone();
        for i in 1..vector.len() {
            let (sin, cos) = (i as f32 * 0.37).sin_cos();
            let (a, b) = (vector[i - 1], vector[i]);
            (vector[i - 1], vector[i]) = (cos * a - sin * b, sin * a + cos * b);
        }
        vector
    };
    vectors.iter().map(rotate).collect()
}

#[test]
fn identical_sets_translate_every_word_and_a_permuted_dictionary_by_chance() {
    let words = random(200, 32, 0);
    assert_eq!(p_at_1(&words, &words, |at| at), 1.0);
    assert_eq!(mexa(&cosines(&words, &words)), 1.0);
    let mut order: Vec<usize> = (0..200).collect();
    Stream::new(1, "order").at(0, 0).shuffle(&mut order);
    assert!(p_at_1(&words, &words, |at| order[at]) < 0.03);
    let constant = vec![vec![1.0; 8]; 50];
    assert!((p_at_1(&constant, &constant, |at| at) - 0.02).abs() < 1e-9, "ties are shared");
    assert_eq!(mexa(&cosines(&constant, &constant)), 0.0, "MEXA's rule wants more than a tie");
}

#[test]
fn chance_of_mexa_is_one_in_two_n_less_one() {
    let n = 12;
    let all = (0..400).map(|row| mexa(&cosines(&random(n, 64, 2 * row), &random(n, 64, 2 * row + 1))));
    let mean = all.sum::<f64>() / 400.0;
    assert!((mean - 1.0 / (2.0 * n as f64 - 1.0)).abs() < 0.01, "{mean}");
}

#[test]
fn cka_is_one_of_the_same_and_within_its_null_of_independent_vectors() {
    let (one, other) = (random(60, 40, 3), random(60, 40, 4));
    let gram = |vectors: &[Vec<f32>]| CentredGram::new(vectors).unwrap();
    assert!((gram(&one).cka(&gram(&one)).unwrap() - 1.0).abs() < 1e-9);
    let stream = Stream::new(0, "null");
    let (value, null) = mean_cka(&[[gram(&one), gram(&other)]], 200, &stream).unwrap();
    assert!(value.abs() < 0.2 && value < null && null > 0.02, "{value} {null}");
    // The plain estimate is far above 0 here.
    let plain = |a: &[Vec<f32>], b: &[Vec<f32>]| {
        let (a, b) = (centred(a), centred(b));
        let sum = |a: &[Vec<f32>], b: &[Vec<f32>]| -> f64 {
            let products = |i: usize, j: usize| f64::from(dot(&a[i], &a[j]) * dot(&b[i], &b[j]));
            (0..60).flat_map(|i| (0..60).map(move |j| (i, j))).map(|(i, j)| products(i, j)).sum()
        };
        sum(&a, &b) / (sum(&a, &a) * sum(&b, &b)).sqrt()
    };
    assert!(plain(&one, &other) > 0.3, "{}", plain(&one, &other));
    // Over many draws the debiased estimate is 0 on average.
    let draws = (0..200).map(|row| {
        let [a, b] = [2 * row + 10, 2 * row + 11].map(|row| gram(&random(12, 40, row)));
        a.cka(&b).unwrap()
    });
    let mean = draws.sum::<f64>() / 200.0;
    assert!(mean.abs() < 0.02, "{mean}");
}

#[test]
fn rotations_change_nothing() {
    let (one, other) = (random(50, 16, 5), random(50, 16, 6));
    let mixed: Vec<Vec<f32>> =
        one.iter().zip(&other).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + 0.4 * b).collect()).collect();
    let measures = |a: &[Vec<f32>], b: &[Vec<f32>]| {
        let cka = CentredGram::new(a).unwrap().cka(&CentredGram::new(b).unwrap()).unwrap();
        [p_at_1(a, b, |at| at), mexa(&cosines(a, b)), cka]
    };
    let (before, after) = (measures(&one, &mixed), measures(&rotated(&one), &rotated(&mixed)));
    before.iter().zip(after).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} {b}"));
    let alone = CentredGram::new(&rotated(&one)).unwrap().cka(&CentredGram::new(&mixed).unwrap()).unwrap();
    assert!((alone - before[2]).abs() < 1e-5, "CKA needs no common axes");
}

#[test]
fn a_plane_is_found_again() {
    let flat = random(30, 2, 8);
    let lifted: Vec<Vec<f32>> = flat.iter().map(|p| [p.clone(), vec![3.0; 10]].concat()).collect();
    let (places, flat) = (on_plane(&rotated(&lifted)), centred(&flat));
    for i in 0..30 {
        for j in 0..30 {
            let distance = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
            let point = |i: usize| [f64::from(flat[i][0]), f64::from(flat[i][1])];
            assert!((distance(places[i], places[j]) - distance(point(i), point(j))).abs() < 1e-3);
        }
    }
}
