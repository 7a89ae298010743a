//! `invitro bench`: how fast this machine makes data, trains and decodes, beside what the hardware allows.

mod batches;
mod cpu;
mod data;
mod decode;
mod gpu;

use anyhow::{Context, Result, bail};
use invitro_lab::Experiment;
use invitro_model::{Device, ModelKind, Shape};
use serde::Serialize;
use std::process::ExitCode;

/// Measure this machine: data generation, training steps on CPU and GPU, decoding
///
/// Batches are real ones of the paper's world: members share a data seed and differ in λ, d and regime, as the cells of
/// a study do. Only real tokens count, never filler.
#[derive(clap::Args)]
pub struct Args {
    /// Settings laid over the paper's experiment, such as model.width=512 or model.kind=gpt2
    #[arg(value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// auto, cpu, cuda or cuda:NUMBER
    #[arg(long, default_value = "auto")]
    device: String,
    /// Vocabulary sizes
    #[arg(long, value_delimiter = ',', default_value = "2048,8192")]
    vocab: Vec<usize>,
    /// Models trained at once on a GPU
    #[arg(long, value_delimiter = ',', default_value = "1,4,8,16,32,64")]
    members: Vec<usize>,
    /// What to measure [default: all that the device allows]
    #[arg(long, value_delimiter = ',', value_enum)]
    only: Vec<BenchPart>,
    /// Also the time of each kernel of a GPU step
    #[arg(long)]
    kernels: bool,
    /// Run matmuls, SwiGLU and norms in kernels of their own on a Hopper GPU too, to see what fusing them gains
    #[arg(long)]
    unfused: bool,
    /// One JSON object per row instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BenchPart {
    Data,
    Cpu,
    Gpu,
    Decode,
}

/// One measured line.
#[derive(Serialize)]
struct BenchLine {
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    members: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vocab: Option<usize>,
    /// Name, value and unit of each figure.
    figures: Vec<(&'static str, f64)>,
}

struct Report {
    json: bool,
}

impl Report {
    fn row(&self, row: BenchLine) -> Result<()> {
        if self.json {
            emit!("{}", serde_json::to_string(&row)?);
            return Ok(());
        }
        let size = |name: &str, value: Option<usize>| value.map(|v| format!(" {name} {v}")).unwrap_or_default();
        let head = format!("{}{}{}", row.what, size("N", row.members), size("|V|", row.vocab));
        let figures: Vec<String> =
            row.figures.iter().map(|(name, value)| format!("{} {name}", short(*value))).collect();
        say!("{head:34} {}", figures.join(" · "));
        Ok(())
    }
}

/// What a step of this kind of model is called: `CPU step`, `CPU step gpt2 tied`.
fn step_of(device: &str, shape: &Shape) -> String {
    let kind = if shape.kind == ModelKind::Llama { String::new() } else { format!(" {}", shape.kind.name()) };
    format!("{device} step{kind}{}", if shape.tied { " tied" } else { "" })
}

/// Three or four digits, with k or M.
fn short(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.0} k", v / 1e3),
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

pub fn run(args: Args) -> Result<ExitCode> {
    let device = Device::parse(&args.device)?;
    for &vocab in &args.vocab {
        batches::cells(vocab, 1, &args.overrides).with_context(|| format!("--vocab {vocab}"))?;
    }
    if args.members.contains(&0) {
        bail!("--members is 0, but must be at least 1");
    }
    if device == Device::Cpu && args.only.contains(&BenchPart::Gpu) {
        bail!("--only gpu needs a GPU, but --device {} is the CPU here", args.device);
    }
    let report = Report { json: args.json };
    if !args.json {
        say!("device: {}", device.describe()?);
    }
    let wants = |part| args.only.is_empty() || args.only.contains(&part);
    if wants(BenchPart::Data) {
        data::measure(&Experiment::load(Some("paper"), None, &args.overrides)?, &report)?;
    }
    for &vocab in &args.vocab {
        if wants(BenchPart::Cpu) {
            cpu::measure(vocab, &args.overrides, &report)?;
        }
        if let Device::Cuda(number) = device
            && wants(BenchPart::Gpu)
        {
            for &members in &args.members {
                let cells = batches::cells(vocab, members, &args.overrides)?;
                gpu::measure(number, &cells, args.kernels, args.unfused, &report)?;
            }
        }
        if wants(BenchPart::Decode) {
            decode::measure(device, vocab, &args.overrides, &report)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
