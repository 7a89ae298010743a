//! Work on a study as people see it: a bar on a terminal, elsewhere a line every few seconds. Failures are shown at once.

use super::format::{count, time};
use crate::bar::{Bar, LinePart, joined};
use crate::pace::Pace;
use crate::progress::{resumes, thousands};
use crate::terminal::{Paint, To, paint};
use invitro_lab::executor::Reporter;
use invitro_lab::study::Cell;
use invitro_lab::training::activity::Times;
use invitro_lab::training::progress::{Headline, Progress, Started};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

pub struct StudyDisplay {
    bar: Bar,
    state: Mutex<ShownStudy>,
}

/// What one worker tells of its population.
pub struct WorkerDisplay<'a> {
    display: &'a StudyDisplay,
    worker: usize,
}

#[derive(Default)]
struct ShownStudy {
    cells: usize,
    done: usize,
    failed: usize,
    /// By worker.
    populations: Vec<ShownPopulation>,
    /// When a log is due its next line.
    log: Pace,
    /// What was said already.
    notes: Vec<String>,
    times: Times,
}

#[derive(Default)]
struct ShownPopulation {
    members: usize,
    pace: Pace,
    loss: f64,
    is_training: bool,
}

impl StudyDisplay {
    /// For a study of `cells`, `done` of them finished, and this many workers.
    pub fn new(cells: usize, done: usize, workers: usize) -> StudyDisplay {
        let populations = (0..workers).map(|_| ShownPopulation::default()).collect();
        StudyDisplay {
            bar: Bar::new(),
            state: Mutex::new(ShownStudy { cells, done, populations, ..ShownStudy::default() }),
        }
    }

    pub fn worker(&self, worker: usize) -> WorkerDisplay<'_> {
        WorkerDisplay { display: self, worker }
    }

    /// What the time of all workers that have ended went to.
    pub fn times(&self) -> Times {
        self.state().times.clone()
    }

    fn state(&self) -> MutexGuard<'_, ShownStudy> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl ShownStudy {
    fn of_all(&self) -> String {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        format!("{} of {} done{failed}", self.done, self.cells)
    }

    /// The share that is done of what trains now, and the line.
    fn describe(&self, now: Instant) -> (f64, Vec<LinePart>) {
        let training: Vec<&ShownPopulation> = self.populations.iter().filter(|one| one.is_training).collect();
        let mean = |of: fn(&ShownPopulation) -> f64| {
            training.iter().map(|one| of(one)).sum::<f64>() / training.len().max(1) as f64
        };
        let done = mean(|one| one.pace.step as f64 / one.pace.steps.max(1) as f64);
        let cells = count(training.iter().map(|one| one.members).sum(), "cell");
        let what = match training[..] {
            [ShownPopulation { pace: Pace { step, steps, .. }, .. }] => format!("step {step}/{steps} of {cells}"),
            _ => format!("{cells} in {} populations", training.len()),
        };
        let tokens = training.iter().map(|one| one.pace.tokens_per_second()).sum();
        let mut parts = vec![
            (1, what),
            (2, format!("loss {:.3}", mean(|one| one.loss))),
            (4, format!("{} tokens/s", thousands(tokens))),
        ];
        let left = training.iter().filter_map(|one| one.pace.left(now)).reduce(f64::max);
        parts.extend(left.map(|left| (3, format!("{} left", time(left)))));
        parts.push((0, self.of_all()));
        (done, parts)
    }
}

impl WorkerDisplay<'_> {
    fn bar(&self) -> &Bar {
        &self.display.bar
    }

    fn state(&self) -> MutexGuard<'_, ShownStudy> {
        self.display.state()
    }
}

impl Progress for WorkerDisplay<'_> {
    fn preparing(&self, what: &str) {
        // Where others train, their line says more.
        if !self.state().populations.iter().any(|one| one.is_training) {
            self.bar().show(None, &[(0, format!("making {what}…"))]);
        }
    }

    fn started(&self, start: &Started) {
        let from = if start.from > 0 { format!(" from step {}", start.from) } else { String::new() };
        self.bar().line(&format!("training {} on {}{from}", count(start.members, "cell"), start.device));
        let population = &mut self.state().populations[self.worker];
        population.pace.start(start.from, start.steps, Instant::now());
        population.is_training = true;
    }

    fn note(&self, _member: usize, note: &str) {
        // Cells that differ in other settings have the same notes.
        let mut state = self.state();
        if !state.notes.iter().any(|said| said == note) {
            state.notes.push(note.to_owned());
            self.bar().line(&format!("note: {note}"));
        }
    }

    fn damaged(&self, _member: usize, from: u64, why: &str) {
        self.bar().warn(&format!("{why}; {}", resumes(from)));
    }

    fn mended(&self, _member: usize, why: &str) {
        self.bar().warn(&format!("{why}; written again"));
    }

    fn stepped(&self, step: u64, losses: &[f64], tokens: u64) {
        let now = Instant::now();
        let mut state = self.state();
        let population = &mut state.populations[self.worker];
        population.pace.stepped(step, tokens, now);
        population.loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        let (done, parts) = state.describe(now);
        self.bar().show(Some(done), &parts);
        if !self.bar().is_shown() && state.log.due(now) {
            self.bar().line(&joined(&parts));
        }
    }

    fn evaluated(&self, _member: usize, _step: u64, _headline: &Headline) {
        self.state().populations[self.worker].pace.resume(Instant::now());
    }
}

impl Reporter for WorkerDisplay<'_> {
    fn taken(&self, cells: &[&Cell]) {
        let population = &mut self.state().populations[self.worker];
        (population.members, population.is_training) = (cells.len(), false);
        for cell in cells {
            self.bar().line(&format!("taken   {}  {}", cell.id, cell.label));
        }
    }

    fn finished(&self, cell: &Cell) {
        let mut state = self.state();
        state.done += 1;
        let done = paint(To::Err, Paint::Green, "done");
        let text = format!("{done}    {}  {}  ({})", cell.id, cell.label, state.of_all());
        drop(state);
        self.bar().line(&text);
    }

    fn cell_failed(&self, cell: &Cell, error: &str) {
        self.state().failed += 1;
        let failed = paint(To::Err, Paint::Red, "failed");
        self.bar().warn(&format!("{failed}  {}  {}: {error}", cell.id, cell.label));
    }

    fn taken_again(&self, cell: &Cell, why: &str) {
        self.bar().line(&format!("again   {}  {}: its results cannot be used: {why}", cell.id, cell.label));
    }

    fn halved(&self, members: usize, why: &str) {
        self.bar().line(&format!("halved  a population of {members}: {why}"));
    }

    fn taken_over(&self, cell: &Cell) {
        self.bar().line(&format!("lost    {}  {}: another worker has taken it over", cell.id, cell.label));
    }

    fn waiting(&self, held: usize) {
        self.bar().line(&format!("waiting for others, who are at work on {}", count(held, "cell")));
    }

    fn gave_up(&self, error: &str) {
        self.bar().warn(&format!("a worker has ended, the others continue: {error}"));
    }

    fn timed(&self, times: &Times) {
        let mut state = self.state();
        state.populations[self.worker].is_training = false;
        state.times.add(times);
    }
}
