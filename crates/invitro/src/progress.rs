//! Training as people see it: a bar on a terminal, elsewhere a line every few seconds; and a line per evaluation.

use crate::bar::{Bar, LinePart, joined};
use crate::columns::EvaluationColumns;
use crate::pace::Pace;
use crate::study::format::{count, time};
use crate::terminal::{self, Paint, To, paint};
use invitro_lab::training::Member;
use invitro_lab::training::progress::{Headline, Progress, Started};
use std::sync::Mutex;
use std::time::Instant;

pub struct RunDisplay {
    /// What to call each member, in messages and in the table; empty where there is one.
    names: Vec<String>,
    short: Vec<String>,
    bar: Bar,
    state: Mutex<ShownProgress>,
}

#[derive(Default)]
struct ShownProgress {
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

/// The step that a run resumes from after damage.
pub fn resumes(from: u64) -> String {
    if from == 0 { "starting over from step 0".into() } else { format!("resuming after step {from}") }
}

impl RunDisplay {
    /// Whether anything was trained, or written again.
    pub fn worked(&self) -> bool {
        self.state().worked
    }

    pub fn new(members: &[Member]) -> RunDisplay {
        let seeds = |m: &Member| (m.experiment.seeds.data.first(), m.experiment.seeds.model.first());
        let named = |name: fn((u64, u64)) -> String| match members.len() {
            0 | 1 => vec![String::new()],
            _ => members.iter().map(|member| name(seeds(member))).collect(),
        };
        let names = named(|(data, model)| format!("data {data} model {model}"));
        let short = named(|(data, model)| format!("{data}/{model}"));
        let state = ShownProgress { headlines: vec![None; members.len()], ..ShownProgress::default() };
        RunDisplay { names, short, bar: Bar::new(), state: Mutex::new(state) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ShownProgress> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn named(&self, member: usize) -> String {
        if self.names[member].is_empty() { String::new() } else { format!("{}: ", self.names[member]) }
    }
}

impl Progress for RunDisplay {
    fn preparing(&self, what: &str) {
        self.bar.show(None, &[(0, format!("making {what}…"))]);
        if !self.bar.is_shown() {
            self.bar.line(&format!("making {what}"));
        }
    }

    fn started(&self, start: &Started) {
        self.state().worked = true;
        let models = count(start.members, "model");
        let from = if start.from > 0 { format!(", resuming after step {}", start.from) } else { String::new() };
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
        let parts = state.describe();
        self.bar.show(Some(step as f64 / state.pace.steps.max(1) as f64), &parts);
        if !self.bar.is_shown() && state.pace.due(now) {
            self.bar.line(&joined(&parts));
        }
    }

    fn evaluated(&self, member: usize, step: u64, headline: &Headline) {
        let mut state = self.state();
        let columns = EvaluationColumns::new(state.pace.steps, &self.short, headline, terminal::width(To::Err));
        if state.heads != columns.groups {
            self.bar.line(&paint(To::Err, Paint::Bold, &columns.heads(headline)));
            state.heads = columns.groups.clone();
        }
        state.headlines[member] = Some(headline.clone());
        state.pace.resume(Instant::now());
        drop(state);
        self.bar.line(&columns.line(step, &self.short[member], headline));
    }

    fn note(&self, _member: usize, note: &str) {
        // Members that differ in their seeds have the same notes.
        let mut state = self.state();
        if !state.notes.iter().any(|said| said == note) {
            state.notes.push(note.to_owned());
            self.bar.line(&format!("note: {note}"));
        }
    }

    fn damaged(&self, member: usize, from: u64, why: &str) {
        self.state().worked = true;
        self.bar.warn(&format!("{}{why}; {}", self.named(member), resumes(from)));
    }

    fn mended(&self, member: usize, why: &str) {
        self.state().worked = true;
        self.bar.warn(&format!("{}{why}; written again", self.named(member)));
    }

    /// The outcome of a single run is printed at its end.
    fn failed(&self, member: usize, step: u64, error: &str) {
        let name = &self.names[member];
        if !name.is_empty() {
            let head = paint(To::Err, Paint::Red, "error:");
            self.bar.warn(&format!("{head} {name} failed at step {step}: {error}"));
        }
    }
}

impl ShownProgress {
    /// The step, the loss, the rate, the scores of each condition, the time left.
    fn describe(&self) -> Vec<LinePart> {
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
        parts.extend(self.pace.left().map(|left| (2, format!("{} left", time(left)))));
        parts
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
