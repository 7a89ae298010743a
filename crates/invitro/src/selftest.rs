//! `invitro selftest`: a device against the CPU, every operation and then training.

use anyhow::{Result, bail};
use invitro_model::cuda::{Cuda, Gpu, abandoned_recordings, invalidate_recordings};
use invitro_model::selftest::{TensorDifference, selftest, usual_populations};
use invitro_model::{Device, Population, Shape};
use std::io::Write as _;
use std::process::ExitCode;

/// Compare a GPU with the CPU, for every kind of model: every operation, forward and backward, then 50 training steps of both
///
/// Prints the relative difference of every tensor. Exit status 1 if any is too large.
#[derive(clap::Args)]
pub struct Args {
    /// cuda or cuda:NUMBER
    #[arg(long, default_value = "cuda")]
    device: String,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let device = Device::parse(&args.device)?;
    let Device::Cuda(number) = device else {
        bail!("the CPU is what other devices are compared with: name a GPU, such as cuda")
    };
    let gpu = Gpu::open(number)?;
    say!("{} against the CPU: ‖difference‖ / ‖CPU's‖", gpu.name);
    let mut failed = 0;
    let mut report = |difference: &TensorDifference| {
        let verdict = if difference.passes() { "" } else { "  TOO LARGE" };
        failed += usize::from(!difference.passes());
        let TensorDifference { name, relative, allowed, .. } = difference;
        // The verdict counts, read or not.
        let _ = writeln!(std::io::stdout(), "  {name:32} {relative:.1e}  (up to {allowed:.0e}){verdict}");
    };
    let make = |shape: &_, members, capacity| Cuda::new(&gpu, shape, members, capacity);
    let population = |shape: &_, seeds: &[u64], capacity| Population::new(device, shape, seeds, capacity);
    let mut passed = true;
    for (shape, members) in usual_populations() {
        let Shape { kind, tied, width, heads, hidden, vocab, .. } = shape;
        let kind = format!("{}{}", kind.name(), if tied { ", tied" } else { "" });
        say!("{members} models ({kind}) of width {width}, {heads} heads, hidden {hidden}, |V| {vocab}");
        passed &= selftest(&shape, members, make, population, invalidate_recordings, &mut report)?;
    }
    let abandoned = abandoned_recordings();
    passed &= abandoned > 0;
    say!("{abandoned} recordings of steps were made to fail, and their steps issued again");
    say!(
        "{}",
        if passed { "all within what bf16 allows".to_string() } else { format!("{failed} tensors differ too much") }
    );
    Ok(ExitCode::from(u8::from(!passed)))
}
