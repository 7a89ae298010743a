//! A line that changes in place on a terminal, and plain lines above it; elsewhere a line every few seconds.

use crate::terminal::{self, Paint, To};
use indicatif::{ProgressBar, ProgressStyle};

pub struct Bar(Option<ProgressBar>);

/// A part of the line, with how soon it gives way where the terminal is narrow: the largest goes first.
pub type LinePart = (u8, String);

impl Bar {
    pub fn new() -> Bar {
        Bar((terminal::width(To::Err).is_some() && !terminal::is_quiet()).then(|| {
            let bar = ProgressBar::new(0);
            bar.set_style(ProgressStyle::with_template("{msg}").expect("the template is plain"));
            bar
        }))
    }

    /// Whether there is a terminal to show it on.
    pub fn is_shown(&self) -> bool {
        self.0.is_some()
    }

    /// Puts the parts into the line; the share that is done is drawn before them.
    pub fn show(&self, done: Option<f64>, parts: &[LinePart]) {
        if let Some(bar) = &self.0 {
            bar.set_message(line(done, parts, terminal::width(To::Err).unwrap_or(usize::MAX)));
        }
    }

    /// A line of its own.
    pub fn line(&self, text: &str) {
        self.above(|| terminal::note(text));
    }

    /// A line that is printed even with `--quiet`.
    pub fn warn(&self, text: &str) {
        self.above(|| terminal::warn(text));
    }

    fn above(&self, tell: impl FnOnce()) {
        match &self.0 {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// The parts between dots.
pub fn joined(parts: &[LinePart]) -> String {
    parts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" · ")
}

/// Columns of the drawn share.
const DRAWN: usize = 16;
/// Parts above this give way before the drawn share does.
const DRAWN_RANK: u8 = 10;

/// The line, less wide than the terminal: on some the last column already breaks it.
pub fn line(done: Option<f64>, parts: &[LinePart], width: usize) -> String {
    let mut parts = parts.to_vec();
    let mut done = done;
    let fits = |parts: &[LinePart], done: Option<f64>| {
        terminal::columns(&joined(parts)) + if done.is_some() { DRAWN + 1 } else { 0 } < width
    };
    while !fits(&parts, done) {
        let last = parts.iter().enumerate().max_by_key(|(_, part)| part.0).map(|(place, part)| (place, part.0));
        match last {
            Some((_, rank)) if done.is_some() && rank <= DRAWN_RANK => done = None,
            Some((place, _)) if parts.len() > 1 => drop(parts.remove(place)),
            // Whole words, up to the width.
            _ => {
                let lines = terminal::wrap(&joined(&parts), Some(width.saturating_sub(1)));
                let first = lines.lines().next().unwrap_or_default();
                return first.chars().take(width.saturating_sub(1)).collect();
            }
        }
    }
    let drawn = done.map_or(String::new(), |done| {
        let full = (done.clamp(0.0, 1.0) * DRAWN as f64).floor() as usize;
        let (full, rest) = ("█".repeat(full), "░".repeat(DRAWN - full));
        terminal::paint(To::Err, Paint::Cyan, &full) + &terminal::paint(To::Err, Paint::Faint, &rest) + " "
    });
    drawn + &joined(&parts)
}
