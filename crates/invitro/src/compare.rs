//! `invitro compare`: groups of runs side by side.

use crate::output::StagedFile;
use crate::study::format::count;
use crate::table;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_results::claims::SEEDS;
use invitro_results::{Comparison, Filter, Moment, Quantity, RunGroup, Value as Setting, column};
use invitro_stats::{Estimate, Interval, decimals};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare groups of runs: the settings that differ, and every measure with its mean, interval and difference
///
/// Runs that differ in their seeds alone are one group. Means have 95 % intervals over data seeds, and differences are taken
/// from the first group, within the same seeds where groups share them.
#[derive(clap::Args)]
pub struct Args {
    /// Folders: of runs, of several runs, or of studies
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Compare only runs whose settings hold, as `[[where]]` of studies: 'tokenizer.vocab = 512, language.distance = [0, 0.5]'
    #[arg(long = "where", value_name = "KEY=VALUE")]
    filter: Vec<String>,
    /// Print values at the end of training, or at each run's peak
    #[arg(long, value_enum, default_value_t = ReadAt::End)]
    at: ReadAt,
    /// Write a page with the curves of all groups too
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the page if it exists
    #[arg(long, requires = "out")]
    force: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReadAt {
    End,
    Peak,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let comparison = Comparison::read(&args.dirs, &Filter::parse(&args.filter).map_err(anyhow::Error::msg)?)?;
    if let Some(out) = &args.out {
        let mut staged = StagedFile::new(out, args.force)?;
        staged.file()?.write_all(invitro_report::comparison_page(&comparison).0.as_bytes())?;
        staged.finish()?;
        note!("wrote {}", out.display());
    }
    if args.json {
        emit!("{}", in_json(&comparison));
    } else {
        comparison.notes.iter().for_each(|text| terminal::warn(text));
        say!("{}", in_words(&comparison, args.at, terminal::width(To::Out)));
    }
    Ok(ExitCode::SUCCESS)
}

/// The widest name of a group that stands over its column: as wide as `0.98 [0.95, 0.99]`.
const HEAD: usize = 17;

fn in_words(comparison: &Comparison, at: ReadAt, width: Option<usize>) -> String {
    let Comparison { groups, .. } = comparison;
    let (first, others) = groups.split_first().expect("a comparison has a run");
    let fits = groups.iter().all(|group| terminal::columns(&group.name) <= HEAD);
    let head =
        |(place, group): (usize, &RunGroup)| if fits { group.name.clone() } else { format!("group {}", place + 1) };
    let heads = groups.iter().enumerate().flat_map(|(place, group)| {
        let less = if others.len() == 1 { "difference".to_owned() } else { format!("{} less 1", place + 1) };
        [head((place, group)), less].into_iter().take(if place == 0 { 1 } else { 2 })
    });
    let what = match at {
        ReadAt::End => "at the end",
        ReadAt::Peak => "at the peak",
    };
    let mut rows = vec![table::heads(std::iter::once(what.to_owned()).chain(heads))];
    let moment = if at == ReadAt::Peak { Moment::Peak } else { Moment::End };
    for (compared, condition) in comparison.measured().into_iter().filter(|it| at == ReadAt::End || it.0.rises) {
        let quantity = Quantity::in_condition(compared.measure, &condition);
        let mut row = vec![format!("{} {}", compared.short, condition.label())];
        row.push(cell(comparison.mean(first, &quantity, moment)));
        for group in others {
            row.push(cell(comparison.mean(group, &quantity, moment)));
            row.push(cell(comparison.difference(group, first, &quantity, moment)));
        }
        rows.push(row);
    }
    let listed =
        table::texts(&groups.iter().enumerate().map(|it| described(comparison, it)).collect::<Vec<_>>(), width);
    let mut text = format!("{listed}\n\n{}\n", table::numbers(&rows, width));
    let what = "grammatical to same words: shares of unscrambled sentences (T1); reachable: share of true words among the \
                likeliest tenth of |V|; facts: their contrast in nats.";
    text += &format!("\n{}", terminal::wrap(what, width));
    let sentences = invitro_report::comparison_reading(comparison).into_iter();
    for sentence in sentences.chain(invitro_report::comparison_findings(comparison)) {
        text += &format!("\n{}", terminal::wrap(&invitro_report::draw::plain_text(&sentence), width));
    }
    text
}

/// `0.98 [0.95, 0.99]`.
fn cell(estimate: Option<Estimate>) -> String {
    let number = |value: f64| decimals(value, 2);
    match estimate {
        None => "–".into(),
        Some(Estimate { value, interval: None, .. }) => number(value),
        Some(Estimate { value, interval: Some(Interval { low, high }), .. }) => {
            format!("{} [{}, {}]", number(value), number(low), number(high))
        }
    }
}

/// A group in a line: its number, its runs and its name.
fn described(comparison: &Comparison, (place, group): (usize, &RunGroup)) -> Vec<String> {
    let seeds = comparison.data_seeds(group);
    let mut runs = format!("{}, {}", count(group.runs.len(), "run"), count(seeds, "data seed"));
    let open = comparison.runs(group).find(|run| !run.done());
    if let Some(run) = open {
        runs += &format!(", {} at step {}", run.state(), run.last_step().unwrap_or(0));
    }
    vec![format!("group {}", place + 1), runs, group.name.clone()]
}

fn in_json(comparison: &Comparison) -> Value {
    let Comparison { study, paths, groups, differing, notes } = comparison;
    let first = &groups[0];
    let of_run = |place: usize| {
        let run = &study.runs[place];
        let group = groups.iter().position(|group| group.runs.contains(&place)).map(|place| place + 1);
        let [data, model] = [column::DATA_SEED, column::MODEL_SEED].map(|key| run.number(key));
        json!({
            "run": run.id, "path": paths[place].display().to_string(), "group": group, "data_seed": data,
            "model_seed": model, "state": run.state(), "step": run.last_step(),
        })
    };
    let of_group = |(place, group): (usize, &RunGroup)| {
        let settings: Map<String, Value> =
            differing.iter().map(|it| (it.key.clone(), json!(it.values[place].as_ref().map(setting)))).collect();
        let ids: Vec<&str> = comparison.runs(group).map(|run| run.id.as_str()).collect();
        json!({
            "group": place + 1, "name": group.name, "settings": settings, "runs": ids,
            "data_seeds": comparison.data_seeds(group),
        })
    };
    let (mut measures, mut differences) = (Map::new(), Map::new());
    for (compared, condition) in comparison.measured() {
        let quantity = Quantity::in_condition(compared.measure, &condition);
        let moments =
            || [("end", Moment::End), ("peak", Moment::Peak)].into_iter().take(1 + usize::from(compared.rises));
        let means: Map<String, Value> = moments()
            .map(|(name, at)| {
                let means = groups.iter().map(|group| comparison.mean(group, &quantity, at).map(estimate));
                (name.to_owned(), means.collect())
            })
            .collect();
        let less_first: Map<String, Value> = moments()
            .map(|(name, at)| {
                let of = |group| comparison.difference(group, first, &quantity, at).map(estimate);
                (name.to_owned(), groups[1..].iter().map(of).collect())
            })
            .collect();
        measures.insert(quantity.to_string(), means.into());
        differences.insert(quantity.to_string(), less_first.into());
    }
    let shared: Vec<Option<usize>> = groups[1..].iter().map(|group| comparison.shared_seeds(group, first)).collect();
    json!({
        "groups": groups.iter().enumerate().map(of_group).collect::<Vec<_>>(),
        "runs": (0..study.runs.len()).map(of_run).collect::<Vec<_>>(),
        "differing": differing.iter().map(|it| &it.key).collect::<Vec<_>>(),
        "measures": measures,
        "differences": differences,
        "paired_data_seeds": shared,
        "seeds_needed": SEEDS,
        "notes": notes,
    })
}

fn setting(value: &Setting) -> Value {
    match value {
        Setting::Number(number) => json!(number),
        Setting::Text(text) => json!(**text),
    }
}

fn estimate(estimate: Estimate) -> Value {
    let Estimate { value, interval, runs, data_seeds, .. } = estimate;
    let (low, high) = interval.map(|it| (it.low, it.high)).unzip();
    json!({ "value": value, "low": low, "high": high, "runs": runs, "data_seeds": data_seeds })
}
