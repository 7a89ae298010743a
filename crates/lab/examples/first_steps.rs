//! The first 200 steps of the quick experiment on the CPU: the loss falls below the entropy of single tokens, towards
//! the entropy of the text itself.
//!
//! `cargo run --release -p invitro-lab --example first_steps`

use invitro_lab::inputs::InputCache;
use invitro_lab::training::data_loader::DataLoader;
use invitro_lab::{Error, Experiment};
use invitro_model::{Device, Population, Shape, Update};

const STEPS: u64 = 200;

fn main() -> Result<(), Error> {
    let experiment = Experiment::load(Some("quick"), None, &[])?;
    let inputs = InputCache::default().get(&experiment)?;
    let mut loader = DataLoader::start(vec![(experiment.clone(), inputs.clone())], 0, 1);
    let batches = (0..STEPS).map(|_| loader.take()).collect::<Result<Vec<_>, _>>()?;
    let vocab = inputs.text.vocab();

    let mut counts = vec![0u64; vocab];
    let targets = batches.iter().flatten().flatten().flat_map(|sequence| &sequence.tokens[1..]);
    targets.for_each(|&token| counts[token as usize] += 1);
    let total = counts.iter().sum::<u64>() as f64;
    let entropy: f64 = counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| -(count as f64 / total).ln() * count as f64 / total)
        .sum();

    let rows =
        |batch: &Vec<Vec<invitro_model::TokenSequence>>| batch[0].iter().map(|s| s.tokens.len() - 1).sum::<usize>();
    let capacity = batches.iter().map(rows).max().unwrap_or(0);
    let shape = Shape::new(&experiment.model, vocab);
    let mut population = Population::new(Device::Cpu, &shape, &[experiment.seeds.model.first()], capacity)?;
    println!("nats per token; single tokens have an entropy of {entropy:.3}, equal ones of {:.3}", (vocab as f64).ln());
    let mut last = f64::INFINITY;
    for (batch, step) in batches.iter().zip(1..) {
        population.train_step(batch, &[Update::at(&experiment.train, step)])?;
        last = population.losses()?[0].mean();
        if step == 1 || step % 20 == 0 {
            println!("step {step:4}  loss {last:.3}");
        }
    }
    println!(
        "{}",
        if last < entropy { "below the entropy of single tokens" } else { "NOT below the entropy of single tokens" }
    );
    Ok(())
}
