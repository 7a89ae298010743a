//! A sentence with the log-probability of each of its words.

use crate::sentence::{GivenSentence, GivenWord};
use anyhow::{Result, bail};
use invitro_language::corpus::task;
use invitro_model::{Score, ScoreQuery};
use invitro_tokenizer::special;

/// What is scored, the end included.
pub struct SentenceToScore(GivenSentence);

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
    pub fn new(mut sentence: GivenSentence, context: usize) -> Result<SentenceToScore> {
        if sentence.words.is_empty() {
            bail!("there is no sentence to score");
        }
        sentence.words.push(GivenWord { text: task::EOS.into(), known: true, tokens: vec![special::EOS] });
        let length = sentence.prompt.len() + sentence.words.iter().map(|word| word.tokens.len()).sum::<usize>();
        // The last token is only predicted.
        if length > context + 1 {
            bail!("it has {length} tokens, but the context has {context}");
        }
        Ok(SentenceToScore(sentence))
    }

    /// The words of the sentence, without its end.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.words.iter().map(|word| word.text.as_str()).filter(|text| *text != task::EOS)
    }

    pub fn question(&self) -> ScoreQuery {
        let tokens = self.0.words.iter().flat_map(|word| &word.tokens).copied().collect();
        ScoreQuery { prompt: self.0.prompt.clone(), continuations: vec![tokens], among: None }
    }

    /// With the score of every token.
    pub fn scored(self, scores: &[Score]) -> Scored {
        let mut remaining = scores;
        let words = self.0.words.into_iter().map(|word| {
            let (own, later) = remaining.split_at(word.tokens.len().min(remaining.len()));
            remaining = later;
            let logprob = own.iter().map(|score| f64::from(score.logprob)).sum();
            ScoredWord { text: word.text, known: word.known, logprob }
        });
        Scored { words: words.collect() }
    }
}
