//! Presets, files, overrides, and what is said of bad ones.

use invitro_base::settings::{Keep, Section};
use invitro_lab::experiment::PRESETS;
use invitro_lab::inputs::InputCache;
use invitro_lab::{CheckpointConfig, EvalConfig, Experiment, Seeds};
use invitro_language::Languages;

fn load(file: &str, overrides: &[&str]) -> Result<Experiment, String> {
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), file).unwrap();
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Experiment::load(None, Some(path.path()), &overrides)
        .map_err(|e| e.to_string().replace(&path.path().display().to_string(), "FILE"))
}

fn fault(overrides: &[&str]) -> String {
    load("", overrides).unwrap_err()
}

#[test]
fn presets_make_languages() {
    for (name, _) in PRESETS {
        let experiment = Experiment::preset(name).unwrap();
        assert_eq!(experiment.name, name);
        Languages::new(&experiment.language, 0).unwrap();
    }
}

#[test]
fn a_file_lies_over_the_preset_and_overrides_over_both() {
    let experiment = load("[language]\ndistance = 0.5\nadverbs = 7", &["language.distance=1", "name=mine"]).unwrap();
    let quick = Experiment::preset("quick").unwrap();
    assert_eq!(experiment.language.distance, 1.0);
    assert_eq!(experiment.language.adverbs, 7);
    assert_eq!(experiment.language.classes, quick.language.classes);
    assert_eq!(experiment.name, "mine");
}

#[test]
fn what_is_written_is_read_back() {
    for (name, _) in PRESETS {
        let mut experiment = Experiment::preset(name).unwrap();
        experiment.seeds.model = Seeds(vec![0, 1, 2]);
        assert_eq!(load(&experiment.to_toml(), &[]).unwrap(), experiment);
    }
}

#[test]
fn seeds_are_one_or_many() {
    let experiment = load("", &["seeds.data=3", "seeds.model=0,1,2", "mixture.tasks=[1, 0, 0]"]).unwrap();
    assert_eq!((experiment.seeds.data, experiment.seeds.model), (Seeds(vec![3]), Seeds(vec![0, 1, 2])));
    assert_eq!(experiment.mixture.tasks, [1.0, 0.0, 0.0]);
    assert_eq!(fault(&["seeds.data=1,1"]), "`seeds.data` is [1, 1], but must be one or more different seeds");
    assert!(fault(&["seeds.data=-1"]).contains("a whole number from 0, or a list of them"));
}

#[test]
fn unknown_keys_are_answered_with_the_nearest() {
    for (given, nearest) in [
        ("language.distnace=0.5", "language.distance"),
        ("langauge.distance=0.5", "language.distance"),
        ("distance=0.5", "language.distance"),
        ("lamda=0.5", "mixture.lambda"),
        ("mixture.lambada=0.5", "mixture.lambda"),
        ("seed.data=1", "seeds.data"),
    ] {
        let key = given.split('=').next().unwrap();
        let expected =
            format!("the override `{given}` sets the unknown key `{key}`; the nearest known key is `{nearest}`");
        assert_eq!(fault(&[given]), expected);
    }
    // What is not near is no help.
    for given in ["zzz.qqq=1", "train.quality=3", "foo=3", "model.qq=3", "language.colour=red"] {
        let key = given.split('=').next().unwrap();
        assert_eq!(fault(&[given]), format!("the override `{given}` sets the unknown key `{key}`"));
    }
    let in_file = load("[language]\nvaleus = 3", &[]).unwrap_err();
    assert_eq!(
        in_file,
        "the experiment file `FILE` sets the unknown key `language.valeus`; the nearest known key is `language.values`"
    );
}

#[test]
fn values_out_of_range_or_of_the_wrong_kind() {
    for (given, says) in [
        ("language.distance=1.5", "`language.distance` is 1.5, but must be 0 to 1"),
        ("language.distance=nan", "`language.distance` is NaN, but must be 0 to 1"),
        ("mixture.lambda=0", "`mixture.lambda` is 0, but must be above 0 and at most 1"),
        ("mixture.lambda=1.1", "`mixture.lambda` is 1.1, but must be above 0 and at most 1"),
        ("language.mask_share=0", "`language.mask_share` is 0, but must be above 0 and below 1"),
        ("language.classes=1", "`language.classes` is 1, but must be an even number from 2 to 1000"),
        ("language.properties=21", "`language.properties` is 21, but must be a multiple of `language.classes` (4)"),
        ("language.relations=3", "`language.relations` is 3, but must be a multiple of `language.classes / 2` (2)"),
        ("language.valid_share=0.01", "a share that allows at least 1 and forbids at least 1 of 20 values"),
        ("language.distance=far", "`language.distance` is \"far\", but must be a number"),
        ("train.steps=abc", "`train.steps` is \"abc\", but must be a whole number, 0 or above"),
        ("train.steps=1.5", "`train.steps` is 1.5, but must be a whole number, 0 or above"),
        ("model.layers=-1", "`model.layers` is -1, but must be a whole number, 0 or above"),
        ("mixture.withhold=3", "`mixture.withhold` is 3, but must be one of words, facts, nothing"),
        ("eval.also=x", "`eval.also` is \"x\", but must be a list, such as [1, 2]"),
        ("mixture.tasks=[0.1, 0.2]", "`mixture.tasks` has 2 values, but must be a list of 3"),
        ("name=3", "`name` is 3, but must be a text"),
        ("name=[1, 2]", "`name` is a list, but must be a text"),
        ("language=3", "`language` is 3, but must be a section: set `language.KEY`"),
        ("checkpoint.keep=some", "`checkpoint.keep` is \"some\", but must be one of last, none, all, log-spaced"),
        ("mixture.tasks=[0.5, 0.5, 0.5]", "three shares that sum to 1"),
        ("mixture.corpus=endless", "endless"),
        ("mixture.schedule=[0, 2]", "at most 1000 shares from 0 to 1"),
        ("mixture.translation=1", "`mixture.translation` is 1, but must be at least 0 and below 1"),
        ("nonsense", "`nonsense` is not an override: expected key=value"),
        ("=3", "is not an override"),
    ] {
        let message = fault(&[given]);
        assert!(message.contains(says), "{given}: {message}");
        assert!(!message.contains('\n'));
    }
    let missing = Experiment::load(None, Some("no/such.toml".as_ref()), &[]).unwrap_err().to_string();
    assert!(missing.starts_with("the experiment file `no/such.toml` cannot be read: "), "{missing}");
    assert!(load("[language", &[]).unwrap_err().starts_with("the experiment file `FILE` is not an experiment: "));
    let preset = Experiment::preset("slow").unwrap_err().to_string();
    assert_eq!(preset, "there is no preset `slow`; the presets are quick, first, paper and converged");
}

#[test]
fn a_finite_corpus_is_read_no_more_often_than_it_may_be() {
    let finite =
        |epochs: &str| fault(&["mixture.corpus=\"finite\"", "mixture.sentences=1000", "train.steps=100", epochs]);
    assert_eq!(
        finite("mixture.epochs=6"),
        "`mixture.epochs` is 6, but must be at least 7: 100 steps of 64 rows read 1000 sentences that often"
    );
    let overrides = ["mixture.corpus=\"finite\"", "mixture.sentences=1000", "train.steps=100", "mixture.epochs=7"];
    assert!(load("", &overrides).is_ok());
}

#[test]
fn evaluations_are_denser_early_and_end_with_the_last_step() {
    let eval = EvalConfig { every: 100, early: 3, ..EvalConfig::default() };
    assert_eq!(eval.at(350), [0, 12, 25, 50, 100, 200, 300, 350]);
    assert_eq!(eval.at(30), [0, 12, 25, 30]);
    assert_eq!(EvalConfig { early: 40, ..eval.clone() }.at(100), [0, 1, 3, 6, 12, 25, 50, 100]);
    assert_eq!(EvalConfig { also: vec![60, 50, 400], ..eval.clone() }.at(200), [0, 12, 25, 50, 60, 100, 200]);
    assert_eq!(EvalConfig { every: 0, ..eval }.at(350), [350]);
}

#[test]
fn checkpoints_stay_by_policy() {
    let of = |keep| CheckpointConfig { every: 10, keep };
    assert!(of(Keep::Last).at(20) && !of(Keep::Last).at(16) && !of(Keep::Last).stays(20));
    assert!(of(Keep::All).stays(20) && !of(Keep::All).stays(16));
    assert!(of(Keep::LogSpaced).at(16) && of(Keep::LogSpaced).stays(16) && !of(Keep::LogSpaced).stays(20));
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let error = EvalConfig { subjects: 1, ..EvalConfig::default() }.check_ranges().unwrap_err();
    assert_eq!(error.to_string(), "`eval.subjects` is 1, but must be 2 to 100000");
    assert!(EvalConfig { temperature: f64::NAN, ..EvalConfig::default() }.check_ranges().is_err());
    assert!(CheckpointConfig { every: 0, keep: Keep::All }.check_ranges().is_err());
}

/// C below B below A, in a file.
const CHAIN: &str = r#"
    [[languages]]
    name = "A"
    distance = 0.0
    [[languages]]
    name = "B"
    parent = "A"
    distance = 0.3
    share = 1
    [[languages]]
    name = "C"
    parent = "B"
    mask_share = 0.25
"#;

#[test]
fn languages_are_addressed_by_name() {
    let experiment =
        load(CHAIN, &["languages.C.distance=1", "languages.A.share=2", "languages.B.spoken=false"]).unwrap();
    let [a, b, c] = &experiment.languages[..] else { panic!() };
    assert_eq!((c.distance, a.share, b.spoken, c.spoken), (Some(1.0), Some(2.0), false, true));
    let columns = experiment.flatten();
    let of = |key: &str| columns.iter().find(|(known, _)| known == key).map(|(_, value)| value.to_string());
    assert_eq!(of("languages.C.distance").as_deref(), Some("1.0"));
    assert_eq!(of("languages.B.parent").as_deref(), Some("\"A\""));
    assert_eq!((of("languages.A.parent"), of("languages.A.name")), (None, None));
    assert_eq!(load(&experiment.to_toml(), &[]).unwrap(), experiment);
    // A list is replaced whole; without one there is the pair.
    assert!(load(CHAIN, &["languages=[]"]).unwrap().languages.is_empty());
    let other = load(CHAIN, &["languages=[{name=\"X\"}, {name=\"Y\", mask_share=0.5}]"]).unwrap();
    assert_eq!(other.languages.iter().map(|entry| &*entry.name).collect::<Vec<_>>(), ["X", "Y"]);
}

#[test]
fn what_is_said_of_languages_that_cannot_be() {
    for (given, says) in [
        (
            "languages.X.distance=0.5",
            "the override `languages.X.distance=0.5`: there is no language `X` in `languages`, which has A, B and C",
        ),
        ("languages.c.distance=0.5", "there is no language `c` in `languages`, which has A, B and C"),
        ("languages.C=0.5", "`languages.C` is a language: set `languages.C.KEY`, as in languages.C.distance=0.5"),
        (
            "languages.C.distnace=0.5",
            "sets the unknown key `languages.C.distnace`; the nearest known key is `languages.C.distance`",
        ),
        ("languages.C.x.y=0.5", "sets the unknown key `languages.C.x.y`"),
        ("languages.C.distance=far", "`languages.C.distance` is \"far\", but must be a number"),
        ("languages.C.script=-1", "`languages.C.script` is -1, but must be a whole number, 0 or above"),
        ("languages.B.spoken=3", "`languages.B.spoken` is 3, but must be true or false"),
        ("languages.B.parent=3", "`languages.B.parent` is 3, but must be a text"),
        ("languages=3", "`languages` is 3, but must be a list of tables, `[[languages]]`, each with a `name`"),
        ("languages=[3]", "number 1 of `languages` is 3, but must be a table"),
        ("languages=[{script=1}]", "number 1 of `languages` has no `name`"),
        ("languages=[{name=3}]", "the `name` of number 1 of `languages` is 3, but must be a text"),
    ] {
        let message = load(CHAIN, &[given]).unwrap_err();
        assert!(message.contains(says) && !message.contains('\n'), "{given}: {message}");
    }
    let none = fault(&["languages.C.distance=0.5"]);
    assert!(none.contains("there is no language `C` to change, since there is no list `[[languages]]`"), "{none}");
    let section = load("[[language]]\nname = \"A\"", &[]).unwrap_err();
    assert!(section.contains("`language` is a list, but must be a section: a family of languages is `[[languages]]`"));
    let table = load("[languages.C]\ndistance = 0.5", &[]).unwrap_err();
    assert!(table.contains("`languages` is a table, but must be a list of tables"), "{table}");
}

/// The identity of runs that were made before there were families; `632432cfdd7b38ef` is the first of the study
/// `crossing`, `c90b1ef4f71fdb05` of `budget`.
#[test]
fn what_came_later_does_not_rename_older_runs() {
    let of = |preset: &str, overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        Experiment::load(Some(preset), None, &overrides).unwrap().id()
    };
    let crossing =
        ["eval.every=500", "eval.early=1", "checkpoint.keep=none", "tokenizer.vocab=256", "language.distance=0"];
    assert_eq!(of("quick", &crossing), "632432cfdd7b38ef");
    assert_eq!(of("quick", &[&crossing[..], &["mixture.sampling=1"]].concat()), "632432cfdd7b38ef");
    assert_ne!(of("quick", &[&crossing[..], &["mixture.sampling=0.5"]].concat()), "632432cfdd7b38ef");
    let arms = ["share=all", "cut=learned", "share_rows=false"].map(|setting| format!("tokenizer.{setting}"));
    let arms: Vec<&str> = crossing.into_iter().chain(arms.iter().map(String::as_str)).collect();
    assert_eq!(of("quick", &arms), "632432cfdd7b38ef");
    let mut ids: Vec<String> = ["share=none", "share=random", "share=cognate", "cut=alike", "share_rows=true"]
        .map(|setting| of("quick", &[&crossing[..], &[&format!("tokenizer.{setting}")]].concat()))
        .into();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 5);
    let budget = [
        "train.batch=256",
        "train.lr=1e-3",
        "train.steps=40000",
        "eval.every=2000",
        "eval.early=4",
        "eval.also=[3000, 5000, 7000]",
        "checkpoint.every=20000",
        "checkpoint.keep=none",
        "language.distance=0",
    ];
    assert_eq!(of("paper", &budget), "c90b1ef4f71fdb05");
}

#[test]
fn settings_of_an_arm_that_would_do_nothing_are_told() {
    let unused = |overrides: &[&str], why: &str| {
        let fault = fault(overrides);
        assert!(fault.contains(why), "{overrides:?}: {fault}");
    };
    unused(&["tokenizer.share_p=0.3"], "counts only with `tokenizer.share` = random");
    unused(&["tokenizer.share=none", "tokenizer.share_p=0.3"], "counts only with `tokenizer.share` = random");
    unused(&["tokenizer.share_names=true"], "with `tokenizer.share` = all every piece is shared");
    unused(&["tokenizer.share_boundary=true"], "with `tokenizer.share` = all every piece is shared");
    unused(&["tokenizer.share=none", "tokenizer.share_rows=true"], "every other arm has these rows");
    let marked = ["tokenizer.share=none", "tokenizer.boundary=first", "tokenizer.share_boundary=true"];
    unused(&marked, "the boundary is a mark on a piece and has no token to share");
    unused(&["tokenizer.kind=character", "tokenizer.cut=apart"], "whose words have one cut only");
    unused(&["language.morphology=fusional", "language.affix_rate=0.3"], "every fusional word has an ending");
    unused(&["language.morphology=fusional", "language.affixes=3"], "fusional words have endings and no affixes");
    unused(&["language.morphology=templatic", "language.affix_rate=0.3"], "templatic words have patterns");
    let alone = "[[languages]]\nname = \"A\"\nmask_share = 0.25\n";
    for setting in ["tokenizer.share=none", "tokenizer.cut=alike", "eval.forms=true"] {
        let fault = load(alone, &[setting]).unwrap_err();
        assert!(fault.ends_with("would change nothing: only one language is spoken"), "{setting}: {fault}");
    }
    assert!(load(alone, &["tokenizer.cut=morpheme"]).is_ok());
    // In a file they may stand beside the arms that use them: a study's arms share one. Then it is a note.
    let file = "[tokenizer]\nshare_p = 0.25\nshare_rows = true\nshare_names = true\n";
    let notes = |overrides: &[&str]| load(file, overrides).unwrap().notes().join("\n");
    assert!(notes(&[]).contains("`tokenizer.share_p` is 0.25 without effect"), "{}", notes(&[]));
    let random = notes(&["tokenizer.share=random"]);
    assert!(
        random.contains("`tokenizer.share_rows` is true without effect") && !random.contains("share_p"),
        "{random}"
    );
    assert!(notes(&["tokenizer.cut=morpheme"]).contains("words may have more pieces than learned"));
}

#[test]
fn languages_and_their_order_are_identity() {
    let one = load(CHAIN, &[]).unwrap();
    let mut turned = one.clone();
    turned.languages.swap(1, 2);
    assert_ne!(one.id(), turned.id());
    assert_eq!(one.differing(&turned, ["here", "there"]), ["languages: A, B, C here, A, C, B there"]);
    let changed = load(CHAIN, &["languages.C.distance=0.5", "languages.B.distance=0.2"]).unwrap();
    assert_eq!(
        one.differing(&changed, ["here", "there"]),
        ["languages.B.distance: 0.3 here, 0.2 there", "languages.C.distance: left out here, 0.5 there"]
    );
    let pair = load("", &[]).unwrap();
    assert_ne!(
        pair.id(),
        load("[[languages]]\nname = \"A\"\n[[languages]]\nname = \"B\"\nmask_share = 0.25", &[]).unwrap().id()
    );
}

#[test]
fn a_grammar_file_of_a_language_is_known_by_what_it_holds() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("family.toml");
    std::fs::write(&file, format!("{CHAIN}\n    grammar = \"own.txt\"\n")).unwrap();
    let load = || Experiment::load(None, Some(&file), &[]);
    let missing = load().unwrap_err().to_string();
    assert!(
        missing.contains("`languages.C.grammar` is `") && missing.contains("own.txt`, which is neither"),
        "{missing}"
    );
    std::fs::write(place.path().join("own.txt"), "a grammar").unwrap();
    let one = load().unwrap();
    let [name] = &one.files()[..] else { panic!("{:?}", one.files()) };
    assert!(name.starts_with("files/own-"), "{name}");
    std::fs::write(place.path().join("own.txt"), "another").unwrap();
    assert_ne!(load().unwrap().id(), one.id());
}

#[test]
fn clones_are_noted_by_name() {
    let notes = |file: &str, overrides: &[&str]| load(file, overrides).unwrap().notes();
    assert!(notes("", &["language.distance=0"]).is_empty());
    let pair = notes("", &["language.distance=0", "language.affix_rate=0"]);
    assert_eq!(pair.len(), 1);
    assert!(
        pair[0].starts_with("at `language.distance` 0 and without affixes every word of B is a word of A"),
        "{pair:?}"
    );
    let of = |more: &[&str]| notes("", &[&["language.distance=0"], more].concat()).join("\n");
    assert!(
        of(&["language.morphology=templatic", "language.affixes=1"])
            .contains("without patterns that differ every word")
    );
    assert_eq!(of(&["language.morphology=templatic"]), "");
    let without = ["language.affix_rate=0", "languages.C.distance=0"];
    let [note] = &notes(CHAIN, &without)[..] else { panic!() };
    assert_eq!(
        note,
        "at distance 0 of each other and without affixes every word of C is a word of B: what is masked in C is trained \
         in B, letter by letter"
    );
    // Apart, set aside, or in letters of its own.
    for apart in ["languages.C.distance=0.1", "languages.B.spoken=false", "languages.C.script=1"] {
        assert!(notes(CHAIN, &[&without[..], &[apart]].concat()).is_empty(), "{apart}");
    }
}

/// Settings of the mixture that do not go together are refused with the reason.
#[test]
fn mixtures_that_contradict_themselves() {
    for (given, says) in [
        (
            &["mixture.translation=0.2", "mixture.parallel=symbols"][..],
            "`mixture.translation` is 0.2, but must be 0 where",
        ),
        (&["mixture.schedule=[0.5]", "mixture.corpus=finite"], "`mixture.corpus` is finite"),
        (&["mixture.schedule=[0.5]", "mixture.lambda=0.3"], "`mixture.schedule` says how much there is of B"),
    ] {
        let message = fault(given);
        assert!(message.contains(says) && !message.contains('\n'), "{message}");
    }
    let three = "languages = [{ name = \"A\" }, { name = \"B\", mask_share = 0.25 }, { name = \"C\" }]";
    let refused = load(three, &["mixture.tags=task", "mixture.translation=0.2"]).unwrap_err();
    assert!(refused.contains("nothing would say into which to translate"), "{refused}");
    let two_grammars = "languages = [{ name = \"A\" }, { name = \"B\", mask_share = 0.25, grammar = \"sov\" }]";
    let refused = load(two_grammars, &["mixture.parallel=symbols"]).unwrap_err();
    assert!(refused.contains("none where languages differ in their grammar, as here (sov, svo)"), "{refused}");
}

/// A first run has nothing to be told about settings that it did not choose; who changes them or the world is told.
#[test]
fn a_preset_as_it_is_gets_no_note() {
    let notes = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|one| (*one).to_owned()).collect();
        let experiment = Experiment::load(None, None, &overrides).unwrap();
        InputCache::default().get(&experiment).unwrap().notes(&experiment).join("\n")
    };
    assert_eq!(notes(&[]), "");
    assert_eq!(notes(&["seeds.data=3"]), "");
    assert!(notes(&["eval.words=300"]).contains("instead of 300 (`eval.words`)"));
    let other_world = notes(&["language.mask_share=0.1", "eval.subjects=60"]);
    assert!(other_world.contains("(`eval.words`)") && other_world.contains("instead of 60 (`eval.subjects`)"));
}
