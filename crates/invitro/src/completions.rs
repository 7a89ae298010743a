//! `invitro completions`, and what a shell asks for while somebody types: presets, devices, settings and their values.

use anyhow::Result;
use clap::{Arg, Command};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, CompleteEnv, EnvCompleter, Fish, Shells, Zsh};
use invitro_base::settings;
use invitro_lab::experiment::PRESETS;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Print the completions of a shell, to be put where it looks for them
///
/// In bash, zsh and fish they know presets, devices, settings and the values of those that have few.
#[derive(clap::Args)]
pub struct Args {
    shell: Shell,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let mut script = Vec::new();
    let dynamic = SHELLS.iter().find(|shell| shell.is(&args.shell.to_string()));
    match dynamic {
        Some(shell) => shell.write_registration(VARIABLE, NAME, NAME, NAME, &mut script)?,
        None => clap_complete::generate(args.shell, &mut crate::command(), NAME, &mut script),
    }
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

const NAME: &str = "invitro";
/// The environment variable by which a shell asks for completions.
const VARIABLE: &str = "COMPLETE";
const SHELLS: [&dyn EnvCompleter; 3] = [&JoinedBash, &Zsh, &Fish];

/// Answers a shell that asks for completions; false where none does.
pub fn answer(args: &[OsString]) -> clap::error::Result<bool> {
    // Other programs may have a variable of this name.
    if !std::env::var(VARIABLE).is_ok_and(|asks| SHELLS.iter().any(|shell| shell.is(&asks))) {
        return Ok(false);
    }
    let here = std::env::current_dir().ok();
    let env = CompleteEnv::with_factory(crate::command).var(VARIABLE).bin(NAME).completer(NAME);
    env.shells(Shells(&SHELLS)).try_complete(args.iter().cloned(), here.as_deref())
}

/// The command whose arguments know their values.
pub fn add(command: Command) -> Command {
    command.mut_args(with_values).mut_subcommands(add)
}

fn with_values(arg: Arg) -> Arg {
    let takes_settings = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "KEY=VALUE"));
    match arg.get_id().as_str() {
        _ if takes_settings => arg.add(ArgValueCompleter::new(setting)),
        "preset" => arg.add(ArgValueCandidates::new(|| PRESETS.map(|(name, _)| name.into()).into())),
        "device" => arg.add(ArgValueCandidates::new(|| ["auto", "cpu", "cuda", "cuda:0"].map(Into::into).into())),
        _ => arg,
    }
}

/// Keys that begin so, each with `=`, or the values that a key may have.
fn setting(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    match typed.split_once('=') {
        Some((key, value)) => values(key, value),
        None => keys(&typed),
    }
}

fn keys(typed: &str) -> Vec<CompletionCandidate> {
    // Of a language in a list: the name that was typed.
    let language =
        typed.strip_prefix("languages.").and_then(|rest| rest.split_once('.')).map_or("NAME", |(name, _)| name);
    let candidate = |setting: &'static settings::Setting| {
        let key = setting.key.replacen("NAME", language, 1);
        let help = setting.meaning.to_owned().into();
        key.starts_with(typed).then(|| CompletionCandidate::new(key + "=").help(Some(help)))
    };
    settings::all().filter_map(candidate).filter(|one| !one.get_value().to_string_lossy().contains("NAME")).collect()
}

fn values(key: &str, typed: &str) -> Vec<CompletionCandidate> {
    let Some(setting) = settings::find(key) else { return Vec::new() };
    let built_in = setting.file_unless.unwrap_or_default().iter().copied().filter(|name| !name.is_empty());
    let all = setting.choices.iter().flatten().copied().chain(built_in);
    let fitting = all.filter(|value| value.starts_with(typed));
    fitting.map(|value| CompletionCandidate::new(format!("{key}={value}"))).collect()
}

/// Bash breaks words at `=` and `:`, which settings and devices contain. Here they are joined again, and of what is found
/// bash gets the end that it will put in.
struct JoinedBash;

impl EnvCompleter for JoinedBash {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        _name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        writeln!(
            out,
            r#"_invitro() {{
    local typed="${{COMP_LINE:0:COMP_POINT}}" words i
    read -ra words <<< "$typed"
    [[ $typed == *[[:space:]] ]] && words+=("")
    local index=$(( ${{#words[@]}} - 1 ))
    local before="${{words[index]%"$2"}}"
    local IFS=$'\013'
    COMPREPLY=( $(_CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX="$index" {variable}=bash "{completer}" -- "${{words[@]}}") )
    for i in "${{!COMPREPLY[@]}}"; do
        COMPREPLY[i]="${{COMPREPLY[i]#"$before"}}"
    done
    [[ ${{#COMPREPLY[@]}} == 1 && ${{COMPREPLY[0]}} == *[=/] ]] && compopt -o nospace 2> /dev/null
    return 0
}}
complete -F _invitro -o bashdefault -o default {bin}"#
        )
    }

    fn write_complete(
        &self,
        command: &mut Command,
        args: Vec<OsString>,
        here: Option<&Path>,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        Bash.write_complete(command, args, here, out)
    }
}
