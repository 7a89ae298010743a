//! `invitro config`: the experiment that the arguments give, or every key there is.

use crate::experiment::ExperimentArgs;
use crate::terminal::{self, To};
use anyhow::Result;
use invitro_lab::keys::{commented, keys, of_language, reference};
use std::process::ExitCode;

/// Print the experiment as a file with comments, to start from; or the reference of all keys
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Every key with its meaning, default and range, as Markdown
    #[arg(long, conflicts_with_all = ["preset", "config", "seed", "overrides"])]
    reference: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let text = match (args.reference, args.json) {
        (false, false) => fitted(&commented(&args.experiment.load()?), terminal::width(To::Out)),
        (false, true) => serde_json::to_string_pretty(&args.experiment.load()?)?,
        (true, false) => reference(),
        (true, true) => serde_json::to_string_pretty(&[keys(), of_language()].concat())?,
    };
    emit!("{}", text.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Comments that are too wide go on in comments below, so that the text is the same file on any terminal.
fn fitted(text: &str, width: Option<usize>) -> String {
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
        let beside = terminal::columns(setting) + 2 + 20 <= width;
        let margin = if beside { " ".repeat(terminal::columns(setting)) } else { String::new() };
        let room = width.saturating_sub(margin.len() + 2).max(1);
        if !beside && !setting.is_empty() {
            out.push_str(&format!("{}\n", broken(setting.trim_end())));
        }
        for (place, part) in terminal::wrap(comment, Some(room)).lines().enumerate() {
            let before = if beside && place == 0 { setting } else { &margin };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_broken_into_comments() {
        let paper = invitro_lab::Experiment::preset("paper").unwrap();
        let text = commented(&paper);
        for width in [40, 60, 80, 110] {
            let fitted = fitted(&text, Some(width));
            assert!(fitted.lines().all(|line| terminal::columns(line) <= width), "{width}:\n{fitted}");
            assert_eq!(invitro_lab::Experiment::from_toml(&fitted, "it").unwrap(), paper);
        }
        assert_eq!(
            fitted("name = \"a # b\" # long enough a comment", Some(37)),
            "name = \"a # b\" # long enough a\n               # comment\n"
        );
    }
}
