//! The keys of an experiment file: what each means, where its default comes from and what is allowed.
//!
//! `experiments/paper.toml` is the one source of all that. Each of its lines is `key = default # [origin; allowed]
//! meaning`, and `invitro config` and `docs/config.md` are made of these lines. The keys of `[[languages]]`, of which the
//! paper has none, stand there as a comment: `# key = example # [origin: default in words; allowed] meaning`.
//!
//! To add a key:
//! 1. the field in its section's struct, its value in that struct's `Default`, its range in `validate`;
//! 2. its line in `experiments/paper.toml`, with the same value;
//! 3. `UPDATE_GOLDEN=1 cargo test --workspace config::`, which writes `docs/config.md` anew.
//!
//! `tests/keys.rs` fails as long as a step is missing: it compares the values with `Default`, and it sets every key to
//! the ends of what is allowed and beyond. Forms of `allowed` that it can read are `1 to 50`, `above 0 to below 1`,
//! `from 1`, `above 0` and `this | that`; an end may be another key of the section. Any other text needs an entry in the
//! test's table.

use crate::experiment::{Experiment, PAPER, names_file, table_of};
use invitro_base::dotted::{LIST, assign, leaves, lookup};
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::Write;
use toml::{Table, Value};

/// One key of an experiment file.
#[derive(Clone, Debug, Serialize)]
pub struct Key {
    /// Its dotted name, as in `language.distance`; of a language in a list, `languages.NAME.distance`.
    pub key: String,
    /// In TOML's notation, or in words where that has none.
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
    Text,
    /// `[name] # meaning`
    Section {
        name: &'static str,
        meaning: &'static str,
    },
    Key(Key),
    /// `# [[languages]] # meaning`
    List {
        meaning: &'static str,
    },
    /// `# key = example # …`
    OfLanguage(Key),
}

/// Every line, as it stands and as it is meant.
fn lines() -> impl Iterator<Item = (&'static str, Line)> {
    let mut section = "";
    let mut in_list = false;
    PAPER.lines().map(move |line| {
        let list = line.strip_prefix("# [[languages]] # ");
        in_list = list.is_some() || in_list && !line.is_empty();
        let parsed = match list {
            Some(meaning) => Line::List { meaning },
            None if in_list => Line::OfLanguage(key(&format!("{LIST}.NAME"), line.trim_start_matches("# "))),
            None if line.is_empty() || line.starts_with('#') => Line::Text,
            None => match line.strip_prefix('[').and_then(|line| line.split_once("] # ")) {
                Some((name, meaning)) => {
                    section = name;
                    Line::Section { name, meaning }
                }
                None => Line::Key(key(section, line)),
            },
        };
        (line, parsed)
    })
}

/// `key = value # [origin; allowed] meaning`, or with the default beside the origin.
fn key(section: &str, line: &'static str) -> Key {
    let (setting, comment) = line.split_once(" # ").expect("every line has a comment");
    let (name, value) = setting.split_once(" = ").expect("a key and its value");
    let (source, meaning) = comment.split_once("] ").expect("a comment begins with brackets");
    let (origin, allowed) = source[1..].split_once("; ").expect("the brackets hold an origin and a range");
    let (origin, default) = origin.split_once(": ").unwrap_or((origin, value.trim_end()));
    let key = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
    Key { key, default, origin, allowed, meaning }
}

/// Every key outside the list of languages, in the order of the file.
pub fn keys() -> Vec<Key> {
    lines().filter_map(|(_, line)| if let Line::Key(key) = line { Some(key) } else { None }).collect()
}

/// The keys of a language in the list.
pub fn of_language() -> Vec<Key> {
    lines().filter_map(|(_, line)| if let Line::OfLanguage(key) = line { Some(key) } else { None }).collect()
}

/// An experiment as a file with a comment at every key; read back, it is the same experiment.
pub fn commented(experiment: &Experiment) -> String {
    let mut table = table_of(experiment);
    // A file is named by its path again: it stands in no folder of a run.
    for (key, value) in leaves(&table).into_iter().filter(|(key, value)| names_file(key, value)) {
        let path = value.as_str().and_then(invitro_base::named_files::path);
        if let Some(path) = path.and_then(|path| std::path::absolute(path).ok()) {
            assign(&mut table, &key, Value::String(path.display().to_string())).expect("a key that was found");
        }
    }
    let list = table.get(LIST).and_then(Value::as_array);
    let mut file = String::new();
    for (text, line) in lines() {
        match (line, list) {
            (Line::Section { name, meaning }, _) => writeln!(file, "[{name}] # {meaning}"),
            (Line::Key(key), _) => {
                let value = lookup(&table, &key.key).expect("every key has a value");
                writeln!(file, "{}", setting(&key, value))
            }
            (Line::List { meaning }, Some(list)) => write!(file, "{}", languages(list, meaning)),
            (Line::OfLanguage(_), Some(_)) => Ok(()),
            (Line::Text | Line::List { .. } | Line::OfLanguage(_), _) => writeln!(file, "{text}"),
        }
        .expect("a string takes everything");
    }
    file
}

/// The tables of a list, with a comment at a key where it comes first.
fn languages(list: &[Value], meaning: &str) -> String {
    let keys = of_language();
    let mut told: HashSet<&str> = HashSet::new();
    let tables = list.iter().enumerate().map(|(at, entry)| {
        let mut lines = vec![if at == 0 { format!("[[{LIST}]] # {meaning}") } else { format!("\n[[{LIST}]]") }];
        for (key, value) in keys.iter().filter_map(|key| Some((key, entry.get(key.name())?))) {
            let is_new = told.insert(&key.key);
            lines.push(if is_new { setting(key, value) } else { format!("{} = {value}", key.name()) });
        }
        lines.join("\n") + "\n"
    });
    tables.collect()
}

/// One key with its value and its comment. The default keeps its spelling; another value stands beside it.
fn setting(key: &Key, value: &Value) -> String {
    let Key { default, origin, allowed, meaning, .. } = key;
    let (value, origin) = match value.to_string() {
        _ if parsed(default).is_some_and(|default| default == *value) => ((*default).to_owned(), (*origin).to_owned()),
        other => (other, format!("{origin}: {default}")),
    };
    format!("{:<23} # [{origin}; {allowed}] {meaning}", format!("{} = {value}", key.name()))
}

/// A value in TOML's notation; none if it is in words.
fn parsed(value: &str) -> Option<Value> {
    format!("v = {value}").parse::<Table>().ok()?.remove("v")
}

const HEAD: &str = "\
# The keys of an experiment

An experiment is one TOML file. Every command takes `--preset quick` (the default), `paper` or `converged`, `--config FILE`
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

const OF_LANGUAGES: &str = "
A key is given in the language's table, or over it as `languages.C.distance=0.5`, as a factor of a study, or in a filter: `C`
is the table's `name`. A list in a file replaces the list below it whole. The order counts: the first language is the one that
others are compared with.
";

/// Every key as a page of Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    let table = "\n| key | default | allowed | from | meaning |\n|---|---|---|---|---|\n";
    for (_, line) in lines() {
        match line {
            Line::Text => {}
            Line::Section { name, meaning } => page.push_str(&format!("\n## `[{name}]`: {meaning}\n{table}")),
            Line::List { meaning } => {
                page.push_str(&format!("\n## `[[{LIST}]]`: {meaning}\n{OF_LANGUAGES}{table}"));
            }
            Line::Key(key) | Line::OfLanguage(key) => {
                // Keys outside all sections come first.
                if page.len() == HEAD.len() {
                    page.push_str(table);
                }
                let Key { key, default, origin, allowed, meaning } = key;
                let default = if parsed(default).is_some() { format!("`{default}`") } else { default.to_owned() };
                let row = [&format!("`{key}`"), &default, allowed, origin, meaning];
                let row = row.map(|cell| cell.replace('|', "\\|").replace('<', "\\<"));
                page.push_str(&format!("| {} |\n", row.join(" | ")));
            }
        }
    }
    page
}
