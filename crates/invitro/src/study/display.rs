//! Work on a study as people see it: a bar on a terminal, elsewhere a line every few seconds. Failures are shown at once.

use super::format::{count, time};
use crate::bar::{Bar, LinePart, joined};
use crate::pace::{Pace, StudyPace, WorkerPace};
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
    pace: StudyPace,
    /// By worker, the mean over its cells.
    losses: Vec<f64>,
    /// When a log is due its next line.
    log: Pace,
    /// What was said already.
    notes: Vec<String>,
    times: Times,
}

impl StudyDisplay {
    /// For a study of `cells`, `done` of them finished, and this many workers.
    pub fn new(cells: usize, done: usize, workers: usize) -> StudyDisplay {
        let (pace, losses) = (StudyPace::new(cells - done, workers), vec![0.0; workers]);
        let state = ShownStudy { cells, done, pace, losses, ..ShownStudy::default() };
        StudyDisplay { bar: Bar::new(), state: Mutex::new(state) }
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
        let training: Vec<&WorkerPace> = self.pace.training().collect();
        let n = training.len().max(1) as f64;
        let done = training.iter().map(|one| one.pace.step as f64 / one.pace.steps.max(1) as f64).sum::<f64>() / n;
        let losses = self.losses.iter().zip(&self.pace.workers).filter(|(_, worker)| worker.is_training);
        let loss = losses.map(|(loss, _)| loss).sum::<f64>() / n;
        let cells = count(training.iter().map(|one| one.members).sum(), "cell");
        let what = match training[..] {
            [WorkerPace { pace: Pace { step, steps, .. }, .. }] => format!("step {step}/{steps} of {cells}"),
            _ => format!("{cells} in {} populations", training.len()),
        };
        let tokens = training.iter().map(|one| one.pace.tokens_per_second()).sum();
        let mut parts = vec![(1, what), (2, format!("loss {loss:.3}")), (4, format!("{} tokens/s", thousands(tokens)))];
        parts.extend(self.pace.left(now).map(|left| (3, format!("{} left in all", time(left)))));
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
        if self.state().pace.training().next().is_none() {
            self.bar().show(None, &[(0, format!("making {what}…"))]);
        }
    }

    fn started(&self, start: &Started) {
        let from = if start.from > 0 { format!(" from step {}", start.from) } else { String::new() };
        self.bar().line(&format!("training {} on {}{from}", count(start.members, "cell"), start.device));
        self.state().pace.start(self.worker, start.from, start.steps, Instant::now());
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
        state.pace.stepped(self.worker, step, tokens, now);
        state.losses[self.worker] = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        let (done, parts) = state.describe(now);
        self.bar().show(Some(done), &parts);
        if !self.bar().is_shown() && state.log.due(now) {
            self.bar().line(&joined(&parts));
        }
    }

    fn evaluated(&self, _member: usize, _step: u64, _headline: &Headline) {
        self.state().pace.workers[self.worker].pace.resume(Instant::now());
    }
}

impl Reporter for WorkerDisplay<'_> {
    fn taken(&self, cells: &[&Cell]) {
        self.state().pace.taken(self.worker, cells.len(), Instant::now());
        for cell in cells {
            self.bar().line(&format!("taken   {}  {}", cell.id, cell.label));
        }
    }

    fn finished(&self, cell: &Cell) {
        let mut state = self.state();
        state.done += 1;
        state.pace.ended(self.worker);
        let done = paint(To::Err, Paint::Green, "done");
        let text = format!("{done}    {}  {}  ({})", cell.id, cell.label, state.of_all());
        drop(state);
        self.bar().line(&text);
    }

    fn cell_failed(&self, cell: &Cell, error: &str) {
        let mut state = self.state();
        state.failed += 1;
        state.pace.ended(self.worker);
        drop(state);
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
        state.pace.workers[self.worker].is_training = false;
        state.times.add(times);
    }
}
