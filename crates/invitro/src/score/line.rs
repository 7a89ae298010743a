//! A sentence as it was given, in tokens, and with the log-probability of each of its words.

use anyhow::{Result, bail};
use invitro_lab::Trained;
use invitro_language::{Language, Sequence, Task, corpus::task};
use invitro_model::{Score, ScoreQuery};
use invitro_tokenizer::special;

/// A word of a sentence, and whether the language has it.
struct WordToScore {
    text: String,
    known: bool,
    tokens: Vec<u32>,
}

pub struct SentenceToScore {
    /// The task's own token and what is given.
    prompt: Vec<u32>,
    /// What is scored, the end included.
    words: Vec<WordToScore>,
}

/// A word with its log-probability given all before it: the sum over its pieces.
pub struct ScoredWord {
    pub text: String,
    pub known: bool,
    pub logprob: f64,
}

pub struct Scored {
    pub words: Vec<ScoredWord>,
}

impl Scored {
    /// Of the whole sentence, its end included.
    pub fn logprob(&self) -> f64 {
        self.words.iter().map(|word| word.logprob).sum()
    }
}

impl SentenceToScore {
    /// Reads a sentence; rows of `invitro corpus`, with a task before and `<eos>` behind, are sentences too.
    pub fn read(
        text: &str,
        trained: &Trained,
        task: Task,
        language: Language,
        from: Option<Language>,
    ) -> Result<SentenceToScore> {
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
        if given.last() == Some(&task::EOS) {
            given.pop();
        }
        let out = given.iter().position(|word| *word == task::OUT);
        let (before, sentence) = match (task, out) {
            (Task::T0, None) => (&given[..0], &given[..]),
            (Task::T0, Some(_)) => bail!("T0 is given nothing: there is no {} in it", task::OUT),
            (_, Some(at)) => (&given[..at], &given[at + 1..]),
            (_, None) => bail!("{} needs the given words and {} before the sentence", task.name(), task::OUT),
        };
        if sentence.is_empty() {
            bail!("there is no sentence to score");
        }
        let mut prompt = vec![trained.text.segmentation.special().opening(&opening)];
        for text in before {
            prompt.extend(word(text, trained, from.unwrap_or(language))?.tokens);
        }
        if task != Task::T0 {
            prompt.push(special::OUT);
        }
        let mut words =
            sentence.iter().map(|text| word(text, trained, language)).collect::<Result<Vec<WordToScore>>>()?;
        words.push(WordToScore { text: task::EOS.into(), known: true, tokens: vec![special::EOS] });
        let length = prompt.len() + words.iter().map(|word| word.tokens.len()).sum::<usize>();
        let context = trained.checkpoint.shape.context;
        // The last token is only predicted.
        if length > context + 1 {
            bail!("it has {length} tokens, but the context has {context}");
        }
        Ok(SentenceToScore { prompt, words })
    }

    /// The words of the sentence, without its end.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.text.as_str()).filter(|text| *text != task::EOS)
    }

    pub fn question(&self) -> ScoreQuery {
        let tokens = self.words.iter().flat_map(|word| &word.tokens).copied().collect();
        ScoreQuery { prompt: self.prompt.clone(), continuations: vec![tokens], among: None }
    }

    /// With the score of every token.
    pub fn scored(self, scores: &[Score]) -> Scored {
        let mut remaining = scores;
        let words = self.words.into_iter().map(|word| {
            let (own, later) = remaining.split_at(word.tokens.len().min(remaining.len()));
            remaining = later;
            let logprob = own.iter().map(|score| f64::from(score.logprob)).sum();
            ScoredWord { text: word.text, known: word.known, logprob }
        });
        Scored { words: words.collect() }
    }
}

fn word(text: &str, trained: &Trained, language: Language) -> Result<WordToScore> {
    let (tokens, known) = trained.text.given(text, &trained.languages, language)?;
    Ok(WordToScore { text: text.into(), known, tokens })
}
