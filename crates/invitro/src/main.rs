//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    invitro::run(std::env::current_exe().unwrap_or_else(|_| "invitro".into()), std::env::args_os().skip(1))
}
