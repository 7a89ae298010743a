//! `invitro completions`: what a shell needs to complete commands and options.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;
use std::process::ExitCode;

/// Print the completions of a shell, to be put where it looks for them
#[derive(clap::Args)]
#[command(after_help = "bash: invitro completions bash > ~/.local/share/bash-completion/completions/invitro\n\
                        zsh:  invitro completions zsh > DIR/_invitro, DIR being in $fpath\n\
                        fish: invitro completions fish > ~/.config/fish/completions/invitro.fish")]
pub struct Args {
    shell: Shell,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "invitro", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
