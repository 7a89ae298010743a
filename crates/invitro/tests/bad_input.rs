//! Bad input: one sentence, exit status 2, nothing half written.

use crate::common::*;

#[test]
fn settings_that_cannot_be() {
    for (setting, says) in [
        ("language.distnace=0.5", "the nearest known key is `language.distance`"),
        ("language.distance=1.5", "`language.distance` is 1.5, but must be 0 to 1"),
        ("mixture.lambda=0", "`mixture.lambda` is 0, but must be above 0 and at most 1"),
        ("mixture.lambda=1.01", "`mixture.lambda` is 1.01, but must be above 0 and at most 1"),
        ("language.mask_share=0.001", "both masked and unmasked valid descriptors"),
        ("language.classes=3", "`language.classes` is 3, but must be an even number"),
        ("language.properties=9", "`language.properties` is 9, but must be a multiple of `language.classes` (2)"),
        ("language.valid_share=0.01", "`language.valid_share` is 0.01, but must be a share that allows at least 1"),
        ("language.word_length=4", "`language.word_length` is 4, but must be at least"),
        (
            "language.grammar=no/such/file",
            "`language.grammar` is `no/such/file`, which is neither svo, sov, vso or vos",
        ),
        ("language.entities=2", "`language.entities` is 2, but must be above `language.names` (2)"),
    ] {
        let error = refused(&["language", "show", "--config", tiny(), setting]);
        assert!(error.starts_with("error: ") && error.contains(says), "{setting}: {error}");
    }
    let crowded = ["language", "show", "--preset", "paper", "language.word_length=3", "language.affix_rate=0"];
    let error = refused(&crowded);
    assert!(error.contains("the lexicon ran out of distinct words after") && error.contains("of 18843"), "{error}");
    assert!(
        refused(&["language", "show", "--preset", "slow"])
            .contains("the presets are quick, first, paper and converged")
    );
    assert!(refused(&["language", "show", "--config", "no.toml"]).contains("`no.toml` cannot be read"));
}

/// A chain of three languages in the world of the golden files, as a file.
const CHAIN: &str = r#"
[[languages]]
name = "A"
distance = 0.0
[[languages]]
name = "B"
parent = "A"
distance = 0.3
[[languages]]
name = "C"
parent = "B"
distance = 0.3
mask_share = 0.25
"#;

#[test]
fn families_that_cannot_be() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("family.toml");
    std::fs::write(&file, std::fs::read_to_string(tiny()).unwrap() + CHAIN).unwrap();
    for (settings, says) in [
        (&["languages.A.parent=C"][..], "`languages` goes in a circle: A descends from C, C from B, B from A"),
        (
            &["languages.B.parent=B"],
            "`languages.B.parent` is `B`, but must be one of A, C, or left out for the proto-language",
        ),
        (&["languages.B.parent=X"], "`languages.B.parent` is `X`, but must be one of A, C, or left out"),
        (&["languages.B.name=A"], "`languages.name` is `A`, but must be a name that no other language has"),
        (
            &["languages.B.name=c"],
            "`languages.name` is `C`, but must be a name that no other language has, in small letters or capitals",
        ),
        (&["languages.B.name=all"], "`languages.name` is `all`, but must be a letter, then letters and digits"),
        (
            &["languages.C.share=0"],
            "`languages.C.share` is 0, but must be above 0; `spoken = false` for no text at all",
        ),
        (&["languages.C.share=-1"], "`languages.C.share` is -1, but must be above 0"),
        (&["languages.C.copies=63"], "`languages` is a list of 65, but must be at most 64 languages"),
        (&["languages.C.script=9"], "`languages.C.script` is 9, but must be 0 to 8"),
        (&["languages.C.distance=1.1"], "`languages.C.distance` is 1.1, but must be 0 to 1"),
        (&["languages.C.mask_share=1"], "`languages.C.mask_share` is 1, but must be at least 0 and below 1"),
        (&["languages.C.mask_share=0.01"], "`languages.C.mask_share` is 0.01 ("),
        (&["languages.C.mask_share=0"], "no language of `languages` that is spoken has a `mask_share` above 0"),
        (&["languages.C.spoken=false"], "no language of `languages` that is spoken has a `mask_share` above 0"),
        (
            &["languages.A.spoken=false", "languages.B.mask_share=0.5", "languages.C.mask_share=0.5"],
            "descriptors would be masked in every language (B, C), so that no training text has them",
        ),
        (
            &["languages.C.grammar=no.txt"],
            "`languages.C.grammar` is `no.txt`, which is neither svo, sov, vso or vos nor a file",
        ),
        (&["languages.C.distnace=1"], "the nearest known key is `languages.C.distance`"),
        (&["languages.X.distance=1"], "there is no language `X` in `languages`, which has A, B and C"),
        (&["mixture.sampling=1.5"], "`mixture.sampling` is 1.5, but must be 0 to 1"),
    ] {
        let command = ["language", "show", "--config", file.to_str().unwrap()];
        let error = refused(&[&command[..], settings].concat());
        assert!(error.starts_with("error: ") && error.contains(says), "{settings:?}: {error}");
    }
    let list = ["language", "show", "--config", tiny(), "languages.C.distance=1"];
    assert!(refused(&list).contains("there is no list `[[languages]]`; without one there are A and B"));
}

#[test]
fn settings_that_would_be_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let out = |name: &str| dir.path().join(name).display().to_string();
    let (folder, corpus) = (out("folder"), out("corpus.txt"));
    let commands = [
        vec!["language", "show"],
        vec!["language", "sample"],
        vec!["language", "export", "--out", &folder],
        vec!["corpus", "-n", "3", "--out", &corpus],
        vec!["tokenizer", "measure", "tokenizer.vocab=150"],
        vec!["check", "--language", "A"],
    ];
    for command in commands {
        let given = |more: &[&'static str]| refused(&[&command[..], &["--config", tiny()], more].concat());
        let seeds = given(&["seeds.data=0,1"]);
        assert!(seeds.contains("takes one data seed, but `seeds.data` is [0, 1]: choose one with --seed"), "{seeds}");
        let both = given(&["--seed", "1", "seeds.data=2"]);
        assert!(both.contains("--seed 1 and seeds.data=2 both set the data seed: give one of them"), "{both}");
    }
    for (arguments, says) in [
        (["bench", "--device", "cpu", "--vocab", "0"], "--vocab 0: `tokenizer.vocab` is 0, but must be 1 to"),
        (["bench", "--device", "cpu", "--members", "0"], "--members is 0, but must be at least 1"),
        (["bench", "--device", "cpu", "--only", "gpu"], "--only gpu needs a GPU, but --device cpu is the CPU here"),
        (["generate", "nowhere", "word", "--top-p", "2"], "--top-p is 2, but must be above 0 and at most 1"),
        (["generate", "nowhere", "word", "--top-k", "0"], "--top-k is 0, but must be at least 1"),
        (["generate", "nowhere", "word", "--temperature=-1", "--json"], "--temperature is -1, but must be 0 or above"),
    ] {
        let error = refused(&arguments);
        assert!(error.contains(says), "{arguments:?}: {error}");
    }
    assert!(listing(dir.path()).is_empty());
}

#[test]
fn grammars_that_cannot_be() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("g.txt");
    let setting = format!("language.grammar={}", file.display());
    for (text, says) in [
        ("S -> S S [0.9] | 'subjectID' [0.1]", "line 1: `S` has no finite expected length: sentences may never end"),
        ("S -> 'relV' S [1.0]", "line 1: `S` never ends: no way out of its own rules"),
        ("S -> 'subjectID' [0.9]", "line 1: the probabilities of `S` sum to 0.9, not to 1"),
        ("\nS -> Q [1.0]", "line 2: `Q` is not defined"),
        ("S -> 'subjectID' 'objectID' [1.0]", "makes phrases that nothing can fill"),
        ("S -> 'subjectID' [1.0]\nT -> 'relV' [1.0]", "line 2: `T` is never reached from the start, `S`"),
        ("S -> 'subjectID' [1.0]", "makes no descriptors, so that no sentence could have a masked word"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = refused(&["language", "show", "--config", tiny(), &setting]);
        assert!(error.contains(says), "{text}: {error}");
    }
    std::fs::write(&file, [0xff, 0xfe]).unwrap();
    assert!(refused(&["language", "show", "--config", tiny(), &setting]).contains("it is not text"));
}

#[test]
fn outputs_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let corpus = |out: &str| refused(&["corpus", "-n", "3", "--config", tiny(), "--out", out]);
    let endings = ".txt, .jsonl, .csv or .parquet, or in .txt.zst and so on";
    assert_eq!(corpus("x.doc"), format!("error: `x.doc` must end in {endings}"));
    assert_eq!(corpus("x.zst"), format!("error: `x.zst` must end in {endings}"));
    assert_eq!(corpus("x.parquet.zst"), "error: `x.parquet.zst`: Parquet is compressed inside; leave out .zst");
    assert!(corpus(&at("no/folder/x.txt")).contains("is not a folder"));
    std::fs::create_dir(at("folder.txt")).unwrap();
    assert!(corpus(&at("folder.txt")).contains("exists and is not a file"));
    std::fs::write(at("file"), "").unwrap();
    let export = refused(&["language", "export", "--config", tiny(), "--force", "--out", &at("file")]);
    assert!(export.contains("exists and is not a folder"), "{export}");
    assert_eq!(listing(dir.path()), ["file", "folder.txt"]);
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    for command in ["language sample -n 20000", "corpus --split A -n 20000 --out -"] {
        let script = format!("{} {command} | head -n 1", env!("CARGO_BIN_EXE_invitro"));
        let output = std::process::Command::new("bash").args(["-o", "pipefail", "-c", &script]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Inputs that would take all memory or never end are refused with the limit.
#[test]
fn inputs_without_a_bound() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let levels = (0..1000).map(|level| level.to_string()).collect::<Vec<_>>().join(", ");
    let steps = (1..=1000).map(|level| level.to_string()).collect::<Vec<_>>().join(", ");
    let study = file(
        "large.toml",
        &format!(
            "name = \"large\"\n[factors]\n\"train.warmup\" = [{levels}]\n\"train.steps\" = [{steps}]\n[seeds]\ndata = [{levels}]\nmodel = 0\n"
        ),
    );
    let error = refused(&["study", "plan", &study]);
    assert!(error.contains("it has 1000000000 cells; a study may have at most 100000"), "{error}");

    let error = refused(&["config", "train.steps=40099999999990"]);
    assert!(error.contains("a run of 40099999999990 steps is evaluated at most 1000000 times"), "{error}");

    let output = with_input(&["check", "--language", "A", "--config", tiny()], "a ".repeat(600_000).as_bytes());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && error.contains("line 1 of standard input"), "{error}");
    assert!(error.contains("more than 1 MB, which is the most of a line"), "{error}");

    let error = refused(&["language", "show", "--config", tiny(), "language.grammar=/dev/zero"]);
    assert!(error.contains("more than 256 MB"), "{error}");

    let rows: String = (0..20_000).map(|row| format!("m{row}\tword\tother\n")).collect();
    let long = file("long.tsv", &format!("concept\tA\tB\n{rows}"));
    let error = refused(&["tokenizer", "measure", "--wordlist", &long, "--fit"]);
    assert!(error.contains("has 20000 meanings") && error.contains("at most 5000"), "{error}");
    let head: String = (0..100).map(|language| format!("\tL{language}")).collect();
    let rows: String = (0..1000).map(|row| format!("m{row}{}\n", "\tletters".repeat(100))).collect();
    let wide = file("wide.tsv", &format!("concept{head}\n{rows}"));
    let error = refused(&["tokenizer", "measure", "--wordlist", &wide, "--fit"]);
    assert!(error.contains("the words of 100 languages") && error.contains("select fewer --languages"), "{error}");
    let heavy = file("heavy.tsv", &format!("concept\tA\tB\nm\t{}\tb\n", "a".repeat(100_000)));
    let error = refused(&["tokenizer", "measure", "--wordlist", &heavy, "--fit"]);
    assert!(error.contains("has 100000 letters; a word may have at most 200"), "{error}");
}

/// The share that an error about a mask names does work.
#[test]
fn an_error_about_a_mask_names_a_share_that_works() {
    for (given, withhold) in [("0.001", "words"), ("0.999", "words"), ("0.9", "facts")] {
        let sample = |share: &str| {
            let (mask, kind) = (format!("language.mask_share={share}"), format!("mixture.withhold={withhold}"));
            let world = if withhold == "words" { ["--config", tiny()] } else { ["--preset", "quick"] };
            run(&[&["corpus", "-n", "1", "--out", "-", &mask, &kind][..], &world].concat())
        };
        let refused = sample(given);
        let error = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{error}");
        let is_share = |word: &&str| word.starts_with("0.") && *word != given;
        let named = error.split_whitespace().rfind(is_share).unwrap_or_else(|| panic!("{error}"));
        let works = sample(named);
        assert!(works.status.success(), "{error}{}", String::from_utf8_lossy(&works.stderr));
    }
}

#[test]
fn faults_of_files_name_the_files_that_were_given() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(at("mine.cfg"), "S -> NP VP [1.0\n").unwrap();
    let error = refused(&["language", "show", &format!("language.grammar={}", at("mine.cfg"))]);
    assert!(error.starts_with(&format!("error: grammar `{}`, line 1: ", at("mine.cfg"))), "{error}");
    std::fs::write(at("empty.json"), "").unwrap();
    for args in [
        &["tokenizer", "measure", "--config", tiny(), &format!("tokenizer.file={}", at("empty.json"))][..],
        &["tokenizer", "measure", "--config", tiny(), "--tokenizer", &at("empty.json")],
    ] {
        let error = refused(args);
        assert!(error.contains(&at("empty.json")) && error.ends_with("the file is empty"), "{error}");
    }
}

#[test]
fn models_that_a_device_cannot_train() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("study.toml");
    let error = |width: u32| {
        let levels = format!("[factors]\nmodel.width = [{width}, 128]\n");
        let text = format!("name = \"wide\"\nbase = \"quick\"\n[experiment]\nmodel.heads = 4\n{levels}");
        std::fs::write(&file, text).unwrap();
        refused(&["study", "plan", file.to_str().unwrap(), "--device", "cuda"])
    };
    let narrow = error(64);
    assert!(narrow.contains("1 cell cannot be trained on this device: model shape: width 64 over 4 heads"), "{narrow}");
    assert!(narrow.contains("on CUDA a head is 32, 64 or 128 wide") && narrow.contains("model.width=64"), "{narrow}");
    let wide = error(512);
    let says = "heads 128 wide and context 256: attention needs 315392 bytes of shared memory, and no GPU has more than 232448";
    assert!(wide.contains(says) && wide.contains("take more heads or a shorter context"), "{wide}");
}
