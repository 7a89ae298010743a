//! A member's bits do not depend on other members, threads or interruptions. (`levels.rs`: instruction sets.)

use crate::common::{every_kind, sequences, small};
use invitro_model::cpu::Cpu;
use invitro_model::init::initial_weights;
use invitro_model::ops::GROUPS;
use invitro_model::{
    Batch, Checkpoint, Decay, Device, HISTORY, Ops, Population, TokenSequence, TrainConfig, Transformer, Update, Vector,
};
use std::collections::BTreeMap;

const STEPS: u64 = 6;
const CAPACITY: usize = 400;

/// Every member has its own settings of the optimizer.
fn train(seed: u64) -> TrainConfig {
    let own = seed as f64;
    TrainConfig {
        steps: STEPS,
        warmup: 2 + seed,
        decay: if seed == 1 { Decay::None } else { Decay::Cosine },
        lr: 3e-3 * (1.0 + own),
        beta1: 0.9 - 0.1 * own,
        beta2: 0.95 + 0.01 * own,
        eps: 1e-10 * (1.0 + 1e4 * own),
        weight_decay: 0.01 + 0.1 * own,
        clip: [1.0, 0.1, 0.0][seed as usize],
        ..TrainConfig::default()
    }
}

/// The updates of a step of members with these seeds.
fn updates(seeds: &[u64], step: u64) -> Vec<Update> {
    seeds.iter().map(|&seed| Update::at(&train(seed), step)).collect()
}

/// A member's sequences of a step; members have different numbers of rows.
fn data(seed: u64, step: u64) -> Vec<TokenSequence> {
    let rows: Vec<usize> = (0..4 + seed as usize).map(|i| 1 + (i * 13 + step as usize * 7) % 60).collect();
    sequences(&small(), &rows, 1000 * seed + step)
}

fn run(population: &mut Population, steps: std::ops::RangeInclusive<u64>) -> Vec<f64> {
    let mut means = Vec::new();
    for step in steps {
        let batch: Vec<_> = population.seeds().iter().map(|&seed| data(seed, step)).collect();
        let updates = updates(population.seeds(), step);
        population.train_step(&batch, &updates).unwrap();
        means = population.losses().unwrap().iter().map(|loss| loss.mean()).collect();
    }
    means
}

fn vectors(population: &mut Population, member: usize) -> Vec<Vec<u32>> {
    [Vector::Weights, Vector::Mean, Vector::Variance]
        .map(|slot| population.read(member, slot).unwrap().iter().map(|v| v.to_bits()).collect())
        .to_vec()
}

/// One model alone after all steps.
fn alone(seed: u64) -> (Vec<Vec<u32>>, f64) {
    let mut population = Population::new(Device::Cpu, &small(), &[seed], CAPACITY).unwrap();
    let losses = run(&mut population, 1..=STEPS);
    (vectors(&mut population, 0), losses[0])
}

#[test]
fn three_together_equal_three_alone() {
    let mut population = Population::new(Device::Cpu, &small(), &[0, 1, 2], CAPACITY).unwrap();
    let losses = run(&mut population, 1..=STEPS);
    for seed in 0..3 {
        let (single, loss) = alone(seed);
        assert!(vectors(&mut population, seed as usize) == single, "member {seed} differs from the single run");
        assert_eq!(losses[seed as usize], loss);
    }
    assert!(vectors(&mut population, 0) != vectors(&mut population, 1));
}

/// The same with all three in one set of operations, which round their rows up to the longest member's.
#[test]
fn one_device_of_three_equals_three_alone() {
    let shape = small();
    let mut ops = Cpu::<f32>::new(&shape, 3, CAPACITY).unwrap();
    for seed in 0..3 {
        ops.write(seed, Vector::Weights, &initial_weights(&shape, seed as u64)).unwrap();
    }
    let mut model = Transformer::new(ops, CAPACITY).unwrap();
    for step in 1..=STEPS {
        let members: Vec<_> = (0..3).map(|seed| data(seed, step)).collect();
        let batch = Batch::pack(&members, 16, shape.context).unwrap();
        model.train_step(&batch, &updates(&[0, 1, 2], step)).unwrap();
    }
    for seed in 0..3 {
        let bits: Vec<u32> = model.ops.read(seed, Vector::Weights).unwrap().iter().map(|v| v.to_bits()).collect();
        assert!(bits == alone(seed as u64).0[0], "member {seed} differs from the single run");
    }
}

/// Every kind learns three sequences by heart, and does the same alone.
#[test]
fn every_kind_learns_and_equals_itself_alone() {
    for shape in every_kind() {
        let batch: Vec<_> = [9, 10].map(|seed| sequences(&shape, &[20, 30, 40], seed)).to_vec();
        let update = |step| Update::at(&TrainConfig { steps: 60, warmup: 5, lr: 1e-2, ..TrainConfig::default() }, step);
        let mut both = Population::new(Device::Cpu, &shape, &[0, 1], CAPACITY).unwrap();
        let mut alone = Population::new(Device::Cpu, &shape, &[1], CAPACITY).unwrap();
        for step in 1..=60 {
            both.train_step(&batch, &[update(step); 2]).unwrap();
            alone.train_step(&batch[1..], &[update(step)]).unwrap();
        }
        assert!(vectors(&mut both, 1) == vectors(&mut alone, 0), "{shape:?}");
        assert!(both.evaluate(&batch).unwrap().iter().all(|loss| loss.mean() < 0.5), "{shape:?}");
    }
}

#[test]
fn threads_change_nothing() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| alone(2))
    };
    let one = on(1);
    assert!(on(2) == one && on(5) == one);
}

#[test]
fn interrupted_equals_uninterrupted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let mut population = Population::new(Device::Cpu, &small(), &[1], CAPACITY).unwrap();
    run(&mut population, 1..=3);
    let note = BTreeMap::from([("study".to_string(), "quick".to_string())]);
    population.checkpoint(0, 3, note.clone()).unwrap().save(&path).unwrap();
    drop(population);

    let checkpoint = Checkpoint::load(&path).unwrap();
    assert_eq!((checkpoint.step, &checkpoint.metadata), (3, &note));
    // A population with another seed: everything comes from the file.
    let mut population = Population::new(Device::Cpu, &small(), &[1], CAPACITY).unwrap();
    let wrong = vec![0.5; population.read(0, Vector::Weights).unwrap().len()];
    population.write(0, Vector::Weights, &wrong).unwrap();
    population.restore(0, &checkpoint).unwrap();
    run(&mut population, checkpoint.step + 1..=STEPS);
    assert!(vectors(&mut population, 0) == alone(1).0, "the resumed run differs");
}

#[test]
fn training_learns() {
    let shape = small();
    let mut population = Population::new(Device::Cpu, &shape, &[0], CAPACITY).unwrap();
    let batch = vec![sequences(&shape, &[20, 30, 40], 9)];
    let train = TrainConfig { steps: 60, warmup: 5, lr: 1e-2, ..TrainConfig::default() };
    let before = population.evaluate(&batch).unwrap()[0].clone();
    for step in 1..=60 {
        population.train_step(&batch, &[Update::at(&train, step)]).unwrap();
    }
    let after = population.evaluate(&batch).unwrap()[0].clone();
    assert!((before.mean() - (shape.vocab as f64).ln()).abs() < 0.1, "an untrained model guesses");
    assert!(after.mean() < 0.5, "it has not learnt three sequences by heart: {}", after.mean());
    assert_eq!(before.count, after.count);
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let shape = small();
    let mut population = Population::new(Device::Cpu, &shape, &[0], 30).unwrap();
    let update = updates(&[0], 1);
    let message = |result: invitro_model::Result<()>| result.unwrap_err().to_string();
    let token = vec![vec![TokenSequence { tokens: vec![1, 50, 2], group: 0 }]];
    assert_eq!(message(population.train_step(&token, &update)), "batch: token 50: the vocabulary has 50 tokens");
    let target = vec![vec![TokenSequence { tokens: vec![1, 50], group: 0 }]];
    assert_eq!(message(population.train_step(&target, &update)), "batch: target 50: the vocabulary has 50 tokens");
    let long = vec![sequences(&shape, &[65], 0)];
    assert_eq!(
        message(population.train_step(&long, &update)),
        "batch: a sequence of 66 tokens: this model takes 2 to 65"
    );
    let many = vec![sequences(&shape, &[20, 20], 0)];
    assert!(message(population.train_step(&many, &update)).contains("room for 30 rows"));
    assert!(message(population.train_step(&[], &update)).contains("data for 0 members: this population has 1"));
    let few = vec![sequences(&shape, &[20], 0)];
    assert_eq!(
        message(population.train_step(&few, &updates(&[0, 1], 1))),
        "batch: updates for 2 members: this population has 1"
    );
    assert_eq!(message(population.train_step(&few, &[])), "batch: a training step without updates");
    let group = |group| vec![vec![TokenSequence { tokens: vec![1, 2], group }]];
    assert_eq!(
        message(population.train_step(&group(GROUPS as u8), &update)),
        "batch: loss group 16: groups are numbered from 0 to 15"
    );
    population.train_step(&group(GROUPS as u8 - 1), &update).unwrap();
    assert_eq!(population.losses().unwrap()[0].count[GROUPS - 1], 1, "the largest group is counted");
    assert!(population.read(1, Vector::Weights).unwrap_err().to_string().contains("member 1"));
}

#[test]
fn a_population_that_moves_to_a_larger_place_goes_on_as_if_it_had_not() {
    let seeds = [0, 1];
    let mut moved = Population::new(Device::Cpu, &small(), &seeds, 200).unwrap();
    let mut stayed = Population::new(Device::Cpu, &small(), &seeds, CAPACITY).unwrap();
    for population in [&mut moved, &mut stayed] {
        run(population, 1..=2);
    }
    moved.grow(CAPACITY).unwrap();
    assert_eq!(run(&mut moved, 3..=STEPS), run(&mut stayed, 3..=STEPS));
    assert!((0..2).all(|member| vectors(&mut moved, member) == vectors(&mut stayed, member)));
}

#[test]
fn what_no_population_can_be_or_read_is_said() {
    let refused = |error: invitro_model::Error| error.to_string();
    let none = Population::new(Device::Cpu, &small(), &[], 16).err().map(refused);
    assert_eq!(none.as_deref(), Some("batch: a population of no models: there must be at least one"));
    let shape = invitro_model::Shape { rope_theta: 0.0, ..small() };
    let wrong = Population::new(Device::Cpu, &shape, &[0], 16).err().map(refused);
    assert_eq!(wrong.as_deref(), Some("model shape: rope_theta is 0, but must be a number above 0"));
    let mut population = Population::new(Device::Cpu, &small(), &[0], 16).unwrap();
    let beyond = vec![vec![TokenSequence { tokens: vec![1, u32::MAX], group: 0 }]];
    let error = population.train_step(&beyond, &updates(&[0], 1)).unwrap_err();
    assert_eq!(error.to_string(), "batch: token 4294967295 is above every vocabulary");
}

#[test]
fn the_losses_of_every_step_are_kept_until_they_are_read() {
    const STEPS: u64 = HISTORY as u64 + 24;
    let seeds = [0, 1];
    let place = || Population::new(Device::Cpu, &small(), &seeds, CAPACITY).unwrap();
    let batch = |step| -> Vec<_> { seeds.iter().map(|&seed| data(seed, step)).collect() };
    let mut population = place();
    let mut each = Vec::new();
    for step in 1..=STEPS {
        population.train_step(&batch(step), &updates(&seeds, step)).unwrap();
        each.push(population.losses().unwrap());
    }
    assert!(each.iter().flatten().all(|loss| loss.mean() > 0.0 && loss.grad_norm > 0.0));
    assert_eq!(
        population.history().unwrap(),
        each[STEPS as usize - HISTORY..],
        "the last of them, where nobody asked before"
    );
    assert!(population.history().unwrap().is_empty());

    let mut population = place();
    let mut seen = Vec::new();
    for step in 1..=STEPS {
        population.train_step(&batch(step), &updates(&seeds, step)).unwrap();
        // An evaluation and a move to a larger place lose none.
        if step == 9 {
            population.evaluate(&batch(0)).unwrap();
            population.grow(CAPACITY + 64).unwrap();
        }
        if [1, 4, 4 + HISTORY as u64, STEPS].contains(&step) {
            seen.extend(population.history().unwrap());
            assert_eq!(seen.len(), step as usize);
        }
    }
    assert!(seen == each);
}
