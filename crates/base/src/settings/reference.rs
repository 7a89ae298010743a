//! The settings as documentation: an experiment file with a comment at every key, and a page of Markdown.

use super::table::spell;
use super::{NAME, SECTIONS, SectionTable, Setting};
use crate::dotted::{LIST, lookup};
use std::collections::HashSet;
use std::fmt::Write;
use toml::{Table, Value};

/// The section of single languages.
const OF_LANGUAGE: &str = "languages.NAME";

const FILE_HEAD: &str = "\
# An experiment: every key with its value, its meaning and, in brackets, where the default comes from and what is allowed.
# [paper]: from the paper. [lubana]: not in the paper, but in the work it builds on (Lubana et al. 2024, A Percolation
# Model of Emergence). [ours]: in neither. A value that is not the default stands beside the default: [paper: 10; …].
";

/// Examples of a language's keys, in a file that has no list.
const EXAMPLE: [(&str, &str); 14] = [
    ("name", "\"C\""),
    ("parent", "\"B\""),
    ("distance", "0.25"),
    ("share", "0.25"),
    ("grammar", "\"svo\""),
    ("script", "0"),
    ("mask_share", "0.0"),
    ("copies", "1"),
    ("spoken", "true"),
    ("change", "\"edits\""),
    ("morphology", "\"agglutinative\""),
    ("harmony", "false"),
    ("loans", "0.0"),
    ("false_friends", "0.0"),
];

/// An experiment as a file with a comment at every key; read back, it is the same experiment.
pub fn commented(experiment: &Table) -> String {
    let mut file = FILE_HEAD.to_owned();
    let name = experiment.get("name").expect("a complete experiment has every key");
    let _ = writeln!(file, "{}", line(&NAME, name));
    for section in SECTIONS.iter() {
        match (section.name == OF_LANGUAGE, experiment.get(LIST).and_then(Value::as_array)) {
            (true, Some(list)) => file.push_str(&languages(section, list)),
            (true, None) => file.push_str(&example(section)),
            (false, _) => {
                let _ = writeln!(file, "\n[{}] # {}", section.name, section.meaning);
                for setting in &section.settings {
                    let value = lookup(experiment, &setting.key).expect("a complete experiment has every key");
                    let _ = writeln!(file, "{}", line(setting, value));
                }
            }
        }
    }
    file
}

/// The tables of a list, with a comment at a key where it comes first.
fn languages(section: &SectionTable, list: &[Value]) -> String {
    let mut explained: HashSet<&str> = HashSet::new();
    let tables = list.iter().enumerate().map(|(at, entry)| {
        let head = if at == 0 { format!(" # {}", section.meaning) } else { String::new() };
        let mut lines = vec![format!("\n[[{LIST}]]{head}")];
        for (setting, value) in section.settings.iter().filter_map(|it| Some((it, entry.get(it.name())?))) {
            let is_first = explained.insert(&setting.key);
            lines.push(if is_first { line(setting, value) } else { format!("{} = {value}", setting.name()) });
        }
        lines.join("\n") + "\n"
    });
    tables.collect()
}

/// A table of a list, as a comment.
fn example(section: &SectionTable) -> String {
    let mut text = format!("\n# [[{LIST}]] # {}\n", section.meaning);
    for (setting, (_, example)) in section.settings.iter().zip(EXAMPLE) {
        let Setting { default, source, allowed, meaning, .. } = setting;
        let default = if default == example { String::new() } else { format!(": {default}") };
        let head = format!("# {} = {example}", setting.name());
        let _ = writeln!(text, "{head:<23} # [{}{default}; {allowed}] {meaning}", source.name());
    }
    text
}

/// One key with its value and its comment. A value that is not the default has the default beside it.
fn line(setting: &Setting, value: &Value) -> String {
    let Setting { default, source, allowed, meaning, .. } = setting;
    let is_default = setting.default_value().is_some_and(|default| default == *value);
    let (value, beside) =
        if is_default { (default.clone(), String::new()) } else { (value.to_string(), format!(": {default}")) };
    let head = format!("{} = {value}", setting.name());
    format!("{head:<23} # [{}{beside}; {allowed}] {meaning}", source.name())
}

const PAGE_HEAD: &str = "\
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
is refused with a sentence that names the key. A path in a file is relative to that file, a path on the command line to the
current folder. Files that a config refers to are identified by their content.

This page is the output of `invitro config --reference`.
";

const LANGUAGES_HEAD: &str = "
A key is given in the language's table, or over it as `languages.C.distance=0.5`, as a factor of a study, or in a filter: `C`
is the table's `name`. A list in a file replaces the list below it. The order counts: other languages are compared with the
first.
";

const COLUMNS: &str = "\n| key | default | allowed | from | meaning |\n|---|---|---|---|---|\n";

/// Every key as a page of Markdown.
pub fn reference() -> String {
    let mut page = format!("{PAGE_HEAD}{COLUMNS}{}", row(&NAME));
    for section in SECTIONS.iter() {
        let (name, text) = match section.name {
            OF_LANGUAGE => (format!("[[{LIST}]]"), LANGUAGES_HEAD),
            name => (format!("[{name}]"), ""),
        };
        let _ = write!(page, "\n## `{name}`: {}\n{text}{COLUMNS}", section.meaning);
        page.extend(section.settings.iter().map(row));
    }
    page
}

/// A row of its table.
fn row(setting: &Setting) -> String {
    let Setting { key, default, source, allowed, meaning, .. } = setting;
    let default = setting.default_value().map_or_else(|| default.clone(), |value| format!("`{}`", spell(&value)));
    let cells = [&format!("`{key}`"), &default, allowed, source.name(), meaning];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|").replace('<', "\\<")).join(" | "))
}
