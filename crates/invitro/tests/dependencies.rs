//! Every dependency comes from crates.io and has a licence that lets anyone use what is built from it; and no test is lost.
//!
//! `cargo metadata` knows the packages that are built for this platform. The lock file knows the sources of those for
//! all platforms.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Licences that ask for no more than a notice. MPL-2.0 asks for the source of its own files, which crates.io has.
const ALLOWED: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// Whether the allowed licences satisfy an SPDX expression; the old notation `MIT/Apache-2.0` means `OR`.
///
/// An unknown licence, or an expression that cannot be read, does not.
fn satisfied(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    any_of(&mut rest) == Some(true) && rest.is_empty()
}

/// `AND` binds more tightly than `OR`. None if the words are no expression.
fn any_of(words: &mut &[&str]) -> Option<bool> {
    let mut holds = all_of(words)?;
    while take(words, "OR") {
        holds |= all_of(words)?;
    }
    Some(holds)
}

fn all_of(words: &mut &[&str]) -> Option<bool> {
    let mut holds = one(words)?;
    while take(words, "AND") {
        holds &= one(words)?;
    }
    Some(holds)
}

fn one(words: &mut &[&str]) -> Option<bool> {
    if take(words, "(") {
        let holds = any_of(words)?;
        return take(words, ")").then_some(holds);
    }
    let (licence, rest) = match **words {
        [name, "WITH", exception, ref rest @ ..] => (format!("{name} WITH {exception}"), rest),
        [name, ref rest @ ..] => (name.to_owned(), rest),
        [] => return None,
    };
    *words = rest;
    Some(ALLOWED.contains(&licence.as_str()))
}

fn take(words: &mut &[&str], word: &str) -> bool {
    let found = words.first() == Some(&word);
    *words = &words[usize::from(found)..];
    found
}

#[test]
fn licence_expressions_are_read() {
    for good in [
        "MIT",
        "MIT/Apache-2.0",
        "GPL-3.0-only OR MIT",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "MIT OR Apache-2.0 AND GPL-3.0-only",
        "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
    ] {
        assert!(satisfied(good), "{good}");
    }
    for bad in
        ["", "GPL-3.0-only", "MIT AND GPL-3.0-only", "MIT WITH GCC-exception-3.1", "(MIT", "MIT)", "MIT ISC", "MIT OR"]
    {
        assert!(!satisfied(bad), "{bad}");
    }
}

#[test]
fn packages_are_from_crates_io_and_free_to_use() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", &platform])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let is_ours = |package: &Value| metadata["workspace_members"].as_array().unwrap().contains(&package["id"]);
    assert!(packages.iter().any(is_ours) && !packages.iter().all(is_ours));
    let faults: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(satisfied))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(faults.is_empty(), "licences that are not in the list of this test: {faults:#?}");

    let lock = std::fs::read_to_string(root.join("Cargo.lock")).unwrap();
    for package in lock.split("[[package]]").skip(1) {
        let value = |key: &str| package.lines().find_map(|line| line.strip_prefix(key)).map(|v| v.trim_matches('"'));
        let name = value("name = ").unwrap();
        match value("source = ") {
            Some(source) => {
                assert_eq!(source, CRATES_IO, "the source of {name}");
                assert!(value("checksum = ").is_some(), "{name} has no checksum");
            }
            None => {
                let member = packages.iter().find(|package| package["name"] == name);
                assert!(member.is_some_and(is_ours), "{name} is a path outside of the workspace");
            }
        }
    }
}

/// A test inside a library or program would never run: cargo is told that there are none.
#[test]
fn tests_are_where_they_run() {
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, found),
                false => found.push(path),
            }
        }
    }
    let mut files = Vec::new();
    for member in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap() {
        sources(&member.unwrap().path().join("src"), &mut files);
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    assert!(files.len() > 100, "{}", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for attribute in ["#[test]", "#[cfg(test)]"] {
            assert!(!text.contains(attribute), "{} has {attribute}; tests go to `tests/`", file.display());
        }
    }
}
