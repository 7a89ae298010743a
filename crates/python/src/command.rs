//! The command line inside Python: the wheel's program `invitro`.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

/// What Rust's own programs exit with after a panic.
const PANICKED: u8 = 101;

/// Runs a command of the command line, and returns its exit code.
#[pyfunction]
pub fn command(py: Python<'_>, program: PathBuf, args: Vec<OsString>) -> u8 {
    let code = py.detach(|| catch_unwind(AssertUnwindSafe(|| invitro::run(program, args))));
    let number = |code: ExitCode| (0..=u8::MAX).find(|&number| ExitCode::from(number) == code);
    code.ok().and_then(number).unwrap_or(PANICKED)
}
