//! Which commit this is built from, for `--version`, `status.json` and model cards: `unknown` where neither git nor the
//! package says, and marked where the sources differ from it. Run again only when the commit or a source changes; where the
//! commit is unknown, with every change of this crate.

use std::path::Path;
use std::process::Command;

/// What the program is built from, seen from the root.
const SOURCES: [&str; 3] = [":(glob)crates/*/src/**", "Cargo.toml", "Cargo.lock"];

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let commit = packaged(here).or_else(|| commit(&here.join("../..")));
    if commit.is_some() {
        println!("cargo::rerun-if-changed=build.rs");
    }
    println!("cargo::rustc-env=INVITRO_COMMIT={}", commit.unwrap_or_else(|| "unknown".into()));
}

/// The commit that `cargo package` writes into a package.
fn packaged(folder: &Path) -> Option<String> {
    let info = std::fs::read_to_string(folder.join(".cargo_vcs_info.json")).ok()?;
    let head = info.split_once("\"sha1\": \"")?.1.get(..12)?;
    Some(if info.contains("\"dirty\": true") { format!("{head}, changed") } else { head.to_owned() })
}

fn commit(root: &Path) -> Option<String> {
    // Unpacked into somebody else's repository, this is not of its commit.
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    let head = git(root, &["rev-parse", "--short=12", "HEAD"])?;
    let [at, log] = ["HEAD", "logs/HEAD"].map(|name| git(root, &["rev-parse", "--git-path", name]));
    let watched = ["Cargo.toml".into(), "Cargo.lock".into(), at?, log?];
    let crates = std::fs::read_dir(root.join("crates")).ok()?.flatten().map(|entry| entry.path().join("src"));
    for path in watched.into_iter().map(|path: String| root.join(path)).chain(crates) {
        // One that is not there would make every build run this again.
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let arguments = [&["--no-optional-locks", "status", "--porcelain", "--"], &SOURCES[..]].concat();
    let changed = git(root, &arguments).is_none_or(|changes| !changes.is_empty());
    Some(if changed { format!("{head}, changed") } else { head })
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
