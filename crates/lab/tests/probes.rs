//! Answers return to the probe that asked, and hidden states can be read and replaced.

use crate::common::{self, tiny};
use invitro_lab::inputs::{InputCache, RunInputs};
use invitro_lab::probes::evaluation::{MemberToEvaluate, evaluate};
use invitro_lab::probes::inside::lens::lens;
use invitro_lab::probes::language_model::LanguageModel;
use invitro_lab::probes::{Answers, PatchQuery, Probe, ProbeSet, Queries, Record};
use invitro_model::inference::HiddenQuery;
use invitro_model::{Device, ModelKind, Population, Prompt, Sampling, ScoreQuery, Shape, TokenSequence};
use invitro_results::Measure;
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
            hidden: vec![HiddenQuery { tokens, positions: vec![1], layers: vec![0], normed: false }],
            patched: vec![patch(self.token, 1), patch(self.token + 1, 0)],
            ..Queries::default()
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
    let others: Vec<_> = inside.iter().filter(|row| !row.quantity.measure.is_inside()).collect();
    assert_eq!(others, outside.iter().collect::<Vec<_>>(), "nothing else changes");
}

#[test]
fn the_inside_is_measured_at_its_cadence_and_its_controls_hold() {
    let settings = ["train.steps=6", "eval.every=2", "eval.inside=true", "eval.inside_every=4"];
    let rows = run_rows(&tiny(&settings));
    let layers = tiny(&[]).model.layers;
    let value = |step: u64, name: &str| common::find(&rows, step, name).value;
    let has = |step: u64, name: &str| rows.iter().any(|row| row.step == step && row.quantity.to_string() == name);
    for step in [0, 4, 6] {
        for layer in 0..=layers {
            let at = |name: &str| format!("{name}@{layer}");
            for name in
                ["inside.B.translation", "inside.B_masked.translation_back", "inside.B.cka", "inside.A.lens_own"]
            {
                assert!(has(step, &at(name)), "{} at {step}", at(name));
            }
            let masses = ["own", "other", "shared"].map(|kind| value(step, &at(&format!("inside.B.lens_{kind}"))));
            assert!(masses.iter().all(|mass| *mass >= 0.0) && masses.iter().sum::<f64>() <= 1.0 + 1e-6, "{masses:?}");
            // What comes first knows nothing of the subject, and what is last is read by nothing but its own prediction.
            let tag = |form: &str, donor: &str| value(step, &at(&format!("patch.B_masked.{form}.{donor}.tag")));
            for form in ["own", "source"] {
                assert_eq!(tag(form, "same"), tag(form, "other"));
                if layer == layers {
                    assert_eq!(tag(form, "same"), 0.0);
                }
            }
        }
        assert!(
            has(step, "rows.B.input.norm.seen") && has(step, "inside.B.gradient") && has(step, "patch.B_masked.own")
        );
        assert!(!has(step, "inside.B.gradient@0") && has(step, &format!("inside.B.gradient@{layers}")));
    }
    assert!(has(2, "loss.B.loss") && !has(2, "inside.B.translation@1") && !has(2, "patch.B_masked.own"));
    // What does not depend on the model stands at both ends.
    let pieces = ["translation_pieces", "translation_chance", "cka_pieces"].map(|name| format!("inside.B.{name}"));
    pieces.iter().for_each(|name| assert_eq!(value(0, name), value(6, name)));
    assert!(rows.iter().filter(|row| row.quantity.measure.is_inside()).all(|row| row.value.is_finite()));
}

#[test]
fn words_and_their_translations_are_told_apart_where_they_share_pieces() {
    let of = |share: &str| {
        let share = format!("tokenizer.share=\"{share}\"");
        run_rows(&tiny(&["train.steps=1", "eval.every=1", "eval.inside=true", "language.distance=0.0", &share]))
    };
    let (all, none) = (of("all"), of("none"));
    let value = |rows: &[invitro_results::Row], name: &str| common::find(rows, 1, name).value;
    // A word has its pieces' states before anything is learned; without common pieces there is nothing but chance.
    assert!(value(&all, "inside.B.translation_pieces") > 0.3);
    assert!(value(&all, "inside.B.translation@1") > 4.0 * value(&all, "inside.B.translation_chance"));
    let chance = value(&none, "inside.B.translation_chance");
    assert!(value(&none, "inside.B.translation_pieces") < 3.0 * chance);
    assert!(value(&none, "inside.B.translation@1") < 3.0 * chance + 0.02);
    assert_eq!(value(&none, "inside.B.lens_shared@0"), 0.0, "no piece is of both");
}

#[test]
fn after_the_last_layer_the_lens_is_the_model() {
    for kind in ModelKind::ALL {
        lens_is_the_model(&Shape { kind, layers: 2, width: 24, heads: 2, hidden: 32, context: 8, ..Shape::paper(40) });
    }
}

fn lens_is_the_model(shape: &Shape) {
    let mut population = Population::new(Device::Cpu, shape, &[3], 64).unwrap();
    let weights = population.weights(0).unwrap();
    let prompt = vec![1, 7, 9];
    let query = HiddenQuery { tokens: prompt.clone(), positions: vec![2], layers: vec![2], normed: false };
    let state = population.hidden(&[vec![query]]).unwrap()[0][0][0][0].clone();
    let query = ScoreQuery { prompt, continuations: (0..40).map(|id| vec![id]).collect(), among: None };
    let scores = population.score(&[vec![query]]).unwrap().remove(0).remove(0);
    for (probability, score) in lens(&weights, &state.residual).iter().zip(&scores) {
        assert!((probability.ln() - f64::from(score[0].logprob)).abs() < 1e-5);
    }
}

#[test]
fn the_contrast_of_false_friends_is_recorded_for_seen_and_unseen_words_and_only_with_friends() {
    let rows = |overrides: &[&str]| {
        let experiment = tiny(overrides);
        let inputs = InputCache::default().get(&experiment).unwrap();
        let shape = Shape::new(&experiment.model, inputs.text.rows());
        let mut population = Population::new(Device::Cpu, &shape, &[5], 1024).unwrap();
        let member = Some(MemberToEvaluate { inputs: &inputs, with_baselines: true });
        evaluate(&mut population, &[member], 0).unwrap().remove(0).unwrap().rows
    };
    let with_friends = rows(&["language.false_friends=0.8"]);
    for condition in ["B", "B_masked"] {
        let network = common::find(&with_friends, 0, &format!("contrast.{condition}.network.friend"));
        assert!(network.value != 0.0 && network.value.is_finite() && network.n > 0, "{network:?}");
        // A unigram model ignores the subject, and the string is the same in both terms.
        assert_eq!(common::find(&with_friends, 0, &format!("contrast.{condition}.unigram.friend")).value, 0.0);
    }
    let is_of_friends = |row: &invitro_results::Row| matches!(row.quantity.measure, Measure::FriendContrast(_));
    assert!(!rows(&[]).iter().any(is_of_friends));
}
