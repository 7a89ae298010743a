//! Examples in the help, and what shells complete.

use crate::common::invitro;
use std::process::Command;

/// Every command below one, with its path.
fn all(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    found.push((path.to_owned(), help));
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        all(sub, format!("{path} {}", sub.get_name()).trim(), found);
    }
}

#[test]
fn every_commands_help_ends_with_examples_that_are_commands() {
    let mut commands = Vec::new();
    all(&invitro::command(), "", &mut commands);
    assert!(commands.len() > 30);
    for (path, help) in commands {
        let (_, examples) =
            help.split_once("Examples:\n").unwrap_or_else(|| panic!("`invitro {path}` has no examples"));
        let lines: Vec<&str> = examples.lines().filter(|line| line.starts_with("  invitro")).map(str::trim).collect();
        assert!((2..=3).contains(&lines.len()) && examples.lines().count() == 2 * lines.len(), "{path}: {examples}");
        for line in lines {
            assert!(line.starts_with(format!("invitro {path}").trim()), "{path}: {line}");
            let words = line.split(['<', '>']).next().unwrap().split_whitespace();
            if let Err(error) = invitro::command().try_get_matches_from(words) {
                panic!("{line}: {error}");
            }
        }
    }
}

/// What a shell is answered while the last of these words is typed.
fn completed(shell: &str, words: &[&str]) -> Vec<String> {
    let index = words.len().to_string();
    let mut command = invitro(&[&["--", "invitro"], words].concat());
    command.env("COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn shells_complete_presets_devices_keys_and_values() {
    assert_eq!(completed("bash", &["run", "--preset", ""]), ["quick", "first", "paper", "converged"]);
    assert_eq!(completed("bash", &["study", "run", "s.toml", "--device", "cu"]), ["cuda", "cuda:0"]);
    assert_eq!(completed("bash", &["run", "language.dis"]), ["language.distance="]);
    assert_eq!(completed("bash", &["config", "languages.C.dis"]), ["languages.C.distance="]);
    assert_eq!(completed("bash", &["train", "eval.inside="]), ["eval.inside=true", "eval.inside=false"]);
    assert_eq!(completed("bash", &["train", "tokenizer.share=c"]), ["tokenizer.share=cognate"]);
    assert!(completed("bash", &["run", "language.grammar="]).contains(&"language.grammar=sov".to_owned()));
    assert!(completed("bash", &["run", "language.distance="]).is_empty());
    // These two show what a setting means.
    for shell in ["zsh", "fish"] {
        let found = completed(shell, &["run", "mixture.lam"]);
        assert!(found.len() == 1 && found[0].starts_with("mixture.lambda=") && found[0].len() > 30, "{found:?}");
    }
    let outside = invitro(&["config", "--json"]).env("COMPLETE", "other").output().unwrap();
    assert!(outside.status.success() && outside.stdout.starts_with(b"{"));
}

/// Bash breaks words at `=` and `:`: it gets what follows the last of them.
#[test]
fn bash_completes_what_follows_an_equals_sign() {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_invitro")).parent().unwrap();
    let path = std::env::join_paths(
        [folder.into()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let script = "eval \"$(invitro completions bash)\"
        COMP_LINE=$1 COMP_POINT=${#1}; _invitro invitro \"$2\" x; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let complete = |line: &str, last: &str| {
        let mut bash = Command::new("bash");
        let output =
            bash.args(["-c", script, "bash", line, last]).env("PATH", path.as_ref().unwrap()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(complete("invitro run tokenizer.share=c", "c"), "cognate\n");
    assert_eq!(complete("invitro run eval.forms=", ""), "true\nfalse\n");
    assert_eq!(complete("invitro study run a.toml --device cuda:", ""), "0\n");
    assert_eq!(complete("invitro run seeds.m", "seeds.m"), "seeds.model=\n");
}
