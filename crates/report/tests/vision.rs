//! The palette as those see it who lack one kind of cone: Machado, Oliveira and Fernandes (2009), severity 1, applied to
//! linear RGB. Differences are Euclidean in OKLab; 0.02 is about what is just seen side by side.

use invitro_report::draw::{Colour, PALETTE};

type Matrix = [[f64; 3]; 3];

const SIGHTS: [(&str, Matrix); 4] = [
    ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("protan", [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    ("deutan", [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    ("tritan", [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
];

const TO_CONES: Matrix = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
];

const TO_LAB: Matrix = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
];

fn times(matrix: &Matrix, vector: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

fn linear(colour: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

fn seen(colour: &str, sight: &Matrix) -> [f64; 3] {
    let light = times(sight, linear(colour)).map(|part| part.clamp(0.0, 1.0));
    times(&TO_LAB, times(&TO_CONES, light).map(f64::cbrt))
}

fn difference(a: &str, b: &str, sight: &Matrix) -> f64 {
    let (a, b) = (seen(a, sight), seen(b, sight));
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The smallest difference of the pairs under each sight, on light and on dark, is at least `least`.
fn check(what: &str, pairs: &[(Colour, Colour)], least: f64) {
    let colour = |colour: Colour, dark: bool| {
        let (_, on_light, on_dark) = PALETTE.iter().find(|entry| entry.0 == colour.name()).unwrap();
        if dark { *on_dark } else { *on_light }
    };
    for (ground, dark) in [("light", false), ("dark", true)] {
        for (name, sight) in &SIGHTS {
            let apart = |(a, b): &(Colour, Colour)| (difference(colour(*a, dark), colour(*b, dark), sight), *a, *b);
            let (smallest, a, b) = pairs.iter().map(apart).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            println!("{what}, {ground}, {name}: {smallest:.3} between {} and {}", a.name(), b.name());
            assert!(smallest >= least, "{what}, {ground}, {name}: {smallest:.3} between {a:?} and {b:?}");
        }
    }
}

#[test]
fn the_simulation_is_the_published_one() {
    // White stays white, and red and green that differ to most come together for those without the one or the other.
    for (name, sight) in &SIGHTS {
        assert!(times(sight, [1.0; 3]).iter().all(|part| (part - 1.0).abs() < 1e-5), "{name}");
    }
    let [normal, _, deutan, _] = SIGHTS.map(|(_, sight)| difference("#c05040", "#7a8000", &sight));
    assert!(deutan < 0.25 * normal, "{deutan} of {normal}");
    assert!((seen("#ffffff", &SIGHTS[0].1)[0] - 1.0).abs() < 1e-6);
}

#[test]
fn conditions_are_told_apart_by_all() {
    let together =
        [Colour::Language(0), Colour::Language(1), Colour::Language(2), Colour::Masked(0), Colour::Masked(1)];
    let pairs: Vec<(Colour, Colour)> =
        (0..together.len()).flat_map(|a| (0..a).map(move |b| (together[a], together[b]))).collect();
    check("conditions", &pairs, 0.1);
}

#[test]
fn neighbours_on_the_ramps_are_told_apart_by_all() {
    for of in 2..=5 {
        let pairs: Vec<_> = (1..of).map(|place| (Colour::Level(place - 1, of), Colour::Level(place, of))).collect();
        check(&format!("{of} levels"), &pairs, 0.1);
    }
    // Cells of a map have their number written in them.
    let heat = |step: usize| Colour::Heat((step as f64 + 0.5) / 9.0);
    check("maps", &(1..9).map(|step| (heat(step - 1), heat(step))).collect::<Vec<_>>(), 0.045);
}
