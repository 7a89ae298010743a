//! Answers return to the probe that asked, and hidden states can be read and replaced.

use crate::common::{self, tiny};
use invitro_lab::inputs::{InputCache, RunInputs};
use invitro_lab::probes::evaluation::{MemberToEvaluate, evaluate};
use invitro_lab::probes::{Answers, PatchQuery, Probe, ProbeSet, Queries, Record};
use invitro_model::inference::HiddenQuery;
use invitro_model::{Device, Population, Prompt, Sampling, ScoreQuery, Shape, TokenSequence};
use std::sync::{Arc, Mutex};

/// Asks for one thing of each kind about a token, and keeps the answers.
struct Curious {
    token: u32,
    answers: Mutex<Option<Answers>>,
}

impl Curious {
    fn new(token: u32) -> Arc<Curious> {
        Arc::new(Curious { token, answers: Mutex::default() })
    }

    fn score_query(&self) -> ScoreQuery {
        ScoreQuery { prompt: vec![3, self.token], continuations: vec![vec![11, 12]], among: None }
    }
}

impl Probe for Curious {
    fn queries(&self, _step: u64) -> Queries {
        let tokens = vec![3, self.token];
        let patch = |donor: u32, layer| PatchQuery {
            query: self.score_query(),
            layer,
            position: 1,
            donor: (vec![3, donor], 1),
        };
        Queries {
            prompts: vec![Prompt { tokens: tokens.clone(), sampling: Sampling::Greedy, most: 3, key: 0 }],
            scores: vec![self.score_query()],
            losses: vec![vec![TokenSequence { tokens: vec![3, self.token, 10], group: 0 }]],
            hidden: vec![HiddenQuery { tokens, positions: vec![1], layers: vec![0] }],
            patched: vec![patch(self.token, 1), patch(self.token + 1, 0)],
        }
    }

    fn record(&self, answers: &Answers, _record: &mut Record) {
        *self.answers.lock().unwrap() = Some(answers.clone());
    }
}

#[test]
fn every_probe_gets_the_answers_to_its_own_queries() {
    let experiment = tiny(&["eval.sentences=2", "eval.samples=1"]);
    let inputs = InputCache::default().get(&experiment).unwrap();
    let shape = Shape::new(&experiment.model, inputs.text.rows());
    let mut population = Population::new(Device::Cpu, &shape, &[5], 1024).unwrap();
    let mut evaluate = |curious: &[Arc<Curious>]| {
        let mut set = ProbeSet::new(&experiment, &inputs.languages, &inputs.text).unwrap();
        curious.iter().for_each(|probe| set.push(probe.clone()));
        let inputs = RunInputs { probes: Arc::new(set), ..inputs.clone() };
        let member = Some(MemberToEvaluate { inputs: &inputs, with_baselines: false });
        let rows = evaluate(&mut population, &[member], 0).unwrap().remove(0).unwrap().rows;
        (rows, curious.iter().map(|probe| probe.answers.lock().unwrap().take().unwrap()).collect::<Vec<_>>())
    };
    let both = [20, 30].map(Curious::new);
    let (rows, together) = evaluate(&both);
    let (plain_rows, _) = evaluate(&[]);
    assert_eq!(rows, plain_rows, "other probes see nothing of them");
    for (probe, answers) in both.iter().zip(&together) {
        let (_, alone) = evaluate(std::slice::from_ref(probe));
        let alone = &alone[0];
        assert_eq!((&answers.decoded, &answers.scores), (&alone.decoded, &alone.scores));
        assert_eq!((&answers.hidden, &answers.patched), (&alone.hidden, &alone.patched));
        assert_eq!(answers.losses, alone.losses);
        assert_eq!(answers.patched[0], answers.scores[0], "a state in its own place changes nothing");
        assert_ne!(answers.patched[1], answers.scores[0]);
    }
    assert_ne!(together[0].scores, together[1].scores);
    // The embedding of the other token in its place is the other token, where it is predicted from.
    let mut other = both[0].score_query();
    other.prompt[1] = 21;
    let of_other = population.score(&[vec![other]]).unwrap().remove(0);
    assert_eq!(together[0].patched[1], of_other[0]);
}

/// The rows of a run in a folder that goes away.
fn run_rows(experiment: &invitro_lab::Experiment) -> Vec<invitro_results::Row> {
    let place = tempfile::tempdir().unwrap();
    common::run(experiment, &place.path().join("run"))
}

#[test]
fn the_residual_stream_is_measured_where_it_is_asked_for() {
    let outside = run_rows(&tiny(&["train.steps=4"]));
    assert!(!outside.iter().any(|row| row.quantity.to_string().starts_with("inside")));
    let inside = run_rows(&tiny(&["train.steps=4", "eval.inside=true"]));
    let norm = |condition: &str, layer: usize| {
        common::find(&inside, 4, &format!("inside.{condition}.residual_norm@{layer}")).value
    };
    let layers = tiny(&[]).model.layers;
    for condition in ["A", "B", "B_masked"] {
        assert!((0..layers).all(|layer| norm(condition, layer) > 0.0));
        // Small initial weights add to the embedding, layer by layer.
        assert!(norm(condition, layers) > norm(condition, 0));
    }
    assert!(!inside.iter().any(|row| row.quantity.to_string().contains(&format!("@{}", layers + 1))));
    let others: Vec<_> = inside.iter().filter(|row| !row.quantity.to_string().starts_with("inside")).collect();
    assert_eq!(others, outside.iter().collect::<Vec<_>>(), "nothing else changes");
}
