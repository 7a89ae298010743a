//! Training as people see it: a bar on a terminal, a line per evaluation elsewhere.

use crate::bar::Bar;
use crate::study::format::count;
use indicatif::ProgressStyle;
use invitro_lab::population::Member;
use invitro_lab::progress::{Headline, Progress, Scores, Started};
use invitro_results::Condition;
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub struct Display {
    /// What to call each member; empty where there is one.
    names: Vec<String>,
    bar: Bar,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    steps: u64,
    /// Tokens and time since the training set out, evaluations left out.
    tokens: u64,
    busy: Duration,
    last: Option<Instant>,
    loss: f64,
    /// The latest headline of each member.
    headlines: Vec<Option<Headline>>,
}

impl Display {
    pub fn new(members: &[Member]) -> Display {
        let name = |m: &Member| {
            let seeds = &m.experiment.seeds;
            format!("data {} model {}", seeds.data.first(), seeds.model.first())
        };
        let names = if members.len() > 1 { members.iter().map(name).collect() } else { vec![String::new()] };
        let state = State { headlines: vec![None; members.len()], ..State::default() };
        Display { names, bar: Bar::new("{msg}"), state: Mutex::new(state) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Progress for Display {
    fn preparing(&self, what: &str) {
        match self.bar.shown() {
            Some(bar) => bar.set_message(format!("making {what}…")),
            None => eprintln!("making {what}"),
        }
    }

    fn started(&self, start: &Started) {
        let models = count(start.members, "model");
        let from = if start.from > 0 { format!(", going on after step {}", start.from) } else { String::new() };
        self.bar.line(&format!(
            "{models} of {} parameters on {}{from}",
            thousands(start.parameters as f64),
            start.device
        ));
        let mut state = self.state();
        state.steps = start.steps;
        state.last = Some(Instant::now());
        if let Some(bar) = self.bar.shown() {
            let style = "{bar:16} {pos}/{len} · {msg} · {eta} left";
            bar.set_style(ProgressStyle::with_template(style).expect("the template is plain"));
            bar.set_message("starting");
        }
        self.bar.start(start);
    }

    fn stepped(&self, step: u64, losses: &[f64], tokens: u64) {
        let mut state = self.state();
        let now = Instant::now();
        let since = state.last.map_or(Duration::ZERO, |last| now - last);
        state.busy += since;
        state.last = Some(now);
        state.tokens += tokens;
        state.loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        if let Some(bar) = self.bar.shown() {
            bar.set_position(step);
            bar.set_message(state.describe());
        }
    }

    fn evaluated(&self, member: usize, step: u64, headline: &Headline) {
        let mut state = self.state();
        if state.headlines.iter().all(Option::is_none) {
            let name = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
            self.bar.line(&heads(if name == 0 { 0 } else { name + 2 }, headline));
        }
        state.headlines[member] = Some(headline.clone());
        // The next step's time starts here, and the first evaluation tells nothing of how long the steps will take.
        state.last = Some(Instant::now());
        if let Some(bar) = self.bar.shown().filter(|_| state.tokens == 0) {
            bar.reset_eta();
        }
        let name = &self.names[member];
        let gap = if name.is_empty() { "" } else { "  " };
        let text = format!("{:>11}{gap}{name}{}", format!("{step}/{}", state.steps), line_of(headline));
        drop(state);
        self.bar.line(&text);
    }

    fn damaged(&self, member: usize, from: u64, why: &str) {
        let name = if self.names[member].is_empty() { String::new() } else { format!("{}: ", self.names[member]) };
        let goes_on =
            if from == 0 { "starting over from step 0".into() } else { format!("going on after step {from}") };
        self.bar.line(&format!("{name}a checkpoint cannot be read and is removed, {goes_on}: {why}"));
    }

    /// What becomes of a run that is alone is told at its end.
    fn failed(&self, member: usize, step: u64, error: &str) {
        let name = &self.names[member];
        if !name.is_empty() {
            self.bar.line(&format!("error: {name} failed at step {step}: {error}"));
        }
    }
}

impl State {
    fn describe(&self) -> String {
        let rate = self.tokens as f64 / self.busy.as_secs_f64().max(1e-9);
        let mut text = format!("loss {:.3} · {} tokens/s", self.loss, thousands(rate));
        // Means over members, by condition.
        let mut sums: Vec<(String, f64, f64)> = Vec::new();
        for (condition, scores) in self.headlines.iter().flatten().flat_map(|headline| &headline.conditions) {
            let Some(value) = scores.grammatical else { continue };
            match sums.iter_mut().find(|(name, ..)| *name == condition.label()) {
                Some((_, sum, n)) => (*sum, *n) = (*sum + value, *n + 1.0),
                None => sums.push((condition.label(), value, 1.0)),
            }
        }
        let grammatical: Vec<String> = sums.iter().map(|(name, sum, n)| format!("{name} {:.2}", sum / n)).collect();
        if !grammatical.is_empty() {
            text += &format!(" · grammatical {}", grammatical.join(" "));
        }
        text
    }
}

/// The groups of [`line_of`]'s columns, with the width of one value.
const GROUPS: [(&str, usize); 4] = [("grammatical", 4), ("types hold", 4), ("facts hold", 4), ("contrast, nats", 5)];

/// The heads of [`line_of`]'s columns, after a member's name that is `wide`.
fn heads(wide: usize, headline: &Headline) -> String {
    let labels: Vec<String> = headline.conditions.iter().map(|(condition, _)| condition.label()).collect();
    let group = |width: usize| labels.iter().map(|label| format!("{label:>width$}")).collect::<Vec<_>>().join(" ");
    let margin = " ".repeat(wide);
    let titles: String = GROUPS
        .iter()
        .map(|(title, width)| {
            let room = group(*width).chars().count();
            format!("   {title:<room$}")
        })
        .collect();
    let under: String = GROUPS.iter().map(|(_, width)| format!("   {}", group(*width))).collect();
    format!("{:>11}{margin}{:>8}{}\n{:>11}{margin}{:>8}{under}", "", "", titles.trim_end(), "step", "loss")
}

/// An evaluation in a line.
fn line_of(headline: &Headline) -> String {
    let of = |value: fn(&Scores) -> Option<f64>, width: usize, signed: bool| {
        let one = |(_, scores): &(Condition, Scores)| match value(scores) {
            Some(value) if signed => format!("{value:+width$.2}"),
            Some(value) => format!("{value:width$.2}"),
            None => format!("{:>width$}", "–"),
        };
        headline.conditions.iter().map(one).collect::<Vec<_>>().join(" ")
    };
    let [grammatical, types, facts, contrast] = GROUPS.map(|(_, width)| width);
    format!(
        "{:>8}   {}   {}   {}   {}",
        headline.loss.map_or("–".into(), |loss| format!("{loss:.3}")),
        of(|scores| scores.grammatical, grammatical, false),
        of(|scores| scores.types, types, false),
        of(|scores| scores.facts, facts, false),
        of(|scores| scores.contrast, contrast, true),
    )
}

fn thousands(number: f64) -> String {
    match number {
        n if n >= 1e7 => format!("{:.0} M", n / 1e6),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n if n >= 1e3 => format!("{:.0} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}
