//! Whether the command line knows a command, its options and its settings: as its own help has them.

use crate::common::stdout;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Help {
    commands: BTreeSet<String>,
    /// Options, and whether a value follows.
    options: BTreeMap<String, bool>,
    /// Whether it takes settings.
    settings: bool,
}

#[derive(Default)]
pub struct Known {
    helps: BTreeMap<Vec<String>, Help>,
    keys: BTreeSet<String>,
}

impl Known {
    /// An error says what is not known.
    pub fn check(&mut self, words: &[String]) -> Result<(), String> {
        let mut path: Vec<String> = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let help = self.helps.entry(path.clone()).or_insert_with(|| help(&path));
            if word.starts_with('-') && word.len() > 1 {
                let (name, value) =
                    word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
                match help.options.get(name) {
                    Some(true) if value.is_none() => drop(words.next()),
                    Some(_) => {}
                    None => return Err(format!("there is no option {name}")),
                }
            } else if !help.commands.is_empty() {
                if !help.commands.contains(word) {
                    return Err(format!("there is no command {word}"));
                }
                path.push(word.clone());
            } else if let (true, Some((key, _))) = (help.settings, word.split_once('=')) {
                self.has_key(key)?;
            }
        }
        Ok(())
    }

    fn has_key(&mut self, key: &str) -> Result<(), String> {
        if self.keys.is_empty() {
            // | `language.distance` | `0.25` | …
            let reference = stdout(&["config", "--reference"]);
            let key = |line: &str| Some(line.strip_prefix("| `")?.split('`').next()?.to_owned());
            self.keys = reference.lines().filter_map(key).collect();
        }
        let mut parts: Vec<&str> = key.split('.').collect();
        if let ["languages", name, _] = &mut parts[..] {
            *name = "NAME";
        }
        if self.keys.contains(&parts.join(".")) { Ok(()) } else { Err(format!("there is no setting {key}")) }
    }
}

/// What `--help` says of a command.
fn help(path: &[String]) -> Help {
    let args: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let text = stdout(&args);
    let mut help = Help { settings: text.contains("[KEY=VALUE]"), ..Help::default() };
    let mut in_commands = false;
    for line in text.lines() {
        if !line.starts_with(' ') {
            in_commands = line == "Commands:";
        } else if let (true, Some(rest)) = (in_commands, line.strip_prefix("  ")) {
            // Further lines of a meaning are indented more.
            help.commands.extend(rest.split(' ').next().filter(|name| !name.is_empty()).map(str::to_owned));
        } else if line.trim_start().starts_with('-') {
            let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
            let names = words.iter().take_while(|word| word.starts_with('-')).count();
            let value = words.get(names).is_some_and(|word| word.starts_with('<'));
            help.options.extend(words[..names].iter().map(|name| ((*name).to_owned(), value)));
        }
    }
    help
}
