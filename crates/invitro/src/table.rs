//! Tables that fit the terminal: columns as wide as their widest cell, told in parts one under another where they are
//! too many to stand side by side.

use crate::terminal::{Paint, To, columns, paint, wrap};

/// Between two columns.
pub const GAP: usize = 2;
/// A column of words is made no narrower than this before others give way.
const LEAST: usize = 20;

fn widest<'a>(cells: impl Iterator<Item = &'a String>) -> usize {
    cells.map(|cell| columns(cell)).max().unwrap_or(0)
}

fn pad(cell: &str, width: usize, left: bool) -> String {
    let fill = " ".repeat(width.saturating_sub(columns(cell)));
    if left { format!("{cell}{fill}") } else { format!("{fill}{cell}") }
}

/// The first row of a table of results.
pub fn heads(cells: impl IntoIterator<Item = String>) -> Vec<String> {
    cells.into_iter().map(|cell| paint(To::Out, Paint::Bold, &cell)).collect()
}

/// Rows of a name and numbers; the first row has the heads. Numbers stand to the right, and names are broken between
/// words if need be.
pub fn numbers(rows: &[Vec<String>], width: Option<usize>) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide: Vec<usize> = (0..count).map(|c| widest(rows.iter().filter_map(|row| row.get(c))) + GAP).collect();
    let name = wide.first().map_or(0, |wide| wide - GAP);
    let width = width.unwrap_or(usize::MAX);
    let numbers: usize = wide.iter().skip(1).sum();
    // All side by side, with a narrower name if need be; else as many at a time as fit.
    let name = if name + numbers <= width { name } else { name.min(LEAST.max(width.saturating_sub(numbers))) };
    let mut out = Vec::new();
    let mut start = 1;
    while start < count {
        let mut end = start + 1;
        let mut used = name + wide[start];
        while end < count && used + wide[end] <= width {
            used += wide[end];
            end += 1;
        }
        if start > 1 {
            out.push(String::new());
        }
        for row in rows {
            let cells: String =
                (start..end).map(|c| pad(row.get(c).map_or("", String::as_str), wide[c], false)).collect();
            if start > 1 && cells.trim().is_empty() {
                continue;
            }
            let wrapped = wrap_name(&row[0], name);
            let (last, before) = wrapped.split_last().expect("a text has a line");
            out.extend(before.iter().cloned());
            out.push(format!("{}{cells}", pad(last, name, true)).trim_end().to_owned());
        }
        start = end;
    }
    out.join("\n")
}

/// A name over several lines, the later ones set in a little more.
fn wrap_name(name: &str, width: usize) -> Vec<String> {
    let indent = name.len() - name.trim_start().len();
    let lines = wrap(name, Some(width.saturating_sub(2).max(1)));
    let mut lines: Vec<String> = if columns(name) <= width {
        vec![name.to_owned()]
    } else {
        lines.split('\n').map(|line| line.trim_start().to_owned()).collect()
    };
    for (place, line) in lines.iter_mut().enumerate().filter(|_| columns(name) > width) {
        *line = format!("{}{line}", " ".repeat(indent + if place > 0 { 2 } else { 0 }));
    }
    lines
}

/// Rows of texts, all to the left; the last column is broken between words, and stands under the others where it has no
/// room beside them.
pub fn texts(rows: &[Vec<String>], width: Option<usize>) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide: Vec<usize> =
        (0..count.max(1) - 1).map(|c| widest(rows.iter().filter_map(|row| row.get(c))) + GAP).collect();
    let before: usize = wide.iter().sum();
    let last = widest(rows.iter().filter_map(|row| row.get(count.max(1) - 1)));
    let fits = width.is_none_or(|width| before + last.min(LEAST) <= width);
    let mut out = Vec::new();
    for row in rows {
        let head: String = wide.iter().zip(row).map(|(wide, cell)| pad(cell, *wide, true)).collect();
        let text = row.get(wide.len()).map_or("", String::as_str);
        let (margin, under) = if fits { (before, false) } else { (4, true) };
        let wrapped = wrap(text, width.map(|width| width.saturating_sub(margin).max(1)));
        let mut lines = wrapped.split('\n');
        if under {
            out.extend(wrap(head.trim_end(), width).split('\n').map(str::to_owned));
        } else {
            out.push(format!("{head}{}", lines.next().unwrap_or_default()).trim_end().to_owned());
        }
        out.extend(lines.filter(|line| !line.is_empty()).map(|line| format!("{}{line}", " ".repeat(margin))));
    }
    out.join("\n")
}
