//! Work on a study as people see it: a bar on a terminal, plain lines elsewhere. Failures are shown at once.

use super::amounts::count;
use indicatif::{ProgressBar, ProgressStyle};
use invitro_lab::executor::Reporter;
use invitro_lab::progress::{Progress, Started};
use invitro_lab::study::Cell;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

pub struct Display {
    bar: Option<ProgressBar>,
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
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            let style = "{bar:24} step {pos}/{len} · {msg} · {eta} left of this population";
            bar.set_style(ProgressStyle::with_template(style).expect("the template is plain"));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Display { bar, state: Mutex::new(State { cells, done, ..State::default() }) }
    }

    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
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
        if let Some(bar) = &self.bar {
            bar.set_message(format!("making {what}"));
        }
    }

    fn started(&self, start: &Started) {
        let from = if start.from > 0 { format!(" from step {}", start.from) } else { String::new() };
        self.line(&format!("training {} on {}{from}", count(start.members, "cell"), start.device));
        if let Some(bar) = &self.bar {
            bar.set_length(start.steps);
            bar.set_position(start.from);
            bar.reset_eta();
        }
    }

    fn damaged(&self, _member: usize, from: u64, why: &str) {
        self.line(&format!("damaged a checkpoint cannot be read and is removed, going on after step {from}: {why}"));
    }

    fn stepped(&self, step: u64, losses: &[f64], _tokens: u64) {
        if let Some(bar) = &self.bar {
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
            self.line(&format!("taken   {}  {}", cell.id, cell.label()));
        }
    }

    fn finished(&self, cell: &Cell) {
        let mut state = self.state();
        state.done += 1;
        let text = format!("done    {}  {}  ({})", cell.id, cell.label(), state.of_all());
        drop(state);
        self.line(&text);
    }

    fn cell_failed(&self, cell: &Cell, error: &str) {
        self.state().failed += 1;
        self.line(&format!("failed  {}  {}: {error}", cell.id, cell.label()));
    }

    fn halved(&self, members: usize, why: &str) {
        self.line(&format!("halved  a population of {members}: {why}"));
    }

    fn lost(&self, cell: &Cell) {
        self.line(&format!("lost    {}  {}: another worker has taken it over", cell.id, cell.label()));
    }

    fn waiting(&self, held: usize) {
        self.line(&format!("waiting for others, who are at work on {}", count(held, "cell")));
    }
}
