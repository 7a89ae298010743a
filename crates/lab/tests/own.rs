//! What a user brings along: a tokenizer, through whole runs.

use crate::common::{SAME, bytes, member, run, tiny, train};
use invitro_lab::card::Published;
use invitro_lab::inputs::InputCache;
use invitro_lab::study::file::{self, cells};
use invitro_lab::training::MemberOutcome;
use invitro_lab::{Experiment, Stop, Trained};
use invitro_model::Device;
use serde_json::json;
use std::path::{Path, PathBuf};

/// A tokenizer of letters, `f ##o ##c`, as a file.
fn letters(dir: &Path) -> PathBuf {
    let letters: Vec<char> = ('a'..='z').chain('A'..='Z').collect();
    let tokens = letters.iter().flat_map(|c| [c.to_string(), format!("##{c}")]);
    let vocab: serde_json::Map<_, _> =
        (0..).zip(["[UNK]".to_owned()].into_iter().chain(tokens)).map(|(id, token)| (token, json!(id))).collect();
    let file = json!({
        "version": "1.0", "added_tokens": [],
        "pre_tokenizer": { "type": "Whitespace" },
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": false },
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": vocab
        }
    });
    let path = dir.join("letters.json");
    std::fs::write(&path, file.to_string()).unwrap();
    path
}

#[test]
fn a_run_with_somebody_elses_tokenizer_keeps_it() {
    let place = tempfile::tempdir().unwrap();
    let file = letters(place.path());
    let given = format!("tokenizer.file={}", file.display());
    let settings = [&*given, "train.steps=20", "checkpoint.every=10", "eval.forms=true"];
    let experiment = tiny(&settings);
    let (one, two, out) = (place.path().join("one"), place.path().join("two"), place.path().join("out"));
    let rows = run(&experiment, &one);
    let soon = Stop::new().at(std::time::Instant::now());
    assert!(matches!(train(&[member(&experiment, &two)], &soon)[..], [MemberOutcome::Stopped { .. }]));
    // It goes on by the folder's own copy.
    std::fs::remove_file(&file).unwrap();
    let opened = Experiment::open(&two).unwrap().unwrap();
    assert_eq!(opened.id(), experiment.id());
    run(&opened, &two);
    for name in SAME {
        assert_eq!(bytes(&one, name), bytes(&two, name), "{name}");
    }
    let [name] = &opened.files()[..] else { panic!("{:?}", opened.files()) };
    assert!(name.starts_with("files/letters-") && one.join(name).exists(), "{name}");

    // |V| is the file's, with our tokens and one in the place of a boundary.
    let trained = Trained::load(&one, None).unwrap();
    assert_eq!(trained.text.vocab(), 1 + 2 * 52 + 9 + 1);
    let again = trained.evaluate(&trained.experiment, Device::Cpu).unwrap().rows;
    let last = |quantity: &invitro_results::Quantity| rows.iter().rfind(|row| row.quantity == *quantity).unwrap().value;
    assert!(again.iter().all(|row| row.value.to_bits() == last(&row.quantity).to_bits()));
    // Words of the language have the pieces they were trained with, others those of the text; what it cannot spell is told.
    let language = trained.languages.all()[0];
    let given = |word: &str| trained.text.given(word, &trained.languages, language);
    let symbol = trained.languages.world.symbols().next().unwrap();
    let word = trained.languages.form(symbol, language);
    assert_eq!(given(word).unwrap(), (trained.text.segmentation.pieces(symbol, language).to_vec(), true));
    let (pieces, known) = given("qxq").unwrap();
    assert!(!known && trained.text.tokenizer.decode(&pieces).unwrap() == "qxq", "{pieces:?}");
    assert_eq!(pieces.len(), 3);
    assert!(given("qäq").unwrap_err().to_string().contains("`qäq` is no word of A, and the tokenizer cannot spell it"));
    trained.export(&one, &out, Published { name: "out", licence: None }).unwrap();
    assert!(std::fs::read_to_string(out.join("README.md")).unwrap().contains("from_pretrained(\"out\")"));
    assert_eq!(bytes(&out, "tokenizer.json"), bytes(&one, "tokenizer.json"));
    let notes = InputCache::default().get(&trained.experiment).unwrap().notes(&trained.experiment);
    assert!(
        notes.iter().any(|note| {
            note == "`tokenizer.vocab` is 80 without effect: `tokenizer.file` is a tokenizer that is there"
        }),
        "{notes:?}"
    );
}

#[test]
fn a_tokenizers_file_is_known_by_what_it_holds() {
    let place = tempfile::tempdir().unwrap();
    let file = letters(place.path());
    let load = |more: &[&str]| {
        let overrides: Vec<String> = more.iter().map(|o| (*o).to_owned()).collect();
        Experiment::load(None, None, &overrides).map_err(|error| error.to_string())
    };
    let given = format!("tokenizer.file={}", file.display());
    let one = load(&[&given]).unwrap();
    assert!(one.notes().is_empty(), "the preset's |V| was not given: {:?}", one.notes());
    assert_eq!(load(&["tokenizer.file="]).unwrap().id(), load(&[]).unwrap().id());
    let unused = load(&[&given, "tokenizer.vocab=100"]).unwrap_err();
    assert!(unused.contains("tokenizer.vocab") && unused.contains("`tokenizer.file` is a tokenizer"), "{unused}");
    let missing = load(&["tokenizer.file=no/such.json"]).unwrap_err();
    assert!(missing.starts_with("`tokenizer.file` is `no/such.json`, which is no file that can be read"), "{missing}");

    // As a factor, beside one that is trained.
    let study = place.path().join("study.toml");
    let text = "name = \"own\"\n[factors]\ntokenizer.file = [\"\", \"letters.json\"]\n";
    let plan = file::parse(text, &study, &[]).unwrap();
    let cells = cells(&plan, &study).unwrap();
    let files: Vec<Vec<String>> = cells.iter().map(|cell| cell.experiment.files()).collect();
    assert_eq!(files, [Vec::new(), one.files()]);
    assert_ne!(cells[0].population_key, cells[1].population_key);

    std::fs::write(&file, "{}").unwrap();
    assert_ne!(load(&[&given]).unwrap().id(), one.id());
}

#[test]
fn a_run_in_real_words_keeps_their_list() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("words.csv");
    let forms = [
        "hand,Hand,hand",
        "water,Wasser,water",
        "house,Haus,huis",
        "fire,Feuer,vuur",
        "stone,Stein,steen",
        "green,grün,groen",
        "white,weiß,wit",
        "big,groß,groot",
        "milk,Milch,melk",
        "none,keine,",
        "two,zwei Worte,twee",
    ];
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        format!("deu,{0},{1}\nnld,{0},{2}\n", fields[0], fields[1], fields[2])
    };
    let rows: String = forms.map(row).concat();
    std::fs::write(&file, format!("Language_ID,Parameter_ID,Form\n{rows}")).unwrap();
    let given = format!("language.lexicon={}", file.display());
    let settings = [&*given, "language.lexicon_languages=[\"deu\", \"nld\"]", "train.steps=20", "tokenizer.vocab=90"];
    let (experiment, folder) = (tiny(&settings), place.path().join("run"));
    run(&experiment, &folder);
    std::fs::remove_file(&file).unwrap();
    let trained = Trained::load(&folder, None).unwrap();
    assert_eq!(trained.experiment.id(), experiment.id());
    let table = String::from_utf8(bytes(&folder, "language/lexicon.tsv")).unwrap();
    let green = table.lines().find(|line| line.ends_with("\tgreen")).unwrap();
    assert!(green.contains("grün") && green.contains("groen"), "{green}");
    let notes = InputCache::default().get(&trained.experiment).unwrap().notes(&trained.experiment);
    let says = |text: &str| notes.iter().any(|note| note.contains(text));
    assert!(says("9 of ") && says("which has 11 concepts"), "{notes:?}");
    assert!(
        says("without a form in every language: none") && says("is not one word of 1 to 50 letters: two"),
        "{notes:?}"
    );
    assert!(!says("the distance of the stems"), "none was asked for: {notes:?}");

    let refused =
        Experiment::load(None, None, &["language.lexicon_languages=[\"deu\"]".into()]).unwrap_err().to_string();
    assert!(refused.contains("it counts only with `language.lexicon`"), "{refused}");
}
