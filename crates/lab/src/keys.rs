//! The keys of an experiment file: what each means, where its default comes from and what is allowed.
//!
//! `experiments/paper.toml` is the one source of all that. Each of its lines is `key = default # [origin; allowed]
//! meaning`, and `invitro config` and `docs/config.md` are made of these lines.
//!
//! To add a key:
//! 1. the field in its section's struct, its value in that struct's `Default`, its range in `validate`;
//! 2. its line in `experiments/paper.toml`, with the same value;
//! 3. `UPDATE_GOLDEN=1 cargo test -p invitro --test config`, which writes `docs/config.md` anew.
//!
//! `tests/keys.rs` fails as long as a step is missing: it compares the values with `Default`, and it sets every key to
//! the ends of what is allowed and beyond. Forms of `allowed` that it can read are `1 to 50`, `above 0 to below 1`,
//! `from 1`, `above 0` and `this | that`; an end may be another key of the section. Any other text needs an entry in the
//! test's table.

use crate::experiment::{Experiment, PAPER, names_file};
use serde::Serialize;
use std::fmt::Write;
use toml::Value;

/// One key of an experiment file.
#[derive(Clone, Debug, Serialize)]
pub struct Key {
    /// Its dotted name, as in `language.distance`.
    pub key: String,
    /// In TOML's notation.
    pub default: &'static str,
    /// Where the default comes from: `paper`, `lubana` or `ours`.
    pub origin: &'static str,
    /// The range, or the values, in words.
    pub allowed: &'static str,
    pub meaning: &'static str,
}

impl Key {
    /// The last part of the dotted name.
    pub fn name(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or_default()
    }
}

/// A line of `experiments/paper.toml`.
enum Line {
    /// A blank line or a comment.
    Text(&'static str),
    /// `[name] # meaning`
    Section {
        name: &'static str,
        meaning: &'static str,
    },
    Key(Key),
}

fn lines() -> impl Iterator<Item = Line> {
    let mut section = "";
    PAPER.lines().map(move |line| {
        if line.is_empty() || line.starts_with('#') {
            return Line::Text(line);
        }
        let (setting, comment) = line.split_once(" # ").expect("every line has a comment");
        if let Some(name) = setting.strip_prefix('[') {
            section = name.trim_end_matches(']');
            return Line::Section { name: section, meaning: comment };
        }
        let (name, default) = setting.split_once(" = ").expect("a key and its value");
        let (source, meaning) = comment.split_once("] ").expect("a comment begins with brackets");
        let (origin, allowed) = source[1..].split_once("; ").expect("the brackets hold an origin and a range");
        let key = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        Line::Key(Key { key, default: default.trim_end(), origin, allowed, meaning })
    })
}

/// Every key, in the order of the file.
pub fn keys() -> Vec<Key> {
    lines().filter_map(|line| if let Line::Key(key) = line { Some(key) } else { None }).collect()
}

/// An experiment as a file with a comment at every key; read back, it is the same experiment.
pub fn commented(experiment: &Experiment) -> String {
    let mut values = experiment.flatten();
    // A file is named by its path again: it stands in no folder of a run.
    for (_, value) in values.iter_mut().filter(|(key, value)| names_file(key, value)) {
        let path = value.as_str().and_then(invitro_files::named::path);
        if let Some(path) = path.and_then(|path| std::path::absolute(path).ok()) {
            *value = Value::String(path.display().to_string());
        }
    }
    let mut file = String::new();
    for line in lines() {
        match line {
            Line::Text(text) => writeln!(file, "{text}"),
            Line::Section { name, meaning } => writeln!(file, "[{name}] # {meaning}"),
            Line::Key(key) => {
                let (_, value) = values.iter().find(|(name, _)| *name == key.key).expect("every key has a value");
                writeln!(file, "{}", setting(&key, value))
            }
        }
        .expect("a string takes everything");
    }
    file
}

/// One key with its value and its comment. The default keeps its spelling; another value stands beside it.
fn setting(key: &Key, value: &Value) -> String {
    let Key { default, origin, allowed, meaning, .. } = key;
    let (value, origin) = match value.to_string() {
        _ if *value == parsed(default) => ((*default).to_owned(), (*origin).to_owned()),
        other => (other, format!("{origin}: {default}")),
    };
    format!("{:<23} # [{origin}; {allowed}] {meaning}", format!("{} = {value}", key.name()))
}

/// A value in TOML's notation.
fn parsed(value: &str) -> Value {
    let table: toml::Table = format!("v = {value}").parse().expect("the preset is valid");
    table["v"].clone()
}

const HEAD: &str = "\
# The keys of an experiment

An experiment is one TOML file. Every command takes `--preset quick` (the default) or `--preset paper`, `--config FILE`
laid over it, and `key=value` over both:

```sh
invitro config > my.toml                              # a complete file to start from, with comments
invitro config --preset paper language.distance=0.5   # the experiment that these arguments give
invitro run --config my.toml seeds.data=0,1,2
```

Defaults are the preset `paper`. *From* says where a default comes from: the **paper**, **lubana** (the work it builds on:
Lubana et al. 2024, A Percolation Model of Emergence), or **ours**, where both leave it open. A value that is not allowed
is refused with a sentence that names the key. A path in a file is relative to that file, one on the command line to where
the command is given; what the file holds is part of the experiment.

This page is the output of `invitro config --reference`.
";

/// Every key as a page of Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    let table = "\n| key | default | allowed | from | meaning |\n|---|---|---|---|---|\n";
    for line in lines() {
        match line {
            Line::Text(_) => {}
            Line::Section { name, meaning } => page.push_str(&format!("\n## `[{name}]`: {meaning}\n{table}")),
            Line::Key(key) => {
                // Keys outside all sections come first.
                if page.len() == HEAD.len() {
                    page.push_str(table);
                }
                let Key { key, default, origin, allowed, meaning } = key;
                let row = [&format!("`{key}`"), &format!("`{default}`"), allowed, origin, meaning];
                page.push_str(&format!("| {} |\n", row.map(|cell| cell.replace('|', "\\|")).join(" | ")));
            }
        }
    }
    page
}
