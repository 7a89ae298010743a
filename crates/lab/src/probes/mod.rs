//! Probes: what a model is asked at an evaluation, and what is measured from its answers.
//!
//! A [`Probe`] states its [`Queries`]: prompts to decode, continuations to score and rank, sequences for a loss, hidden
//! states, and scores with some hidden states replaced. The evaluation sends the queries of all probes to a
//! [`LanguageModel`] together, and hands each probe the [`Answers`] to its own.
//!
//! To add a probe, write a file here with a `probe` function and add a line to `PROBES`. `residual_norm.rs` is a small
//! example. What a probe asks is fixed for a data seed and a tokenizer, and shared by all members that have both.

pub mod by_logits;
pub mod contrast;
pub mod forms;
pub mod generation;
pub mod held_out;
pub mod language_model;
pub mod ngrams;
pub mod reachability;
mod residual_norm;
mod symbol_kinds;

use crate::error::Result;
use crate::experiment::Experiment;
use crate::inputs::RunInputs;
use crate::tokenized::TokenizedText;
use contrast::ContrastProbe;
use invitro_language::{Language, Languages, Symbol};
use invitro_model::inference::{HiddenQuery, LayerStates, Patch, PatchedQuery};
use invitro_model::{ContinuationScores, Decoded, Loss, Prompt, ScoreQuery, Sequence};
use invitro_results::words::{Contrasts, Sample};
use invitro_results::{Row, Rows, Scorer};
use language_model::LanguageModel;
use rayon::prelude::*;
use reachability::ReachabilityProbe;
use std::collections::HashSet;
use std::sync::Arc;

/// Every probe, in the order in which their rows are written.
const PROBES: [fn(&Setup) -> Result<Option<Arc<dyn Probe>>>; 7] = [
    generation::probe,
    reachability::probe,
    contrast::probe,
    forms::probe,
    ngrams::probe,
    held_out::probe,
    residual_norm::probe,
];

/// Something that is measured by asking a model.
pub trait Probe: Send + Sync {
    /// What it asks at a step.
    fn queries(&self, step: u64) -> Queries;
    /// Turns the answers to its queries into rows.
    fn record(&self, answers: &Answers, record: &mut Record);
    /// What the settings ask for and this world does not have, a sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a probe asks of one model. Order matters: answers come back in the same.
#[derive(Clone, Debug, Default)]
pub struct Queries {
    /// Prompts to decode.
    pub prompts: Vec<Prompt>,
    /// Continuations to score and rank.
    pub scores: Vec<ScoreQuery>,
    /// Batches of sequences whose loss is wanted, each of at most [`batch_rows`] rows.
    pub losses: Vec<Vec<Sequence>>,
    /// Hidden states at layers and positions.
    pub hidden: Vec<HiddenQuery>,
    /// Continuations to score while hidden states are replaced.
    pub patched: Vec<PatchQuery>,
}

/// A score query whose prompt is read with the hidden state at one layer and position taken from another sequence.
#[derive(Clone, Debug)]
pub struct PatchQuery {
    pub query: ScoreQuery,
    pub layer: usize,
    /// Position in the prompt.
    pub position: usize,
    /// The sequence that gives the state, and the position it is read at.
    pub donor: (Vec<u32>, usize),
}

/// The answers to a probe's queries, kind by kind in the order of the queries.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    pub decoded: Vec<Decoded>,
    pub scores: Vec<ContinuationScores>,
    pub losses: Vec<Loss>,
    pub hidden: Vec<LayerStates>,
    pub patched: Vec<ContinuationScores>,
}

/// What one evaluation of one model measured.
pub struct Record<'a> {
    pub step: u64,
    /// Whose answers these are: the network's or an n-gram model's.
    pub scorer: Scorer,
    /// Whether to write the rows of n-gram models, which are the same at every step.
    pub with_baselines: bool,
    pub languages: &'a Languages,
    pub text: &'a TokenizedText,
    pub rows: Rows,
    pub samples: Vec<Sample>,
    pub contrasts: Contrasts,
}

/// What a record holds once all probes are done.
pub struct Evaluation {
    pub rows: Vec<Row>,
    pub samples: Vec<Sample>,
    pub contrasts: Contrasts,
}

/// What probes are made from.
pub struct Setup<'a> {
    pub experiment: &'a Experiment,
    pub languages: &'a Languages,
    pub text: &'a TokenizedText,
    /// The words of the contrast, which other probes use as well.
    pub contrast: Arc<ContrastProbe>,
    pub reachability: Arc<ReachabilityProbe>,
    /// The probes made so far.
    pub probes: Vec<Arc<dyn Probe>>,
}

/// The probes of one data seed and tokenizer.
pub struct ProbeSet {
    probes: Vec<Arc<dyn Probe>>,
    contrast: Arc<ContrastProbe>,
    reachability: Arc<ReachabilityProbe>,
}

impl ProbeSet {
    pub fn new(experiment: &Experiment, languages: &Languages, text: &TokenizedText) -> Result<ProbeSet> {
        let contrast = Arc::new(ContrastProbe::new(languages, text, &experiment.eval, text.vocab()));
        let reachability = Arc::new(ReachabilityProbe::new(languages, text, &experiment.eval, text.vocab()));
        let mut setup = Setup { experiment, languages, text, contrast, reachability, probes: Vec::new() };
        for probe in PROBES {
            let made = probe(&setup)?;
            setup.probes.extend(made);
        }
        Ok(ProbeSet { probes: setup.probes, contrast: setup.contrast, reachability: setup.reachability })
    }

    /// Adds a probe of the caller's own after these.
    pub fn push(&mut self, probe: Arc<dyn Probe>) {
        self.probes.push(probe);
    }

    /// What the settings ask for and this world does not have, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        self.probes.iter().flat_map(|probe| probe.notes()).collect()
    }

    /// The masked words of the contrast, in the order of their values in [`Contrasts`], each with the language it is masked
    /// in.
    pub fn contrast_words(&self) -> impl Iterator<Item = (Language, Symbol)> {
        self.contrast.masked()
    }

    /// The masked words that reachability may find, each with the language it is masked in.
    pub fn reachable_words(&self) -> HashSet<(Symbol, Language)> {
        self.reachability.masked_targets()
    }
}

/// One member of a population to evaluate.
pub struct MemberToEvaluate<'a> {
    pub inputs: &'a RunInputs,
    /// Whether to write the rows of n-gram models.
    pub with_baselines: bool,
}

/// Rows of a batch of held-out sequences, which a population must have room for. The same for every population, however
/// its members are made up: sums are taken batch by batch, and a member's must not depend on who is evaluated beside it.
pub fn batch_rows(context: usize) -> usize {
    4 * context
}

/// The answers of every member to every probe.
pub struct AllAnswers(Vec<Vec<Answers>>);

/// Evaluates the members whose slot is `Some`.
pub fn evaluate(
    model: &mut impl LanguageModel,
    members: &[Option<MemberToEvaluate>],
    step: u64,
) -> Result<Vec<Option<Evaluation>>> {
    let answers = query(model, members, step)?;
    Ok(measure(model, members, step, &answers))
}

/// The part of an evaluation that the device does. Each kind of query goes to the model once, for all members and probes:
/// what a step of decoding costs hardly depends on how many rows it has.
pub fn query(model: &mut impl LanguageModel, members: &[Option<MemberToEvaluate>], step: u64) -> Result<AllAnswers> {
    let of_member = |member: &Option<MemberToEvaluate>| -> Vec<Queries> {
        let probes = member.iter().flat_map(|member| &member.inputs.probes.probes);
        probes.map(|probe| probe.queries(step)).collect()
    };
    let queries: Vec<Vec<Queries>> = members.par_iter().map(of_member).collect();
    let mut answers: Vec<Vec<Answers>> =
        queries.iter().map(|probes| probes.iter().map(|_| Answers::default()).collect()).collect();

    let decoded = model.decode(&together(&queries, |queries| &queries.prompts))?;
    distribute(decoded, &queries, &mut answers, |queries| queries.prompts.len(), |answers| &mut answers.decoded);
    let scores = model.score(&together(&queries, |queries| &queries.scores))?;
    distribute(scores, &queries, &mut answers, |queries| queries.scores.len(), |answers| &mut answers.scores);
    let losses = losses(model, together(&queries, |queries| &queries.losses))?;
    distribute(losses, &queries, &mut answers, |queries| queries.losses.len(), |answers| &mut answers.losses);
    if queries.iter().flatten().any(|queries| !queries.hidden.is_empty()) {
        let hidden = model.hidden(&together(&queries, |queries| &queries.hidden))?;
        distribute(hidden, &queries, &mut answers, |queries| queries.hidden.len(), |answers| &mut answers.hidden);
    }
    if queries.iter().flatten().any(|queries| !queries.patched.is_empty()) {
        let patched = patched(model, &together(&queries, |queries| &queries.patched))?;
        distribute(patched, &queries, &mut answers, |queries| queries.patched.len(), |answers| &mut answers.patched);
    }
    Ok(AllAnswers(answers))
}

/// Every member's queries of one kind, those of all its probes one after the other.
fn together<T: Clone + Sync + Send>(
    queries: &[Vec<Queries>],
    kind: impl Fn(&Queries) -> &Vec<T> + Sync,
) -> Vec<Vec<T>> {
    queries.par_iter().map(|probes| probes.iter().flat_map(|queries| kind(queries).iter().cloned()).collect()).collect()
}

/// Gives every probe the answers to its own queries.
fn distribute<T>(
    all: Vec<Vec<T>>,
    queries: &[Vec<Queries>],
    answers: &mut [Vec<Answers>],
    count: impl Fn(&Queries) -> usize,
    kind: impl Fn(&mut Answers) -> &mut Vec<T>,
) {
    for ((own, queries), answers) in all.into_iter().zip(queries).zip(answers) {
        let mut own = own.into_iter();
        for (queries, answers) in queries.iter().zip(answers) {
            *kind(answers) = own.by_ref().take(count(queries)).collect();
        }
    }
}

/// The losses of every member's batches. Members with fewer batches read a sequence that is not counted.
fn losses(model: &mut impl LanguageModel, batches: Vec<Vec<Vec<Sequence>>>) -> Result<Vec<Vec<Loss>>> {
    let mut losses: Vec<Vec<Loss>> = batches.iter().map(|own| Vec::with_capacity(own.len())).collect();
    let most = batches.iter().map(Vec::len).max().unwrap_or(0);
    let idle = || vec![Sequence { tokens: vec![0, 0], group: 0 }];
    for turn in 0..most {
        // From the last batch to the first, so that members end together.
        let place = |own: &Vec<Vec<Sequence>>| own.len().checked_sub(turn + 1);
        let next = batches.iter().map(|own| place(own).map_or_else(idle, |place| own[place].clone()));
        for ((loss, own), losses) in model.losses(&next.collect::<Vec<_>>())?.into_iter().zip(&batches).zip(&mut losses)
        {
            losses.extend(place(own).map(|_| loss));
        }
    }
    losses.iter_mut().for_each(|own| own.reverse());
    Ok(losses)
}

/// Reads the donors' states, then scores with them in their places.
fn patched(model: &mut impl LanguageModel, queries: &[Vec<PatchQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
    let donor = |patch: &PatchQuery| HiddenQuery {
        tokens: patch.donor.0.clone(),
        positions: vec![patch.donor.1],
        layers: vec![patch.layer],
    };
    let donors: Vec<Vec<HiddenQuery>> = queries.iter().map(|own| own.iter().map(donor).collect()).collect();
    let states = model.hidden(&donors)?;
    let with_state = |(patch, mut states): (&PatchQuery, LayerStates)| {
        let state = states.remove(0).remove(0);
        let patches = vec![Patch { layer: patch.layer, position: patch.position, state }];
        PatchedQuery { query: patch.query.clone(), patches }
    };
    let with_states = queries.iter().zip(states).map(|(own, states)| own.iter().zip(states).map(with_state).collect());
    model.score_patched(&with_states.collect::<Vec<_>>())
}

/// The part of an evaluation that the host does.
pub fn measure(
    model: &impl LanguageModel,
    members: &[Option<MemberToEvaluate>],
    step: u64,
    answers: &AllAnswers,
) -> Vec<Option<Evaluation>> {
    let evaluation = |(member, answers): (&Option<MemberToEvaluate>, &Vec<Answers>)| {
        let MemberToEvaluate { inputs, with_baselines } = member.as_ref()?;
        let mut record = Record::new(step, &inputs.languages, &inputs.text, *with_baselines);
        for (probe, answers) in inputs.probes.probes.iter().zip(answers) {
            probe.record(answers, &mut record);
        }
        Some(Evaluation { rows: record.rows.list, samples: record.samples, contrasts: record.contrasts })
    };
    let mut evaluations: Vec<_> = members.par_iter().zip(&answers.0).map(evaluation).collect();
    for evaluation in evaluations.iter_mut().flatten() {
        evaluation.rows.retain(|row| model.measures(row.quantity.measure));
    }
    evaluations
}

impl<'a> Record<'a> {
    pub fn new(step: u64, languages: &'a Languages, text: &'a TokenizedText, with_baselines: bool) -> Record<'a> {
        Record {
            step,
            scorer: Scorer::Network,
            with_baselines,
            languages,
            text,
            rows: Rows::new(step),
            samples: Vec::new(),
            contrasts: Contrasts { step, ..Contrasts::default() },
        }
    }
}
