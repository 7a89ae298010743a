//! Hidden states and patches, against plain recomputation and to the bit where nothing may change.

use crate::common::{clear_population, every_kind, log_probability, naive_forward, naive_norm, sequences, small};
use invitro_model::inference::{HiddenQuery, HiddenState, Patch, PatchedQuery};
use invitro_model::{Population, ScoreQuery, Vector};

fn population(seeds: &[u64]) -> Population {
    clear_population(&small(), seeds)
}

fn weights(population: &mut Population, member: usize) -> Vec<f64> {
    population.read(member, Vector::Weights).unwrap().iter().map(|&w| w as f64).collect()
}

fn tokens(length: usize, seed: u64) -> Vec<u32> {
    sequences(&small(), &[length - 1], seed).remove(0).tokens
}

fn all_layers() -> Vec<usize> {
    (0..=small().layers).collect()
}

fn close(ours: &[f32], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!((f64::from(*ours) - theirs).abs() < 1e-4 * theirs.abs().max(1.0), "{ours} against {theirs}");
    }
}

#[test]
fn states_are_the_residual_stream_of_every_layer() {
    for shape in every_kind() {
        states_are_the_residual_stream(&mut clear_population(&shape, &[3, 4]));
    }
}

fn states_are_the_residual_stream(population: &mut Population) {
    let sequences = [tokens(9, 1), tokens(5, 2)];
    let queries: Vec<_> = sequences
        .iter()
        .map(|tokens| {
            vec![HiddenQuery { tokens: tokens.clone(), positions: vec![0, 4, 2], layers: all_layers(), normed: true }]
        })
        .collect();
    let states = population.hidden(&queries).unwrap();
    for (member, tokens) in sequences.iter().enumerate() {
        let weights = weights(population, member);
        let shape = population.shape();
        naive_forward(shape, &weights, tokens, tokens.len(), |layer, x, norm| {
            for (place, position) in [0, 4, 2].into_iter().enumerate() {
                let HiddenState { residual, normed } = &states[member][0][layer][place];
                close(residual, &x[position]);
                close(normed, &naive_norm(shape, &weights, &x[position], norm));
            }
        });
    }
}

#[test]
fn states_do_not_depend_on_what_is_asked_beside_them() {
    let mut population = population(&[3, 4]);
    let one = HiddenQuery { tokens: tokens(12, 5), positions: vec![11], layers: vec![2, 0], normed: true };
    // More rows than a pass takes, of one member alone.
    let many: Vec<_> = (0..300)
        .map(|i| HiddenQuery { tokens: tokens(7, i), positions: vec![3], layers: vec![1], normed: true })
        .collect();
    let alone = population.hidden(&[vec![one.clone()], Vec::new()]).unwrap();
    let beside = population.hidden(&[[vec![one], many.clone()].concat(), many[..3].to_vec()]).unwrap();
    assert_eq!(alone[0][0], beside[0][0]);
    assert_eq!((beside[0].len(), beside[1].len()), (301, 3));
    assert!(alone[1].is_empty());
}

fn query(prompt: &[u32]) -> ScoreQuery {
    ScoreQuery { prompt: prompt.to_vec(), continuations: vec![vec![1, 2, 3], vec![9]], among: None }
}

/// The states of a sequence at all layers of a position.
fn states_at(population: &mut Population, tokens: &[u32], position: usize) -> Vec<HiddenState> {
    let query = HiddenQuery { tokens: tokens.to_vec(), positions: vec![position], layers: all_layers(), normed: true };
    let states = population.hidden(&[vec![query]]).unwrap().remove(0).remove(0);
    states.into_iter().map(|mut of_layer| of_layer.remove(0)).collect()
}

#[test]
fn a_state_patched_with_itself_changes_no_bit() {
    for shape in every_kind() {
        let mut population = clear_population(&shape, &[3]);
        let prompt = tokens(8, 11);
        let unpatched = population.score(&[vec![query(&prompt)]]).unwrap();
        for position in 0..prompt.len() {
            for (layer, state) in states_at(&mut population, &prompt, position).into_iter().enumerate() {
                let patched = PatchedQuery { query: query(&prompt), patches: vec![Patch { layer, position, state }] };
                assert_eq!(
                    population.score_patched(&[vec![patched]]).unwrap(),
                    unpatched,
                    "layer {layer}, position {position}"
                );
            }
        }
    }
}

#[test]
fn the_last_layer_of_the_last_position_gives_the_donors_logits() {
    for shape in every_kind() {
        let mut population = clear_population(&shape, &[3]);
        let (receiver, donor) = (tokens(8, 11), tokens(6, 12));
        let state = states_at(&mut population, &donor, 5).pop().unwrap();
        let patches = vec![Patch { layer: small().layers, position: 7, state }];
        let patched = population.score_patched(&[vec![PatchedQuery { query: query(&receiver), patches }]]).unwrap();
        let [unpatched, of_donor] = [&receiver, &donor].map(|prompt| population.score(&[vec![query(prompt)]]).unwrap());
        // The first token of a continuation is predicted where the patch is; later ones read their own positions.
        for (continuation, patched) in patched[0][0].iter().enumerate() {
            assert_eq!(patched[0], of_donor[0][0][continuation][0]);
            assert_ne!(patched[0], unpatched[0][0][continuation][0]);
        }
    }
}

#[test]
fn a_patch_equals_recomputation() {
    for shape in every_kind() {
        let mut population = clear_population(&shape, &[3]);
        let (receiver, donor) = (tokens(8, 11), tokens(6, 12));
        let weights = weights(&mut population, 0);
        for (layer, position) in [(0, 7), (1, 2), (1, 7), (2, 4)] {
            let state = states_at(&mut population, &donor, 3).swap_remove(layer);
            let exact: Vec<f64> = state.residual.iter().map(|&v| f64::from(v)).collect();
            let patches = vec![Patch { layer, position, state }];
            let patched = population.score_patched(&[vec![PatchedQuery { query: query(&receiver), patches }]]).unwrap();
            let read = [&receiver[..], &[1, 2]].concat();
            let logits = naive_forward(&shape, &weights, &read, read.len(), |at, x, _| {
                if at == layer {
                    x[position].clone_from(&exact);
                }
            });
            for (place, token) in [1, 2, 3].into_iter().enumerate() {
                let expected = log_probability(&logits[receiver.len() - 1 + place], token);
                let found = f64::from(patched[0][0][0][place].logprob);
                assert!(
                    (found - expected).abs() < 1e-3,
                    "layer {layer}, position {position}: {found} against {expected}"
                );
            }
        }
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let mut population = population(&[3]);
    let mut refused = |tokens: Vec<u32>, position, layer| {
        let query = HiddenQuery { tokens, positions: vec![position], layers: vec![layer], normed: true };
        population.hidden(&[vec![query]]).unwrap_err().to_string()
    };
    assert_eq!(refused(vec![1, 2], 2, 0), "batch: hidden states at position 2: the sequence has 2 tokens");
    let layers = small().layers;
    assert_eq!(
        refused(vec![1, 2], 1, layers + 1),
        format!("batch: layer {}: layers are 0 (the embedding) to {layers}", layers + 1)
    );
    assert_eq!(refused(Vec::new(), 0, 0), "batch: hidden states of 0 tokens: this model takes 1 to 64");
    let state = HiddenState { residual: vec![0.0; 3], normed: vec![0.0; 3] };
    let mut patched = |position, layer| {
        let patches = vec![Patch { layer, position, state: state.clone() }];
        let query = PatchedQuery { query: query(&[1, 2]), patches };
        population.score_patched(&[vec![query]]).unwrap_err().to_string()
    };
    assert_eq!(patched(2, 0), "batch: a patch at position 2: the prompt has 2 tokens");
    assert_eq!(patched(1, 0), format!("batch: a patch of 3 and 3 numbers: the width is {}", small().width));
}
