//! `invitro corpus`: every format has the same rows, those of training as training reads them; in bounded pieces, whole
//! or not at all.

use crate::common::*;
use invitro_lab::Experiment;
use invitro_lab::inputs::InputCache;
use invitro_lab::training::data_loader::DataLoader;
use invitro_language::Source;
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

fn corpus(out: &Path, n: &str, more: &[&str]) -> Vec<u8> {
    let args = [&["corpus", "-n", n, "--config", tiny(), "--out", out.to_str().unwrap()], more].concat();
    stdout(&args);
    std::fs::read(out).unwrap()
}

fn rows(out: &Path, n: &str, more: &[&str]) -> Vec<Value> {
    let text = String::from_utf8(corpus(out, n, more)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn rows_are_pinned_and_the_same_on_one_and_two_threads() {
    let dir = tempfile::tempdir().unwrap();
    is_golden("corpus.jsonl", &corpus(&dir.path().join("x.jsonl"), "12", &[]));
    for name in ["a.txt", "a.jsonl", "a.csv.zst", "a.parquet"] {
        let bytes = ["1", "2"].map(|threads| {
            let out = dir.path().join(format!("{threads}{name}"));
            let args = ["corpus", "-n", "20000", "--config", tiny(), "--out", out.to_str().unwrap()];
            assert!(invitro(&args).env("RAYON_NUM_THREADS", threads).output().unwrap().status.success());
            std::fs::read(out).unwrap()
        });
        assert!(bytes[0] == bytes[1], "{name} depends on the number of threads");
    }
}

#[test]
fn splits_and_tasks_are_what_they_say() {
    let dir = tempfile::tempdir().unwrap();
    for (split, langs, masked) in [
        ("train", vec!["A", "B"], false),
        ("A", vec!["A"], false),
        ("B", vec!["B"], false),
        ("masked", vec!["B"], true),
    ] {
        for task in ["T0", "T1", "T2", "mix"] {
            let out = dir.path().join(format!("{split}{task}.jsonl"));
            for row in rows(&out, "200", &["--split", split, "--task", task]) {
                assert!(langs.contains(&row["language"].as_str().unwrap()));
                assert_eq!(row["masked"], masked);
                let (text, own) = (row["text"].as_str().unwrap(), row["task"].as_str().unwrap());
                assert!(task == "mix" || task == own);
                assert!(text.starts_with(&format!("<{own}:{}> ", row["language"].as_str().unwrap())));
                assert!(text.ends_with(" <eos>"));
                assert_eq!(text.split(' ').count(), row["symbols"].as_array().unwrap().len());
            }
        }
    }
    let text = corpus(&dir.path().join("x.txt"), "200", &[]);
    let json = rows(&dir.path().join("x.jsonl"), "200", &[]);
    let lines: Vec<&str> = json.iter().map(|row| row["text"].as_str().unwrap()).collect();
    assert_eq!(String::from_utf8(text).unwrap(), lines.join("\n") + "\n");
}

#[test]
fn every_format_has_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let text = corpus(&at("x.txt"), "300", &[]);
    for name in ["x.txt", "x.jsonl", "x.csv"] {
        let plain = corpus(&at(&format!("plain-{name}")), "300", &[]);
        let compressed = corpus(&at(&format!("{name}.zst")), "300", &[]);
        assert!(compressed.len() < plain.len() / 2);
        assert!(zstd::decode_all(&compressed[..]).unwrap() == plain, "{name}");
        let format = name.split('.').next_back().unwrap();
        let told = stdout(&["corpus", "-n", "300", "--config", tiny(), "--out", "-", "--format", format]);
        assert!(told.as_bytes() == plain, "{name} on standard output");
    }
    assert!(stdout(&["corpus", "-n", "300", "--config", tiny(), "--out", "-"]).as_bytes() == text);
    let csv = String::from_utf8(corpus(&at("y.csv"), "300", &[])).unwrap();
    let json = rows(&at("y.jsonl"), "300", &[]);
    assert_eq!(csv.lines().next(), Some("text,language,task,symbols,masked"));
    for (line, row) in csv.lines().skip(1).zip(&json) {
        let symbols: Vec<&str> = row["symbols"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
        let cell = |name: &str| row[name].as_str().unwrap().to_owned();
        let cells = [cell("text"), cell("language"), cell("task"), symbols.join(" "), row["masked"].to_string()];
        assert_eq!(line, cells.join(","));
    }
}

#[test]
fn the_training_split_is_what_training_reads() {
    let dir = tempfile::tempdir().unwrap();
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/tests/common/tiny.toml");
    for (name, more) in [
        ("fresh", vec![]),
        ("finite", vec!["mixture.corpus=finite", "mixture.sentences=50", "mixture.epochs=100", "seeds.data=3"]),
    ] {
        // So short a context that rows are redrawn.
        let settings = [&["model.context=70", "train.steps=12"], &more[..]].concat();
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let experiment = Experiment::load(None, Some(config.as_ref()), &settings).unwrap();
        let inputs = InputCache::default().get(&experiment).unwrap();
        let mut loader = DataLoader::start(vec![(experiment.clone(), inputs.clone())], 0, 2);
        let steps = (0..experiment.train.steps).map(|_| loader.take().unwrap().remove(0));
        let read: Vec<String> = steps.flatten().map(|row| inputs.text.segmentation.decode(&row.tokens)).collect();

        let out = dir.path().join(format!("{name}.txt"));
        let (path, n) = (out.to_str().unwrap(), read.len().to_string());
        let mut args = vec!["corpus", "--config", config, "-n", &n, "--out", path];
        args.extend(settings.iter().map(String::as_str));
        stdout(&args);
        let written = std::fs::read_to_string(&out).unwrap();
        assert_eq!(written.lines().collect::<Vec<_>>(), read, "{name}");

        let batch = experiment.train.batch as u64;
        let mut source = Source::training(&inputs.languages, &experiment.mixture, batch, 1);
        let drawn = (0..read.len() as u64).map(|i| source.draw(i / batch, i % batch).unwrap().text(&inputs.languages));
        assert!(drawn.zip(&read).any(|(drawn, read)| drawn != *read), "{name}: nothing was redrawn");

        // Of one task: those of its rows.
        let task = dir.path().join(format!("{name}-T1.txt"));
        let of_task: Vec<&str> = written.lines().filter(|line| line.starts_with("<T1:")).collect();
        let count = of_task.len().to_string();
        let mut args =
            vec!["corpus", "--config", config, "--task", "T1", "-n", &count, "--out", task.to_str().unwrap()];
        args.extend(settings.iter().map(String::as_str));
        stdout(&args);
        assert_eq!(std::fs::read_to_string(&task).unwrap().lines().collect::<Vec<_>>(), of_task);
    }
    let none =
        ["corpus", "--config", config, "--task", "T0", "-n", "3", "--out", "x.txt", "mixture.tasks=[0, 0.5, 0.5]"];
    assert!(refused(&none).contains("`mixture.tasks` gives T0 no share: training sees none of it"));
}

#[test]
fn parquet_loads_in_pandas_polars_and_datasets() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    // More rows than a row group holds.
    corpus(&dir.path().join("x.parquet"), "70000", &[]);
    corpus(&dir.path().join("x.jsonl"), "70000", &[]);
    let folder = dir.path().join("folder").display().to_string() + "/";
    let splits = ["--split", "train,A,B_masked", "--held-out"];
    stdout(&[&["corpus", "-n", "300", "--config", tiny(), "--out", &folder], &splits[..]].concat());
    for split in ["train", "A", "B_masked"] {
        let held_out: &[&str] = if split == "train" { &[] } else { &["--held-out"] };
        corpus(&dir.path().join(format!("{split}.jsonl")), "300", &[&["--split", split], held_out].concat());
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/load_corpus.py");
    let output = Command::new(python)
        .arg(script)
        .arg(dir.path())
        .env("HF_HOME", dir.path().join("hf"))
        .env("HF_HUB_OFFLINE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "pandas polars datasets folder");
}

#[test]
fn a_folder_has_a_file_for_every_split_and_a_data_card() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("rows");
    let out = folder.display().to_string() + "/";
    let corpus_of = |more: &[&'static str]| {
        let start = ["corpus", "-n", "40", "--config", tiny(), "--out", &out].map(str::to_owned);
        start.into_iter().chain(more.iter().map(|&more| more.to_owned())).collect::<Vec<String>>()
    };
    let run = |more: &[&'static str]| stdout(&corpus_of(more).iter().map(String::as_str).collect::<Vec<_>>());
    let refused_of = |more: &[&'static str]| refused(&corpus_of(more).iter().map(String::as_str).collect::<Vec<_>>());
    let splits = ["--split", "train,B,masked", "--held-out", "--format", "jsonl"];
    run(&[&splits[..], &["--license", "cc0-1.0"]].concat());
    assert_eq!(listing(&folder), ["B.jsonl", "B_masked.jsonl", "README.md", "experiment.toml", "train.jsonl"]);
    let card = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for part in [
        "license: cc0-1.0\n",
        "  - split: B_masked\n    path: B_masked.jsonl\n",
        "| B_masked | 40 | sentences of B with a masked word; of those held out for evaluation |",
        "| train | 40 | what training sees, in its order |",
        "load_dataset(\"rows\")[\"train\"]",
        "@software{invitro,",
        &format!("version = {{{} (", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(card.contains(part), "{part} in\n{card}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let first: Value = serde_json::from_str(read("train.jsonl").lines().next().unwrap()).unwrap();
    assert!(card.contains(first["text"].as_str().unwrap()));
    // Its experiment gives the same rows again.
    let again = dir.path().join("again.jsonl");
    let config = folder.join("experiment.toml").display().to_string();
    stdout(&["corpus", "-n", "40", "--config", &config, "--out", again.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&again).unwrap(), read("train.jsonl"));

    assert!(refused_of(&[]).contains("exists already; --force replaces it"));
    run(&["--force"]);
    assert_eq!(listing(&folder), ["README.md", "experiment.toml", "train.parquet"]);
    assert!(read("README.md").contains("Its publisher has named no licence"));
    assert!(refused_of(&["--force", "--split", "A,B,A"]).contains("--split names A twice"));
    assert!(refused(&["corpus", "-n", "3", "--split", "A,B", "--out", "x.txt"]).contains("give --out a / at its end"));
    assert!(refused(&["corpus", "-n", "3", "--license", "x", "--out", "x.txt"]).contains("give --out a / at its end"));
}

#[test]
fn what_exists_is_left_alone_unless_forced() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.txt");
    let path = out.to_str().unwrap();
    std::fs::write(&out, "precious").unwrap();
    let args = ["corpus", "-n", "3", "--config", tiny(), "--out", path];
    assert_eq!(refused(&args), format!("error: `{path}` exists already; --force replaces it"));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "precious");
    corpus(&out, "3", &["--force"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 3);
    assert_eq!(listing(dir.path()), ["x.txt"]);

    let folder = dir.path().join("folder");
    let export = ["language", "export", "--config", tiny(), "--out", folder.to_str().unwrap()];
    stdout(&export);
    assert!(refused(&export).contains("exists already; --force replaces it"));
    std::fs::write(folder.join("mine"), "precious").unwrap();
    for force in [&[][..], &["--force"]] {
        assert!(refused(&[&export[..], force].concat()).contains("holds `mine`, which this command does not write"));
    }
    assert_eq!(std::fs::read_to_string(folder.join("mine")).unwrap(), "precious");
    std::fs::remove_file(folder.join("mine")).unwrap();
    std::fs::write(folder.join("world.json"), "damaged").unwrap();
    stdout(&[&export[..], &["--force"]].concat());
    assert_eq!(listing(&folder), ["README.md", "grammar.txt", "lexicon.tsv", "world.json"]);
    assert!(std::fs::read_to_string(folder.join("world.json")).unwrap().starts_with('{'));
    assert_eq!(listing(dir.path()), ["folder", "x.txt"]);
}

#[test]
fn a_disk_that_takes_no_more_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["x.txt", "x.jsonl", "x.parquet"] {
        // A limit on file size stands in for a full disk: writes fail half way.
        let out = dir.path().join(name);
        let script = format!(
            "trap '' XFSZ; ulimit -f 8; exec {} corpus -n 20000 --config {} --out {}",
            env!("CARGO_BIN_EXE_invitro"),
            tiny(),
            out.display()
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with(&format!("error: `{}` cannot be written: ", out.display())), "{error}");
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
        assert!(listing(dir.path()).is_empty(), "{:?}", listing(dir.path()));
    }
}

#[test]
fn what_is_held_out_is_in_no_other_split() {
    let dir = tempfile::tempdir().unwrap();
    let sentences = |name: &str, n: &str, more: &[&str]| -> HashSet<String> {
        let of = |row: &Value| {
            let text = row["text"].as_str().unwrap();
            let start = text.rfind("<out> ").map_or_else(|| text.find(' ').unwrap() + 1, |at| at + 6);
            (row["language"] == "A").then(|| text[start..].to_owned())
        };
        rows(&dir.path().join(name), n, more).iter().filter_map(of).collect()
    };
    let trained = sentences("train.jsonl", "20000", &[]);
    let others = sentences("a.jsonl", "300", &["--split", "A"]);
    let held_out = sentences("held-out.jsonl", "300", &["--split", "A", "--held-out"]);
    assert!(held_out.is_disjoint(&trained) && held_out.is_disjoint(&others) && !others.is_disjoint(&trained));
    let error = refused(&["corpus", "-n", "3", "--config", tiny(), "--held-out", "--out", "-"]);
    assert!(error.contains("training sees no held-out sentence"), "{error}");
}
