//! Our statistics against SciPy and statsmodels on the same data.
//!
//! `INVITRO_PYTHON` names the interpreter. Without it the test says that it was skipped; under `CI=true` it fails.

use invitro_report::stats::correlation::{Correlation, pearson, spearman};
use invitro_report::stats::regression::{Column, least_squares};
use invitro_report::stats::stream::{below, stream};
use invitro_report::stats::{Seed, permutation, quantile, seeds, special};
use serde_json::{Value, json};
use std::process::Command;

/// About normal: the sum of twelve uniform numbers.
fn normal(rng: &mut rand_chacha::ChaCha8Rng) -> f64 {
    (0..12).map(|_| below(rng, 1_000_000) as f64 / 1e6).sum::<f64>() - 6.0
}

fn correlation(found: Correlation) -> Value {
    let interval = found.interval.unwrap();
    json!({"r": found.r, "p": found.p, "low": interval.low, "high": interval.high})
}

/// 90 rows in 9 groups with a shared part per group, ties in x, and everything we compute from them.
fn data() -> Value {
    let mut rng = stream("statistics against python");
    let shared: Vec<f64> = (0..9).map(|_| normal(&mut rng)).collect();
    let (mut x, mut z, mut y, mut groups) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in 0..90usize {
        let group = row % 9;
        x.push((normal(&mut rng) * 2.0).round());
        z.push(normal(&mut rng));
        y.push(0.4 * x[row] - 0.8 * z[row] + shared[group] + normal(&mut rng));
        groups.push(group);
    }
    let columns = [Column::new("x", x.clone()), Column::new("z", z.clone())];
    let fitted = least_squares(&columns, &y, &groups).unwrap();
    let effect = |name: &str| {
        let effect = fitted.effect(name).unwrap();
        json!([effect.value, effect.error, effect.p, effect.interval.low, effect.interval.high])
    };
    let seed = |group: usize| Seed { data: group / 3, model: group % 3 };
    let mean = seeds::mean(seeds::Scale::Plain, groups.iter().zip(&y).map(|(group, y)| (seed(*group), *y))).unwrap();
    let r = seeds::pearson((0..90).map(|row| (seed(groups[row]), z[row], y[row]))).unwrap();
    let mut sorted = y.clone();
    sorted.sort_by(f64::total_cmp);
    json!({
        "x": x, "z": z, "y": y, "groups": groups,
        "pearson": correlation(pearson(&x, &y).unwrap()),
        "spearman": correlation(spearman(&x, &y).unwrap()),
        "regression": {"x": effect("x"), "z": effect("z"), "r_squared": fitted.r_squared},
        "mean": [mean.value, mean.interval.unwrap().low, mean.interval.unwrap().high],
        "r_over_seeds": [r.value, r.interval.unwrap().low, r.interval.unwrap().high],
        "quantile": quantile(&sorted, 0.3),
        "t": [special::t_two_sided(2.5, 7.0), special::t_quantile(0.05, 7.0)],
        "flips": permutation::sign_flip_p(&y[..10]).unwrap(),
        "permuted": permutation::correlation_p(&x[..30], &y[..30], &[0; 30]).unwrap(),
    })
}

#[test]
fn scipy_and_statsmodels_agree() {
    let Ok(python) = std::env::var("INVITRO_PYTHON") else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI must set INVITRO_PYTHON");
        println!("skipped: INVITRO_PYTHON is not set");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.json");
    std::fs::write(&file, data().to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/statistics_check.py");
    let output = Command::new(python).arg(script).arg(&file).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(said.contains("17 quantities agree"), "{said}");
}
