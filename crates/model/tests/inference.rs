//! Decoding and scoring against plain recomputation without a cache.

use crate::common::{self, clear_population, every_kind, log_probability, naive_logits, sequences, small};
use invitro_model::cpu::Cpu;
use invitro_model::inference::decode::choose;
use invitro_model::inference::{Inference, MemberPass, Output, Outputs};
use invitro_model::{Device, Ops, Population, Prompt, Sampling, ScoreQuery, Vector};
use proptest::prelude::*;
use std::sync::Arc;

fn population(seeds: &[u64]) -> Population {
    clear_population(&small(), seeds)
}

fn weights(population: &mut Population, member: usize) -> Vec<f64> {
    population.read(member, Vector::Weights).unwrap().iter().map(|&w| w as f64).collect()
}

fn prompts(count: usize, seed: u64) -> Vec<Vec<u32>> {
    let rows: Vec<usize> = (0..count).map(|i| (i * 5 + seed as usize) % 12).collect();
    sequences(&small(), &rows, 50 + seed).into_iter().map(|s| s.tokens).collect()
}

const EOS: u32 = 7;

fn with(sampling: Sampling, most: usize, prompts: &[Vec<u32>]) -> Vec<Prompt> {
    prompts.iter().zip(0..).map(|(tokens, key)| Prompt { tokens: tokens.clone(), sampling, most, key }).collect()
}

fn last_logits(population: &mut Population, member: usize, tokens: &[u32]) -> Vec<f64> {
    let weights = weights(population, member);
    naive_logits(population.shape(), &weights, tokens, tokens.len()).pop().unwrap()
}

#[test]
fn greedy_equals_recomputation_without_a_cache() {
    let mut ended = Vec::new();
    for shape in every_kind() {
        ended.extend(greedy_equals_recomputation(&mut clear_population(&shape, &[3, 4])));
    }
    assert!(ended.contains(&true) && ended.contains(&false));
}

/// Whether each decoded sequence ended.
fn greedy_equals_recomputation(population: &mut Population) -> Vec<bool> {
    let all = [prompts(5, 1), prompts(3, 2)];
    const MOST: usize = 15;
    let requests: Vec<_> = all.iter().map(|prompts| with(Sampling::Greedy, MOST, prompts)).collect();
    let decoded = population.decode(&requests, EOS).unwrap();
    for (member, (prompts, decoded)) in all.iter().zip(&decoded).enumerate() {
        assert_eq!(prompts.len(), decoded.len());
        for (prompt, decoded) in prompts.iter().zip(decoded) {
            let mut tokens = prompt.clone();
            let ended = loop {
                if tokens.len() == prompt.len() + MOST {
                    break false;
                }
                let logits = last_logits(population, member, &tokens);
                let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap() as u32;
                if best == EOS {
                    break true;
                }
                tokens.push(best);
            };
            assert_eq!((&tokens[prompt.len()..], ended), (&decoded.tokens[..], decoded.ended));
        }
    }
    decoded.iter().flatten().map(|decoded| decoded.ended).collect()
}

#[test]
fn sampling_equals_recomputation_and_does_not_depend_on_batching() {
    let mut population = population(&[3]);
    let all = prompts(70, 3);
    for (top_k, top_p) in [(None, None), (Some(5), None), (None, Some(0.7)), (Some(20), Some(0.9))] {
        let sampling = Sampling::Random { seed: 9, temperature: 2.0, top_k, top_p };
        let mut requests = with(sampling, 6, &all);
        let decoded = population.decode(&[requests.clone()], EOS).unwrap().remove(0);
        // More prompts than run at once; the first ones alone give the same.
        let first = population.decode(&[requests[..3].to_vec()], EOS).unwrap().remove(0);
        assert_eq!(decoded[..3], first);
        // Nor do those decoded otherwise beside them change anything.
        let greedy = population.decode(&[with(Sampling::Greedy, 6, &all)], EOS).unwrap().remove(0);
        requests.iter_mut().skip(1).step_by(2).for_each(|prompt| prompt.sampling = Sampling::Greedy);
        let mixed = population.decode(&[requests], EOS).unwrap().remove(0);
        for (i, mixed) in mixed.iter().enumerate() {
            assert_eq!(mixed, if i % 2 == 0 { &decoded[i] } else { &greedy[i] });
        }
        let first = decoded.iter().position(|d| d.tokens.len() == 6).unwrap();
        let mut tokens = all[first].clone();
        for position in 0..6 {
            let logits: Vec<f32> = last_logits(&mut population, 0, &tokens).iter().map(|&l| l as f32).collect();
            tokens.push(choose(&logits, &sampling, [3, first as u64, position]));
        }
        assert_eq!(tokens[all[first].len()..], decoded[first].tokens);
    }
}

#[test]
fn decoding_ends_with_the_context() {
    let mut population = population(&[3]);
    let context = small().context;
    let prompt = sequences(&small(), &[context - 1], 8).remove(0).tokens;
    let requests = with(Sampling::Greedy, 100, &[prompt.clone(), prompt[..context - 4].to_vec()]);
    let decoded = population.decode(&[requests], 1_000).unwrap();
    assert_eq!(decoded[0].iter().map(|d| d.tokens.len()).collect::<Vec<_>>(), [1, 5]);
    assert!(decoded[0].iter().all(|d| !d.ended));
    let refused = |prompt: Vec<u32>, sampling| {
        self::population(&[0]).decode(&[with(sampling, 1, &[prompt])], EOS).unwrap_err().to_string()
    };
    assert_eq!(refused(vec![], Sampling::Greedy), "batch: a prompt of 0 tokens: this model takes 1 to 64");
    let cold = Sampling::Random { seed: 0, temperature: 0.0, top_k: None, top_p: None };
    assert_eq!(refused(vec![1], cold), "batch: temperature 0: it must be above 0");
}

#[test]
fn scores_equal_recomputation() {
    for shape in every_kind() {
        let mut population = clear_population(&shape, &[5, 6]);
        let question = |seed: u64, count: usize| ScoreQuery {
            prompt: prompts(1, seed).remove(0),
            continuations: (0..count).map(|i| prompts(3, seed + i as u64).remove(i % 3)).chain([vec![]]).collect(),
            among: None,
        };
        // Enough for several passes, and a member with a single question.
        let questions = vec![vec![question(1, 40), question(2, 400), question(3, 3)], vec![question(4, 7)]];
        let answers = population.score(&questions).unwrap();
        let (mut compared, mut worst) = (0, 0.0f64);
        for (member, (questions, answers)) in questions.iter().zip(&answers).enumerate() {
            let weights = weights(&mut population, member);
            for (question, answer) in questions.iter().zip(answers) {
                assert_eq!(question.continuations.len(), answer.len());
                for (continuation, scores) in question.continuations.iter().zip(answer).step_by(7) {
                    assert_eq!(continuation.len(), scores.len());
                    let whole = [&question.prompt[..], continuation].concat();
                    let logits = naive_logits(&shape, &weights, &whole, whole.len());
                    for (i, (&token, score)) in continuation.iter().zip(scores).enumerate() {
                        let row = &logits[question.prompt.len() + i - 1];
                        worst = worst.max((log_probability(row, token) - score.logprob as f64).abs());
                        let above = row.iter().filter(|&&l| l > row[token as usize] + 1e-4).count() as u32;
                        let below = row.iter().filter(|&&l| l > row[token as usize] - 1e-4).count() as u32;
                        assert!((above..=below).contains(&score.rank), "rank {} of {above}..={below}", score.rank);
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 200 && worst < 1e-4, "{compared} compared, the worst off by {worst}");
        // Alone, in another order: the same bits.
        let alone = population.score(&[vec![questions[0][2].clone()], vec![]]).unwrap();
        assert_eq!(alone[0][0], answers[0][2]);
    }
}

/// Ranks, among all tokens and among some, against sorting the very logits they were read from.
#[test]
fn ranks_equal_sorting() {
    let shape = small();
    let mut ops = Cpu::<f32>::new(&shape, 1, 1).unwrap();
    let vector: Vec<f32> = common::numbers(ops.layout().size, 3).iter().map(|&w| w as f32).collect();
    ops.write(0, Vector::Weights, &vector).unwrap();
    let tokens = sequences(&shape, &[9], 4).remove(0).tokens;
    let mut part = MemberPass::default();
    part.push(&tokens, 0, 0, 0);
    part.picks = (0..shape.vocab as u32).map(|token| (token % 10, token)).collect();
    let sets = [3, 5].map(|every| (0..shape.vocab).map(|token| token % every == 1).collect::<Arc<[bool]>>());
    part.among = (0..shape.vocab).map(|pick| sets.get(pick % 3).cloned()).collect();
    let mut inference = Inference::new(&mut ops, 10, 10, shape.vocab).unwrap();
    let parts = [part];
    let Outputs::Logits(logits) = inference.run(&mut ops, &parts, Output::Logits, 1).unwrap().remove(0) else {
        panic!("logits were asked for")
    };
    let Outputs::Scores(scores) = inference.run(&mut ops, &parts, Output::Scores, 1).unwrap().remove(0) else {
        panic!("scores were asked for")
    };
    let Outputs::Tokens(best) = inference.run(&mut ops, &parts, Output::Argmax, 1).unwrap().remove(0) else {
        panic!("the largest were asked for")
    };
    for (pick, row) in logits.chunks(shape.vocab).enumerate() {
        let sorted = |among: Option<&Arc<[bool]>>| {
            let counts = |token: usize| among.is_none_or(|among| among[token]);
            let mut logits: Vec<f32> = (0..row.len()).filter(|&token| counts(token)).map(|token| row[token]).collect();
            logits.sort_by(|a, b| b.total_cmp(a));
            logits
        };
        let among = sorted(parts[0].among[pick].as_ref());
        assert_eq!(scores[pick].rank as usize, among.partition_point(|&l| l > row[pick]));
        assert_eq!(row[best[pick] as usize], sorted(None)[0]);
    }
}

proptest! {
    /// A sampled token is always among those that top-k and top-p keep, and top-k of 1 is greedy.
    #[test]
    fn choices_respect_their_limits(
        logits in prop::collection::vec(-5.0f32..5.0, 1..40),
        k in 1usize..10,
        p in 0.01f64..1.0,
        position in 0u64..1000,
    ) {
        let sampling = |top_k, top_p| Sampling::Random { seed: 1, temperature: 1.0, top_k, top_p };
        let keys = [0, 0, position];
        let above = |token: u32| logits.iter().filter(|&&l| l > logits[token as usize]).count();
        prop_assert!(above(choose(&logits, &sampling(Some(k), None), keys)) < k);
        prop_assert_eq!(choose(&logits, &sampling(Some(1), None), keys), choose(&logits, &Sampling::Greedy, keys));
        let token = choose(&logits, &sampling(None, Some(p)), keys);
        let total: f64 = logits.iter().map(|&l| (l as f64).exp()).sum();
        let before: f64 =
            logits.iter().filter(|&&l| l > logits[token as usize]).map(|&l| (l as f64).exp()).sum();
        prop_assert!(before / total < p + 1e-9);
    }
}

/// Frequencies of sampled tokens are their probabilities.
#[test]
fn sampling_has_the_right_frequencies() {
    let logits = [0.0f32, 1.0, 2.0];
    let sampling = Sampling::Random { seed: 5, temperature: 0.5, top_k: None, top_p: None };
    let mut counts = [0.0; 3];
    for prompt in 0..100 {
        for position in 0..100 {
            counts[choose(&logits, &sampling, [0, prompt, position]) as usize] += 1e-4;
        }
    }
    let total: f64 = [0.0f64, 2.0, 4.0].iter().map(|l| l.exp()).sum();
    for (count, l) in counts.iter().zip([0.0f64, 2.0, 4.0]) {
        assert!((count - l.exp() / total).abs() < 0.012, "{count} of {}", l.exp() / total);
    }
}

/// The context ends what nothing else does.
#[test]
fn no_limit_is_the_context() {
    let mut population = Population::new(Device::Cpu, &small(), &[1], 64).unwrap();
    let no_end = u32::MAX;
    let decode = |population: &mut Population, most| {
        let prompts = vec![Prompt { tokens: vec![3, 5, 7, 2, 4], sampling: Sampling::Greedy, most, key: 0 }];
        population.decode(&[prompts], no_end).unwrap()[0][0].tokens.clone()
    };
    let whole = decode(&mut population, usize::MAX);
    assert_eq!(whole, decode(&mut population, small().context));
    assert!(whole.len() > small().context / 2);
}

#[test]
fn readings_that_do_not_fit_are_refused() {
    let mut ops = Cpu::<f32>::new(&small(), 1, 64).unwrap();
    let mut inference = Inference::new(&mut ops, 16, 8, 16).unwrap();
    let mut ask = |tokens: &[u32], slot| {
        let mut part = MemberPass::default();
        part.push(tokens, 0, 0, slot);
        inference.run(&mut ops, &[part], Output::Argmax, 1).map(|_| ())
    };
    assert!(ask(&[1, 2, 3], 5).is_ok());
    let error = ask(&[1, 2, 3], 6).unwrap_err().to_string();
    assert_eq!(error, "batch: 9 tokens to keep: there is room for 8");
}
