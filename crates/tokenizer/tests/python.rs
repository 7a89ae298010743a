//! Python's `tokenizers` and `transformers` load our files, give the same ids, and decode to the same text.

use crate::common;
use invitro_language::{Source, Task};
use invitro_tokenizer::{Segmentation, TokenizerConfig};
use serde_json::json;
use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

#[test]
fn python_agrees_on_every_kind() {
    let Some(python) = std::env::var_os("INVITRO_PYTHON") else {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "INVITRO_PYTHON must be set in CI");
        // Not captured, unlike what a passing test prints.
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "skipped {test}: INVITRO_PYTHON is not set");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let languages = common::small(11);
    let larger = TokenizerConfig { vocab: 1000, ..Default::default() };
    let cases = [(larger, 1000)].into_iter().chain(common::all().into_iter().map(|config| (config, 100)));
    let mut folders = Vec::new();
    for (config, sentences) in cases {
        let tokenizer = common::train(&languages, &config);
        let segmentation = Segmentation::new(&tokenizer, &languages).unwrap();
        let folder = place.path().join(format!("{} {}", common::name(&config), config.vocab).replace(' ', "-"));
        tokenizer.save(&folder).unwrap();
        let mut rows = String::new();
        for condition in languages.conditions() {
            for row in 0..sentences {
                let task = Task::WITHIN[(row % 3) as usize];
                let sequence = Source::condition(&languages, "python", condition, task).draw(0, row).unwrap();
                let mut ids = Vec::new();
                segmentation.encode(&sequence, &mut ids);
                writeln!(rows, "{}", json!({ "text": sequence.text(&languages), "ids": ids })).unwrap();
            }
        }
        std::fs::write(folder.join("sentences.jsonl"), rows).unwrap();
        std::fs::write(folder.join("size.json"), tokenizer.vocab_size().to_string()).unwrap();
        folders.push(folder);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/load_tokenizers.py");
    let output = Command::new(python).arg(script).args(&folders).env("HF_HUB_OFFLINE", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed.lines().count(), folders.len(), "{printed}");
    assert!(printed.contains(" 3000"), "{printed}");
}
