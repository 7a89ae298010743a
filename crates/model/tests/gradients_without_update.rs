//! The gradients of a population without an update, against finite differences.

use invitro_model::{Device, Population, Shape, TokenSequence, TrainConfig, Update, Vector};

fn shape() -> Shape {
    Shape { layers: 2, width: 32, heads: 2, hidden: 48, context: 16, init_std: 0.1, ..Shape::paper(50) }
}

fn batch(seed: u32) -> Vec<TokenSequence> {
    let tokens = |row: u32| (0..9).map(|i| (row * 17 + i * i * 7 + if i % 3 == 0 { seed } else { 0 }) % 50).collect();
    (0..4).map(|row| TokenSequence { tokens: tokens(row), group: 0 }).collect()
}

fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

/// The slope of one batch's loss along another's gradient is the inner product of the two gradients.
#[test]
fn the_cosine_of_two_gradients_is_that_of_finite_differences() {
    let mut population = Population::new(Device::Cpu, &shape(), &[0], 64).unwrap();
    let weights = population.read(0, Vector::Weights).unwrap();
    let gradients: Vec<Vec<f32>> = [1, 2].map(|seed| population.gradients(&[batch(seed)]).unwrap().remove(0)).into();
    let length = dot(&gradients[0], &gradients[0]).sqrt();
    let mut loss_at = |step: f64| {
        let moved = weights.iter().zip(&gradients[0]).map(|(w, g)| w + (step * f64::from(*g) / length) as f32);
        population.write(0, Vector::Weights, &moved.collect::<Vec<_>>()).unwrap();
        population.evaluate(&[batch(2)]).unwrap()[0].mean()
    };
    let slope = (loss_at(0.02) - loss_at(-0.02)) / 0.04;
    let other = dot(&gradients[1], &gradients[1]).sqrt();
    let cosine = dot(&gradients[0], &gradients[1]) / (length * other);
    assert!((slope / other - cosine).abs() < 2e-3, "{} {cosine}", slope / other);
    assert!(cosine.abs() > 0.05, "{cosine}");
}

#[test]
fn gradients_between_steps_change_no_step() {
    let train = |look: bool| {
        let mut population = Population::new(Device::Cpu, &shape(), &[0, 1], 64).unwrap();
        for step in 1..4 {
            let batches = [batch(step), batch(step + 10)];
            population.train_step(&batches, &[Update::at(&TrainConfig::default(), step.into()); 2]).unwrap();
            if look {
                assert_eq!(population.gradients(&[batch(7), batch(8)]).unwrap().len(), 2);
            }
        }
        (population.history().unwrap(), population.read(1, Vector::Weights).unwrap())
    };
    assert_eq!(train(true), train(false));
}
