//! Minimal pairs as tasks of lm-eval: a held-out sentence, and the same sentence with one fault.
//!
//! | fault | what differs |
//! |---|---|
//! | order | two neighbouring words are exchanged, and the sentence is no longer grammatical |
//! | facts | one word is replaced: the sentence is grammatical, its types hold, Γ forbids it |
//!
//! A word is replaced by one of its category, a masked word by a masked one. In a condition with masked words it is one of
//! these that is replaced. The context of a task is the token of T0 and
//! the language, and both sentences end with `<eos>`, as in `invitro score`.

use crate::error::Result;
use crate::trained::Trained;
use invitro_base::named;
use invitro_language::corpus::task::EOS;
use invitro_language::{Checker, LanguageCondition, Languages, Pool, Rng, Sequence, Source, Stream, Symbol, Task};
use invitro_results::folder::write_file;
use invitro_results::{At, Condition};
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;

/// The folder of the tasks in an export.
pub const FOLDER: &str = "lm-eval";
/// Pairs of a task.
const PAIRS: usize = 500;
/// Sentences that are drawn for them: a short one may have no fault.
const SENTENCES: u64 = 4 * PAIRS as u64;
/// Words that are tried in the place of another.
const REPLACEMENTS: usize = 100;

named! {
    /// What is wrong with the second sentence of a pair.
    Fault {
        /// Two neighbouring words are exchanged.
        Order = "order",
        /// Γ forbids what it says.
        Facts = "facts",
    }
}

/// Writes a task for every fault and condition, each a YAML file and its pairs; returns their names.
pub fn write_tasks(trained: &Trained, folder: &Path) -> Result<Vec<String>> {
    std::fs::create_dir_all(folder).writing(folder)?;
    let languages = &trained.languages;
    let mut names = Vec::new();
    for condition in languages.conditions() {
        let tag = Sequence { language: condition.language, ..Sequence::default() }.tag(languages);
        for fault in Fault::ALL {
            let name = format!("invitro_{}_{}", fault.name(), Condition::from(condition));
            let pairs = pairs(trained, condition, fault)?;
            if pairs.is_empty() {
                continue;
            }
            write_file(&folder.join(format!("{name}.yaml")), yaml(&name, &tag).as_bytes())?;
            write_file(&folder.join(format!("{name}.jsonl")), (pairs.join("\n") + "\n").as_bytes())?;
            names.push(name);
        }
    }
    Ok(names)
}

/// A task of lm-eval, to be run from the export's folder.
fn yaml(name: &str, tag: &str) -> String {
    format!(
        "task: {name}\n\
         dataset_path: json\n\
         dataset_kwargs:\n  data_files: {FOLDER}/{name}.jsonl\n\
         test_split: train\n\
         output_type: multiple_choice\n\
         doc_to_text: \"{tag}\"\n\
         doc_to_choice: \"{{{{[good, bad]}}}}\"\n\
         doc_to_target: 0\n\
         num_fewshot: 0\n\
         metric_list:\n  - metric: acc\n    aggregation: mean\n    higher_is_better: true\n\
         metadata:\n  version: 1.0\n"
    )
}

/// The pairs of a condition, a JSON object each.
fn pairs(trained: &Trained, condition: LanguageCondition, fault: Fault) -> Result<Vec<String>> {
    let (languages, text) = (&trained.languages, &trained.text);
    let stream = Stream::new(languages.seed, &format!("export/pairs/{}", fault.name()));
    let mut source = Source::condition(languages, "export/pairs", condition, Task::T0).from_pool(Pool::HeldOut);
    let mut checker = languages.checker();
    let (mut pairs, mut seen) = (Vec::new(), HashSet::new());
    for row in 0..SENTENCES {
        let fits = |sequence: &Sequence| text.segmentation.length(sequence) < trained.checkpoint.shape.context;
        let good: Vec<Symbol> = source.draw_where(0, row, fits)?.sentence_words().map(|(symbol, _)| symbol).collect();
        let mut rng = stream.at(0, row);
        let bad = match fault {
            Fault::Order => exchanged(&good, &mut checker, condition, &mut rng),
            Fault::Facts => forbidden(languages, &good, &mut checker, condition, &mut rng),
        };
        if let Some(bad) = bad {
            let [good, bad] = [good, bad].map(|words| format!("{} {EOS}", languages.text(&words, condition.language)));
            let pair = json!({ "good": good, "bad": bad }).to_string();
            if seen.insert(pair.clone()) {
                pairs.push(pair);
            }
        }
        if pairs.len() == PAIRS {
            break;
        }
    }
    Ok(pairs)
}

/// The sentence with two neighbouring words exchanged, so that it is not grammatical.
fn exchanged(
    good: &[Symbol],
    checker: &mut Checker,
    condition: LanguageCondition,
    rng: &mut Rng,
) -> Option<Vec<Symbol>> {
    let mut places: Vec<usize> = (1..good.len()).collect();
    rng.shuffle(&mut places);
    places.into_iter().find_map(|place| {
        let mut bad = good.to_vec();
        bad.swap(place - 1, place);
        (!checker.symbols(&bad, condition.language).grammatical).then_some(bad)
    })
}

/// The sentence with one word replaced, so that Γ forbids what it says and nothing else is wrong.
fn forbidden(
    languages: &Languages,
    good: &[Symbol],
    checker: &mut Checker,
    condition: LanguageCondition,
    rng: &mut Rng,
) -> Option<Vec<Symbol>> {
    let mask = languages.mask(condition.language);
    let has_masked = good.iter().any(|&word| mask.contains(word));
    let mut places: Vec<usize> = (0..good.len()).filter(|&place| !has_masked || mask.contains(good[place])).collect();
    rng.shuffle(&mut places);
    places.into_iter().find_map(|place| {
        let word = good[place];
        let is_alike = |other: &Symbol| *other != word && mask.contains(*other) == mask.contains(word);
        let mut others: Vec<Symbol> =
            languages.world.of_category(languages.world.category(word)).filter(is_alike).collect();
        rng.shuffle(&mut others);
        others.into_iter().take(REPLACEMENTS).find_map(|other| {
            let mut bad = good.to_vec();
            bad[place] = other;
            let verdict = checker.symbols(&bad, condition.language);
            (verdict.grammatical && verdict.types && !verdict.facts).then_some(bad)
        })
    })
}
