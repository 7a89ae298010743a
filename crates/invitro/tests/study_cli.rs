//! The commands of a study, as a user meets them.

use crate::common;
use crate::common::{python, refused};
use crate::study_common::{self, TINY, study, succeed};
use invitro_results::{Measure, Quantity, TokenizerMetric, Words};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn shipped(name: &str) -> String {
    format!("{}/../../experiments/studies/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

fn write(place: &Path, name: &str, rest: &str) -> PathBuf {
    let file = place.join(format!("{name}.toml"));
    std::fs::write(&file, format!("name = \"{name}\"\nbase = \"{TINY}\"\n{rest}")).unwrap();
    file
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let mut command = study(&["plan", &shipped("paper"), "--device", "cpu", "--cells"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}

#[test]
fn the_shipped_studies_have_the_cells_they_say() {
    let cells = |name: &str| {
        let plan = succeed(&mut study(&["plan", &shipped(name), "--device", "cpu", "--json"]));
        let plan: Value = serde_json::from_str(&plan).unwrap();
        plan["cells"].as_array().unwrap().len()
    };
    assert_eq!(cells("paper"), 3 * 2 * 4 * 4 * 6);
    assert_eq!(cells("facts"), 4 * 5 * 3 * 8);
    assert_eq!((cells("converged"), cells("readings")), (12, (3 * 2 + 1) * 12 * 3));
    assert_eq!(cells("ablations"), (4 + 3 + 2 + 3 + 5 - 4) * 9, "the base is in every grid, and one cell");
    let plan = succeed(&mut study(&["plan", &shipped("paper"), "--device", "cpu", "--jobs", "32"]));
    assert!(plan.starts_with("paper: 576 cells, 6 data seeds × 1 model seed\n"), "{plan}");
    assert!(plan.contains("18 populations on CPU"), "{plan}");
    assert!(plan.contains("4 layers, width 256, |V| 8192, 10000 steps"), "{plan}");
}

#[test]
fn a_plan_beside_another_study_is_its_own() {
    let place = tempfile::tempdir().unwrap();
    let file = write(place.path(), "study", "[factors]\nmixture.lambda = [0.25, 0.5]\n");
    let plan = |more: &[&str]| {
        let mut command = study(&["plan", file.file_name().unwrap().to_str().unwrap(), "--device", "cpu"]);
        succeed(command.args(more).current_dir(place.path()))
    };
    assert!(file.ends_with("study.toml") && plan(&[]).starts_with("study: 2 cells"));
    assert!(plan(&["--out", "not-yet"]).starts_with("study: 2 cells"));
}

#[test]
fn a_dry_run_prints_the_script_and_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let profile = place.path().join("profile");
    std::fs::write(&profile, "#SBATCH --account=lab\nmodule load cuda\n").unwrap();
    let script = succeed(study(&["run", &shipped("paper"), "--executor", "slurm", "--dry-run"]).args([
        "--out",
        out.to_str().unwrap(),
        "--partition",
        "gpu",
        "--gres",
        "gpu:1",
        "--time",
        "2h",
        "--profile",
        profile.to_str().unwrap(),
    ]));
    let expected = [
        "#!/bin/bash",
        "#SBATCH --job-name=invitro-paper",
        "#SBATCH --array=0-5",
        "#SBATCH --signal=B:USR1@120",
        "#SBATCH --partition=gpu",
        "#SBATCH --time=0-02:00:00",
        "#SBATCH --gres=gpu:1",
        "#SBATCH --requeue",
        "#SBATCH --account=lab",
        "module load cuda",
    ];
    for line in expected {
        assert!(script.lines().any(|other| other == line), "{line}\n{script}");
    }
    let last = script.lines().last().unwrap();
    assert!(last.starts_with("exec ") && last.contains("study run") && last.contains("slurm/0001"), "{last}");
    assert!(last.contains(" --device cuda --lease"), "{last}");
    assert!(!out.exists());
}

#[test]
fn gpus_are_asked_for_as_slurm_has_them_and_used() {
    let place = tempfile::tempdir().unwrap();
    let (out, profile) = (place.path().join("out"), place.path().join("profile"));
    std::fs::write(&profile, "#SBATCH --gpus-per-node=a100:4\n").unwrap();
    let (out, profile) = (out.to_str().unwrap(), profile.to_str().unwrap());
    let submit = |more: &[&str]| {
        let mut command = study(&["run", &shipped("paper"), "--executor", "slurm", "--dry-run", "--out", out]);
        command.args(more);
        command
    };
    // What is given; the line that asks for it, the number of tasks, and the device of a task.
    let cases: [(&[&str], Option<&str>, usize, &str); 7] = [
        (&["--gpus", "1"], Some("gpu:1"), 6, "cuda"),
        (&["--gpus", "a100:2", "--device", "cuda"], Some("gpu:a100:2"), 3, "cuda:all"),
        (&["--gpus", "2", "--gres", "nvme:1"], Some("nvme:1,gpu:2"), 3, "cuda:all"),
        (&["--gres", "gpu:h200:4"], Some("gpu:h200:4"), 3, "cuda:all"),
        (&["--device", "cuda"], Some("gpu:1"), 6, "cuda"),
        (&["--profile", profile], None, 3, "cuda:all"),
        (&["--gpus", "1", "--per-gpu", "1"], Some("gpu:1"), 18, "cuda"),
    ];
    for (given, gres, tasks, device) in cases {
        let script = succeed(&mut submit(given));
        let asked = script.lines().find_map(|line| line.strip_prefix("#SBATCH --gres="));
        assert_eq!(asked, gres, "{given:?}\n{script}");
        assert!(script.contains(&format!("#SBATCH --array=0-{}\n", tasks - 1)), "{given:?}\n{script}");
        assert!(script.contains(&format!(" --device {device} --lease")), "{given:?}\n{script}");
    }
    let refusals: [(&[&str], &str); 5] = [
        (&["--gpus", "0"], "`0` is no number of GPUs: write 1, 2 or, with their type, a100:2"),
        (&["--gpus", "a100:"], "is no number of GPUs"),
        (&["--gpus", "1", "--device", "cpu"], "--device cpu would not use them"),
        (&["--gpus", "1", "--gres", "gpu:1"], "both ask for GPUs"),
        (&["--device", "cuda:all"], "say with --gpus how many GPUs a task has"),
    ];
    for (given, sentence) in refusals {
        let refused = submit(given).output().unwrap();
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && told.contains(sentence), "{given:?}: {told}");
    }
}

#[test]
fn several_devices_are_for_studies_and_each_must_be_there() {
    let place = tempfile::tempdir().unwrap();
    let file = write(place.path(), "small", "[factors]\nmixture.lambda = [0.25, 0.5]\n");
    let (file, out) = (file.to_str().unwrap(), place.path().join("out"));
    for device in ["cuda:all,cpu", "cuda:0,cpu", "cuda:97,cuda:98", "cuda:0,,"] {
        let run = study(&["run", file, "--out", out.to_str().unwrap(), "--device", device]).output().unwrap();
        let told = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.code() == Some(2) && told.lines().count() == 1, "{device}: {told}");
        assert!(!out.exists(), "{device}");
    }
}

#[test]
fn a_study_is_run_looked_at_and_collected_and_a_failure_hides_nothing() {
    let place = tempfile::tempdir().unwrap();
    // No sample of 300 sentences holds 30,000 pieces.
    let text =
        "experiment = { train.steps = 20 }\n[factors]\ntokenizer.vocab = [80, 30000]\nmixture.lambda = [0.25, 0.5]\n";
    let file = write(place.path(), "mixed", text);
    let out = place.path().join("out");
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let run = study(&["run", file, "--out", out, "--device", "cpu", "--jobs", "2"]).output().unwrap();
    let (said, told) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.status.code(), Some(1), "{told}");
    assert!(said.contains("2 cells done here, 2 failed; nothing is left to run"), "{said}");
    assert_eq!(told.matches("failed  ").count(), 2, "{told}");

    let status = succeed(&mut study(&["status", out]));
    assert!(status.starts_with("mixed: 4 cells\n"), "{status}");
    let line = |name: &str| status.lines().find(|line| line.trim_start().starts_with(name)).unwrap().to_owned();
    assert!(
        line("done").contains(" 2 ") && line("failed").contains(" 2 ") && line("waiting").contains(" 0 "),
        "{status}"
    );
    assert!(status.contains("tokenizer.vocab=30000"), "{status}");

    let collected = succeed(&mut study(&["collect", out, "--csv"]));
    assert!(collected.contains("4 runs, 2 of them done"), "{collected}");
    let rows = csv(&Path::new(out).join("runs.csv"));
    let column = |name: &str| rows[0].iter().position(|head| head == name).unwrap_or_else(|| panic!("no {name}"));
    let states: Vec<&str> = rows[1..].iter().map(|row| row[column("state")].as_str()).collect();
    assert_eq!(states.iter().filter(|state| **state == "done").count(), 2);
    assert_eq!(states.iter().filter(|state| **state == "failed").count(), 2);
    let failed = rows[1..].iter().find(|row| row[column("state")] == "failed").unwrap();
    assert_eq!((failed[column("tokenizer.vocab")].as_str(), failed[column("study")].as_str()), ("30000", "mixed"));
    assert!(!failed[column("error")].is_empty());
    let metrics = csv(&Path::new(out).join("metrics.csv"));
    assert_eq!(metrics[0][..6], ["run", "step", "condition", "task", "metric", "value"]);
    let runs: std::collections::HashSet<&str> = metrics[1..].iter().map(|row| row[0].as_str()).collect();
    assert_eq!(runs.len(), 2, "the rows of both finished runs");
    assert!(Path::new(out).join("words.parquet").exists());
    // Collected again, the same bytes.
    let before = std::fs::read(Path::new(out).join("metrics.parquet")).unwrap();
    succeed(&mut study(&["collect", out]));
    assert!(before == std::fs::read(Path::new(out).join("metrics.parquet")).unwrap());

    // Opened again, they fail again, and are again told.
    assert!(succeed(&mut study(&["retry", out])).contains("2 cells opened again"));
    assert_eq!(study_common::counts(Path::new(out))["waiting"], 2);
    let again = study(&["run", out, "--device", "cpu", "--fail-fast", "--jobs", "1"]).output().unwrap();
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(study_common::counts(Path::new(out))["waiting"], 1, "the first failure ended it");
    // What has run is the measure of what is to come.
    let plan = succeed(&mut study(&["plan", out, "--device", "cpu"]));
    assert!(plan.contains("1 of them still to be run"), "{plan}");
}

#[test]
fn results_of_an_earlier_part_are_built_upon() {
    let place = tempfile::tempdir().unwrap();
    let text = "experiment = { train.steps = 20 }\n[factors]\nmixture.lambda = [0.1, 0.25, 0.5]\n\
                [[claims]]\nid = \"scrambled\"\nsays = \"The loss on T1 is above 0.\"\nexpect = \"above 0\"\n\
                estimate = { mean = \"loss.loss_T1\", in = \"overall\" }\n";
    let file = write(place.path(), "parts", text);
    let folder = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let (file, first, second, whole) = (file.to_str().unwrap(), folder("first"), folder("second"), folder("whole"));
    let run = |out: &str, more: &[&str]| {
        let arguments = [&["run", file, "--out", out, "--device", "cpu", "--jobs", "2"], more].concat();
        succeed(&mut study(&arguments))
    };
    assert!(run(&first, &["--limit", "1"]).contains("1 cell done here; 2 left"));
    succeed(&mut study(&["collect", &first]));
    assert!(run(&second, &["--with", &first]).contains("2 cells done here; nothing is left to run"));
    // The tables were copied: the first folder is no longer needed.
    std::fs::remove_dir_all(&first).unwrap();
    assert_eq!(study_common::counts(Path::new(&second))["done"], 3);
    assert!(succeed(&mut study(&["collect", &second, "--csv"])).contains("3 runs, 3 of them done"));
    run(&whole, &[]);
    succeed(&mut study(&["collect", &whole, "--csv"]));
    let rows = |out: &str, table: &str| csv(&Path::new(out).join(table));
    let sorted = |mut rows: Vec<Vec<String>>| {
        rows.sort();
        rows
    };
    assert_eq!(sorted(rows(&second, "metrics.csv")), sorted(rows(&whole, "metrics.csv")));
    assert_eq!(sorted(rows(&second, "words.csv")), sorted(rows(&whole, "words.csv")));
    assert_eq!(rows(&second, "runs.csv").len(), 4);
    // From the tables of a larger study a smaller one takes its own runs alone.
    let two = write(place.path(), "two", &text.replace(", 0.5", ""));
    let smaller = folder("smaller");
    let taken = ["run", two.to_str().unwrap(), "--out", &smaller, "--with", &whole, "--device", "cpu"];
    assert!(succeed(&mut study(&taken)).contains("0 cells done here; nothing is left to run"));
    assert!(succeed(&mut study(&["collect", &smaller, "--csv"])).contains("2 runs, 2 of them done"));
    let own: HashSet<String> = rows(&smaller, "runs.csv")[1..].iter().map(|row| row[0].clone()).collect();
    for table in ["metrics.csv", "words.csv"] {
        let expected =
            rows(&whole, table).into_iter().enumerate().filter(|(at, row)| *at == 0 || own.contains(&row[0]));
        assert_eq!(sorted(rows(&smaller, table)), sorted(expected.map(|(_, row)| row).collect()), "{table}");
    }
    // Made small, the tables come to the same figures, up to what rounding to four decimals moves: a tenth of a pixel.
    let figures = |out: &str| {
        succeed(&mut common::invitro(&["report", &whole, "--out", out, "--all-figures"]));
        let names = std::fs::read_dir(Path::new(out).join("figures")).unwrap().map(|entry| entry.unwrap().path());
        let mut drawn: Vec<_> = names.filter(|path| path.extension().is_some_and(|kind| kind == "svg")).collect();
        drawn.sort();
        drawn.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect::<Vec<_>>()
    };
    let (all, drawn) = (rows(&whole, "metrics.csv"), figures(&folder("of-all")));
    succeed(&mut study(&["collect", &whole, "--csv", "--compact"]));
    let fewer = rows(&whole, "metrics.csv");
    assert!(3 * fewer.len() < 2 * all.len() && fewer[0] == all[0], "{} of {}", fewer.len(), all.len());
    let values: HashMap<&[String], &String> = all.iter().map(|row| (&row[..5], &row[5])).collect();
    for row in &fewer[1..] {
        let [short, long] = [&row[5], values[&row[..5]]].map(|value| value.parse::<f64>().unwrap());
        assert!((short - long).abs() <= 2f64.powi(-15), "{row:?} was {long}");
        assert!(short == long || row[3] == "loss" || row[4].ends_with("logprob"), "{row:?} was {long}");
    }
    assert!(fewer.iter().any(|row| row[4] == "network.facts.share@0.1"));
    // No report shows the loss on a task: only that which the claim reads stays.
    assert!(fewer.iter().any(|row| row[4] == "loss_T1") && fewer.iter().all(|row| row[4] != "loss_T0"));
    assert!(all.iter().any(|row| row[4] == "loss_T0"));
    let numbers = |text: &str| -> Vec<f64> {
        let parts = text.split(|c: char| !c.is_ascii_digit() && c != '.');
        parts.filter_map(|part| part.parse().ok()).collect()
    };
    let of_compact = figures(&folder("of-compact"));
    assert!(drawn.len() > 8 && drawn.len() == of_compact.len());
    for (whole, compact) in drawn.iter().zip(&of_compact) {
        let (whole, compact) = (numbers(whole), numbers(compact));
        let moved = whole.iter().zip(&compact).map(|(whole, compact)| (whole - compact).abs()).fold(0.0, f64::max);
        assert!(whole.len() == compact.len() && moved < 0.11, "{moved}");
    }
    let missing = study(&["run", file, "--out", &folder("third"), "--with", &first]).output().unwrap();
    assert!(String::from_utf8_lossy(&missing.stderr).contains("runs.parquet"), "{missing:?}");
}

/// A table of plain cells, quoted or not.
fn csv(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(split).collect()
}

fn split(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    for char in line.chars() {
        match char {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

#[test]
fn bad_input_is_refused_in_a_sentence() {
    let place = tempfile::tempdir().unwrap();
    let good = write(place.path(), "good", "[factors]\nmixture.lambda = [0.25, 0.5]\n");
    let good = good.to_str().unwrap();
    let bad = write(place.path(), "bad", "[factors]\nmixture.lamda = [0.25, 0.5]\n");
    let out = place.path().join("out");
    let out = out.to_str().unwrap();
    for (arguments, expected) in [
        (vec!["study", "plan", bad.to_str().unwrap()], "the nearest known key is `mixture.lambda`"),
        (vec!["study", "plan", "no-such.toml"], "cannot be read"),
        (vec!["study", "run", good], "say where the study goes with --out DIR"),
        (vec!["study", "run", good, "mixture.lambda=0.1", "--out", out], "it is a factor of this study"),
        (vec!["study", "status", place.path().to_str().unwrap()], "there is no study.toml in this folder"),
        (vec!["study", "run", good, "--out", out, "--lease", "0s"], "must be at least 1s"),
    ] {
        let error = refused(&arguments);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert!(!Path::new(out).exists(), "nothing half made stays behind");

    let table = place.path().join("table.toml");
    std::fs::write(&table, "name = \"table\"\n[base]\nlanguage.distance = 0.5\n").unwrap();
    let error = refused(&["study", "plan", table.to_str().unwrap()]);
    assert!(error.contains("line 2, `[base]`: invalid type: map, expected a string"), "{error}");
    let missing = refused(&["study", "run", good, "--out", out, "--with", "s9"]);
    assert!(missing.starts_with("error: `s9/runs.parquet` cannot be read"), "{missing}");
}

#[test]
fn a_place_that_holds_something_else_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let file = write(place.path(), "good", "[factors]\nmixture.lambda = [0.25, 0.5]\n");
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let (file, note, export, empty) = (file.to_str().unwrap(), at("note.txt"), at("export"), at("empty"));
    std::fs::write(&note, "").unwrap();
    let error = refused(&["study", "run", file, "--out", &note]);
    assert!(error.contains("note.txt` is not a folder: choose another with --out"), "{error}");
    common::stdout(&["language", "export", "--config", TINY, "--out", &export]);
    let before = common::listing(Path::new(&export));
    let error = refused(&["study", "run", file, "--out", &export]);
    assert!(error.contains("is not empty and not a study's folder: choose another with --out"), "{error}");
    assert_eq!(common::listing(Path::new(&export)), before);
    // An empty folder will do, and so will the study's own.
    std::fs::create_dir(&empty).unwrap();
    for _ in 0..2 {
        succeed(&mut study(&["run", file, "--out", &empty, "--device", "cpu", "--limit", "0"]));
    }
}

/// Languages and tokenizers are measured without training, each once, and the report draws them.
#[test]
fn tokenizers_of_a_study_are_measured_without_training() {
    let place = tempfile::tempdir().unwrap();
    let grid = "[factors]\ntokenizer.vocab = [70, 80]\n[seeds]\ndata = [0, 1]\nmodel = [0, 1]\n";
    let file = write(place.path(), "sizes", grid);
    let folder = place.path().join("measured");
    let [file, out] = [file.to_str().unwrap(), folder.to_str().unwrap()];
    let said = succeed(&mut study(&["measure", file, "--out", out, "--csv"]));
    assert!(said.contains("4 tokenizers measured"), "model seeds change no tokenizer: {said}");
    let runs = invitro_results::read(&folder).unwrap().runs;
    let overlap = Quantity::overall(Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap));
    assert!(runs.len() == 4 && runs.iter().all(|run| run.state() == "measured" && !run.measured()));
    assert!(runs.iter().all(|run| run.once(&overlap).is_some_and(|overlap| overlap > 0.0 && overlap < 1.0)));
    let said = refused(&["study", "measure", file, "--out", out]);
    assert!(said.contains("--force replaces it"), "{said}");
    let report = Command::new(env!("CARGO_BIN_EXE_invitro")).args(["report", out]).output().unwrap();
    assert!(report.status.success(), "{report:?}");
    let names = std::fs::read_dir(folder.join("figures")).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.starts_with("fertility") && name.ends_with(".svg")), "{names:?}");
}

/// pyarrow sees booleans and lists; a table that has them as text, as older versions wrote it, is collected beside new runs.
#[test]
fn settings_have_their_kinds_in_tables_whoever_reads_them() {
    let Some(python) = python() else { return };
    let temp = tempfile::tempdir().unwrap();
    let [file, old, all] = ["s.toml", "old", "all"].map(|name| temp.path().join(name));
    let write = |seeds: &str| {
        let text = format!(
            "name = \"kinds\"\nbase = \"{TINY}\"\nexperiment = {{ train.steps = 2, eval.also = [1] }}\n[seeds]\ndata = {seeds}\n"
        );
        std::fs::write(&file, text).unwrap();
    };
    let run = |args: &[&str]| succeed(study(&["run", file.to_str().unwrap(), "--device", "cpu"]).args(args));
    write("[0]");
    run(&["--out", old.to_str().unwrap()]);
    succeed(&mut study(&["collect", old.to_str().unwrap()]));
    let script = "
import json, sys, pyarrow as pa, pyarrow.parquet as pq
table = pq.read_table(sys.argv[1])
kinds = {'tokenizer.sees_masked': pa.bool_(), 'mixture.tasks': pa.list_(pa.field('element', pa.float64(), False)),
         'eval.also': pa.list_(pa.field('element', pa.int64(), False)), 'language.grammar': pa.string()}
for name, kind in kinds.items():
    assert table.schema.field(name).type == kind, (name, table.schema.field(name))
assert set(map(tuple, table['mixture.tasks'].to_pylist())) == {(0.2, 0.4, 0.4)}
assert set(map(tuple, table['eval.also'].to_pylist())) == {(1,)}
assert set(table['tokenizer.sees_masked'].to_pylist()) == {False}
if len(sys.argv) > 2:
    for at, field in enumerate(table.schema):
        if pa.types.is_boolean(field.type) or pa.types.is_list(field.type):
            texts = [json.dumps(value, separators=(',', ':')) for value in table[field.name].to_pylist()]
            table = table.set_column(at, field.name, pa.array(texts))
    pq.write_table(table.replace_schema_metadata(), sys.argv[2])
";
    let check = |args: &[&Path]| {
        let output = Command::new(&python).arg("-c").arg(script).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let table = old.join("runs.parquet");
    check(&[&table, &table]);
    write("[0, 1]");
    run(&["--out", all.to_str().unwrap(), "--with", old.to_str().unwrap()]);
    succeed(study(&["collect", all.to_str().unwrap()]).arg("--csv"));
    check(&[&all.join("runs.parquet")]);
    let csv = std::fs::read_to_string(all.join("runs.csv")).unwrap();
    assert_eq!(csv.matches("\"[0.2,0.4,0.4]\"").count(), 2, "{csv}");
}

#[test]
fn a_plan_says_how_many_data_seeds_claims_need() {
    let results = format!("{}/../../results/withheld", env!("CARGO_MANIFEST_DIR"));
    let power =
        |more: &[&str]| succeed(study(&["plan", &shipped("withheld"), "--power", "--from", &results]).args(more));
    // By pandas and SciPy: the mean of 8 data seeds, their deviation, t.ppf(0.975, 7) · deviation / √8, nct.sf at 5 % / 2,
    // half of the mean, and the first numbers of data seeds that are enough.
    let line = "  share-of-source    −0.075   0.040   0.033   0.98   0.038      7       6";
    let text = power(&[]);
    assert!(text.lines().any(|own| own == line), "{text}");
    let json: Value = serde_json::from_str(&power(&["--half-width", "0.02", "--json"])).unwrap();
    let own = &json["claims"][1];
    assert_eq!((&own["half_width_wanted"], &own["seeds_for_half_width"]), (&0.02.into(), &18.into()), "{own}");
    assert!((own["power"].as_f64().unwrap() - 0.980_359).abs() < 1e-3, "{own}");
    let none = refused(&["study", "plan", &shipped("withheld"), "--power"]);
    assert!(none.contains("--from DIR"), "{none}");
    let none = refused(&["study", "plan", &shipped("quick"), "--power", "--from", &results]);
    assert!(none.contains("names no primary claims"), "{none}");
}

#[test]
fn a_status_has_the_claims_by_complete_data_seeds() {
    let place = tempfile::tempdir().unwrap();
    let claims = "primary = [\"learns\", \"more\"]\n[[claims]]\nid = \"learns\"\nsays = \"\"\nexpect = \"above 0\"\n\
                  estimate = { mean = \"bits\", in = \"B\" }\n[[claims]]\nid = \"more\"\nsays = \"\"\nexpect = \"above 0\"\n\
                  estimate = { difference = \"bits\", in = \"B\", of = { mixture.lambda = [0.25, 0.5] } }\n";
    let rest = format!("{claims}[factors]\nmixture.lambda = [0.25, 0.5]\n[seeds]\ndata = [0, 1, 2, 3]\n");
    let (file, out) = (write(place.path(), "claims", &rest), place.path().join("out"));
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let status = |limit: &str| {
        succeed(&mut study(&["run", file, "--out", out, "--device", "cpu", "--limit", limit]));
        let json: Value = serde_json::from_str(&succeed(&mut study(&["status", out, "--json"]))).unwrap();
        json["claims"].clone()
    };
    assert_eq!(status("1"), Value::Null, "no data seed is complete");
    let three = status("6");
    assert_eq!(three["data_seeds_complete"], 3, "{three}");
    assert_eq!(three["claims"][0]["data_seeds"], 3, "the fourth has one cell");
    let text = succeed(&mut study(&["status", out]));
    assert!(text.contains("3 of 4 data seeds complete") && text.contains("\n  learns  "), "{text}");
}

/// Writes a study whose claims rest on what is known before training.
pub fn write_until(place: &Path, steps: u64, expect: &str) -> PathBuf {
    let rest = format!(
        "primary = [\"cut\"]\nexperiment = {{ train.steps = {steps} }}\n[factors]\nlanguage.distance = [0.0, 0.5]\n[seeds]\n\
         data = [5, 9]\nmodel = [0]\n[[claims]]\nid = \"cut\"\nsays = \"Words of B are cut.\"\n\
         estimate = {{ mean = \"fertility\", in = \"B\" }}\nexpect = \"{expect}\"\n"
    );
    write(place, "itself", &rest)
}

#[test]
fn a_study_that_plans_itself_goes_on_wherever_it_was_stopped() {
    let place = tempfile::tempdir().unwrap();
    let file = write_until(place.path(), 20, "above 2.5");
    let folder = |name: &str| place.path().join(name);
    let run = |out: &Path| {
        let mut command = study(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap(), "--device", "cpu"]);
        command.args(["--until", "decided", "--cap", "9"]);
        command
    };
    let whole = folder("whole");
    let said = succeed(&mut run(&whole));
    let stopped = said.lines().next().unwrap();
    let taken: usize = stopped.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!(stopped.ends_with("data seeds: every primary claim is decided") && taken > 3, "{said}");
    let plan = std::fs::read_to_string(whole.join("study.toml")).unwrap();
    assert!(plan.contains("data = [5, 9, 10"), "{plan}");
    let all = study_common::results(&whole);
    assert_eq!(all.len(), 2 * taken);
    // In small steps, by two processes at once: the same runs, the same bytes.
    let parts = folder("parts");
    loop {
        let both = [(); 2].map(|()| run(&parts).args(["--limit", "1"]).stdout(Stdio::piped()).spawn().unwrap());
        let said = both.map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap());
        if said.iter().any(|said| said.contains("every primary claim is decided")) {
            break;
        }
    }
    study_common::assert_equal(&study_common::results(&parts), &all);
    // What the folder says of itself.
    let status = succeed(&mut study(&["status", parts.to_str().unwrap()]));
    assert!(status.contains(stopped), "{status}");
    succeed(Command::new(env!("CARGO_BIN_EXE_invitro")).args(["report", parts.to_str().unwrap()]));
    let page = std::fs::read_to_string(parts.join("report.html")).unwrap();
    assert!(page.contains(&format!("This study plans itself: {stopped}.")), "the page says why it stopped");
    // It cannot be told otherwise later.
    let other = refused(&["study", "run", parts.to_str().unwrap(), "--until", "0.1"]);
    assert!(other.contains("its settings, its place and when it stops are fixed"), "{other}");
    let other = common::run(&["study", "run", file.to_str().unwrap(), "--out", "x", "--until", "soon"]);
    let other = String::from_utf8(other.stderr).unwrap();
    assert!(other.contains("it must be `decided` or a number above 0"), "{other}");
}
