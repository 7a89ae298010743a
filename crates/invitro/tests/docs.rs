//! The pages of the repository: each is in the book's summary, every link leads somewhere, every command is one.

mod commands;
mod markdown;

use crate::common::invitro;
use markdown::{Page, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// All `.md` files below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found
}

fn book() -> Vec<PathBuf> {
    below(&root().join("docs")).into_iter().filter(|path| !path.ends_with("SUMMARY.md")).collect()
}

/// Every page that people read.
fn pages() -> Vec<PathBuf> {
    let named = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "results/README.md"];
    let mut pages: Vec<PathBuf> = named.iter().map(|name| root().join(name)).collect();
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    pages.extend(crates.map(|entry| entry.unwrap().path().join("README.md")).filter(|path| path.is_file()));
    pages.extend(below(&root().join("docs")));
    pages.extend(below(&root().join("examples")));
    pages
}

#[test]
fn the_summary_has_every_page_of_the_book_and_no_other() {
    let summary = Page::read(&root().join("docs/SUMMARY.md"));
    let listed: BTreeSet<PathBuf> = summary.links().iter().map(|link| link.file(&summary)).collect();
    let there: BTreeSet<PathBuf> = book().into_iter().collect();
    assert_eq!(listed, there);
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut broken = Vec::new();
    let mut seen = 0;
    for path in pages() {
        let page = Page::read(&path);
        for link in page.links() {
            seen += 1;
            let file = link.file(&page);
            let is_there = match &link.anchor {
                Some(anchor) => file.is_file() && Page::read(&file).anchors().contains(anchor),
                None => file.exists(),
            };
            if !is_there {
                broken.push(format!("{}: {}", path.display(), link.target));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
    assert!(seen > 100, "only {seen} links were found");
}

/// The book has no other files, and on GitHub its pages should read the same.
#[test]
fn pages_of_the_book_link_inside_it() {
    let docs = root().join("docs");
    for path in book() {
        let page = Page::read(&path);
        for link in page.links() {
            assert!(link.file(&page).starts_with(&docs), "{}: {}", path.display(), link.target);
        }
    }
}

#[test]
fn every_command_and_option_in_a_code_block_is_known() {
    let mut known = commands::Known::default();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in pages() {
        for command in Page::read(&path).commands() {
            seen += 1;
            if let Err(why) = known.check(&command) {
                wrong.push(format!("{}: `invitro {}`: {why}", path.display(), command.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "commands that are none:\n{}", wrong.join("\n"));
    assert!(seen > 60, "only {seen} commands were found");
}

#[test]
fn every_figure_of_a_report_is_explained() {
    let guide =
        ["figures-run.md", "figures-study.md"].map(|name| Page::read(&root().join("docs/guide").join(name)).text);
    let mut figures = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("crates/report/src/figures")).unwrap() {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let names = source.lines().filter_map(|line| line.trim().strip_prefix("name: \"")?.strip_suffix("\","));
        figures.extend(names.map(str::to_owned));
    }
    assert!(figures.len() > 20, "{figures:?}");
    figures.retain(|name| !guide.iter().any(|page| page.contains(&format!("`{name}`"))));
    assert!(figures.is_empty(), "no page of the guide explains {figures:?}");
}

/// What the tests above rest on.
#[test]
fn links_headings_and_commands_are_found_in_a_page() {
    let text = "# One `[two]`: three\n\nSee [it](../a.md#b), `[not](this)` and ![that](c.svg).\n## Same\n## Same\n\n```text\n\
        $ echo x | invitro -q check \\\n  --language A && invitro runs   # [no](link)\ninvitro is output here\n```\n\n\
        ```sh\ncargo run --release -- run 'a=[\"b c\"]' > log\n```\n";
    let page = Page { path: root().join("docs/guide/x.md"), text: text.to_owned() };
    let targets: Vec<String> = page.links().into_iter().map(|link| link.target).collect();
    assert_eq!(targets, ["../a.md#b", "c.svg"]);
    assert_eq!(page.links()[0].file(&page), root().join("docs/a.md"));
    assert_eq!(page.anchors().into_iter().collect::<Vec<_>>(), ["one-two-three", "same", "same-1"]);
    let commands = page.commands();
    assert_eq!(commands, [vec!["-q", "check", "--language", "A"], vec!["runs"], vec!["run", "a=[\"b c\"]"]]);
    let mut known = commands::Known::default();
    let mut check = |words: &[&str]| known.check(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    check(&["run", "--out", "x", "language.distance=0.5", "languages.C.share=1"]).unwrap();
    check(&["study", "plan", "FILE", "--jobs=2"]).unwrap();
    assert!(check(&["study", "go"]).unwrap_err().contains("go"));
    assert!(check(&["run", "--bold"]).unwrap_err().contains("--bold"));
    assert!(check(&["run", "language.distanse=1"]).unwrap_err().contains("language.distanse"));
}

/// The sums that a reader compares with are those of the command on the page.
#[test]
fn the_checksums_of_the_page_on_reproducing_are_those_of_its_command() {
    let page = root().join("docs/guide/reproduce.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let command =
        text.lines().find_map(|line| line.strip_prefix("$ invitro ").filter(|line| line.ends_with(" --out one")));
    let place = tempfile::tempdir().unwrap();
    for args in [command.unwrap(), "-q export one --out exported-one"] {
        let args: Vec<&str> = args.split_whitespace().collect();
        let output = invitro(&args).current_dir(place.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let sum = |file: &str| {
        let output = std::process::Command::new("sha256sum").arg(place.path().join(file)).output().unwrap();
        String::from_utf8(output.stdout).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    let sums =
        [("metrics.parquet", sum("one/metrics.parquet")), ("model.safetensors", sum("exported-one/model.safetensors"))];
    let line = |line: &str| match line.split_once("  ") {
        Some((shown, file)) if shown.len() == 64 => {
            let (_, sum) = sums.iter().find(|(name, _)| file.ends_with(&format!("/{name}"))).unwrap();
            format!("{sum}  {file}\n")
        }
        _ => format!("{line}\n"),
    };
    let expected: String = text.lines().map(line).collect();
    assert!(expected.matches(&sums[0].1).count() == 3 && expected.matches(&sums[1].1).count() == 3);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&page, &expected).unwrap();
    }
    let shown = std::fs::read_to_string(&page).unwrap();
    assert!(shown == expected, "{} has other sums than {sums:?} (UPDATE_GOLDEN=1 writes them anew)", page.display());
}
