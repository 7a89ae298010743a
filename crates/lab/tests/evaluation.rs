//! The parts of an evaluation, on examples small enough to work out by hand.

mod common;

use common::{run, tiny};
use invitro_lab::Trained;
use invitro_lab::evaluation::contrast::interval_over_pairs;
use invitro_lab::evaluation::generation::{self, Judged, Prompted};
use invitro_lab::evaluation::held_out::HeldOut;
use invitro_lab::evaluation::ngrams::{Ngrams, Order};
use invitro_lab::evaluation::reach::Found;
use invitro_lab::inputs::InputCache;
use invitro_language::{Condition, Language, Sequence, Symbol, Task, Verdict};
use invitro_model::Device;
use invitro_model::decode::Decoded;
use invitro_model::reading::Score;
use invitro_model::score::Question;
use invitro_results::{Interval, Measure, Row, Rows, Targets, TaskMetric};
use invitro_tokenizer::special;

#[test]
fn the_words_of_a_prompt_are_kept_as_a_multiset() {
    let (languages, text) = InputCache::default().languages_and_text(&tiny(&[])).unwrap();
    let kept = |task: Task, given: &[u32], written: &[u32]| {
        let symbols = |numbers: &[u32]| numbers.iter().map(|&n| Symbol(n)).collect::<Vec<_>>();
        let sequence = Sequence { task, prompt: symbols(given), ..Sequence::default() };
        let (condition, tokens) = (Condition::A, text.prompt(&sequence));
        let prompted = Prompted { condition, sequence, tokens, answer: 0, key: 0 };
        let pieces = symbols(written).into_iter().flat_map(|word| text.segmentation.pieces(word, Language::A)).copied();
        let decoded = Decoded { tokens: pieces.collect(), ended: true };
        generation::judge(&prompted, &decoded, &text, &mut languages.checker(), &languages).words_kept
    };
    assert!(kept(Task::T2, &[2, 3, 2], &[1, 2, 2, 3]) && !kept(Task::T1, &[2, 3, 2], &[1, 2, 2, 3]));
    assert!(kept(Task::T1, &[2, 3, 2], &[2, 2, 3]));
    assert!(!kept(Task::T2, &[2, 2], &[1, 2, 3]));
    assert!(kept(Task::T2, &[], &[1]) && kept(Task::T0, &[], &[1]));
}

#[test]
fn nothing_holds_of_what_did_not_end() {
    let verdict = Verdict { valid: true, grammatical: true, types: true, facts: true, ..Verdict::default() };
    let judged = |ended| Judged {
        output: String::new(),
        ended,
        verdict: verdict.clone(),
        words_kept: true,
        exact: false,
        reason: None,
    };
    assert_eq!((judged(true).holds(), judged(true).failure()), ("facts", None));
    assert_eq!((judged(false).holds(), judged(false).failure()), ("none", Some("unfinished")));
    let mut rows = Rows::new(5);
    generation::rows(Task::T1, Condition::A, &[&judged(true), &judged(false)], &mut rows);
    let value = |metric: TaskMetric| {
        let of_it = |row: &&Row| row.quantity.measure == Measure::unscrambling(metric);
        rows.list.iter().find(of_it).map(|row| row.value)
    };
    assert_eq!(value(TaskMetric::Facts), Some(0.5));
    assert_eq!(value(TaskMetric::Unfinished), Some(0.5));
    assert_eq!(value(TaskMetric::TypesRelation), None, "no relation was there to judge");
}

#[test]
fn an_interval_is_around_its_mean() {
    // Each value on its own.
    let interval = |values: &[f64]| {
        interval_over_pairs(values, &(0..values.len()).map(|at| [2 * at, 2 * at + 1]).collect::<Vec<_>>())
    };
    let Interval { low, high } = interval(&[0.0, 1.0, 0.0, 1.0]).unwrap();
    assert_eq!(low + high, 1.0);
    // 3.182 is Student's t for three degrees of freedom.
    assert!((high - low - 2.0 * 3.182_446_305 * (1.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-8);
    assert_eq!(interval(&[0.25, 0.25]), Some(Interval { low: 0.25, high: 0.25 }));
    assert_eq!(interval(&[0.25]), None);
    // Words said twice tell no more than once.
    let subjects = [[7, 8], [8, 7], [1, 2], [2, 1], [3, 4], [4, 3], [5, 6], [5, 6]];
    let twice = interval_over_pairs(&[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0], &subjects).unwrap();
    assert!((twice.low - low).abs() < 1e-12 && (twice.high - high).abs() < 1e-12);
}

/// In a small world every subject stands in several pairs, and what is known of it moves all its words.
#[test]
fn the_interval_of_a_run_covers_the_truth_where_subjects_stand_in_several_pairs() {
    use invitro_language::Stream;
    const TRIALS: u64 = 2000;
    for (subjects, pairings) in [(12, 8), (20, 5), (80, 2), (160, 1)] {
        let stream = Stream::new(subjects, "simulation of contrasts");
        let mut covered = 0;
        for trial in 0..TRIALS {
            let mut rng = stream.at(0, trial);
            // A sum of twelve uniform numbers is all but normal, with variance 1.
            let mut normal = || (0..12).map(|_| rng.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0;
            let known: Vec<f64> = (0..subjects).map(|_| 0.5 * normal()).collect();
            let (mut values, mut asked) = (Vec::new(), Vec::new());
            for pairing in 0..pairings {
                let mut order: Vec<usize> = (0..known.len()).collect();
                stream.at(1, trial * pairings + pairing).shuffle(&mut order);
                for pair in order.chunks_exact(2) {
                    for _ in 0..2 {
                        values.push(known[pair[0]] + known[pair[1]] + normal());
                        asked.push([pair[0], pair[1]]);
                    }
                }
            }
            covered += u64::from(interval_over_pairs(&values, &asked).unwrap().contains(0.0));
        }
        let coverage = covered as f64 / TRIALS as f64;
        assert!((0.93..0.98).contains(&coverage), "{subjects} subjects, {pairings} pairings: {coverage}");
    }
}

#[test]
fn the_worst_piece_decides() {
    let score = |rank, logprob| Score { rank, logprob };
    let found = Found::of(&[score(3, -1.0), score(0, -0.5), score(9, -4.0)], 2);
    assert_eq!(found, Found { rank: 3, rank_boundary: 9, logprob: -1.5 });
}

fn close(score: Score, logprob: f64, rank: u32) {
    assert!((f64::from(score.logprob) - logprob.ln()).abs() < 1e-6 && score.rank == rank, "{score:?}");
}

#[test]
fn ngrams_of_a_text_of_a_few_tokens() {
    // Followers: 0 → 1, 1, 2; 1 → 2; counts 1: 2, 2: 2, 0: 0, 3: 0; with one each, of 8.
    let text: [&[u32]; 2] = [&[0, 1, 2], &[0, 1]];
    let ngrams = Ngrams::count(4, text.into_iter().chain([[0u32, 2].as_slice()]));
    let question = Question { prompt: vec![3, 0], continuations: vec![vec![1, 2], vec![3]] };
    let unigram = &ngrams.answer(Order::Unigram, std::slice::from_ref(&question))[0];
    close(unigram[0][0], 3.0 / 8.0, 0);
    close(unigram[0][1], 3.0 / 8.0, 0);
    close(unigram[1][0], 1.0 / 8.0, 2);
    let bigram = &ngrams.answer(Order::Bigram, &[question])[0];
    close(bigram[0][0], (2.0 + 3.0 / 8.0) / 4.0, 0);
    close(bigram[0][1], (1.0 + 3.0 / 8.0) / 2.0, 0);
    close(bigram[1][0], (1.0 / 8.0) / 4.0, 2);
}

#[test]
fn the_held_out_mixture_is_the_one_trained_on() {
    for withhold in [true, false] {
        let experiment = tiny(&[&format!("mixture.withhold={withhold}"), "mixture.lambda=0.5"]);
        let (languages, text) = InputCache::default().languages_and_text(&experiment).unwrap();
        let held_out = HeldOut::new(&languages, &text, &experiment.mixture, 300, 256).unwrap();
        let of_b = Task::ALL.map(|task| special::task_id(task, Language::B));
        let has_masked = |tokens: &[u32]| {
            let words = text.segmentation.decode_words(&tokens[1..], &languages, Language::B).words;
            of_b.contains(&tokens[0]) && words.into_iter().flatten().any(|symbol| languages.mask.contains(symbol))
        };
        // The first part is the mixture.
        let mixture = held_out.batches(1024).into_iter().filter(|(part, _)| *part == 0).flat_map(|(_, batch)| batch);
        let sequences: Vec<_> = mixture.collect();
        assert_eq!(sequences.len(), 300);
        assert_eq!(sequences.iter().any(|sequence| has_masked(&sequence.tokens)), !withhold);
    }
}

/// What one set asks does not depend on how much another does.
#[test]
fn evaluation_sets_do_not_depend_on_each_other() {
    let place = tempfile::tempdir().unwrap();
    run(&tiny(&["train.steps=60"]), place.path());
    let trained = Trained::load(place.path(), None).unwrap();
    let rows = |setting: &str| {
        let settings = tiny(&["train.steps=60", setting]);
        trained.evaluate(&settings, Device::Cpu).unwrap().rows
    };
    let before = rows("eval.kept=3");
    let contrast = |targets: Targets| targets == Targets::Facts || targets == Targets::Types;
    for setting in ["eval.sentences=3", "eval.samples=9", "eval.subjects=4", "eval.words=5", "eval.losses=3"] {
        let after = rows(setting);
        let (mut same, mut other) = (0, 0);
        for row in &before {
            let moved = match row.quantity.measure {
                Measure::Task(Task::T1, _) => setting == "eval.sentences=3",
                Measure::Task(..) => setting == "eval.samples=9",
                Measure::Reach(reach) if contrast(reach.targets) => setting == "eval.words=5",
                Measure::Reach(_) => setting == "eval.subjects=4",
                _ => setting == "eval.losses=3",
            };
            let of = |row: &Row| (row.value.to_bits(), row.n);
            let now = after.iter().find(|other| other.quantity == row.quantity).map(of);
            if now == Some(of(row)) {
                same += 1;
            } else {
                assert!(moved, "{setting} moved {row:?}");
                other += 1;
            }
        }
        assert!(same > 50 && other > 2, "{setting}: {same} the same, {other} others");
    }
}
