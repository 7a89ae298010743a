//! Work on a study as people see it: a bar on a terminal, elsewhere a line every few seconds. Failures are shown at once.

use super::format::{count, time};
use crate::bar::{Bar, Part, joined};
use crate::pace::Pace;
use crate::progress::{goes_on, thousands};
use crate::terminal::{Paint, To, paint};
use invitro_lab::executor::Reporter;
use invitro_lab::progress::{Headline, Progress, Started};
use invitro_lab::study::Cell;
use std::sync::Mutex;
use std::time::Instant;

pub struct Display {
    bar: Bar,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    cells: usize,
    done: usize,
    failed: usize,
    members: usize,
    pace: Pace,
    /// What was said already.
    notes: Vec<String>,
}

impl Display {
    /// For a study of `cells`, of which so many are done.
    pub fn new(cells: usize, done: usize) -> Display {
        Display { bar: Bar::new(), state: Mutex::new(State { cells, done, ..State::default() }) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl State {
    fn of_all(&self) -> String {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        format!("{} of {} done{failed}", self.done, self.cells)
    }

    fn describe(&self, loss: f64, now: Instant) -> Vec<Part> {
        let Pace { step, steps, .. } = self.pace;
        let mut parts = vec![
            (1, format!("step {step}/{steps} of {}", count(self.members, "cell"))),
            (2, format!("loss {loss:.3}")),
            (4, format!("{} tokens/s", thousands(self.pace.tokens_per_second()))),
        ];
        parts.extend(self.pace.left(now).map(|left| (3, format!("{} left", time(left)))));
        parts.push((0, self.of_all()));
        parts
    }
}

impl Progress for Display {
    fn preparing(&self, what: &str) {
        self.bar.show(None, &[(0, format!("making {what}…"))]);
    }

    fn started(&self, start: &Started) {
        let from = if start.from > 0 { format!(" from step {}", start.from) } else { String::new() };
        self.bar.line(&format!("training {} on {}{from}", count(start.members, "cell"), start.device));
        self.state().pace.start(start.from, start.steps, Instant::now());
    }

    fn noted(&self, _member: usize, note: &str) {
        // Cells that differ in other settings have the same notes.
        let mut state = self.state();
        if !state.notes.iter().any(|said| said == note) {
            state.notes.push(note.to_owned());
            self.bar.line(&format!("note: {note}"));
        }
    }

    fn damaged(&self, _member: usize, from: u64, why: &str) {
        self.bar.warn(&format!("{why}; {}", goes_on(from)));
    }

    fn mended(&self, _member: usize, why: &str) {
        self.bar.warn(&format!("{why}; written again"));
    }

    fn stepped(&self, step: u64, losses: &[f64], tokens: u64) {
        let mean = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        let now = Instant::now();
        let mut state = self.state();
        state.pace.stepped(step, tokens, now);
        let parts = state.describe(mean, now);
        self.bar.show(Some(step as f64 / state.pace.steps.max(1) as f64), &parts);
        if !self.bar.is_shown() && state.pace.due(now) {
            self.bar.line(&joined(&parts));
        }
    }

    fn evaluated(&self, _member: usize, _step: u64, _headline: &Headline) {
        self.state().pace.resume(Instant::now());
    }
}

impl Reporter for Display {
    fn taken(&self, cells: &[&Cell]) {
        self.state().members = cells.len();
        for cell in cells {
            self.bar.line(&format!("taken   {}  {}", cell.id, cell.label));
        }
    }

    fn finished(&self, cell: &Cell) {
        let mut state = self.state();
        state.done += 1;
        let done = paint(To::Err, Paint::Green, "done");
        let text = format!("{done}    {}  {}  ({})", cell.id, cell.label, state.of_all());
        drop(state);
        self.bar.line(&text);
    }

    fn cell_failed(&self, cell: &Cell, error: &str) {
        self.state().failed += 1;
        let failed = paint(To::Err, Paint::Red, "failed");
        self.bar.warn(&format!("{failed}  {}  {}: {error}", cell.id, cell.label));
    }

    fn taken_again(&self, cell: &Cell, why: &str) {
        self.bar.line(&format!("again   {}  {}: its results cannot be used: {why}", cell.id, cell.label));
    }

    fn halved(&self, members: usize, why: &str) {
        self.bar.line(&format!("halved  a population of {members}: {why}"));
    }

    fn lost(&self, cell: &Cell) {
        self.bar.line(&format!("lost    {}  {}: another worker has taken it over", cell.id, cell.label));
    }

    fn waiting(&self, held: usize) {
        self.bar.line(&format!("waiting for others, who are at work on {}", count(held, "cell")));
    }
}
