//! Each crate can be published: `cargo package` takes along all that its sources read, its README and the licences, and
//! what is said of it is complete. Whether the packages build is for a release to try; that takes minutes.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The crates of the workspace, as `cargo metadata` tells of them.
fn crates() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--format-version=1", "--locked", "--offline", "--no-deps"]);
    let mut metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["packages"].as_array_mut().unwrap().drain(..).collect()
}

/// Every file that a source includes, seen from the source's folder.
fn included(source: &str) -> impl Iterator<Item = &str> {
    let after =
        ["include_str!(\"", "include_bytes!(\"", "include!(\""].into_iter().flat_map(|it| source.split(it).skip(1));
    after.map(|rest| rest.split_once('"').unwrap().0)
}

/// A path without `..`; `None` where it leaves the folder that it starts from.
fn within(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => parts.pop().then_some(())?,
            part => parts.push(part),
        }
    }
    Some(parts)
}

#[test]
fn packages_hold_what_they_need() {
    let crates = crates();
    assert_eq!(crates.len(), std::fs::read_dir(root().join("crates")).unwrap().count());
    for each in &crates {
        let name = each["name"].as_str().unwrap();
        let list = cargo(&["package", "--list", "--allow-dirty", "--locked", "--offline", "--package", name]);
        let list: BTreeSet<PathBuf> = list.lines().map(PathBuf::from).collect();
        for file in ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
            assert!(list.contains(Path::new(file)), "{name} has no {file}");
        }
        let folder = Path::new(each["manifest_path"].as_str().unwrap()).parent().unwrap();
        for source in list.iter().filter(|path| path.extension().is_some_and(|it| it == "rs")) {
            let text = std::fs::read_to_string(folder.join(source)).unwrap();
            for file in included(&text) {
                let is_there = within(&source.with_file_name(file)).is_some_and(|path| list.contains(&path));
                assert!(is_there, "{name}: `{}` includes `{file}`, which is not in the package", source.display());
            }
        }
    }
}

#[test]
fn packages_say_what_they_are() {
    for each in crates() {
        let name = &each["name"];
        for key in ["description", "license", "readme", "rust_version"] {
            assert!(each[key].is_string(), "{name} has no {key}");
        }
        for key in ["authors", "categories", "keywords"] {
            assert!(each[key].as_array().is_some_and(|list| (1..=5).contains(&list.len())), "{name} has no {key}");
        }
        for other in each["dependencies"].as_array().unwrap().iter().filter(|other| other["path"].is_string()) {
            let wanted = concat!("^", env!("CARGO_PKG_VERSION"));
            assert!(other["req"] == wanted, "{name} takes {} of {}, not {wanted}", other["name"], other["req"]);
        }
    }
}

/// Those who cite this and those who read what changed find the version that `--version` prints.
#[test]
fn one_version_is_told_everywhere() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
    let (citation, changes) = (read("CITATION.cff"), read("CHANGELOG.md"));
    assert!(citation.contains(concat!("\nversion: ", env!("CARGO_PKG_VERSION"), "\n")), "{citation}");
    let newest =
        changes.lines().filter_map(|line| line.strip_prefix("## ")).find(|name| *name != "Unreleased").unwrap();
    assert!(newest.starts_with(concat!(env!("CARGO_PKG_VERSION"), " (")), "{newest}");
}
