//! An evaluation: the queries of all probes of all members go to the model together, and each probe records the answers
//! to its own.

use super::language_model::LanguageModel;
use super::{Answers, PatchQuery, Queries, Record};
use crate::error::Result;
use crate::inputs::RunInputs;
use invitro_model::inference::{HiddenQuery, LayerStates, Patch, PatchedQuery};
use invitro_model::{ContinuationScores, TokenSequence};
use invitro_results::Row;
use invitro_results::words::{Contrasts, Sample};
use rayon::prelude::*;
use std::sync::Arc;

/// What a record holds once all probes are done.
pub struct Evaluation {
    pub rows: Vec<Row>,
    pub samples: Vec<Sample>,
    pub contrasts: Contrasts,
}

/// One member of a population to evaluate.
pub struct MemberToEvaluate<'a> {
    pub inputs: &'a RunInputs,
    /// Whether to write the rows of n-gram models.
    pub with_baselines: bool,
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
    let losses = batch_by_batch(together(&queries, |queries| &queries.losses), |next| model.losses(next))?;
    distribute(losses, &queries, &mut answers, |queries| queries.losses.len(), |answers| &mut answers.losses);
    if queries.iter().flatten().any(|queries| !queries.hidden.is_empty()) {
        let hidden = model.hidden(&together(&queries, |queries| &queries.hidden))?;
        distribute(hidden, &queries, &mut answers, |queries| queries.hidden.len(), |answers| &mut answers.hidden);
    }
    if queries.iter().flatten().any(|queries| !queries.patched.is_empty()) {
        let patched = patched(model, &together(&queries, |queries| &queries.patched))?;
        distribute(patched, &queries, &mut answers, |queries| queries.patched.len(), |answers| &mut answers.patched);
    }
    if queries.iter().flatten().any(|queries| !queries.gradients.is_empty()) {
        let batches = together(&queries, |queries| &queries.gradients);
        let gradients = batch_by_batch(batches, |next| model.gradients(next))?;
        distribute(
            gradients,
            &queries,
            &mut answers,
            |queries| queries.gradients.len(),
            |answers| &mut answers.gradients,
        );
    }
    for (member, (queries, answers)) in queries.iter().zip(&mut answers).enumerate() {
        let asked: Vec<usize> = (0..queries.len()).filter(|&probe| queries[probe].weights).collect();
        if !asked.is_empty() {
            let weights = Arc::new(model.weights(member)?);
            asked.into_iter().for_each(|probe| answers[probe].weights = Some(weights.clone()));
        }
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

/// What the model gives for every member's batches, one batch of each at a time. Members with fewer batches read a sequence
/// that is not counted.
fn batch_by_batch<T>(
    batches: Vec<Vec<Vec<TokenSequence>>>,
    mut ask: impl FnMut(&[Vec<TokenSequence>]) -> Result<Vec<T>>,
) -> Result<Vec<Vec<T>>> {
    let mut answers: Vec<Vec<T>> = batches.iter().map(|own| Vec::with_capacity(own.len())).collect();
    let most = batches.iter().map(Vec::len).max().unwrap_or(0);
    let idle = || vec![TokenSequence { tokens: vec![0, 0], group: 0 }];
    for turn in 0..most {
        // From the last batch to the first, so that members end together.
        let place = |own: &Vec<Vec<TokenSequence>>| own.len().checked_sub(turn + 1);
        let next = batches.iter().map(|own| place(own).map_or_else(idle, |place| own[place].clone()));
        let given = ask(&next.collect::<Vec<_>>())?;
        for ((answer, own), answers) in given.into_iter().zip(&batches).zip(&mut answers) {
            answers.extend(place(own).map(|_| answer));
        }
    }
    answers.iter_mut().for_each(|own| own.reverse());
    Ok(answers)
}

/// Reads the donors' states, then scores with them in their places.
fn patched(model: &mut impl LanguageModel, queries: &[Vec<PatchQuery>]) -> Result<Vec<Vec<ContinuationScores>>> {
    let donor = |patch: &PatchQuery| HiddenQuery {
        tokens: patch.donor.0.clone(),
        positions: vec![patch.donor.1],
        layers: vec![patch.layer],
        normed: true,
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
