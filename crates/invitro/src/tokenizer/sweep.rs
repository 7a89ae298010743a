//! `invitro tokenizer sweep`: fertility, overlap and bridges against |V|, λ, d and regime. No model is trained.

mod plot;

use crate::experiment::ExperimentArgs;
use crate::output::StagedDir;
use crate::study::amounts::count;
use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use invitro_tokenizer::Regime;
use invitro_tokenizer::sweep::{Cell, Grid, sweep};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Tokenizers over a grid of |V|, λ, d and regime: tables and plots of what becomes of them
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Vocabulary sizes [default: tokenizer.vocab, twice and four times that]
    #[arg(long, value_delimiter = ',')]
    vocab: Vec<usize>,
    /// Regimes: vanilla, balanced, parity
    #[arg(long, value_delimiter = ',', default_value = "vanilla,balanced", value_parser = regime)]
    regime: Vec<Regime>,
    /// Shares of B
    #[arg(long, value_delimiter = ',', default_value = "0.05,0.1,0.25,0.5")]
    lambda: Vec<f64>,
    /// Lexical distances
    #[arg(long, value_delimiter = ',', default_value = "0,0.25,0.5,0.75")]
    distance: Vec<f64>,
    /// A folder for the cells as a table and the plots as SVG
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the folder if it is a sweep's
    #[arg(long)]
    force: bool,
    /// The cells as JSON, one a line
    #[arg(long)]
    json: bool,
}

const CONTENTS: [&str; 5] = ["cells.tsv", "fertility.svg", "continuation.svg", "overlap.svg", "bridge.svg"];

fn regime(name: &str) -> std::result::Result<Regime, String> {
    let known = Regime::ALL.map(Regime::name).join(", ");
    Regime::ALL.into_iter().find(|r| r.name() == name).ok_or(format!("the regimes are {known}"))
}

/// Refuses a level that is named twice: its cells would be the same.
fn once<T: PartialEq>(option: &str, levels: &[T], name: impl Fn(&T) -> String) -> Result<()> {
    match levels.iter().enumerate().find(|(at, level)| levels[..*at].contains(level)) {
        Some((_, twice)) => bail!("{option} names {} twice", name(twice)),
        None => Ok(()),
    }
}

pub fn run(args: Args) -> Result<ExitCode> {
    let experiment = args.experiment.load()?;
    let vocab = match args.vocab {
        none if none.is_empty() => [1, 2, 4].map(|times| times * experiment.tokenizer.vocab).to_vec(),
        given => given,
    };
    once("--vocab", &vocab, usize::to_string)?;
    once("--regime", &args.regime, |regime| regime.name().to_owned())?;
    once("--lambda", &args.lambda, f64::to_string)?;
    once("--distance", &args.distance, f64::to_string)?;
    let grid = Grid {
        vocab,
        regime: args.regime,
        lambda: args.lambda,
        distance: args.distance,
        seeds: experiment.seeds.data.0.clone(),
    };
    let staged = args.out.as_deref().map(|path| StagedDir::new(path, args.force, &CONTENTS)).transpose()?;
    let bar = if std::io::stderr().is_terminal() { ProgressBar::new(grid.len() as u64) } else { ProgressBar::hidden() };
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} tokenizers · {per_sec} · {eta} left")?);
    bar.tick();
    let done = |cells: usize| bar.inc(cells as u64);
    let cells = sweep(&grid, &experiment.language, &experiment.mixture, &experiment.tokenizer, &done)?;
    bar.finish_and_clear();
    if let (Some(staged), Some(path)) = (staged, &args.out) {
        staged.write("cells.tsv", rows(&cells))?;
        for (name, svg) in plot::plates(&grid, &cells) {
            staged.write(name, svg)?;
        }
        staged.finish()?;
        eprintln!("wrote {} and the plots to {}", count(cells.len(), "cell"), path.display());
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if args.json {
        for cell in &cells {
            writeln!(out, "{}", serde_json::to_string(cell)?)?;
        }
    } else {
        tell(&grid, &cells, &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// What is shown of a cell: its name, a short head for the terminal, and its value.
pub(super) struct Quantity {
    pub name: &'static str,
    head: &'static str,
    pub of: fn(&Cell) -> f64,
}

const QUANTITIES: [Quantity; 9] = [
    Quantity { name: "fertility.A", head: "fert. A", of: |c| c.measures.text.a.fertility },
    Quantity { name: "fertility.B", head: "B", of: |c| c.measures.text.b.fertility },
    Quantity { name: "fertility.B_masked", head: "B†", of: |c| c.measures.text.b_masked.fertility },
    Quantity { name: "continuation.A", head: "cont. A", of: |c| c.measures.text.a.continuation },
    Quantity { name: "continuation.B", head: "B", of: |c| c.measures.text.b.continuation },
    Quantity { name: "continuation.B_masked", head: "B†", of: |c| c.measures.text.b_masked.continuation },
    Quantity { name: "overlap", head: "overlap", of: |c| c.measures.text.overlap },
    Quantity { name: "bridge", head: "bridge", of: |c| c.bridge.jaccard },
    Quantity { name: "cognate_bridge", head: "cognate", of: |c| c.cognate_bridge.jaccard },
];

fn rows(cells: &[Cell]) -> String {
    let mut text = ["seed", "distance", "regime", "lambda", "vocab", "reached"].join("\t");
    for quantity in &QUANTITIES {
        text += &format!("\t{}", quantity.name);
    }
    for c in cells {
        text += &format!("\n{}\t{}\t{}\t{}\t{}\t{}", c.seed, c.distance, c.regime.name(), c.lambda, c.vocab, c.reached);
        for quantity in &QUANTITIES {
            text += &format!("\t{}", (quantity.of)(c));
        }
    }
    text + "\n"
}

/// The levels of one factor, and the cells at each.
pub(super) struct Factor<'a> {
    pub symbol: &'static str,
    pub levels: Vec<(String, Vec<&'a Cell>)>,
}

pub(super) fn factors<'a>(grid: &Grid, cells: &'a [Cell]) -> [Factor<'a>; 4] {
    fn factor<'a, T: Copy>(
        symbol: &'static str,
        levels: &[T],
        cells: &'a [Cell],
        name: impl Fn(T) -> String,
        is: impl Fn(&Cell, T) -> bool,
    ) -> Factor<'a> {
        let level = |&l: &T| (name(l), cells.iter().filter(|c| is(c, l)).collect());
        Factor { symbol, levels: levels.iter().map(level).collect() }
    }
    [
        factor("|V|", &grid.vocab, cells, |v| v.to_string(), |c, v| c.vocab == v),
        factor("λ", &grid.lambda, cells, |l| l.to_string(), |c, l| c.lambda == l),
        factor("d", &grid.distance, cells, |d| d.to_string(), |c, d| c.distance == d),
        factor("regime", &grid.regime, cells, |r| r.name().to_owned(), |c, r| c.regime == r),
    ]
}

pub(super) fn mean(cells: &[&Cell], of: fn(&Cell) -> f64) -> f64 {
    cells.iter().map(|c| of(c)).sum::<f64>() / cells.len() as f64
}

/// For each factor, the mean over all other settings.
fn tell(grid: &Grid, cells: &[Cell], out: &mut impl Write) -> Result<()> {
    writeln!(out, "{}; each line is the mean over all other settings\n", count(cells.len(), "tokenizer"))?;
    write!(out, "{:<8}{:<10}", "", "")?;
    for quantity in &QUANTITIES {
        write!(out, "{:>9}", quantity.head)?;
    }
    writeln!(out)?;
    for factor in factors(grid, cells) {
        for (i, (level, cells)) in factor.levels.iter().enumerate() {
            let symbol = if i == 0 { factor.symbol } else { "" };
            write!(out, "{symbol:<8}{level:<10}")?;
            for quantity in &QUANTITIES {
                write!(out, "{:>9.3}", mean(cells, quantity.of))?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}
