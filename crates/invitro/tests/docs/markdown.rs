//! As much of Markdown as the pages have: links, headings, and commands in code blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The repository.
pub fn root() -> PathBuf {
    normal(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")))
}

/// Without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

pub struct Page {
    pub path: PathBuf,
    pub text: String,
}

/// A link to a file of the repository, or to a heading of it.
pub struct Link {
    pub target: String,
    pub anchor: Option<String>,
}

impl Link {
    /// The file that a link on this page leads to.
    pub fn file(&self, page: &Page) -> PathBuf {
        match self.target.split('#').next().unwrap_or_default() {
            "" => page.path.clone(),
            file => normal(&page.path.parent().unwrap().join(file)),
        }
    }
}

impl Page {
    pub fn read(path: &Path) -> Page {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Page { path: path.to_owned(), text }
    }

    /// The lines of code blocks, each with what its block is said to be, and those outside.
    fn lines(&self) -> (Vec<(&str, &str)>, Vec<&str>) {
        let (mut code, mut prose) = (Vec::new(), Vec::new());
        let mut block = None;
        for line in self.text.lines() {
            match (block, line.trim_start().strip_prefix("```")) {
                (None, Some(kind)) => block = Some(kind.trim()),
                (Some(_), Some(_)) => block = None,
                (Some(kind), None) => code.push((kind, line.trim_start())),
                (None, None) => prose.push(line),
            }
        }
        (code, prose)
    }

    /// Links to files and headings, pictures too; not those to other places.
    pub fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for line in self.lines().1 {
            // What stands between backticks is code.
            let outside: String = line.split('`').step_by(2).collect();
            for part in outside.split("](").skip(1) {
                let target = part.split(')').next().unwrap_or_default().to_owned();
                if !target.contains("://") {
                    let anchor = target.split_once('#').map(|(_, anchor)| anchor.to_owned());
                    links.push(Link { target, anchor });
                }
            }
        }
        links
    }

    /// What headings are called in links, by GitHub and by mdBook.
    pub fn anchors(&self) -> BTreeSet<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut anchors = BTreeSet::new();
        for line in self.lines().1 {
            let Some((marks, title)) = line.split_once(' ') else { continue };
            if marks.is_empty() || marks.chars().any(|mark| mark != '#') {
                continue;
            }
            let is_kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ' ');
            let anchor = title.trim().to_lowercase().chars().filter(is_kept).collect::<String>().replace(' ', "-");
            let count = counts.entry(anchor.clone()).or_default();
            anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
            *count += 1;
        }
        anchors
    }

    /// The arguments of every call of `invitro` in blocks of commands, and behind `$` in blocks of text.
    pub fn commands(&self) -> Vec<Vec<String>> {
        let (code, _) = self.lines();
        let mut commands = Vec::new();
        let mut line = String::new();
        for (kind, part) in code {
            let begun = !line.is_empty();
            let part = match part.strip_prefix("$ ") {
                Some(command) => command,
                None if kind == "sh" || begun => part,
                None => continue,
            };
            match part.strip_suffix('\\') {
                Some(more) => line.push_str(more),
                None => {
                    line.push_str(part);
                    commands.extend(simple(&std::mem::take(&mut line)).into_iter().filter_map(of_invitro));
                }
            }
        }
        commands
    }
}

/// A line of the shell as its simple commands, quotes and comments taken off.
fn simple(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    for letter in line.chars().chain([' ']) {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, Some(_)) => word.get_or_insert_default().push(letter),
            (' ' | ';' | '|' | '&', None) => {
                commands.last_mut().unwrap().extend(word.take());
                if letter != ' ' {
                    commands.push(Vec::new());
                }
            }
            ('#', None) if word.is_none() => break,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    commands
}

/// What follows `invitro`, or `cargo run … --`; without redirections.
fn of_invitro(mut words: Vec<String>) -> Option<Vec<String>> {
    if words.first().is_some_and(|word| word == "do") {
        words.remove(0);
    }
    let end = words.iter().position(|word| word.starts_with(['<', '>'])).unwrap_or(words.len());
    words.truncate(end);
    let call: Vec<&str> = words.iter().map(String::as_str).collect();
    match call[..] {
        ["invitro", ..] => Some(words.split_off(1)),
        ["cargo", "run", ..] => {
            let place = call.iter().position(|word| *word == "--")?;
            Some(words.split_off(place + 1))
        }
        _ => None,
    }
}
