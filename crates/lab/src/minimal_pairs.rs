//! Minimal pairs: a held-out sentence, and the same sentence with one fault.
//!
//! | fault | what differs |
//! |---|---|
//! | order | two neighbouring words are exchanged, and the sentence is no longer grammatical |
//! | types | one word is replaced: the sentence is grammatical, its types do not hold |
//! | facts | one word is replaced: the sentence is grammatical, its types hold, Γ forbids it |
//! | spelling | one letter of one word is replaced by another of the language, and no language has that word |
//!
//! A word is replaced by one of its category, a masked word by a masked one. In a condition with masked words it is one of
//! these that is replaced or misspelt.

use crate::error::Result;
use crate::trained::Trained;
use invitro_base::named;
use invitro_language::corpus::task::EOS;
use invitro_language::{
    Checker, LanguageCondition, Languages, Pool, Rng, SentenceVerdict, Sequence, Source, Stream, Symbol, Task,
};
use invitro_results::folder::write_file;
use invitro_results::{At, Condition};
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;

/// The folder of the tasks in an export.
pub const FOLDER: &str = "lm-eval";
/// Pairs of a task in an export.
pub const PAIRS: usize = 500;
/// Sentences that are drawn for each pair: a short one may have no fault.
const SENTENCES: u64 = 4;
/// Words that are tried in the place of another.
const REPLACEMENTS: usize = 100;

named! {
    /// What is wrong with the second sentence of a pair.
    Fault {
        /// Two neighbouring words are exchanged.
        Order = "order",
        /// Its types do not hold.
        Types = "types",
        /// Γ forbids what it says.
        Facts = "facts",
        /// It has a word that no language has.
        Spelling = "spelling",
    }
}

/// A sentence, and the same with one fault, in words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    pub good: String,
    pub bad: String,
}

impl Pair {
    /// Both sentences as lm-eval reads them: with their ends, which `invitro score` counts too.
    fn with_ends(&self) -> String {
        json!({ "good": format!("{} {EOS}", self.good), "bad": format!("{} {EOS}", self.bad) }).to_string()
    }

    /// A line of `invitro score`.
    pub fn for_score(&self) -> String {
        format!("{}\t{}", self.good, self.bad)
    }

    /// A line of JSON as BLiMP has it, which minicons and others read.
    pub fn for_minicons(&self, name: &str, id: usize) -> String {
        let [good, bad] = [&self.good, &self.bad].map(|text| format!("{text} {EOS}"));
        json!({ "sentence_good": good, "sentence_bad": bad, "UID": name, "pairID": id.to_string() }).to_string()
    }
}

/// Writes a task for order and facts in every condition, each a YAML file and its pairs; returns their names.
pub fn write_tasks(trained: &Trained, folder: &Path) -> Result<Vec<String>> {
    std::fs::create_dir_all(folder).writing(folder)?;
    let mut names = Vec::new();
    for condition in trained.languages.conditions() {
        for fault in [Fault::Order, Fault::Facts] {
            let pairs = pairs(&trained.languages, condition, fault, PAIRS, trained.fits())?;
            if !pairs.is_empty() {
                names.push(write_task(&trained.languages, condition, fault, &pairs, folder, &format!("{FOLDER}/"))?);
            }
        }
    }
    Ok(names)
}

/// The name of a task.
pub fn name(condition: LanguageCondition, fault: Fault) -> String {
    format!("invitro_{}_{}", fault.name(), Condition::from(condition))
}

/// Writes a task of lm-eval: a YAML file and its pairs, which `within` leads to from where lm-eval is run; returns its name.
///
/// The context of a task is the token of T0 and the language, and both sentences end with `<eos>`, as in `invitro score`.
pub fn write_task(
    languages: &Languages,
    condition: LanguageCondition,
    fault: Fault,
    pairs: &[Pair],
    folder: &Path,
    within: &str,
) -> Result<String> {
    let name = name(condition, fault);
    let tag = Sequence { language: condition.language, ..Sequence::default() }.tag(languages);
    let lines: Vec<String> = pairs.iter().map(Pair::with_ends).collect();
    write_file(&folder.join(format!("{name}.yaml")), yaml(&name, &tag, within).as_bytes())?;
    write_file(&folder.join(format!("{name}.jsonl")), (lines.join("\n") + "\n").as_bytes())?;
    Ok(name)
}

/// A task of lm-eval.
fn yaml(name: &str, tag: &str, within: &str) -> String {
    format!(
        "task: {name}\n\
         dataset_path: json\n\
         dataset_kwargs:\n  data_files: {within}{name}.jsonl\n\
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

impl Trained {
    /// Whether a sequence fits the model's context.
    pub fn fits(&self) -> impl Fn(&Sequence) -> bool + '_ {
        |sequence| self.text.segmentation.length(sequence) < self.checkpoint.shape.context
    }
}

/// Up to so many different pairs of a condition, of sentences that fit.
pub fn pairs(
    languages: &Languages,
    condition: LanguageCondition,
    fault: Fault,
    count: usize,
    fits: impl Fn(&Sequence) -> bool,
) -> Result<Vec<Pair>> {
    let stream = Stream::new(languages.seed, &format!("export/pairs/{}", fault.name()));
    let mut source = Source::condition(languages, "export/pairs", condition, Task::T0).from_pool(Pool::HeldOut);
    let mut checker = languages.checker();
    let (mut pairs, mut seen) = (Vec::new(), HashSet::new());
    for row in 0..SENTENCES * count as u64 {
        let good: Vec<Symbol> = source.draw_where(0, row, &fits)?.sentence_words().map(|(symbol, _)| symbol).collect();
        let mut rng = stream.at(0, row);
        let text = |words: Vec<Symbol>| languages.text(&words, condition.language);
        let bad = match fault {
            Fault::Order => exchanged(&good, &mut checker, condition, &mut rng).map(text),
            Fault::Types => {
                let breaks = |verdict: &SentenceVerdict| verdict.grammatical && !verdict.types;
                replaced(languages, &good, &mut checker, condition, &mut rng, breaks).map(text)
            }
            Fault::Facts => {
                let breaks = |verdict: &SentenceVerdict| verdict.grammatical && verdict.types && !verdict.facts;
                replaced(languages, &good, &mut checker, condition, &mut rng, breaks).map(text)
            }
            Fault::Spelling => misspelt(languages, &good, condition, &mut rng),
        };
        if let Some(bad) = bad {
            let pair = Pair { good: text(good), bad };
            if seen.insert(pair.clone()) {
                pairs.push(pair);
            }
        }
        if pairs.len() == count {
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

/// The places of a sentence that may have a fault, in random order: of its masked words, where it has any.
fn places(languages: &Languages, good: &[Symbol], condition: LanguageCondition, rng: &mut Rng) -> Vec<usize> {
    let mask = languages.mask(condition.language);
    let has_masked = good.iter().any(|&word| mask.contains(word));
    let mut places: Vec<usize> = (0..good.len()).filter(|&place| !has_masked || mask.contains(good[place])).collect();
    rng.shuffle(&mut places);
    places
}

/// The sentence with one word replaced, so that it breaks what it should and nothing before that.
fn replaced(
    languages: &Languages,
    good: &[Symbol],
    checker: &mut Checker,
    condition: LanguageCondition,
    rng: &mut Rng,
    breaks: impl Fn(&SentenceVerdict) -> bool,
) -> Option<Vec<Symbol>> {
    let mask = languages.mask(condition.language);
    places(languages, good, condition, rng).into_iter().find_map(|place| {
        let word = good[place];
        let is_alike = |other: &Symbol| *other != word && mask.contains(*other) == mask.contains(word);
        let mut others: Vec<Symbol> =
            languages.world.of_category(languages.world.category(word)).filter(is_alike).collect();
        rng.shuffle(&mut others);
        others.into_iter().take(REPLACEMENTS).find_map(|other| {
            let mut bad = good.to_vec();
            bad[place] = other;
            breaks(&checker.symbols(&bad, condition.language)).then_some(bad)
        })
    })
}

/// The sentence with one letter of one word replaced, so that no language has that word.
fn misspelt(languages: &Languages, good: &[Symbol], condition: LanguageCondition, rng: &mut Rng) -> Option<String> {
    let language = condition.language;
    let alphabet: Vec<char> = languages.alphabet(language).chars().collect();
    let is_word = |text: &str| languages.all().iter().any(|&other| languages.lexicon.symbol(text, other).is_some());
    places(languages, good, condition, rng).into_iter().find_map(|place| {
        let letters: Vec<char> = languages.form(good[place], language).chars().collect();
        // Letters of other scripts, and the capitals of names, stay.
        let own = letters.iter().enumerate().filter(|(_, letter)| alphabet.contains(letter));
        let mut changes: Vec<(usize, char)> =
            own.flat_map(|(at, own)| alphabet.iter().filter(move |it| *it != own).map(move |it| (at, *it))).collect();
        rng.shuffle(&mut changes);
        let misspelt = changes.into_iter().find_map(|(at, letter)| {
            let mut changed = letters.clone();
            changed[at] = letter;
            let text: String = changed.into_iter().collect();
            (!is_word(&text)).then_some(text)
        })?;
        let word = |(at, symbol): (usize, &Symbol)| {
            if at == place { misspelt.clone() } else { languages.form(*symbol, language).to_owned() }
        };
        Some(good.iter().enumerate().map(word).collect::<Vec<String>>().join(" "))
    })
}
