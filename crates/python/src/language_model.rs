//! Any Python model behind the probes.

use crate::errors::py_error;
use crate::experiment::PyExperiment;
use invitro_lab::probes::by_logits::{Logits, Pick};
use invitro_lab::probes::evaluation::{self, MemberToEvaluate};
use invitro_lab::probes::language_model::{ByLogits, LanguageModel, losses_by_scores};
use invitro_lab::{Error, Result};
use invitro_model::{ContinuationScores, Decoded, Loss, Prompt, Sampling, Score, ScoreQuery, TokenSequence};
use invitro_results::{Loss as LossMetric, Measure, Scorer, Statistic, Task, metrics};
use invitro_tokenizer::special::EOS;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::sync::{Arc, Mutex};

/// What Python raised, kept until it can be raised again.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Calls Python, and looks for Ctrl-C.
fn call<T>(raised: &Raised, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
    let called = Python::attach(|py| work(py).and_then(|value| py.check_signals().map(|()| value)));
    called.map_err(|error| {
        let why = error.to_string();
        *raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
        Error::Foreign(why)
    })
}

/// The rows of an evaluation, as JSON: of all probes, or of those named in `only`. A model that gives `logits` is measured
/// completely, and quicker with a cache (`prefill`, `extend`); with `score`, `rank` and `generate`, as far as these allow
/// (sampled tasks where `generate` takes a temperature).
#[pyfunction]
#[pyo3(signature = (experiment, step, only, logits, prefill, extend, score, rank, generate, samples))]
#[allow(clippy::too_many_arguments)]
pub fn evaluate(
    py: Python<'_>,
    experiment: &Bound<'_, PyExperiment>,
    step: u64,
    only: Option<Vec<String>>,
    logits: Option<Py<PyAny>>,
    prefill: Option<Py<PyAny>>,
    extend: Option<Py<PyAny>>,
    score: Option<Py<PyAny>>,
    rank: Option<Py<PyAny>>,
    generate: Option<Py<PyAny>>,
    samples: bool,
) -> PyResult<String> {
    let PyExperiment { experiment, cache } = experiment.get();
    let raised = Raised::default();
    let evaluated = crate::errors::detached(py, || {
        let mut inputs = cache.get(experiment)?;
        if let Some(only) = only {
            inputs.probes = Arc::new(inputs.probes.only(&only)?);
        }
        let (context, seed) = (experiment.model.context, experiment.seeds.model.first());
        let members = [Some(MemberToEvaluate { inputs: &inputs, with_baselines: true })];
        let mut evaluations = match logits {
            Some(ask) => {
                let logits = PyLogits { ask, prefill, extend, vocab: inputs.text.rows(), raised: raised.clone() };
                evaluation::evaluate(&mut ByLogits { logits, context, seed }, &members, step)?
            }
            None => {
                let has_own_ids = inputs.text.rows() > inputs.text.vocab();
                let rank = rank.filter(|_| !has_own_ids);
                let mut model = PyModel { score, rank, generate, samples, context, raised: raised.clone() };
                evaluation::evaluate(&mut model, &members, step)?
            }
        };
        let rows = evaluations.pop().flatten().map(|evaluation| evaluation.rows).unwrap_or_default();
        let lines = metrics::to_lines(&experiment.id(), &rows);
        serde_json::to_string(&lines).map_err(|why| Error::Foreign(why.to_string()))
    });
    match raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take() {
        Some(error) => Err(error),
        None => evaluated,
    }
}

struct PyLogits {
    ask: Py<PyAny>,
    prefill: Option<Py<PyAny>>,
    extend: Option<Py<PyAny>>,
    vocab: usize,
    raised: Raised,
}

fn bytes<'py>(py: Python<'py>, numbers: impl Iterator<Item = u32>) -> Bound<'py, PyByteArray> {
    PyByteArray::new(py, &numbers.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
}

impl Logits for PyLogits {
    fn vocab(&self) -> usize {
        self.vocab
    }

    fn logits(&mut self, ids: &[u32], length: usize, picks: &[Pick]) -> Result<Vec<f32>> {
        call(&self.raised, |py| {
            let sequences = bytes(py, picks.iter().map(|pick| pick.sequence));
            let positions = bytes(py, picks.iter().map(|pick| pick.position));
            let answer = self.ask.call1(py, (bytes(py, ids.iter().copied()), length, sequences, positions))?;
            self.read(answer.bind(py), picks.len())
        })
    }

    fn prefill(&mut self, prompts: Vec<&[u32]>) -> Result<Option<Vec<f32>>> {
        let Some(prefill) = &self.prefill else { return Ok(None) };
        call(&self.raised, |py| {
            let rows = prompts.len();
            let answer = prefill.call1(py, (prompts,))?;
            if answer.is_none(py) { Ok(None) } else { self.read(answer.bind(py), rows).map(Some) }
        })
    }

    fn extend(&mut self, rows: Vec<usize>, tokens: Vec<u32>) -> Result<Vec<f32>> {
        let Some(extend) = &self.extend else { return Ok(Vec::new()) };
        call(&self.raised, |py| {
            let count = rows.len();
            self.read(extend.call1(py, (rows, tokens))?.bind(py), count)
        })
    }
}

impl PyLogits {
    /// Logits for so many places.
    fn read(&self, answer: &Bound<'_, PyAny>, places: usize) -> PyResult<Vec<f32>> {
        let answer = answer.cast::<PyBytes>()?;
        let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap_or_default());
        let logits: Vec<f32> = answer.as_bytes().chunks_exact(4).map(number).collect();
        if logits.len() != places * self.vocab {
            let (got, vocab) = (logits.len(), self.vocab);
            return Err(py_error(format!("{got} logits for {places} places: there must be {vocab} for each")));
        }
        if logits.iter().any(|&logit| logit.is_nan() || logit == f32::INFINITY) {
            return Err(py_error("the model gives logits that are not numbers, or infinite"));
        }
        Ok(logits)
    }
}

/// A model that scores, ranks and generates by itself.
struct PyModel {
    score: Option<Py<PyAny>>,
    rank: Option<Py<PyAny>>,
    generate: Option<Py<PyAny>>,
    /// Whether it generates at a temperature, too.
    samples: bool,
    context: usize,
    raised: Raised,
}

impl PyModel {
    /// A list for every continuation, with a value for each of its tokens.
    fn values<T: for<'a, 'py> FromPyObject<'a, 'py>>(
        &self,
        ask: &Py<PyAny>,
        queries: &[ScoreQuery],
    ) -> Result<Vec<Vec<T>>> {
        let all = || queries.iter().flat_map(|q| q.continuations.iter().map(|one| (q.prompt.clone(), one.clone())));
        let (prompts, continuations): (Vec<Vec<u32>>, Vec<Vec<u32>>) = all().unzip();
        let lengths: Vec<usize> = continuations.iter().map(Vec::len).collect();
        call(&self.raised, |py| {
            let answer = ask.call1(py, (prompts, continuations))?;
            let lists: Vec<Vec<T>> = answer.bind(py).extract()?;
            if lists.iter().map(Vec::len).ne(lengths.iter().copied()) {
                return Err(py_error(
                    "`score` and `rank` must give a list for each continuation, with a number for each of its tokens",
                ));
            }
            Ok(lists)
        })
    }

    fn score_with_ranks(&self, queries: &[ScoreQuery], with_ranks: bool) -> Result<Vec<ContinuationScores>> {
        let count = |query: &ScoreQuery| query.continuations.len();
        let tokens = || queries.iter().flat_map(|query| query.continuations.iter().map(Vec::len));
        let logprobs: Vec<Vec<f64>> = match &self.score {
            Some(score) => self.values(score, queries)?,
            None => tokens().map(|length| vec![0.0; length]).collect(),
        };
        let ranks: Vec<Vec<u32>> = match &self.rank {
            Some(rank) if with_ranks => self.values(rank, queries)?,
            _ => tokens().map(|length| vec![0; length]).collect(),
        };
        let pair = |(logprob, rank): (f64, u32)| Score { logprob: logprob as f32, rank };
        let mut scores = logprobs
            .into_iter()
            .zip(ranks)
            .map(|(logprobs, ranks)| logprobs.into_iter().zip(ranks).map(pair).collect());
        Ok(queries.iter().map(|query| scores.by_ref().take(count(query)).collect()).collect())
    }

    fn generate(&self, prompts: &[Prompt]) -> Result<Vec<Decoded>> {
        let mut decoded = vec![Decoded { tokens: Vec::new(), ended: false }; prompts.len()];
        let Some(generate) = &self.generate else { return Ok(decoded) };
        let limit = |prompt: &Prompt| prompt.most.min((self.context + 1).saturating_sub(prompt.tokens.len()));
        let mut temperatures: Vec<f64> = prompts.iter().map(temperature).collect();
        temperatures.sort_by(f64::total_cmp);
        temperatures.dedup();
        for warm in temperatures.into_iter().filter(|&warm| warm == 0.0 || self.samples) {
            let own: Vec<usize> = (0..prompts.len()).filter(|&at| temperature(&prompts[at]) == warm).collect();
            let tokens: Vec<Vec<u32>> = own.iter().map(|&at| prompts[at].tokens.clone()).collect();
            let limits: Vec<usize> = own.iter().map(|&at| limit(&prompts[at])).collect();
            let outputs: Vec<Vec<u32>> = call(&self.raised, |py| {
                let outputs: Vec<Vec<u32>> = generate.call1(py, (tokens, limits.clone(), warm))?.bind(py).extract()?;
                if outputs.len() != limits.len() {
                    return Err(py_error(format!("{} answers to {} prompts", outputs.len(), limits.len())));
                }
                Ok(outputs)
            })?;
            for ((at, mut output), limit) in own.into_iter().zip(outputs).zip(limits) {
                output.truncate(limit);
                let end = output.iter().position(|&token| token == EOS);
                output.truncate(end.unwrap_or(limit));
                decoded[at] = Decoded { tokens: output, ended: end.is_some() };
            }
        }
        Ok(decoded)
    }
}

fn temperature(prompt: &Prompt) -> f64 {
    match prompt.sampling {
        Sampling::Greedy => 0.0,
        Sampling::Random { temperature, .. } => temperature,
    }
}

impl LanguageModel for PyModel {
    fn context(&self) -> usize {
        self.context
    }

    fn decode(&mut self, prompts: &[Vec<Prompt>]) -> Result<Vec<Vec<Decoded>>> {
        prompts.iter().map(|own| self.generate(own)).collect()
    }

    fn score(&mut self, queries: &[Vec<ScoreQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
        queries.iter().map(|own| self.score_with_ranks(own, true)).collect()
    }

    fn losses(&mut self, sequences: &[Vec<TokenSequence>]) -> Result<Vec<Loss>> {
        sequences.iter().map(|own| losses_by_scores(own, |queries| self.score_with_ranks(queries, false))).collect()
    }

    fn measures(&self, measure: Measure) -> bool {
        match measure {
            Measure::Task(Task::T1 | Task::T3, _) => self.generate.is_some(),
            Measure::Task(Task::T0 | Task::T2, _) => self.generate.is_some() && self.samples,
            Measure::Reach(reach) if reach.scorer == Scorer::Network => match reach.statistic {
                Statistic::LogProb => self.score.is_some(),
                Statistic::Any | Statistic::Share => self.rank.is_some(),
            },
            Measure::Contrast(Scorer::Network, _) | Measure::FriendContrast(Scorer::Network) => self.score.is_some(),
            Measure::Loss(LossMetric::Floor) => true,
            Measure::Loss(_) => self.score.is_some(),
            _ => true,
        }
    }
}
