//! What the settings tables say holds: what is allowed is what validation lets through, and files written from them are
//! read back as they were.

use invitro_base::dotted::LIST;
use invitro_base::settings::{self, LanguageEntry, Section, Setting};
use invitro_lab::Experiment;
use invitro_lab::experiment::PRESETS;
use std::path::Path;

/// The settings outside the list of languages.
fn keys() -> impl Iterator<Item = &'static Setting> {
    settings::all().filter(|setting| !setting.key.starts_with(&format!("{LIST}.")))
}

/// Keys whose range depends on others, or is no range: values to accept and to refuse, in the world of the preset
/// `paper` with the overrides of `with`.
struct Trial {
    key: &'static str,
    with: &'static [&'static str],
    accepted: &'static [&'static str],
    refused: &'static [&'static str],
}

const fn listed(key: &'static str, accepted: &'static [&'static str], refused: &'static [&'static str]) -> Trial {
    Trial { key, with: &[], accepted, refused }
}

const TRIALS: [Trial; 21] = [
    listed("name", &["mine"], &["3"]),
    Trial {
        with: &["language.properties=3000", "language.relations=500"],
        ..listed("language.classes", &["2", "1000"], &["0", "1", "999", "1001", "1002"])
    },
    listed("language.properties", &["30", "60000"], &["20", "35", "60010"]),
    Trial {
        with: &["language.valid_share=0.5", "language.properties=30"],
        ..listed("language.values", &["2", "60000"], &["1", "60001"])
    },
    listed("language.valid_share", &["0.0125", "0.985"], &["0", "0.012", "0.99", "1", "nan"]),
    listed("language.relations", &["5", "60000"], &["0", "7", "60005"]),
    listed("language.change", &["edits", "rules"], &["3", "no/such.file"]),
    listed("language.grammar", &["svo", "sov", "vso", "vos", "Cargo.toml"], &["3", "no/such.file"]),
    listed("language.lexicon", &["\"\"", "Cargo.toml"], &["3", "no/such.file"]),
    Trial {
        with: &["language.lexicon=Cargo.toml"],
        ..listed("language.lexicon_languages", &["[]", "[\"deu\", \"nld\"]"], &["3", "[1]"])
    },
    listed("mixture.tasks", &["1,0,0", "0.2,0.2,0.6"], &["0.5,0.5", "0.5,0.5,0.5", "-1,1,1", "nan,0.5,0.5"]),
    listed("mixture.schedule", &["[]", "[0, 1]", "0.5,0.2"], &["[0]", "[1.5]", "[-0.1]", "x", "[nan]"]),
    // So many of 4,450 words fit into half of 640,000 rows.
    Trial { with: &["mixture.exposure=bare"], ..listed("mixture.exposures", &["0", "1", "71"], &["-1", "72", "x"]) },
    listed("tokenizer.file", &["\"\"", "Cargo.toml"], &["3", "no/such.file"]),
    Trial {
        with: &["tokenizer.share=random"],
        ..listed("tokenizer.share_p", &["0", "0.25", "1"], &["-0.1", "1.1", "nan"])
    },
    Trial { with: &["tokenizer.share=none"], ..listed("tokenizer.share_names", &["true", "false"], &["3"]) },
    Trial { with: &["tokenizer.share=none"], ..listed("tokenizer.share_boundary", &["true", "false"], &["3"]) },
    listed("model.width", &["16", "4096"], &["0", "8", "255"]),
    listed("model.heads", &["1", "128"], &["0", "3", "256"]),
    listed("eval.also", &["[]", "[0]", "7,3"], &["3", "[-1]", "[0.5]"]),
    listed("seeds.data", &["0", "3", "0,1,2"], &["-1", "[]", "1,1", "0.5"]),
];

/// The same for keys of a language: of C, below A and B.
const OF_LANGUAGE: [Trial; 5] = [
    listed(
        "name",
        &["D", "Lingua1", "aLanguageOfTwentyLet"],
        &["3", "all", "\"\"", "b", "9a", "a-b", "é", "aLanguageOfTwentyOneL"],
    ),
    listed("parent", &["A", "B"], &["C", "X", "3", "\"\""]),
    listed("change", &["edits", "rules"], &["3", "no/such.file"]),
    listed("grammar", &["svo", "sov", "vso", "vos", "Cargo.toml"], &["3", "no/such.file"]),
    listed("copies", &["0", "1", "2", "62"], &["-1", "0.5", "many"]),
];

const FAMILY: &str = "
    languages = [{ name = \"A\" }, { name = \"B\", mask_share = 0.25 }, { name = \"C\", parent = \"B\", distance = 0.5, share = 1.5 }]
";

fn load(with: &[&str], key: &str, value: &str) -> Result<Experiment, String> {
    let overrides: Vec<String> = with.iter().map(|o| (*o).to_owned()).chain([format!("{key}={value}")]).collect();
    Experiment::load(Some("paper"), None, &overrides).map_err(|e| e.to_string())
}

fn family(folder: &Path, overrides: &[String]) -> Result<Experiment, String> {
    let file = folder.join("family.toml");
    std::fs::write(&file, FAMILY).unwrap();
    Experiment::load(Some("quick"), Some(&file), overrides).map_err(|e| e.to_string())
}

/// Values at the ends of a range such as `above 0 to 0.5`, and just beyond them; or the words of `this | that`, and one
/// that is not among them. None if the text is neither.
fn ends(key: &Setting) -> Option<(Vec<String>, Vec<String>)> {
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    if key.allowed.contains(" | ") {
        accepted.extend(key.allowed.split(" | ").map(str::to_owned));
        return Some((accepted, vec!["nonsense".into()]));
    }
    let (low, high) = match key.allowed.split_once(" to ") {
        Some((low, high)) => (low, Some(high)),
        None if key.allowed.starts_with("above ") => (&*key.allowed, None),
        None => (key.allowed.strip_prefix("from ")?, None),
    };
    let whole = !key.default.contains(['.', 'e']);
    let step = if whole { 1.0 } else { 1e-6 };
    let mut test_end = |end: &str, exclusive: &str, outwards: f64| {
        let (end, is_open) = end.strip_prefix(exclusive).map_or((end, false), |end| (end, true));
        let sibling = key.key.replace(key.name(), end);
        let end = keys().find(|other| other.key == sibling).map_or(end, |other| &other.default);
        let end: f64 = end.parse().ok()?;
        let (inside, outside) = if is_open { (end - outwards * step, end) } else { (end, end + outwards * step) };
        accepted.push(inside.to_string());
        refused.push(outside.to_string());
        Some(())
    };
    test_end(low, "above ", -1.0)?;
    match high {
        Some(high) => test_end(high, "below ", 1.0)?,
        None if whole => {}
        None => refused.push("inf".into()),
    }
    if !whole {
        refused.push("nan".into());
    }
    Some((accepted, refused))
}

#[test]
fn validation_is_what_the_comments_say() {
    for key in keys() {
        let dotted = &key.key;
        // Both seeds are of one kind.
        let trial = TRIALS.iter().find(|trial| trial.key == dotted.replace("seeds.model", "seeds.data"));
        let owned = |values: &[&str]| values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
        let (with, accepted, refused) = match trial {
            Some(Trial { with, accepted, refused, .. }) => (*with, owned(accepted), owned(refused)),
            None => {
                let ends = ends(key).unwrap_or_else(|| panic!("`{dotted}`: no values known for `{}`", key.allowed));
                (&[][..], ends.0, ends.1)
            }
        };
        for value in accepted {
            let loaded = load(with, dotted, &value);
            assert!(loaded.is_ok(), "`{dotted}` is said to be {}, but {value} is refused: {loaded:?}", key.allowed);
        }
        for value in refused {
            let Err(message) = load(with, dotted, &value) else {
                panic!("`{dotted}` is said to be {}, but {value} is accepted", key.allowed);
            };
            let names_it = message.contains(dotted) || message.contains(key.name());
            assert!(names_it && !message.contains('\n'), "{dotted}={value}: {message}");
        }
    }
}

#[test]
fn so_it_is_in_a_family() {
    let place = tempfile::tempdir().unwrap();
    let owned = |values: &[&str]| values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
    for key in LanguageEntry::settings() {
        let name = key.name();
        let trial = OF_LANGUAGE.iter().find(|trial| trial.key == name);
        let number = |key: &Setting| match key.name() {
            // Their defaults are in words.
            "distance" | "share" => Setting { default: "0.5".into(), ..key.clone() },
            _ => key.clone(),
        };
        let (accepted, refused) = trial.map_or_else(
            || ends(&number(&key)).unwrap_or_else(|| panic!("`{name}`: no values known for `{}`", key.allowed)),
            |trial| (owned(trial.accepted), owned(trial.refused)),
        );
        for value in accepted {
            let loaded = family(place.path(), &[format!("languages.C.{name}={value}")]);
            assert!(loaded.is_ok(), "`{name}` is said to be {}, but {value} is refused: {loaded:?}", key.allowed);
        }
        for value in refused {
            let loaded = family(place.path(), &[format!("languages.C.{name}={value}")]);
            let Err(message) = loaded else {
                panic!("`{name}` is said to be {}, but {value} is accepted", key.allowed)
            };
            let names_it = message.contains(&format!("languages.C.{name}")) || message.contains(name);
            assert!(names_it && !message.contains('\n'), "{name}={value}: {message}");
        }
    }
    // Keys without a value are not written.
    let optional =
        ["grammar=sov", "change=edits", "morphology=fusional", "harmony=true", "loans=0.1", "false_friends=0.1"];
    let given: Vec<String> = optional.iter().map(|setting| format!("languages.C.{setting}")).collect();
    let entry = toml::Value::try_from(&family(place.path(), &given).unwrap().languages[2]);
    let mut written: Vec<String> = entry.unwrap().as_table().unwrap().keys().cloned().collect();
    let mut known: Vec<String> = LanguageEntry::settings().iter().map(|key| key.name().to_owned()).collect();
    written.sort();
    known.sort();
    assert_eq!(written, known, "every key of an entry has its line");
}

#[test]
fn a_family_is_printed_and_read_back() {
    let place = tempfile::tempdir().unwrap();
    let experiment =
        family(place.path(), &["languages.B.grammar=Cargo.toml".into(), "languages.C.copies=2".into()]).unwrap();
    let text = experiment.commented();
    let file = place.path().join("again.toml");
    std::fs::write(&file, &text).unwrap();
    assert_eq!(Experiment::load(Some("paper"), Some(&file), &[]).unwrap(), experiment, "{text}");
    let told = text.lines().filter(|line| line.contains("lexical distance from its parent")).count();
    assert_eq!((told, text.matches("[[languages]]").count()), (1, 3), "{text}");
}

#[test]
fn the_tables_have_every_key_and_the_presets_only_what_differs() {
    assert_eq!(Experiment::preset("paper").unwrap(), Experiment::default());
    let mut known: Vec<String> = keys().map(|key| key.key.clone()).collect();
    known.sort();
    let all: Vec<String> = Experiment::default().flatten().into_iter().map(|(key, _)| key).collect();
    assert_eq!(known, all);
    let defaults = Experiment::default().flatten();
    for (name, text) in PRESETS.iter().filter(|(name, _)| *name != "paper") {
        let stated: toml::Table = text.parse().unwrap();
        for (key, default) in &defaults {
            let value = key.split('.').try_fold(&toml::Value::Table(stated.clone()), |v, k| v.get(k)).cloned();
            assert!(value.as_ref() != Some(default), "preset {name} repeats the default of `{key}`");
        }
    }
}

/// `experiments/paper.toml` is there to be read and copied. `UPDATE_GOLDEN=1` writes it anew.
#[test]
fn the_papers_file_is_the_preset_with_comments() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/paper.toml");
    let text = Experiment::preset("paper").unwrap().commented();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}

#[test]
fn a_commented_file_is_the_same_experiment() {
    let lines = Experiment::preset("paper").unwrap().commented().lines().count();
    let overrides = ["name=\"a ' # b\"", "train.lr=3e-7", "seeds.data=0,1", "language.grammar=Cargo.toml"];
    for overrides in [&[][..], &overrides, &["mixture.tasks=1,0,0", "eval.also=[1, 2]"]] {
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        let experiment = Experiment::load(Some("quick"), None, &overrides).unwrap();
        let text = experiment.commented();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &text).unwrap();
        assert_eq!(Experiment::load(None, Some(file.path()), &[]).unwrap(), experiment, "{text}");
        assert_eq!(text.lines().count(), lines);
    }
}
