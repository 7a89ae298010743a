//! The comments of a config, as they fit the terminal.

use crate::terminal;

/// Comments that are too wide continue in comments below, so that the text is the same file on any terminal.
pub fn fitted(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut out = String::new();
    for line in text.lines() {
        let at = comment(line).filter(|_| terminal::columns(line) > width);
        // Between the values of a list a line may end.
        let broken = |setting: &str| {
            if setting.contains('"') { setting.to_owned() } else { terminal::wrap(setting, Some(width)) }
        };
        let Some(at) = at else {
            out.push_str(&format!("{}\n", broken(line)));
            continue;
        };
        let (setting, comment) = (&line[..at], line[at + 1..].trim());
        let fits = terminal::columns(setting) + 2 + 20 <= width;
        let margin = if fits { " ".repeat(terminal::columns(setting)) } else { String::new() };
        let room = width.saturating_sub(margin.len() + 2).max(1);
        if !fits && !setting.is_empty() {
            out.push_str(&format!("{}\n", broken(setting.trim_end())));
        }
        for (place, part) in terminal::wrap(comment, Some(room)).lines().enumerate() {
            let before = if fits && place == 0 { setting } else { &margin };
            out.push_str(&format!("{before}# {part}\n"));
        }
    }
    out
}

/// Where the comment of a line begins.
fn comment(line: &str) -> Option<usize> {
    let mut quoted = false;
    line.char_indices().find_map(|(at, letter)| {
        quoted ^= letter == '"';
        (letter == '#' && !quoted).then_some(at)
    })
}
