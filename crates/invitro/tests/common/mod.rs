//! Running the program as a user would.

#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The world of the golden files.
pub fn tiny() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/tiny.toml")
}

/// The same world with three languages and an ancestor of two of them, as a file in a folder: C has its own script and word
/// order, B and C have masked words.
pub fn tiny_family(dir: &Path) -> String {
    let list = r#"
[[languages]]
name = "A"
distance = 0.0
[[languages]]
name = "Old"
spoken = false
distance = 0.3
[[languages]]
name = "B"
parent = "Old"
distance = 0.2
share = 0.5
mask_share = 0.25
[[languages]]
name = "C"
parent = "Old"
distance = 0.3
share = 0.5
script = 1
grammar = "sov"
mask_share = 0.25
"#;
    let path = dir.join("family.toml");
    std::fs::write(&path, std::fs::read_to_string(tiny()).unwrap() + list).unwrap();
    path.display().to_string()
}

pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

pub fn invitro(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_invitro"));
    command.args(args);
    command
}

/// A Python with `.ci/requirements.txt`, named by `INVITRO_PYTHON`. Without one a test says so and ends; in CI it fails.
pub fn python() -> Option<PathBuf> {
    let python = std::env::var_os("INVITRO_PYTHON").map(PathBuf::from);
    if python.is_none() {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "INVITRO_PYTHON must be set in CI");
        // Not captured, unlike what a passing test prints.
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "skipped {test}: INVITRO_PYTHON is not set");
    }
    python
}

pub fn run(args: &[&str]) -> Output {
    invitro(args).stdin(Stdio::null()).output().unwrap()
}

/// Standard output of a run that must succeed.
pub fn stdout(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub fn with_input(args: &[&str], input: &[u8]) -> Output {
    let mut child = invitro(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A run that refuses its arguments may close its input unread.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// A run that must fail with status 2 and one line of error, which is returned.
pub fn refused(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    assert!(output.stdout.is_empty());
    error.trim_end().to_owned()
}

/// Compares with a golden file; with `UPDATE_GOLDEN=1` in the environment it is written instead.
pub fn is_golden(name: &str, found: &[u8]) {
    let path = golden(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read(&path).unwrap_or_default();
    assert!(
        expected == found,
        "{name} has drifted: the same config and seed no longer give the same bytes. If that is meant, run the tests \
         with UPDATE_GOLDEN=1 and say so in the change log."
    );
}

/// Everything in a folder, hidden files too.
pub fn listing(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
