//! `invitro study plan`: what a study would do, and what it would take. Nothing is run, unless to measure.

use super::format::{count, size, time};
use super::needs::plan_power;
use super::run::{check_models, trainings};
use crate::table;
use crate::terminal::{self, To};
use anyhow::{Context, Result, bail};
use invitro_base::dotted::show;
use invitro_lab::executor::{Training, Workload};
use invitro_lab::study::estimate::{assumed, disk, measure, recorded_rates};
use invitro_lab::study::grouping::{Open, PopulationSizes, populations};
use invitro_lab::study::{Cell, CellState, StudyFolder};
use invitro_model::{Device, ModelKind};
use invitro_results::{Known, Plan, Varied};
use invitro_tokenizer::configured_vocab;
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the cells of a study, how they group into populations, and the time and disk they would take
#[derive(clap::Args)]
pub struct Args {
    /// A study file, or the folder of a study
    file: PathBuf,
    /// Settings laid over the base experiment, such as train.steps=2000
    #[arg(value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// The study's folder: what is done there is not planned again, and its recorded rates are used
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// auto, cpu, cuda, cuda:NUMBER, several GPUs as cuda:0,cuda:2, or cuda:all
    #[arg(long, default_value = "auto")]
    device: String,
    /// Cells trained at once on each device [default: one per core, or what the GPU's memory holds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    /// Populations under way on each GPU: while one is evaluated, the others train [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    per_gpu: Option<u32>,
    /// Time a few steps of each kind of population on the device
    #[arg(long)]
    measure: bool,
    /// List every cell
    #[arg(long)]
    cells: bool,
    /// Show instead how many data seeds the primary claims need, by the spread between those of earlier results
    #[arg(long, conflicts_with_all = ["measure", "cells"])]
    power: bool,
    /// A pilot's or an earlier study's results for --power: a study's folder or collected tables [default: the study's folder]
    #[arg(long, value_name = "DIR", requires = "power")]
    from: Option<PathBuf>,
    /// The half-width that intervals should have, for --power [default: half of the distance between the estimate and the
    /// claim's bound; the margin of an expected equivalence]
    #[arg(long, value_name = "X", requires = "power", value_parser = half_width)]
    half_width: Option<f64>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

fn half_width(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("`{text}` is not a number above 0"))
}

/// Populations of one kind.
struct PopulationKind<'a> {
    cells: Vec<&'a Cell>,
    populations: usize,
    /// Members of the largest.
    members: usize,
    /// Of device time, for all its cells, and where that is from.
    seconds: f64,
    source: &'static str,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let folder = if args.file.is_dir() {
        StudyFolder::open(&args.file)?
    } else {
        let out = args.out.clone().unwrap_or_else(|| PathBuf::from("."));
        let mut folder = StudyFolder::planned(&args.file, &args.overrides, &out)?;
        if let Some(out) = &args.out {
            folder.known = Known::read(out)?;
        }
        folder
    };
    if args.power {
        let own = if args.file.is_dir() { Some(&args.file) } else { args.out.as_ref() };
        let Some(from) = args.from.as_ref().or(own) else {
            bail!("name the results that --power takes the spread from, with --from DIR");
        };
        plan_power(&folder.plan, from, args.half_width, args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    // A study's file may lie beside another of any name: only a folder that was named is looked at.
    let open: Vec<Open> = if args.file.is_dir() || args.out.is_some() {
        let states = folder.cell_states(&HashSet::new())?;
        let open = |(cell, (state, _)): (_, (CellState, _))| Some(Open { cell, step: state.open_at()? });
        folder.cells.iter().zip(states).filter_map(open).collect()
    } else {
        folder.cells.iter().map(|cell| Open { cell, step: 0 }).collect()
    };
    let devices = Device::parse_list(&args.device)?;
    let trainings = trainings(&devices, args.jobs, args.per_gpu);
    let device = devices[0];
    check_models(open.iter().map(|open| open.cell), &devices)?;
    let kinds = kinds(&args, &folder, &open, &trainings)?;
    // GPUs share the work; a GPU's populations share the GPU.
    let seconds = kinds.iter().fold(0.0, |sum, kind| sum + kind.seconds) / trainings.len() as f64;
    let bytes: u64 = open.iter().map(|open| disk(open.cell)).sum();
    if args.json {
        emit!("{}", in_json(&folder, &open, &kinds, device, seconds, bytes)?);
        return Ok(ExitCode::SUCCESS);
    }
    describe(&folder.plan, folder.cells.len())?;
    if open.is_empty() {
        say!("nothing is left to run");
        return Ok(ExitCode::SUCCESS);
    }
    if open.len() < folder.cells.len() {
        say!("{} of them still to be run", open.len());
    }
    say!();
    let all: usize = kinds.iter().map(|kind| kind.populations).sum();
    let names: Vec<String> = trainings.iter().map(|one| one.device.describe()).collect::<Result<_, _>>()?;
    say!("{} on {}", count(all, "population"), names.join(", "));
    let mut rows = vec![["  model", "cells", "populations", "members", "time"].map(str::to_owned).to_vec()];
    for kind in &kinds {
        let experiment = &kind.cells[0].experiment;
        let model = &experiment.model;
        let architecture =
            if model.kind == ModelKind::Llama { String::new() } else { format!("{}, ", model.kind.name()) };
        let model = format!(
            "  {architecture}{}{} layers, width {}, |V| {}, {} steps",
            if model.tied { "tied, " } else { "" },
            model.layers,
            model.width,
            configured_vocab(&experiment.tokenizer),
            experiment.train.steps
        );
        let numbers = [kind.cells.len(), kind.populations, kind.members].map(|number| number.to_string());
        rows.push([vec![model], numbers.to_vec(), vec![time(kind.seconds)]].concat());
    }
    say!("{}", table::numbers(&rows, terminal::width(To::Out)));
    let mut sources: Vec<&str> = kinds.iter().map(|kind| kind.source).collect();
    sources.sort_unstable();
    sources.dedup();
    say!();
    say!("time  {} ({})", time(seconds), sources.join("; "));
    say!("disk  {}", size(bytes));
    if args.cells {
        say!();
        for cell in &folder.cells {
            say!("{}  {}", cell.id, cell.label);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn kinds<'a>(
    args: &Args,
    folder: &StudyFolder,
    open: &[Open<'a>],
    trainings: &[Training],
) -> Result<Vec<PopulationKind<'a>>> {
    let (training, device) = (&trainings[0], trainings[0].device);
    let balance = PopulationSizes::new(&folder.cells, trainings.iter().map(|one| one.populations).sum());
    let mut by_key: BTreeMap<&str, Vec<&'a Cell>> = BTreeMap::new();
    for open in open {
        by_key.entry(&open.cell.population_key).or_default().push(open.cell);
    }
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    for (key, cells) in &by_key {
        sizes.insert(key, balance.members(cells[0], training.capacity(cells[0])?));
    }
    let mut groups: HashMap<&str, (usize, usize)> = HashMap::new();
    for members in populations(open.iter().copied(), |cell| sizes[cell.population_key.as_str()]) {
        let group = groups.entry(&members[0].cell.population_key).or_default();
        *group = (group.0 + 1, group.1.max(members.len()));
    }
    let steps: HashMap<&str, u64> = by_key.iter().map(|(key, cells)| (*key, cells[0].experiment.train.steps)).collect();
    let recorded_rates = recorded_rates(&folder.runs(), device.kind(), |key| steps.get(key).copied());
    let mut kinds = Vec::new();
    for (key, cells) in by_key {
        let (populations, members) = groups.get(key).copied().unwrap_or_default();
        let (per_run, source) = if args.measure {
            let some = &cells[..members.min(cells.len())];
            (measure(some, device).context("the measurement failed")?, "measured just now")
        } else if let Some(&seconds) = recorded_rates.get(key) {
            (seconds, "from populations this study has run")
        } else {
            (assumed(cells[0], device), "assumed from the arithmetic; --measure times it")
        };
        kinds.push(PopulationKind { seconds: per_run * cells.len() as f64, cells, populations, members, source });
    }
    Ok(kinds)
}

/// The study's factors, in words.
fn describe(plan: &Plan, cells: usize) -> Result<()> {
    let seeds =
        format!("{} × {}", count(plan.data_seeds.len(), "data seed"), count(plan.model_seeds.len(), "model seed"));
    say!("{}: {}, {seeds}", plan.name, count(cells, "cell"));
    for (number, grid) in plan.grids.iter().enumerate() {
        if plan.grids.len() > 1 {
            say!("  grid {}", number + 1);
        }
        let levels = |factor: &Varied| factor.levels.iter().map(show).collect::<Vec<String>>().join("  ");
        let rows: Vec<Vec<String>> =
            grid.iter().map(|factor| vec![format!("  {}", factor.key), levels(factor)]).collect();
        if !rows.is_empty() {
            say!("{}", table::texts(&rows, terminal::width(To::Out)));
        }
    }
    for table in plan.filter.describe() {
        say!("  where {table}");
    }
    Ok(())
}

fn in_json(
    folder: &StudyFolder,
    open: &[Open],
    kinds: &[PopulationKind],
    device: Device,
    seconds: f64,
    bytes: u64,
) -> Result<serde_json::Value> {
    let kind = |kind: &PopulationKind| {
        let experiment = &kind.cells[0].experiment;
        json!({
            "vocab": configured_vocab(&experiment.tokenizer), "steps": experiment.train.steps, "cells": kind.cells.len(),
            "populations": kind.populations, "members": kind.members, "seconds": kind.seconds, "source": kind.source,
        })
    };
    let cell = |cell: &Cell| json!({ "run": cell.id, "label": cell.label, "population": cell.population_key });
    Ok(json!({
        "study": folder.plan.name,
        "device": device.describe()?,
        "cells": folder.cells.iter().map(cell).collect::<Vec<_>>(),
        "open": open.len(),
        "kinds": kinds.iter().map(kind).collect::<Vec<_>>(),
        "seconds": seconds,
        "bytes": bytes,
    }))
}
