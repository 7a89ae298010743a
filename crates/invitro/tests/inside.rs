//! `invitro hidden` and `invitro patch`: what a model holds inside, and what happens if it is replaced.

use crate::common::{python, refused, stdout, with_input};
use crate::run::{done, run};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A trained model of two layers with these settings.
fn trained(place: &Path, settings: &[&str]) -> String {
    let folder = place.join("run");
    done(&run(&folder, &[&["model.layers=2"], settings].concat()).output().unwrap());
    folder.display().to_string()
}

/// Sentences of B that training never sees, without task and end.
fn sentences(run: &str, n: &str) -> Vec<String> {
    let (config, file) = (format!("{run}/config.toml"), format!("{run}.txt"));
    let split = ["--split", "B", "--held-out", "--task", "T0", "-n", n];
    stdout(&[&["corpus", "--config", &config, "--out", &file][..], &split].concat());
    let rows = std::fs::read_to_string(&file).unwrap();
    let words = |row: &str| row.trim_start_matches("<T0:B> ").trim_end_matches(" <eos>").to_owned();
    rows.lines().map(words).collect()
}

struct States {
    bytes: Vec<u8>,
    header: Value,
    start: usize,
}

impl States {
    fn read(path: &Path) -> States {
        let bytes = std::fs::read(path).unwrap();
        let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        States { header: serde_json::from_slice(&bytes[8..start]).unwrap(), bytes, start }
    }

    fn bytes(&self, name: &str) -> &[u8] {
        let [from, to] = [0, 1].map(|at| self.header[name]["data_offsets"][at].as_u64().unwrap() as usize);
        &self.bytes[self.start + from..self.start + to]
    }

    fn integers(&self, name: &str) -> Vec<i64> {
        self.bytes(name).chunks(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

#[test]
fn hidden_states_are_packed_by_sentence_and_chosen_by_layer_and_position() {
    let place = tempfile::tempdir().unwrap();
    let run = trained(place.path(), &[]);
    let [all, some, last] = ["all", "some", "last"].map(|name| place.path().join(name));
    let lines = sentences(&run, "3");
    let text = format!("{}\n\n<T0:B> {} <eos>\n", lines[0], lines[1]);
    let hidden = |out: &Path, more: &[&str]| {
        let args = [&["hidden", &run, "--out", out.to_str().unwrap()], more].concat();
        let output = with_input(&args, text.as_bytes());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stderr).contains("1 line without a sentence is left out"));
        States::read(out)
    };
    let (all, some, last) =
        (hidden(&all, &[]), hidden(&some, &["--layers", "2,0"]), hidden(&last, &["--positions", "last"]));
    let (tokens, offsets) = (all.integers("tokens"), all.integers("offsets"));
    assert_eq!((all.integers("lines"), offsets.len(), offsets[2] as usize), (vec![1, 3], 3, tokens.len()));
    let pieces: Vec<String> = serde_json::from_str(all.header["__metadata__"]["pieces"].as_str().unwrap()).unwrap();
    let spelled: Vec<&str> = tokens.iter().map(|&id| pieces[id as usize].as_str()).collect();
    assert_eq!((spelled[0], spelled[offsets[1] as usize], spelled[tokens.len() - 1]), ("<T0:B>", "<T0:B>", "<eos>"));
    assert_eq!(spelled[1..offsets[1] as usize].concat().replace('▁', " ").trim(), lines[0]);
    assert_eq!(all.header["states"]["shape"], serde_json::json!([tokens.len(), 3, 32]));
    assert_eq!(all.header["__metadata__"]["layers"], "[0,1,2]");

    // A layer of a token is 32 numbers of 4 bytes.
    let state = |of: &States, token: usize, layer: usize, layers: usize| {
        of.bytes("states")[(token * layers + layer) * 128..][..128].to_vec()
    };
    for token in 0..tokens.len() {
        assert_eq!(state(&some, token, 0, 2), state(&all, token, 2, 3));
        assert_eq!(state(&some, token, 1, 2), state(&all, token, 0, 3));
    }
    assert_eq!(last.integers("offsets"), [0, 1, 2]);
    for sentence in [0, 1] {
        let token = offsets[sentence + 1] as usize - 1;
        assert_eq!(last.integers("tokens")[sentence], tokens[token]);
        assert_eq!(state(&last, sentence, 1, 3), state(&all, token, 1, 3));
    }
}

#[test]
fn hidden_states_that_cannot_be() {
    let place = tempfile::tempdir().unwrap();
    let run = trained(place.path(), &["model.context=48"]);
    let (file, out) = (place.path().join("lines.txt"), place.path().join("x.safetensors"));
    let [file, out] = [&file, &out].map(|path| path.to_str().unwrap());
    let word = &sentences(&run, "1")[0];
    let error = |text: &str, more: &[&str]| {
        std::fs::write(file, text).unwrap();
        refused(&[&["hidden", &run, file, "--out", out], more].concat())
    };
    for (text, more, says) in [
        (word.as_str(), &["--layers", "0,3"][..], "--layers has 3, but this model's layers are 0 (the embedding) to 2"),
        (&format!("{word}\nП{word}"), &[], "line 2 of"),
        (&format!("{word}\nП"), &[], "`П` is no word of B, and the tokenizer cannot spell it"),
        (&format!("{word} ").repeat(20), &[], "tokens, but the context has 48"),
        (&format!("<T1:B> {word}"), &[], "it begins with <T1:B>, but --task and --language ask for <T0:B>"),
        ("\n", &[], "there is no sentence in"),
        (word, &["--language", "C"], "there is no language C"),
    ] {
        let error = error(text, more);
        assert!(error.contains(says), "{error}");
        assert!(!Path::new(out).exists());
    }
    std::fs::write(file, word).unwrap();
    stdout(&["hidden", &run, file, "--out", out]);
    assert!(refused(&["hidden", &run, file, "--out", out]).contains("exists already; --force replaces it"));
    stdout(&["hidden", &run, file, "--out", out, "--force"]);
}

#[test]
fn hidden_states_are_those_of_transformers() {
    let Some(python) = python() else { return };
    for settings in [&[][..], &["tokenizer.share=none"]] {
        let place = tempfile::tempdir().unwrap();
        let run = trained(place.path(), settings);
        let [file, out, exported] = ["lines.txt", "x.safetensors", "exported"].map(|name| place.path().join(name));
        std::fs::write(&file, sentences(&run, "20").join("\n")).unwrap();
        stdout(&["hidden", &run, file.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        stdout(&["export", &run, "--out", exported.to_str().unwrap()]);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hidden_export.py");
        let arguments = [&script, &exported, &out, &file];
        let output = Command::new(&python).args(arguments).env("HF_HUB_OFFLINE", "1").output().unwrap();
        assert!(output.status.success(), "{settings:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// What `invitro patch --json` prints, a value per word.
fn patched(run: &str, more: &[&str]) -> Vec<Value> {
    let printed = stdout(&[&["patch", run, "--json"], more].concat());
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn effects(form: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(form["effects"].clone()).unwrap()
}

#[test]
fn a_patch_with_itself_changes_no_bit() {
    let place = tempfile::tempdir().unwrap();
    let run = trained(place.path(), &[]);
    for more in [&["--donor", "B"][..], &["--language", "A", "--donor", "A", "--logprob"]] {
        let answer = patched(&run, more).remove(0);
        let forms = answer["forms"].as_array().unwrap();
        assert_eq!((forms.len(), &forms[0]["unpatched"]), (1, &forms[0]["in_donor"]));
        assert_eq!(effects(&forms[0]), vec![vec![0.0; answer["positions"].as_array().unwrap().len()]; 3]);
    }
    // Another subject is no longer itself.
    let subject = patched(&run, &["--donor", "B"])[0]["against"].as_str().unwrap().to_owned();
    let other = patched(&run, &["--donor", "B", "--donor-subject", &subject]).remove(0);
    assert!(effects(&other["forms"][0]).concat().iter().any(|&effect| effect != 0.0));
}

/// Of a word that is one piece; later pieces would read the receiver's earlier positions.
#[test]
fn the_last_layer_at_the_last_position_gives_the_donors_scores() {
    let place = tempfile::tempdir().unwrap();
    let run = trained(place.path(), &["tokenizer.vocab=250"]);
    let invitro_lab::Trained { languages, text, .. } = invitro_lab::Trained::load(Path::new(&run), None).unwrap();
    let is_one_piece = |&word: &_| languages.all().iter().all(|&language| text.word(word, language).1 == 1);
    let words: Vec<String> =
        languages.world.descriptors().filter(is_one_piece).map(|word| languages.world.label(word)).take(5).collect();
    assert_eq!(words.len(), 5);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for more in
        [&[][..], &["--logprob"], &["--donor-subject", "noun.0.1"], &["--donor", "B", "--donor-subject", "noun.0.1"]]
    {
        for answer in patched(&run, &[&words, more].concat()) {
            for form in answer["forms"].as_array().unwrap() {
                let [unpatched, in_donor] = ["unpatched", "in_donor"].map(|key| form[key].as_f64().unwrap());
                let effects = effects(form);
                let (last, earlier) = effects[2].split_last().unwrap();
                assert_eq!(*last, in_donor - unpatched, "{more:?}: {form}");
                // Elsewhere nothing reads the last layer.
                assert!(earlier.iter().all(|&effect| effect == 0.0), "{form}");
            }
        }
    }
}

#[test]
fn a_patch_is_asked_about_a_masked_fact_and_printed_by_layer_and_position() {
    let place = tempfile::tempdir().unwrap();
    let run = trained(place.path(), &[]);
    let languages = invitro_lab::Trained::load(Path::new(&run), None).unwrap().languages;
    let symbol = |name: &Value| languages.world.symbols().find(|&s| languages.world.label(s) == *name).unwrap();
    let answer = patched(&run, &[]).remove(0);
    let [subject, against, word] = ["subject", "against", "word"].map(|key| symbol(&answer[key]));
    let [a, b] = languages.all() else { panic!() };
    assert!(languages.never_says(*b, word, subject) && languages.world.allows(subject, word));
    assert!(!languages.world.allows(against, word) && languages.world.class(against) == languages.world.class(subject));
    let forms: Vec<&Value> = answer["forms"].as_array().unwrap().iter().map(|form| &form["form"]).collect();
    assert_eq!(forms, [languages.form(word, *b), languages.form(word, *a)]);

    // The same named by words, and as people see it.
    let own = languages.form(subject, *b);
    let named = patched(&run, &[forms[1].as_str().unwrap(), "--subject", own, "--language", "B", "--donor", "A"]);
    assert_eq!(named[0]["forms"], answer["forms"]);
    let printed = stdout(&["patch", &run]);
    assert!(printed.contains(&format!("receiver <T0:B> {own} ")) && printed.contains("masked in B"), "{printed}");
    let heads: Vec<&str> = printed.lines().find(|line| line.starts_with("layer")).unwrap().split_whitespace().collect();
    assert_eq!(heads, ["layer", "tag", "subject", "▁", "copula", "▁"]);
    assert_eq!(patched(&run, &["desc.0.0", "desc.0.1"]).len(), 2);
    // Two subjects that are allowed the word are compared with a warning.
    let also =
        languages.world.entities().find(|&other| other != subject && languages.world.allows(other, word)).unwrap();
    let also = languages.world.label(also);
    let asked = ["patch", &run, answer["word"].as_str().unwrap(), "--subject", own, "--against", &also];
    let warned = String::from_utf8(crate::common::run(&asked).stderr).unwrap();
    assert!(warned.contains(&format!("Γ allows {also} the word")), "{warned}");
    for (args, says) in [
        (&["--subject", own, "--against", own][..], "--against is the subject itself"),
        (&["nothing"][..], "`nothing` is neither a word of B or A nor a symbol such as noun.0.0"),
        (&["--subject", "desc.0.0"], "`desc.0.0` (desc.0.0) cannot be a subject: subjects are nouns and names"),
        (&["--donor", "X"], "there is no language X"),
        (&["noun.0.1"], "noun.0.1 is no descriptor"),
        (&["--step", "1"], "has no checkpoint of step 1"),
    ] {
        let error = refused(&[&["patch", &run], args].concat());
        assert!(error.contains(says), "{error}");
    }
}
