//! Whoever is asked: a population of ours, or a model of somebody else's.

use super::by_logits::{self, Logits};
use crate::error::Result;
use invitro_model::decode::{Decoded, Prompt};
use invitro_model::ops::Loss;
use invitro_model::score::{Answer, Question};
use invitro_model::{Population, Sequence};
use invitro_results::Measure;
use invitro_tokenizer::special::EOS;

/// One or more models; what they are asked comes with an entry for each.
pub trait Respondent {
    /// Tokens that a sequence may have.
    fn context(&self) -> usize;
    /// What follows every prompt.
    fn decode(&mut self, prompts: &[Vec<Prompt>]) -> Result<Vec<Vec<Decoded>>>;
    /// What is thought of every token of every continuation.
    fn score(&mut self, questions: &[Vec<Question>]) -> Result<Vec<Vec<Answer>>>;
    /// The loss of a batch of sequences.
    fn losses(&mut self, sequences: &[Vec<Sequence>]) -> Result<Vec<Loss>>;
    /// Whether its answers say anything of a measure. Others are left out.
    fn measures(&self, _measure: Measure) -> bool {
        true
    }
}

impl Respondent for Population {
    fn context(&self) -> usize {
        self.shape().context
    }

    fn decode(&mut self, prompts: &[Vec<Prompt>]) -> Result<Vec<Vec<Decoded>>> {
        Ok(Population::decode(self, prompts, EOS)?)
    }

    fn score(&mut self, questions: &[Vec<Question>]) -> Result<Vec<Vec<Answer>>> {
        Ok(Population::score(self, questions)?)
    }

    fn losses(&mut self, sequences: &[Vec<Sequence>]) -> Result<Vec<Loss>> {
        Ok(self.evaluate(sequences)?)
    }
}

/// A model that gives logits, whatever it is made of.
pub struct ByLogits<L> {
    pub logits: L,
    pub context: usize,
    /// What random numbers are keyed by, as a model seed is.
    pub seed: u64,
}

impl<L: Logits> Respondent for ByLogits<L> {
    fn context(&self) -> usize {
        self.context
    }

    fn decode(&mut self, prompts: &[Vec<Prompt>]) -> Result<Vec<Vec<Decoded>>> {
        prompts.iter().map(|own| by_logits::decode(&mut self.logits, own, self.context, self.seed)).collect()
    }

    fn score(&mut self, questions: &[Vec<Question>]) -> Result<Vec<Vec<Answer>>> {
        questions.iter().map(|own| by_logits::score(&mut self.logits, own)).collect()
    }

    fn losses(&mut self, sequences: &[Vec<Sequence>]) -> Result<Vec<Loss>> {
        sequences.iter().map(|own| losses_by_scores(own, |asked| by_logits::score(&mut self.logits, asked))).collect()
    }
}

/// The loss of sequences from the log-probabilities of their tokens, by their groups. The first token is given.
pub fn losses_by_scores(
    sequences: &[Sequence],
    score: impl FnOnce(&[Question]) -> Result<Vec<Answer>>,
) -> Result<Loss> {
    let question = |sequence: &Sequence| Question {
        prompt: sequence.tokens[..1].to_vec(),
        continuations: vec![sequence.tokens[1..].to_vec()],
        among: None,
    };
    let answers = score(&sequences.iter().map(question).collect::<Vec<_>>())?;
    let groups = sequences.iter().map(|sequence| usize::from(sequence.group) + 1).max().unwrap_or(0);
    let mut loss = Loss { sum: vec![0.0; groups], count: vec![0; groups], grad_norm: 0.0 };
    for (sequence, answer) in sequences.iter().zip(answers) {
        let (group, scores) = (usize::from(sequence.group), &answer[0]);
        loss.sum[group] -= scores.iter().map(|score| f64::from(score.logprob)).sum::<f64>();
        loss.count[group] += scores.len() as u64;
    }
    Ok(loss)
}
