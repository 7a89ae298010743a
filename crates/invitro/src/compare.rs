//! `invitro compare`: runs side by side.

use crate::output::StagedFile;
use crate::table;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_base::dotted::show;
use invitro_results::{Comparison, Quantity, Run};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare runs: the settings that differ, and what was measured, at the peak and at the end
#[derive(clap::Args)]
pub struct Args {
    /// The runs' folders
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Write a page with the curves of all of them too
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the page if it exists
    #[arg(long, requires = "out")]
    force: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let comparison = Comparison::read(&args.runs)?;
    if let Some(out) = &args.out {
        let mut staged = StagedFile::new(out, args.force)?;
        staged.file()?.write_all(invitro_report::comparison_page(&comparison).as_bytes())?;
        staged.finish()?;
        note!("wrote {}", out.display());
    }
    if args.json {
        emit!("{}", in_json(&comparison));
    } else {
        say!("{}", in_words(&comparison, terminal::width(To::Out)));
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(comparison: &Comparison, width: Option<usize>) -> String {
    let row = |name: String, cell: &dyn Fn(&Run) -> String| {
        std::iter::once(name).chain(comparison.runs.iter().map(cell)).collect::<Vec<String>>()
    };
    let mut rows = vec![table::heads(std::iter::once(String::new()).chain(comparison.names.iter().cloned()))];
    rows.push(row("state".into(), &|run| run.state().to_owned()));
    rows.push(row("last evaluation, step".into(), &|run| {
        run.last_step().map_or("–".into(), |step| step.to_string())
    }));
    for (key, values) in &comparison.differing {
        rows.push(
            std::iter::once(key.clone())
                .chain(values.iter().map(|value| value.as_ref().map_or("–".into(), show)))
                .collect(),
        );
    }
    let number = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.2}"));
    for (compared, condition) in comparison.measured() {
        let quantity = Quantity::in_condition(compared.measure, &condition);
        let name = format!("{}, {}", compared.name, condition.label());
        rows.push(row(name, &|run| {
            let curve = run.curve(&quantity);
            match compared.rises {
                true => format!("{} / {}", number(curve.peak().map(|peak| peak.value)), number(curve.end())),
                false => number(curve.end()),
            }
        }));
    }
    let mut text = table::numbers(&rows, width);
    let same = if comparison.differing.is_empty() { "No setting differs. " } else { "" };
    text += &format!("\n\n{same}Two numbers are the peak and the end; one is the end.");
    for sentence in invitro_report::verdicts(comparison) {
        text += &format!("\n{}", invitro_report::draw::plain_text(&sentence));
    }
    terminal::wrap(&text, width)
}

fn in_json(comparison: &Comparison) -> Value {
    let runs: Vec<Value> = std::iter::zip(&comparison.folders, &comparison.runs)
        .zip(&comparison.names)
        .map(|((folder, run), name)| {
            json!({ "name": name, "path": folder.display().to_string(), "run": run.id, "state": run.state(), "step": run.last_step() })
        })
        .collect();
    let mut measures = Map::new();
    for (compared, condition) in comparison.measured() {
        let quantity = Quantity::in_condition(compared.measure, &condition);
        let peak = |run: &Run| {
            run.curve(&quantity)
                .peak()
                .filter(|_| compared.rises)
                .map(|peak| json!({ "step": peak.step, "value": peak.value }))
        };
        let value = json!({
            "peak": comparison.runs.iter().map(peak).collect::<Vec<_>>(),
            "end": comparison.runs.iter().map(|run| run.curve(&quantity).end()).collect::<Vec<_>>(),
        });
        measures.insert(quantity.to_string(), value);
    }
    let differing: Map<String, Value> =
        comparison.differing.iter().map(|(key, values)| (key.clone(), json!(values))).collect();
    json!({ "runs": runs, "differing": differing, "measures": measures })
}
