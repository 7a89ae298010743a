//! `invitro runs`: what runs there are, in which settings they differ, how they stand, and what they measured.

use crate::table;
use crate::terminal::{self, Paint, To, paint};
use anyhow::{Result, bail};
use invitro_lab::run_folder::locked;
use invitro_lab::{State, Status};
use invitro_results::{
    Condition, Curve, Differing, Error, Filter, FolderKind, FoundRun, Loss, Measure, Quantity, Results, Run, Study,
    TaskMetric, Value as Setting, chosen, differing, find_runs, read_ends,
};
use invitro_stats::decimals;
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// List runs: the settings in which they differ, their state, their step and three measures
///
/// The measures, at the last evaluation: facts, the contrast of facts in nats where words or facts were withheld (B†), which is
/// what crosses; control, the same in the language that saw all of them (A); grammar, the share of unscrambled sentences of B†
/// that are grammatical.
#[derive(clap::Args)]
pub struct Args {
    /// A folder of runs, at any depth up to three, or a study
    #[arg(default_value = "runs")]
    dir: PathBuf,
    /// Sort by a column: run, state, step, facts, control, grammar, or a setting such as language.distance; -KEY from the largest
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    sort: Option<String>,
    /// List only runs whose settings hold, as `[[where]]` of studies: 'tokenizer.vocab = { below = 512 }'
    #[arg(long = "where", value_name = "KEY=VALUE")]
    filter: Vec<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// A run that could be read.
struct Entry {
    name: String,
    path: PathBuf,
    state: &'static str,
    step: u64,
    steps: u64,
}

/// The runs that are listed, and what could not be read.
struct Listing {
    entries: Vec<Entry>,
    study: Study,
    differing: Vec<Differing>,
    faults: Vec<(String, PathBuf, String)>,
}

pub fn run(args: Args) -> Result<ExitCode> {
    if !args.dir.is_dir() {
        bail!("`{}` is not a folder: name the folder of the runs", args.dir.display());
    }
    let found = match find_runs(&args.dir, read_ends) {
        Ok(found) => found,
        Err(Error::NoRuns { .. }) if args.json => return Ok(ExitCode::SUCCESS),
        Err(Error::NoRuns { .. }) => {
            say!("there are no runs in {}", args.dir.display());
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => return Err(error.into()),
    };
    let listing = Listing::new(found, &Filter::parse(&args.filter).map_err(anyhow::Error::msg)?)?;
    let order = listing.order(args.sort.as_deref())?;
    if args.json {
        let conditions = listing.conditions();
        for place in order {
            emit!("{}", listing.in_json(place, &conditions));
        }
        for (name, path, error) in &listing.faults {
            emit!("{}", json!({ "name": name, "path": path.display().to_string(), "error": error }));
        }
    } else {
        say!("{}", listing.in_words(&order, terminal::width(To::Out)));
    }
    Ok(ExitCode::SUCCESS)
}

fn entry(found: &FoundRun, run: &Run) -> invitro_results::Result<Entry> {
    let status = if found.has_folder { Status::read(&found.path)? } else { None };
    let state = match &status {
        None if found.has_folder => "new",
        None => State::ALL.iter().find(|state| state.name() == run.state()).map_or("unknown", |state| state.name()),
        Some(status) if status.state == State::Running && !locked(&found.path) => State::Interrupted.name(),
        Some(status) => status.state.name(),
    };
    let last = || u64::from(run.last_step().unwrap_or(0));
    let planned = || run.number("train.steps").map_or_else(last, |steps| steps as u64);
    let (step, steps) = match status {
        Some(status) => (status.step, status.steps),
        None if found.has_folder => (0, 0),
        None => (last(), planned()),
    };
    Ok(Entry { name: found.name.clone(), path: found.path.clone(), state, step, steps })
}

/// The three measures, with their names for `--sort` and in JSON.
const MEASURES: [&str; 3] = ["facts", "control", "grammar"];

impl Listing {
    fn new(found: Vec<FoundRun>, filter: &Filter) -> Result<Listing> {
        let (mut entries, mut runs, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        for found in found {
            let read = match &found.run {
                Ok(run) => entry(&found, run).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            match (read, found.run) {
                (Ok(entry), Ok(run)) => {
                    entries.push(entry);
                    runs.push(run);
                }
                (Err(error), _) => faults.push((found.name, found.path, error)),
                (Ok(_), Err(_)) => unreachable!("an entry is of a run that was read"),
            }
        }
        let kept = chosen(runs.iter(), filter).map_err(anyhow::Error::msg)?;
        let mut places = 0..;
        entries.retain(|_| places.next().is_some_and(|place| kept.contains(&place)));
        let mut places = 0..;
        runs.retain(|_| places.next().is_some_and(|place| kept.contains(&place)));
        let differing = differing(runs.iter());
        let results = Results { runs, ..Results::new(String::new(), Path::new(""), FolderKind::Study) };
        Ok(Listing { entries, study: Study::new(results), differing, faults })
    }

    /// Where each of the three measures is read: in the conditions with something withheld, in the language that saw all of it,
    /// and there again. Without such conditions, in the first language.
    fn conditions(&self) -> [Vec<Condition>; 3] {
        let masked: Vec<Condition> = self.study.masked().cloned().collect();
        let first = || self.study.conditions().first().cloned();
        let Some(any) = masked.first() else {
            let only: Vec<Condition> = first().into_iter().collect();
            return [only.clone(), Vec::new(), only];
        };
        let source = self.study.source(Measure::KNOWLEDGE, any).into_iter().collect();
        [masked.clone(), source, masked]
    }

    /// A measure of a run at its last evaluation: of several conditions the mean.
    fn measure(&self, which: usize, conditions: &[Condition], place: usize) -> Option<f64> {
        let measure = if which == 2 { GRAMMATICAL() } else { Measure::KNOWLEDGE };
        let run = &self.study.runs[place];
        let values: Vec<f64> = conditions.iter().filter_map(|condition| end(run, measure, condition)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The places of the runs in the order that is asked for; runs without a value come last.
    fn order(&self, sort: Option<&str>) -> Result<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        let Some(sort) = sort else { return Ok(order) };
        let (key, descending) = sort.strip_prefix('-').map_or((sort, false), |key| (key, true));
        let conditions = self.conditions();
        let value = |place: usize| -> Option<Setting> {
            let entry = &self.entries[place];
            match key {
                "run" => Some(Setting::Text(entry.name.as_str().into())),
                "state" => Some(Setting::Text(entry.state.into())),
                "step" => Some(Setting::Number(entry.step as f64)),
                _ => match MEASURES.iter().position(|name| *name == key) {
                    Some(which) => self.measure(which, &conditions[which], place).map(Setting::Number),
                    None => {
                        let short = self.differing.iter().find(|it| it.short == key).map(|it| it.key.as_str());
                        self.study.runs[place].columns.get(short.unwrap_or(key)).cloned()
                    }
                },
            }
        };
        let values: Vec<Option<Setting>> = (0..order.len()).map(value).collect();
        if !order.is_empty() && values.iter().all(Option::is_none) && !MEASURES.contains(&key) {
            let settings = self.differing.iter().map(|it| it.short.as_str());
            let known: Vec<&str> = ["run", "state", "step"].into_iter().chain(settings).chain(MEASURES).collect();
            bail!("no run has `{key}` to sort by; the columns are {}", known.join(", "));
        }
        order.sort_by(|&a, &b| match (&values[a], &values[b]) {
            (Some(a), Some(b)) if descending => b.order(a),
            (Some(a), Some(b)) => a.order(b),
            (None, None) => Ordering::Equal,
            (a, _) => {
                if a.is_some() {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        });
        Ok(order)
    }

    fn in_words(&self, order: &[usize], width: Option<usize>) -> String {
        let conditions = self.conditions();
        let labels = conditions.each_ref().map(|of| of.iter().map(Condition::label).collect::<Vec<_>>().join(" "));
        let measured: Vec<usize> = (0..3).filter(|which| !conditions[*which].is_empty()).collect();
        let setting = |it: &Differing, place: usize| it.values[place].as_ref().map_or("–".into(), ToString::to_string);
        let number = |which: usize, value: Option<f64>| match value {
            Some(value) if which < 2 && value > 0.0 => format!("+{}", decimals(value, 2)),
            Some(value) => decimals(value, 2),
            None => "–".into(),
        };
        // As many settings as there is room for, the first first.
        let rows = |settings: &[Differing], name_width: usize| {
            let head = ["run", "state", "step"].map(str::to_owned).into_iter();
            let head = head.chain(settings.iter().map(|it| it.short.clone()));
            let head = head.chain(measured.iter().map(|&which| format!("{} {}", MEASURES[which], labels[which])));
            let row = |&place: &usize| {
                let Entry { name, state, step, steps, .. } = &self.entries[place];
                let first = [shortened(name, name_width), painted(state), steps_done(*step, *steps)].into_iter();
                let values =
                    measured.iter().map(|&which| number(which, self.measure(which, &conditions[which], place)));
                first.chain(settings.iter().map(|it| setting(it, place))).chain(values).collect::<Vec<String>>()
            };
            std::iter::once(table::heads(head)).chain(order.iter().map(row)).collect::<Vec<_>>()
        };
        let room = width.unwrap_or(usize::MAX);
        let name_widths = [usize::MAX, 24, 16];
        let fitting = name_widths.iter().find_map(|&name| {
            // Half of the settings at least, before names are shortened.
            let least = if name == 16 { 0 } else { self.differing.len().div_ceil(2) };
            let counts = (least..=self.differing.len()).rev();
            counts
                .into_iter()
                .map(|count| (count, name))
                .find(|&(count, name)| wide(&rows(&self.differing[..count], name)) <= room)
        });
        let (count, name) = fitting.unwrap_or((0, 16));
        let mut text = table::numbers(&rows(&self.differing[..count], name), width);
        let mut notes = Vec::new();
        if !measured.is_empty() {
            notes.push(legend(&labels, &measured));
        }
        let left_out: Vec<&str> = self.differing[count..].iter().map(|it| it.key.as_str()).collect();
        if !left_out.is_empty() {
            notes.push(format!("The runs differ in {} too; --json has all.", left_out.join(", ")));
        }
        if order.is_empty() {
            notes = vec!["no run is left".into()];
            text.clear();
        }
        if !text.is_empty() {
            text += "\n\n";
        }
        text += &terminal::wrap(&notes.join("\n"), width);
        for (name, _, error) in &self.faults {
            text += &format!("\n{}", terminal::wrap(&format!("{}: {error}", paint(To::Out, Paint::Red, name)), width));
        }
        text
    }

    fn in_json(&self, place: usize, conditions: &[Vec<Condition>; 3]) -> Value {
        let Entry { name, path, state, step, steps } = &self.entries[place];
        let run = &self.study.runs[place];
        let scores = |condition: &Condition| {
            let headline = json!({
                "grammatical": end(run, GRAMMATICAL(), condition),
                "types": end(run, Measure::unscrambling(TaskMetric::Types), condition),
                "facts": end(run, Measure::unscrambling(TaskMetric::Facts), condition),
                "contrast_nats": end(run, Measure::KNOWLEDGE, condition),
            });
            (condition.to_string(), headline)
        };
        let is_measured = |condition: &&Condition| run.curves.keys().any(|it| it.condition.as_ref() == Some(condition));
        let headline: Map<String, Value> = self.study.conditions().iter().filter(is_measured).map(scores).collect();
        let loss = run.curve(&Quantity::overall(Measure::Loss(Loss::Loss)));
        let measures: Map<String, Value> = (0..3)
            .map(|which| (MEASURES[which].to_owned(), json!(self.measure(which, &conditions[which], place))))
            .collect();
        let setting = |it: &Differing| match &it.values[place] {
            Some(Setting::Number(number)) => json!(number),
            Some(Setting::Text(text)) => json!(**text),
            None => Value::Null,
        };
        let settings: Map<String, Value> = self.differing.iter().map(|it| (it.key.clone(), setting(it))).collect();
        json!({
            "name": name, "path": path.display().to_string(), "run": run.id, "state": state, "step": step, "steps": steps,
            "settings": settings, "measures": measures, "loss": Curve::end(loss), "headline": headline,
        })
    }
}

const GRAMMATICAL: fn() -> Measure = || Measure::unscrambling(TaskMetric::Grammaticality);

fn end(run: &Run, measure: Measure, condition: &Condition) -> Option<f64> {
    run.curve(&Quantity::in_condition(measure, condition)).end()
}

fn legend(labels: &[String; 3], measured: &[usize]) -> String {
    let say = |&which: &usize| match which {
        0 => format!("facts {}: contrast of facts in nats", labels[0]),
        1 => format!("control {}: the same in {}, which saw all words", labels[1], labels[1]),
        _ => format!("grammar {}: share of unscrambled sentences that are grammatical", labels[2]),
    };
    format!("{}; at the last evaluation.", measured.iter().map(say).collect::<Vec<_>>().join("; "))
}

/// `1200`, or `600/1200` of a run that has steps left.
fn steps_done(step: u64, steps: u64) -> String {
    if step == steps { step.to_string() } else { format!("{step}/{steps}") }
}

/// How wide rows are side by side.
fn wide(rows: &[Vec<String>]) -> usize {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| rows.iter().map(|row| terminal::columns(&row[column])).max().unwrap_or(0);
    (0..columns).map(widest).sum::<usize>() + table::GAP * columns.saturating_sub(1)
}

/// A name without its beginning, where it is too long.
fn shortened(name: &str, width: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= width {
        return name.to_owned();
    }
    std::iter::once('…').chain(letters[letters.len() - (width - 1)..].iter().copied()).collect()
}

fn painted(state: &str) -> String {
    let colour = match state {
        "done" => Paint::Green,
        "failed" => Paint::Red,
        "running" => Paint::Cyan,
        _ => Paint::Yellow,
    };
    paint(To::Out, colour, state)
}
