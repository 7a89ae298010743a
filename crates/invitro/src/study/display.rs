//! Work on a study as people see it: a bar on a terminal, plain lines elsewhere. Failures are shown at once.

use super::format::count;
use crate::bar::Bar;
use invitro_lab::executor::Reporter;
use invitro_lab::progress::{Progress, Started};
use invitro_lab::study::Cell;
use std::sync::Mutex;

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
}

impl Display {
    /// For a study of `cells`, of which so many are done.
    pub fn new(cells: usize, done: usize) -> Display {
        let bar = Bar::new("{bar:24} step {pos}/{len} · {msg} · {eta} left of this population");
        Display { bar, state: Mutex::new(State { cells, done, ..State::default() }) }
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
}

impl Progress for Display {
    fn preparing(&self, what: &str) {
        if let Some(bar) = self.bar.shown() {
            bar.set_message(format!("making {what}"));
        }
    }

    fn started(&self, start: &Started) {
        let from = if start.from > 0 { format!(" from step {}", start.from) } else { String::new() };
        self.bar.line(&format!("training {} on {}{from}", count(start.members, "cell"), start.device));
        self.bar.start(start);
    }

    fn damaged(&self, _member: usize, from: u64, why: &str) {
        self.bar
            .line(&format!("damaged a checkpoint cannot be read and is removed, going on after step {from}: {why}"));
    }

    fn stepped(&self, step: u64, losses: &[f64], _tokens: u64) {
        if let Some(bar) = self.bar.shown() {
            let mean = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
            let state = self.state();
            bar.set_position(step);
            bar.set_message(format!("{} · loss {mean:.3} · {}", count(state.members, "cell"), state.of_all()));
        }
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
        let text = format!("done    {}  {}  ({})", cell.id, cell.label, state.of_all());
        drop(state);
        self.bar.line(&text);
    }

    fn cell_failed(&self, cell: &Cell, error: &str) {
        self.state().failed += 1;
        self.bar.line(&format!("failed  {}  {}: {error}", cell.id, cell.label));
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
