//! Our statistics against SciPy and statsmodels on the same data.
//!
//! `INVITRO_PYTHON` names the interpreter. Without it the test says that it was skipped; under `CI=true` it fails.

use invitro_base::random::Rng;
use invitro_stats::clusters::{WordRows, over_seeds, two_way};
use invitro_stats::correlation::{Correlation, pearson, spearman};
use invitro_stats::regression::{NamedColumn, least_squares};
use invitro_stats::{Seed, permutation, quantile, seeds, student};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Command;

/// About normal: the sum of twelve uniform numbers.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.index(1_000_000) as f64 / 1e6).sum::<f64>() - 6.0
}

fn correlation(found: Correlation) -> Value {
    let interval = found.interval.unwrap();
    json!({"r": found.r, "p": found.p, "low": interval.low, "high": interval.high})
}

/// 90 rows in 9 groups with a shared part per group, ties in x, and everything we compute from them.
fn data() -> Value {
    let mut rng = Rng::keyed("statistics against python", [0; 3]);
    let shared: Vec<f64> = (0..9).map(|_| normal(&mut rng)).collect();
    let (mut x, mut z, mut y, mut groups) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in 0..90usize {
        let group = row % 9;
        x.push((normal(&mut rng) * 2.0).round());
        z.push(normal(&mut rng));
        y.push(0.4 * x[row] - 0.8 * z[row] + shared[group] + normal(&mut rng));
        groups.push(group);
    }
    let columns = [NamedColumn::new("x", x.clone()), NamedColumn::new("z", z.clone())];
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
        "t": [student::t_two_sided(2.5, 7.0), student::t_quantile(0.05, 7.0)],
        "flips": permutation::sign_flip_p(&y[..10]).unwrap(),
        "permuted": permutation::correlation_p(&x[..30], &y[..30], &[0; 30]).unwrap(),
    })
}

/// 12 runs of 3 data seeds with 20 words each; a symbol is one of 60, or one of 20 whatever the data seed.
fn words() -> Value {
    let mut rng = Rng::keyed("symbols and seeds against statsmodels", [0; 3]);
    let mut columns = ["bridge", "distance", "letters"].map(|name| NamedColumn::new(name, Vec::new()));
    let (mut y, mut runs, mut symbols, mut data) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let of_symbol: Vec<f64> = (0..20).map(|_| 2.0 * normal(&mut rng)).collect();
    for seed in 0..3 {
        let of_seed = normal(&mut rng);
        let own: Vec<[f64; 3]> =
            (0..20).map(|_| [normal(&mut rng), normal(&mut rng).round(), normal(&mut rng)]).collect();
        for run in 0..4 {
            let level = normal(&mut rng);
            for (word, [distance, letters, of_word]) in own.iter().enumerate() {
                let bridge = 0.5 * normal(&mut rng) - 0.3 * distance;
                columns.iter_mut().zip([bridge, *distance, *letters]).for_each(|(column, x)| column.values.push(x));
                let slope = of_seed + of_symbol[word];
                y.push(slope * (bridge + distance + letters) + level + of_word + normal(&mut rng));
                runs.push(4 * seed + run);
                symbols.push(word);
                data.push(seed);
            }
        }
    }
    let rows = WordRows { columns: columns.into(), y, runs };
    let nested: Vec<usize> = symbols.iter().zip(&data).map(|(symbol, seed)| 20 * seed + symbol).collect();
    let fits = [&symbols, &nested].map(|symbols| {
        let fitted = two_way(&rows, [symbols, &data]).unwrap();
        let effect = |effect: &invitro_stats::regression::Effect| {
            json!([effect.value, effect.error, effect.p, effect.interval.low, effect.interval.high])
        };
        json!({"symbols": symbols, "effects": fitted.effects.iter().map(effect).collect::<Vec<_>>()})
    });
    let left_out = over_seeds(&rows, |run| Seed { data: run / 4, model: 0 });
    let left_out = left_out.into_iter().map(|(_, found)| {
        let found = found.unwrap();
        json!([found.value, found.interval.unwrap().low, found.interval.unwrap().high])
    });
    json!({
        "columns": rows.columns.iter().map(|column| &column.values).collect::<Vec<_>>(),
        "y": rows.y, "runs": rows.runs, "data": data, "fits": fits, "left_out": left_out.collect::<Vec<_>>(),
    })
}

#[test]
fn scipy_and_statsmodels_agree() {
    let Ok(python) = std::env::var("INVITRO_PYTHON") else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI must set INVITRO_PYTHON");
        // Not captured, unlike what a passing test prints.
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "skipped {test}: INVITRO_PYTHON is not set");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.json");
    let mut given = data();
    given["words"] = words();
    std::fs::write(&file, given.to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/statistics_check.py");
    let output = Command::new(python).arg(script).arg(&file).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(said.contains("26 quantities agree"), "{said}");
}
