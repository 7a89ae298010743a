//! The terminal: how wide it is, whether it shows colours, whether anything but results is wanted; and text that fits.
//!
//! Whatever is no terminal, such as a file or a pipe, has no width and no colours: lines are whole, and bytes do not
//! depend on where they were made.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Where text goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// Results.
    Out,
    /// Progress, notes and errors.
    Err,
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Notes and progress are left out from here on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Of a terminal that does not tell.
const USUAL: usize = 80;

/// The columns of the terminal, `None` where there is none.
pub fn width(to: To) -> Option<usize> {
    let term = match to {
        To::Out => console::Term::stdout(),
        To::Err => console::Term::stderr(),
    };
    term.is_term().then(|| term.size_checked().map_or(USUAL, |(_, columns)| usize::from(columns)).max(1))
}

/// Whether colours are shown: on a terminal that has them, unless `NO_COLOR` is set.
pub fn colours(to: To) -> bool {
    let terminal = match to {
        To::Out => std::io::stdout().is_terminal(),
        To::Err => std::io::stderr().is_terminal(),
    };
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// How a text stands out.
#[derive(Clone, Copy)]
pub enum Paint {
    Bold,
    Faint,
    Red,
    Green,
    Yellow,
    Cyan,
}

/// The text so painted, where colours are shown.
pub fn paint(to: To, paint: Paint, text: &str) -> String {
    let code = match paint {
        Paint::Bold => 1,
        Paint::Faint => 2,
        Paint::Red => 31,
        Paint::Green => 32,
        Paint::Yellow => 33,
        Paint::Cyan => 36,
    };
    if colours(to) && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// The columns that a text takes.
pub fn columns(text: &str) -> usize {
    console::measure_text_width(text)
}

/// Every line broken between words where it is wider than the terminal. A continuation is indented as far as its line;
/// a word that is wider than the terminal stays whole.
pub fn wrap(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    text.split('\n').map(|line| wrap_line(line, width)).collect::<Vec<_>>().join("\n")
}

fn wrap_line(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    let margin = &line[..indent];
    let mut out = margin.to_owned();
    let mut used = indent;
    let mut gap = 0;
    let mut is_first = true;
    for word in line[indent..].split(' ') {
        let wide = columns(word);
        if !is_first && used + gap + wide > width {
            out.push('\n');
            out.push_str(margin);
            (used, gap) = (indent, 0);
        }
        out.push_str(&" ".repeat(gap));
        out.push_str(word);
        used += gap + wide;
        // An empty word is one more space between two.
        (gap, is_first) = if word.is_empty() { (gap.max(1), is_first) } else { (1, false) };
    }
    out
}

/// Prints to standard output, wrapped to its width.
pub fn fit(text: &str) -> String {
    wrap(text, width(To::Out))
}

/// Tells something on standard error that may be left out.
pub fn note(text: &str) {
    if !is_quiet() {
        warn(text);
    }
}

/// Tells something on standard error that may not. Nobody may read it: a closed pipe or a full disk ends no training.
pub fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", wrap(text, width(To::Err)));
}

/// Tells of an error.
pub fn error(text: &str) {
    warn(&format!("{} {text}", paint(To::Err, Paint::Red, "error:")));
}
