//! Sentences that are given to a trained model, in tokens.

use crate::experiment::{language_given, language_or_masked};
use crate::terminal;
use anyhow::{Result, bail};
use invitro_lab::Trained;
use invitro_language::{Language, Sequence, Task, corpus::task};
use invitro_model::Device;
use invitro_tokenizer::special;
use std::path::Path;

/// How sentences are given.
#[derive(clap::Args)]
pub struct SentenceArgs {
    /// The language, such as A [default: the first that has masked words]
    #[arg(long)]
    language: Option<String>,
    /// T0 (free generation), T1 (unscrambling), T2 (conditional generation) or T3 (translation)
    #[arg(long, default_value = "T0")]
    task: Task,
    /// The language to translate from [default: the first other one]
    #[arg(long, value_name = "LANGUAGE")]
    from: Option<String>,
    /// The checkpoint's step [default: the last]
    #[arg(long)]
    step: Option<u64>,
    /// auto, cpu, cuda or cuda:NUMBER
    #[arg(long, default_value = "cpu")]
    device: String,
}

/// What given sentences are read as, and where the model reads them.
#[derive(Clone, Copy)]
pub struct SentenceReading {
    pub task: Task,
    pub language: Language,
    /// The language that is translated from.
    pub from: Option<Language>,
    pub device: Device,
}

impl SentenceArgs {
    /// The run's model.
    pub fn load(&self, run: &Path) -> Result<(Trained, SentenceReading)> {
        let trained = Trained::load(run, self.step)?;
        let language = language_or_masked(&trained.languages, self.language.as_deref())?;
        let from = language_given(&trained.languages, self.task, language, self.from.as_deref())?;
        let device = Device::parse(&self.device)?;
        Ok((trained, SentenceReading { task: self.task, language, from, device }))
    }
}

/// A word of a sentence, and whether the language has it.
pub struct GivenWord {
    pub text: String,
    pub known: bool,
    pub tokens: Vec<u32>,
}

pub struct GivenSentence {
    /// The task's own token and what is given.
    pub prompt: Vec<u32>,
    pub words: Vec<GivenWord>,
    /// Whether `<eos>` is written at its end.
    pub ended: bool,
}

impl GivenSentence {
    /// Reads a sentence; rows of `invitro corpus`, with a task before and `<eos>` behind, are sentences too.
    pub fn read(
        text: &str,
        trained: &Trained,
        SentenceReading { task, language, from, .. }: SentenceReading,
    ) -> Result<GivenSentence> {
        let mut given: Vec<&str> = text.split_whitespace().collect();
        let opening = Sequence { task, language, from, ..Sequence::default() };
        let tag = opening.tag(&trained.languages);
        if let Some(first) = given.first().filter(|word| word.starts_with('<')) {
            if *first != tag && *first != task::OUT {
                bail!("it begins with {first}, but --task and --language ask for {tag}");
            }
            if *first == tag {
                given.remove(0);
            }
        }
        let ended = given.pop_if(|last| *last == task::EOS).is_some();
        let out = given.iter().position(|word| *word == task::OUT);
        let (before, sentence) = match (task, out) {
            (Task::T0, None) => (&given[..0], &given[..]),
            (Task::T0, Some(_)) => bail!("T0 is given nothing: there is no {} in it", task::OUT),
            (_, Some(at)) => (&given[..at], &given[at + 1..]),
            (_, None) => bail!("{} needs the given words and {} before the sentence", task.name(), task::OUT),
        };
        let mut prompt = vec![trained.text.segmentation.special().opening(&opening)];
        for text in before {
            prompt.extend(word(text, trained, from.unwrap_or(language))?.tokens);
        }
        if task != Task::T0 {
            prompt.push(special::OUT);
        }
        let words = sentence.iter().map(|text| word(text, trained, language)).collect::<Result<Vec<GivenWord>>>()?;
        Ok(GivenSentence { prompt, words, ended })
    }

    /// All of it, with `<eos>` if that is written.
    pub fn tokens(&self) -> Vec<u32> {
        let words = self.words.iter().flat_map(|word| &word.tokens);
        self.prompt.iter().chain(words).copied().chain(self.ended.then_some(special::EOS)).collect()
    }
}

fn word(text: &str, trained: &Trained, language: Language) -> Result<GivenWord> {
    let (tokens, known) = trained.text.given(text, &trained.languages, language)?;
    Ok(GivenWord { text: text.into(), known, tokens })
}

/// Warns where most words of the first lines are not of the language, and names the language that has most.
pub fn warn_of_strange_words(words: &[&str], trained: &Trained, language: Language, results: &str) {
    let known = |language: Language| {
        let is_known = |word: &&&str| matches!(trained.text.given(word, &trained.languages, language), Ok((_, true)));
        words.iter().filter(is_known).count()
    };
    let strange = words.len() - known(language);
    if 2 * strange <= words.len() {
        return;
    }
    let best = trained.languages.all().iter().copied().max_by_key(|&other| (known(other), other == language));
    let hint = match best.filter(|&best| 2 * known(best) > words.len()) {
        Some(best) => format!("--language {} has {} of them", best.name(), known(best)),
        None => "`invitro language sample` shows sentences of the languages".to_owned(),
    };
    terminal::warn(&format!(
        "most words of the first lines, {strange} of {}, are not of {}, so that their {results} say little: {hint}",
        words.len(),
        language.name()
    ));
}
