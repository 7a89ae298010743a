//! On a terminal nothing is wider than it and no word is broken; elsewhere there is neither width nor colour. Through a
//! pseudo-terminal, which `script` of util-linux gives.

use crate::common::{invitro, run, stdout};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/tests/common/tiny.toml");

/// What the program writes to a terminal of so many columns. `None` where there is no `script`.
fn on_terminal(columns: usize, args: &[&str], before: &str) -> Option<String> {
    let args: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let program = env!("CARGO_BIN_EXE_invitro");
    let line = format!("stty cols {columns} rows 50; export TERM=xterm; {before} '{program}' {}", args.join(" "));
    let mut script = Command::new("script");
    let output = match script.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "`script` must be there in CI: {error}");
            // Not captured, unlike what a passing test prints.
            let test = std::thread::current().name().unwrap_or_default().to_owned();
            let _ = writeln!(std::io::stderr(), "skipped {test}: there is no `script`");
            return None;
        }
    };
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{args:?}: {text}");
    Some(text)
}

/// Without colours and other orders to the terminal.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\x1b' {
            letters.by_ref().skip(1).find(|letter| letter.is_ascii_alphabetic());
        } else {
            out.push(letter);
        }
    }
    out
}

/// Every line, those that were overwritten too.
fn fits(columns: usize, args: &[&str], text: &str) {
    for line in plain(text).split(['\n', '\r']) {
        assert!(line.chars().count() <= columns, "{args:?} at {columns}: {line}");
    }
}

fn words(text: &str) -> Vec<String> {
    plain(text).split_whitespace().map(str::to_owned).collect()
}

#[test]
fn help_fits_every_terminal() {
    let of = |args: &[&str]| {
        let help = stdout(&[args, &["--help"]].concat());
        let commands = help.split("Commands:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
        let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned));
        names.filter(|name| !name.is_empty() && name != "help").collect::<Vec<String>>()
    };
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for command in of(&[]) {
        all.push(vec![command.clone()]);
        all.extend(of(&[&command]).into_iter().map(|under| vec![command.clone(), under]));
    }
    assert!(all.len() > 30, "{all:?}");
    for command in all {
        let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let columns = if command.len() == 2 { 80 } else { 60 };
        let Some(text) = on_terminal(columns, &args, "") else { return };
        fits(columns, &args, &text);
        assert_eq!(words(&text), words(&stdout(&args)), "{args:?}");
    }
}

#[test]
fn results_fit_every_terminal_and_keep_their_words() {
    for columns in [80, 60, 40, 200] {
        for args in [
            &["language", "show", "--config", TINY][..],
            &["language", "sample", "--gloss", "--config", TINY],
            &["language", "sample", "--config", TINY],
            &["tokenizer", "measure", "--config", TINY],
            &["tokenizer", "bridges", "--config", TINY],
            &["config"],
        ] {
            let Some(text) = on_terminal(columns, args, "") else { return };
            fits(columns, args, &text);
            // Every word that is told elsewhere is told here.
            let told = words(&text);
            let missing: Vec<String> =
                words(&stdout(args)).into_iter().filter(|word| !word.contains('█') && !told.contains(word)).collect();
            assert!(missing.is_empty(), "{args:?} at {columns}: {missing:?}\n{text}");
        }
    }
}

/// A sentence that is broken over several lines is one block: an empty line stands between sentences alone.
#[test]
fn glossed_sentences_stay_together() {
    let sample = ["language", "sample", "--gloss", "-n", "4", "--config", TINY];
    let Some(narrow) = on_terminal(40, &sample, "") else { return };
    let narrow = plain(&narrow).replace('\r', "");
    let blocks: Vec<&str> = narrow.trim_end().split("\n\n").collect();
    assert_eq!(blocks.len(), 4, "{narrow}");
    assert!(blocks.iter().any(|block| block.lines().count() > 3), "one is broken:\n{narrow}");
}

#[test]
fn runs_and_studies_fit_the_terminal() {
    let place = tempfile::tempdir_in("/tmp").unwrap();
    let at = |name: &str| place.path().join(name).display().to_string();
    let study = at("s.toml");
    let base = std::fs::read_to_string(TINY).unwrap();
    std::fs::write(place.path().join("base.toml"), base).unwrap();
    std::fs::write(&study, "name = \"s\"\nbase = \"base.toml\"\n[factors]\ntrain.lr = [1e-3, 2e-3]\n").unwrap();
    let settings = ["--config", TINY, "--device", "cpu", "train.steps=20"];
    for columns in [80, 60] {
        let [run, seeds, done] = ["r", "m", "s"].map(|name| at(&format!("{name}{columns}")));
        for args in [
            &[&["run", "--out", &run][..], &settings].concat()[..],
            &[&["run", "--out", &seeds, "seeds.model=0,1"][..], &settings].concat(),
            &["evaluate", &run, "--device", "cpu"],
            &["runs", &at("")],
            &["runs", &at(""), "--sort", "-step"],
            &["compare", &run, &format!("{seeds}/data0-model1")],
            &["compare", &at("")],
            &["study", "plan", &study],
            &["study", "run", &study, "--out", &done, "--device", "cpu", "train.steps=20"],
            &["study", "status", &done, "--cells"],
            &["corpus", "-n", "9000", "--config", TINY, "--out", &at(&format!("{columns}.txt"))],
        ] {
            let Some(text) = on_terminal(columns, args, "") else { return };
            // A path is one word, however long.
            let text = text.replace(&at(""), "");
            fits(columns, args, &text);
        }
    }
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run").display().to_string();
    let run_it = ["run", "--config", TINY, "--device", "cpu", "train.steps=10", "--out", &folder];
    let Some(shown) = on_terminal(80, &run_it, "") else { return };
    assert!(shown.contains("\x1b[36m") && shown.contains("\x1b[1m"), "{shown}");
    let list = ["runs", &folder];
    assert!(on_terminal(80, &list, "").unwrap().contains("\x1b[32mdone\x1b[0m"));
    assert!(!on_terminal(80, &list, "NO_COLOR=1").unwrap().contains('\x1b'));
    assert!(!on_terminal(80, &["--help"], "NO_COLOR=1").unwrap().contains('\x1b'));
    assert!(!stdout(&list).contains('\x1b') && !stdout(&["--help"]).contains('\x1b'));
}

#[test]
fn quiet_leaves_results_and_threads_change_nothing() {
    let place = tempfile::tempdir().unwrap();
    let trained = |name: &str, more: &[&str]| {
        let folder = place.path().join(name);
        let args = [
            &["run", "--config", TINY, "--device", "cpu", "--no-report", "train.steps=20", "--out"],
            &[folder.to_str().unwrap()][..],
            more,
        ];
        let output = run(&args.concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (folder, output)
    };
    let (one, output) = trained("one", &["--quiet", "--threads", "1"]);
    assert!(output.stderr.is_empty() && !output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let (three, output) = trained("three", &["--threads", "3"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("3 threads"));
    for name in ["metrics.jsonl", "samples.jsonl", "tokenizer.json"] {
        let [one, three] = [&one, &three].map(|folder: &std::path::PathBuf| std::fs::read(folder.join(name)).unwrap());
        assert!(one == three, "{name} depends on the number of threads");
    }
    let [one, three] = [one, three].map(|folder| {
        let path = folder.join("checkpoints/step-00000020.safetensors");
        let mut saved = invitro_model::Checkpoint::load(&path).unwrap();
        // Checksums of the logs, one of which has times in it.
        saved.metadata.remove("logs");
        saved
    });
    assert!(one == three, "the checkpoint depends on the number of threads");
    let none = run(&["runs", "--threads", "0"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("--threads"));
}

#[test]
fn commands_that_are_not_there_get_the_nearest() {
    for (args, nearest) in [
        (&["langauge"][..], "'language'"),
        (&["evalute"], "'evaluate'"),
        (&["compair"], "'compare'"),
        (&["study", "stauts"], "'status'"),
        (&["tokenizer", "mesure"], "'measure'"),
        (&["language", "smaple"], "'sample'"),
    ] {
        let output = run(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(nearest), "{args:?}: {said}");
    }
}

#[test]
fn shells_complete_and_the_version_has_a_commit() {
    for (shell, part) in [("bash", "complete -F _invitro"), ("zsh", "#compdef invitro"), ("fish", "--command invitro")]
    {
        assert!(stdout(&["completions", shell]).contains(part), "{shell}");
    }
    let version = stdout(&["--version"]);
    let commit = version.trim().strip_prefix(concat!("invitro ", env!("CARGO_PKG_VERSION"), " (")).unwrap();
    let commit = commit.strip_suffix(')').unwrap();
    let digits = commit.strip_suffix(", changed").unwrap_or(commit);
    let is_hash = digits.len() == 12 && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    assert!(is_hash || digits == "unknown", "{version}");
    let is_repository = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.git")).exists();
    let git = Command::new("git").args(["-C", env!("CARGO_MANIFEST_DIR"), "rev-parse", "HEAD"]).output();
    if let (true, Some(git)) = (is_repository, git.ok().filter(|git| git.status.success())) {
        assert!(String::from_utf8_lossy(&git.stdout).starts_with(digits), "{version}");
    }
    assert!(invitro(&["completions", "tcsh"]).output().unwrap().status.code() == Some(2));
}
