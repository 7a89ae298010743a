//! Training as people see it: a bar on a terminal, elsewhere a line every few seconds; and a line per evaluation.

use crate::bar::{Bar, Part, joined};
use crate::pace::Pace;
use crate::study::format::{count, time};
use crate::tensorboard::Tensorboard;
use crate::terminal::{self, Paint, To, paint};
use invitro_lab::population::Member;
use invitro_lab::progress::{Headline, Progress, Scores, Started};
use invitro_results::Condition;
use std::sync::Mutex;
use std::time::Instant;

pub struct Display {
    /// What to call each member, in messages and in the table; empty where there is one.
    names: Vec<String>,
    short: Vec<String>,
    bar: Bar,
    state: Mutex<State>,
    tensorboard: Option<Tensorboard>,
}

#[derive(Default)]
struct State {
    pace: Pace,
    loss: f64,
    /// The latest headline of each member.
    headlines: Vec<Option<Headline>>,
    /// What was said already.
    notes: Vec<String>,
    /// Whether anything was trained, or written again.
    worked: bool,
    /// The groups of the line of heads that was printed last.
    heads: Vec<usize>,
}

/// From where a run goes on after damage.
pub fn goes_on(from: u64) -> String {
    if from == 0 { "starting over from step 0".into() } else { format!("going on after step {from}") }
}

impl Display {
    /// Writes what the logs have that was not shown step by step, as those of a run that was done before.
    pub fn finish(&self) {
        if let Some(tensorboard) = &self.tensorboard {
            tensorboard.update_all();
        }
    }

    /// Whether anything was trained, or written again.
    pub fn worked(&self) -> bool {
        self.state().worked
    }

    pub fn new(members: &[Member], tensorboard: Option<Tensorboard>) -> Display {
        let seeds = |m: &Member| (m.experiment.seeds.data.first(), m.experiment.seeds.model.first());
        let named = |name: fn((u64, u64)) -> String| match members.len() {
            0 | 1 => vec![String::new()],
            _ => members.iter().map(|member| name(seeds(member))).collect(),
        };
        let names = named(|(data, model)| format!("data {data} model {model}"));
        let short = named(|(data, model)| format!("{data}/{model}"));
        let state = State { headlines: vec![None; members.len()], ..State::default() };
        Display { names, short, bar: Bar::new(), state: Mutex::new(state), tensorboard }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn named(&self, member: usize) -> String {
        if self.names[member].is_empty() { String::new() } else { format!("{}: ", self.names[member]) }
    }
}

impl Progress for Display {
    fn preparing(&self, what: &str) {
        self.bar.show(None, &[(0, format!("making {what}…"))]);
        if !self.bar.is_shown() {
            self.bar.line(&format!("making {what}"));
        }
    }

    fn started(&self, start: &Started) {
        self.state().worked = true;
        let models = count(start.members, "model");
        let from = if start.from > 0 { format!(", going on after step {}", start.from) } else { String::new() };
        self.bar.line(&format!(
            "{models} of {} parameters on {}{from}",
            thousands(start.parameters as f64),
            start.device
        ));
        self.state().pace.start(start.from, start.steps, Instant::now());
        self.bar.show(Some(0.0), &[(0, "starting".into())]);
    }

    fn stepped(&self, step: u64, losses: &[f64], tokens: u64) {
        let mut state = self.state();
        let now = Instant::now();
        state.pace.stepped(step, tokens, now);
        state.loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        let parts = state.describe(now);
        self.bar.show(Some(step as f64 / state.pace.steps.max(1) as f64), &parts);
        if !self.bar.is_shown() && state.pace.due(now) {
            self.bar.line(&joined(&parts));
        }
    }

    fn evaluated(&self, member: usize, step: u64, headline: &Headline) {
        let mut state = self.state();
        let columns = Columns::new(state.pace.steps, &self.short, headline, terminal::width(To::Err));
        if state.heads != columns.groups {
            self.bar.line(&paint(To::Err, Paint::Bold, &columns.heads(headline)));
            state.heads = columns.groups.clone();
        }
        state.headlines[member] = Some(headline.clone());
        state.pace.resume(Instant::now());
        drop(state);
        self.bar.line(&columns.line(step, &self.short[member], headline));
        if let Some(tensorboard) = &self.tensorboard {
            tensorboard.update(member);
        }
    }

    fn noted(&self, _member: usize, note: &str) {
        // Members that differ in their seeds have the same notes.
        let mut state = self.state();
        if !state.notes.iter().any(|said| said == note) {
            state.notes.push(note.to_owned());
            self.bar.line(&format!("note: {note}"));
        }
    }

    fn damaged(&self, member: usize, from: u64, why: &str) {
        self.state().worked = true;
        self.bar.warn(&format!("{}{why}; {}", self.named(member), goes_on(from)));
    }

    fn mended(&self, member: usize, why: &str) {
        self.state().worked = true;
        self.bar.warn(&format!("{}{why}; written again", self.named(member)));
    }

    /// What becomes of a run that is alone is told at its end.
    fn failed(&self, member: usize, step: u64, error: &str) {
        let name = &self.names[member];
        if !name.is_empty() {
            let head = paint(To::Err, Paint::Red, "error:");
            self.bar.warn(&format!("{head} {name} failed at step {step}: {error}"));
        }
    }
}

impl State {
    /// The step, the loss, the rate, what is known of each condition, the time left.
    fn describe(&self, now: Instant) -> Vec<Part> {
        let Pace { step, steps, .. } = self.pace;
        let mut parts = vec![
            (0, format!("step {step}/{steps}")),
            (1, format!("loss {:.3}", self.loss)),
            (3, format!("{} tokens/s", thousands(self.pace.tokens_per_second()))),
        ];
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
            parts.push((11, format!("grammatical {}", grammatical.join(" "))));
        }
        parts.extend(self.pace.left(now).map(|left| (2, format!("{} left", time(left)))));
        parts
    }
}

/// What is told of every evaluation, by condition: its title, the width of a value, how, and its rank where not all of
/// them fit.
struct Group {
    title: &'static str,
    width: usize,
    signed: bool,
    value: fn(&Scores) -> Option<f64>,
    rank: usize,
}

const GROUPS: [Group; 4] = [
    Group { title: "grammatical", width: 4, signed: false, value: |scores| scores.grammatical, rank: 0 },
    Group { title: "types hold", width: 4, signed: false, value: |scores| scores.types, rank: 3 },
    Group { title: "facts hold", width: 4, signed: false, value: |scores| scores.facts, rank: 2 },
    Group { title: "contrast, nats", width: 5, signed: true, value: |scores| scores.contrast, rank: 1 },
];

/// Over the names of members.
const SEEDS: &str = "data/model";

/// The columns of the lines of evaluations: as many groups as fit.
struct Columns {
    step: usize,
    /// 0 where there is one member.
    name: usize,
    /// Places in [`GROUPS`].
    groups: Vec<usize>,
}

impl Columns {
    fn new(steps: u64, names: &[String], headline: &Headline, width: Option<usize>) -> Columns {
        let step = steps.to_string().len().max(4);
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let name = if longest == 0 { 0 } else { longest.max(SEEDS.len()) + 2 };
        let mut groups: Vec<usize> = (0..GROUPS.len()).collect();
        let wide = |groups: &[usize]| {
            let columns = Columns { step, name, groups: groups.to_vec() };
            columns.heads(headline).lines().map(terminal::columns).max().unwrap_or(0)
        };
        while groups.len() > 1 && width.is_some_and(|width| wide(&groups) > width) {
            groups.sort_by_key(|&group| GROUPS[group].rank);
            groups.pop();
            groups.sort_unstable();
        }
        Columns { step, name, groups }
    }

    fn heads(&self, headline: &Headline) -> String {
        let Columns { step, name, groups } = self;
        let labels: Vec<String> = headline.conditions.iter().map(|(condition, _)| condition.label()).collect();
        let under = |group: &Group| {
            let width = group.width;
            labels.iter().map(|label| format!("{label:>width$}")).collect::<Vec<_>>().join(" ")
        };
        let mut titles = " ".repeat(step + name + 7);
        let mut heads = format!("{:>step$}{}{:>7}", "step", self.named(SEEDS), "loss");
        for group in groups.iter().map(|&group| &GROUPS[group]) {
            let labels = under(group);
            let room = labels.chars().count().max(group.title.len());
            titles.push_str(&format!("  {:<room$}", group.title));
            heads.push_str(&format!("  {labels:>room$}"));
        }
        format!("{}\n{heads}", titles.trim_end())
    }

    /// A member's name in its column.
    fn named(&self, name: &str) -> String {
        if self.name == 0 { String::new() } else { format!("  {name:<0$}", self.name - 2) }
    }

    fn line(&self, step: u64, member: &str, headline: &Headline) -> String {
        let loss = headline.loss.map_or("–".into(), |loss| format!("{loss:.3}"));
        let mut line = format!("{step:>0$}{1}{loss:>7}", self.step, self.named(member));
        for group in self.groups.iter().map(|&group| &GROUPS[group]) {
            let width = group.width;
            let one = |(_, scores): &(Condition, Scores)| match (group.value)(scores) {
                // A decimal less where there would be no room for it.
                Some(value) if group.signed && value.abs() >= 9.995 => format!("{value:+width$.1}"),
                Some(value) if group.signed => format!("{value:+width$.2}"),
                Some(value) => format!("{value:width$.2}"),
                None => format!("{:>width$}", "–"),
            };
            let values = headline.conditions.iter().map(one).collect::<Vec<_>>().join(" ");
            line.push_str(&format!("  {values:>0$}", group.title.len()));
        }
        line
    }
}

/// `12 k`, `3.4 M`
pub fn thousands(number: f64) -> String {
    match number {
        n if n >= 1e7 => format!("{:.0} M", n / 1e6),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n if n >= 1e3 => format!("{:.0} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_lines_that_fit() {
        let scores = Scores { grammatical: Some(0.98), types: Some(0.9), facts: None, contrast: Some(-12.34) };
        let conditions = ["A", "B", "B_masked"].map(|name| (name.parse().unwrap(), scores.clone())).into();
        let headline = Headline { loss: Some(1.2345), conditions };
        let names = |name: &str| vec![name.to_owned()];
        for (width, member, groups) in [(80, "", 4), (80, "0/1", 3), (60, "", 2), (40, "", 1), (200, "10/12", 4)] {
            let columns = Columns::new(10_000, &names(member), &headline, Some(width));
            assert_eq!(columns.groups.len(), groups, "{width} {member}");
            let text = format!("{}\n{}", columns.heads(&headline), columns.line(10_000, member, &headline));
            assert!(text.lines().all(|line| terminal::columns(line) <= width), "{width}:\n{text}");
        }
    }
}
