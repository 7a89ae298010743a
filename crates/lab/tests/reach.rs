//! Reachability: scoring every target once equals the paper's trie search, and a plain check of every target.

mod common;

use common::tiny;
use invitro_lab::evaluation::contrast::ContrastSet;
use invitro_lab::evaluation::reach::{Found, ReachSet};
use invitro_lab::inputs::InputCache;
use invitro_language::{Language, Symbol};
use invitro_model::inference::{Answers, Wanted};
use invitro_model::reading::{MemberReading, Score};
use invitro_model::shard::{ModelShard, Shard};
use invitro_model::{Device, Population, Question, Sequence, Shape, Vector};
use invitro_results::{Fraction, Measure, Rows, Scorer, Statistic, Targets};
use std::collections::{BTreeMap, BTreeSet};

/// The logits after a context, computed for it alone: no cache, no shared prompt.
fn logits(shard: &mut dyn Shard, context: &[u32]) -> Vec<f32> {
    let mut part = MemberReading::default();
    part.push(context, 0, 0, 0);
    part.picks.push((context.len() as u32 - 1, 0));
    match shard.ask(&[part], Wanted::Logits).unwrap().pop() {
        Some(Answers::Logits(logits)) => logits,
        other => panic!("{other:?}"),
    }
}

/// The tokens with fewer than k logits strictly above their own.
fn top_k(logits: &[f32], k: u32) -> BTreeSet<u32> {
    let above = |token: u32| logits.iter().filter(|&&other| other > logits[token as usize]).count();
    (0..logits.len() as u32).filter(|&token| above(token) < k as usize).collect()
}

#[derive(Default)]
struct Trie {
    children: BTreeMap<u32, Trie>,
    /// The targets that end here.
    ends: Vec<usize>,
}

/// Algorithm 2 of the paper, gone on past the first hit: the targets that can be reached.
fn trie_search(shard: &mut dyn Shard, prompt: &[u32], targets: &[Vec<u32>], k: u32) -> BTreeSet<usize> {
    let mut root = Trie::default();
    for (i, target) in targets.iter().enumerate() {
        let mut node = &mut root;
        for &token in target {
            node = node.children.entry(token).or_default();
        }
        node.ends.push(i);
    }
    let mut reached = BTreeSet::new();
    let mut frontier = vec![(&root, prompt.to_vec())];
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for (node, context) in frontier {
            let allowed = top_k(&logits(shard, &context), k);
            for (&token, child) in node.children.iter().filter(|(token, _)| allowed.contains(token)) {
                reached.extend(&child.ends);
                if !child.children.is_empty() {
                    next.push((child, [&context[..], &[token]].concat()));
                }
            }
        }
        frontier = next;
    }
    reached
}

/// Every target on its own, every piece of it on its own.
fn exhaustive(shard: &mut dyn Shard, prompt: &[u32], targets: &[Vec<u32>], k: u32) -> BTreeSet<usize> {
    let mut within = |target: &Vec<u32>| {
        (0..target.len()).all(|i| top_k(&logits(shard, &[prompt, &target[..i]].concat()), k).contains(&target[i]))
    };
    (0..targets.len()).filter(|&i| within(&targets[i])).collect()
}

#[test]
fn scoring_once_equals_the_trie_search_and_the_plain_check() {
    let experiment = tiny(&["eval.subjects=12", "language.mask_share=0.5"]);
    let inputs = InputCache::default().get(&experiment).unwrap();
    let shape: Shape = experiment.model.shape(inputs.text.vocab());
    let mut population = Population::new(Device::Cpu, &shape, &[5], 512).unwrap();
    // A little training, so that some targets are near and others far.
    let mut source = invitro_language::Source::training(&inputs.languages, &experiment.mixture, 8);
    for step in 1..=40 {
        let batch: Vec<Sequence> = (0..4).map(|row| inputs.text.draw(&mut source, step, row, 100).unwrap()).collect();
        population.train_step(&[batch], &experiment.train.update(step)).unwrap();
        population.losses().unwrap();
    }
    let mut shard = ModelShard::new(invitro_model::cpu::Cpu::<f32>::new(&shape, 1, 512).unwrap(), 512, 1).unwrap();
    shard.make_room(512, 512, 512).unwrap();
    shard.write(0, Vector::Weights, &population.read(0, Vector::Weights).unwrap()).unwrap();

    let set = ReachSet::new(&inputs.languages, &inputs.text, &experiment.eval, inputs.text.vocab());
    let questions: Vec<Question> = set.questions();
    let answers = population.score(std::slice::from_ref(&questions)).unwrap().pop().unwrap();
    let mut counts = BTreeMap::new();
    for fraction in Fraction::ALL.into_iter().chain(["0.2", "0.3"].map(|fraction| fraction.parse().unwrap())) {
        let k = fraction.of(inputs.text.vocab());
        for (question, answer) in questions.iter().zip(&answers) {
            let Question { prompt, continuations } = question;
            let fast = |i: &usize| Found::of(&answer[*i], continuations[*i].len()).rank < k;
            let fast: BTreeSet<usize> = (0..continuations.len()).filter(fast).collect();
            assert_eq!(fast, trie_search(&mut shard, prompt, continuations, k), "K = {k}");
            assert_eq!(fast, exhaustive(&mut shard, prompt, continuations, k), "K = {k}");
            let count: &mut (usize, usize) = counts.entry(k).or_default();
            *count = (count.0 + fast.len(), count.1 + continuations.len());
        }
    }
    let some = counts.values().filter(|(reached, of)| *reached > 0 && reached < of).count();
    assert!(some >= 2, "the cases are neither all reachable nor all out of reach: {counts:?}");
}

/// These scores depend on the word and its language alone.
#[test]
fn whoever_has_no_regard_to_the_subject_has_a_contrast_of_zero() {
    for setting in ["language.entities=9", "language.values=7", "eval.words=7", "seeds.data=3"] {
        let experiment = tiny(&[setting, "language.mask_share=0.5"]);
        let inputs = InputCache::default().get(&experiment).unwrap();
        let set = ContrastSet::new(&inputs.languages, &inputs.text, &experiment.eval, inputs.text.vocab());
        let blind = |pieces: &Vec<u32>| -> Vec<Score> {
            let mixed = pieces.iter().fold(7u32, |mixed, &piece| (mixed ^ piece).wrapping_mul(0x9e37_79b1));
            let score = |i| Score { rank: mixed.rotate_left(i) % 12, logprob: -((mixed % 97) as f32) };
            (0..=pieces.len() as u32).map(score).collect()
        };
        let answers: Vec<_> =
            set.questions().iter().map(|question| question.continuations.iter().map(blind).collect()).collect();
        let mut rows = Rows::new(0);
        set.rows(Scorer::Network, &answers, &mut rows);
        // Four shares and the log-probability, of facts and of types, in A for both kinds of words, in B and in B†.
        assert_eq!(rows.list.len(), 5 * 2 * 4, "{setting}");
        for row in rows.list {
            assert!(row.value.abs() < 1e-12 && row.interval.unwrap().within(-1e-12, 1e-12), "{setting}: {row:?}");
        }
    }
}

/// A scorer that knows Γ by heart: a nat for what is true, one less for what is false of its class, two less for the rest.
#[test]
fn a_contrast_takes_the_words_it_is_asked_for_each_of_one_that_has_it_and_one_that_has_not() {
    for (words, share) in [(10, "0.5"), (100_000, "0.25"), (100_000, "0.5")] {
        let experiment = tiny(&[&format!("eval.words={words}"), &format!("language.mask_share={share}")]);
        let inputs = InputCache::default().get(&experiment).unwrap();
        let (languages, text) = (&inputs.languages, &inputs.text);
        let world = &languages.world;
        let set = ContrastSet::new(languages, text, &experiment.eval, text.vocab());
        let mut asked: BTreeMap<Symbol, usize> = BTreeMap::new();
        let answer = |(at, question): (usize, Question)| -> Vec<Vec<Score>> {
            let language = Language::ALL[at % 2];
            let entity = world.entities().find(|&e| text.opening(language, &[e, world.copula()]) == question.prompt);
            let entity = entity.unwrap();
            let of = |pieces: &Vec<u32>| {
                let word = world.descriptors().find(|&word| text.word(word, language).0 == pieces).unwrap();
                if language == Language::B && languages.mask.contains(word) {
                    *asked.entry(word).or_default() += 1;
                }
                let nats = match (world.allows(entity, word), world.class(entity) == world.class(word)) {
                    (true, _) => 0.0,
                    (false, true) => -1.0,
                    (false, false) => -2.0,
                };
                // All of it on the first piece.
                let score = |i| Score { rank: 0, logprob: if i == 0 { nats } else { 0.0 } };
                (0..=pieces.len()).map(score).collect()
            };
            question.continuations.iter().map(of).collect()
        };
        let answers: Vec<_> = set.questions().into_iter().enumerate().map(answer).collect();
        let mut rows = Rows::new(0);
        set.rows(Scorer::Network, &answers, &mut rows);
        for (targets, expected) in [(Targets::Facts, 1.0), (Targets::Types, 2.0)] {
            let measure = Measure::reach(Scorer::Network, targets, Statistic::LogProb);
            let values: Vec<f64> =
                rows.list.iter().filter(|row| row.quantity.measure == measure).map(|row| row.value).collect();
            assert_eq!(values, [expected; 3]);
        }
        // Every word once, of three subjects; as many as asked for, or all that are true of somebody.
        let somebody = |word: &&Symbol| world.entities().any(|entity| world.allows(entity, **word));
        let all = languages.mask.symbols().iter().filter(somebody).count();
        assert!(asked.values().all(|&times| times == 3), "{asked:?}");
        assert!((words.min(all)..=words + 1).contains(&asked.len()), "{} of {all}", asked.len());
        assert_eq!(set.words()[1], asked.len());
    }
}
