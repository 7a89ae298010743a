//! The parts of an evaluation, on examples small enough to work out by hand.

use crate::common::{SAME, bytes, family, find, member, mixed, run, tiny, train, trio};
use invitro_lab::inputs::InputCache;
use invitro_lab::probes::generation::{self, CheckedOutput, TaskPrompt};
use invitro_lab::probes::held_out::HeldOutProbe;
use invitro_lab::probes::ngrams::{NgramOrder, Ngrams};
use invitro_lab::probes::reachability::TargetScore;
use invitro_lab::training::MemberOutcome;
use invitro_lab::{Stop, Trained};
use invitro_language::{
    Category, Language, LanguageCondition, Pool, Process, SentenceVerdict, Sequence, Source, Symbol, Tally, Task,
};
use invitro_model::{Decoded, Device, Score, ScoreQuery};
use invitro_results::{Measure, Quantity, Row, Rows, Scorer, Statistic, Targets, TaskMetric};
use invitro_stats::Interval;
use invitro_stats::pairs::interval_over_pairs;
use std::collections::{HashMap, HashSet};

#[test]
fn the_words_of_a_prompt_are_kept_as_a_multiset() {
    let (languages, text) = InputCache::default().languages_and_text(&tiny(&[])).unwrap();
    let kept = |task: Task, given: &[u32], written: &[u32]| {
        let symbols = |numbers: &[u32]| numbers.iter().map(|&n| Symbol(n)).collect::<Vec<_>>();
        let sequence = Sequence { task, prompt: symbols(given), ..Sequence::default() };
        let (condition, tokens) = (LanguageCondition::A, text.prompt(&sequence));
        let prompted = TaskPrompt { condition, sequence, tokens, answer: 0, key: 0 };
        let pieces = symbols(written).into_iter().flat_map(|word| text.segmentation.pieces(word, Language::A)).copied();
        let decoded = Decoded { tokens: pieces.collect(), ended: true };
        generation::check(&prompted, &decoded, &text, &mut languages.checker(), &languages).words_kept
    };
    assert!(kept(Task::T2, &[2, 3, 2], &[1, 2, 2, 3]) && !kept(Task::T1, &[2, 3, 2], &[1, 2, 2, 3]));
    assert!(kept(Task::T1, &[2, 3, 2], &[2, 2, 3]));
    assert!(!kept(Task::T2, &[2, 2], &[1, 2, 3]));
    assert!(kept(Task::T2, &[], &[1]) && kept(Task::T0, &[], &[1]));
}

/// What T1 makes is the prompt's words, other words, or no words of the language; else it did not end, or is empty.
#[test]
fn answers_are_copied_other_words_or_no_words() {
    let (languages, text) = InputCache::default().languages_and_text(&tiny(&[])).unwrap();
    let pieces = |words: &[u32]| -> Vec<u32> {
        words.iter().flat_map(|&word| text.segmentation.pieces(Symbol(word), Language::A)).copied().collect()
    };
    let prompt: Vec<Symbol> = [2, 3, 2].map(Symbol).into();
    let sequence = Sequence { task: Task::T1, prompt, ..Sequence::default() };
    let (condition, tokens) = (LanguageCondition::A, text.prompt(&sequence));
    let prompted = TaskPrompt { condition, sequence, tokens, answer: 0, key: 0 };
    // A word without its boundary is none.
    let broken = [pieces(&[2, 3]), text.segmentation.core(Symbol(2), Language::A).to_vec()].concat();
    let answers = [
        (pieces(&[3, 2, 2]), true, Some(TaskMetric::SameWords)),
        (pieces(&[2, 3]), true, Some(TaskMetric::OtherWords)),
        (pieces(&[2, 3, 2, 2]), true, Some(TaskMetric::OtherWords)),
        (broken, true, Some(TaskMetric::NonWords)),
        (Vec::new(), true, None),
        (pieces(&[3, 2, 2]), false, None),
        (pieces(&[2, 3]), false, None),
    ];
    let kinds = [TaskMetric::SameWords, TaskMetric::OtherWords, TaskMetric::NonWords];
    let share = |answers: &[(Vec<u32>, bool, Option<TaskMetric>)], metric: TaskMetric| {
        let checked: Vec<CheckedOutput> = answers
            .iter()
            .map(|(tokens, ended, _)| {
                let decoded = Decoded { tokens: tokens.clone(), ended: *ended };
                generation::check(&prompted, &decoded, &text, &mut languages.checker(), &languages)
            })
            .collect();
        let mut rows = Rows::new(0);
        generation::rows(&prompted, &checked.iter().collect::<Vec<_>>(), &mut rows);
        let row = rows.list.iter().find(|row| row.quantity.measure == Measure::unscrambling(metric));
        row.map_or(0.0, |row| row.value)
    };
    for answer in &answers {
        let is_kind = |kind: &TaskMetric| share(std::slice::from_ref(answer), *kind) == 1.0;
        assert_eq!(kinds.iter().copied().find(is_kind), answer.2, "{answer:?}");
    }
    let rest = [TaskMetric::Unfinished, TaskMetric::Empty];
    let sum: f64 = kinds.iter().chain(&rest).map(|&kind| share(&answers, kind)).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");
}

#[test]
fn nothing_holds_of_what_did_not_end() {
    let verdict =
        SentenceVerdict { valid: true, grammatical: true, types: true, facts: true, ..SentenceVerdict::default() };
    let judged = |ended| CheckedOutput {
        output: String::new(),
        ended,
        verdict: verdict.clone(),
        words_kept: true,
        exact: false,
        descriptors: Tally::default(),
        reason: None,
    };
    assert_eq!((judged(true).holds(), judged(true).failure()), ("facts", None));
    assert_eq!((judged(false).holds(), judged(false).failure()), ("none", Some("unfinished")));
    let mut rows = Rows::new(5);
    let sequence = Sequence { task: Task::T1, ..Sequence::default() };
    let prompted = TaskPrompt { condition: LanguageCondition::A, sequence, tokens: Vec::new(), answer: 0, key: 0 };
    generation::rows(&prompted, &[&judged(true), &judged(false)], &mut rows);
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
    let found = TargetScore::new(&[score(3, -1.0), score(0, -0.5), score(9, -4.0)], 2);
    assert_eq!(found, TargetScore { rank: 3, rank_boundary: 9, logprob: -1.5 });
}

fn close(score: Score, logprob: f64, rank: u32) {
    assert!((f64::from(score.logprob) - logprob.ln()).abs() < 1e-6 && score.rank == rank, "{score:?}");
}

#[test]
fn ngrams_of_a_text_of_a_few_tokens() {
    // Followers: 0 → 1, 1, 2; 1 → 2; counts 1: 2, 2: 2, 0: 0, 3: 0; with one each, of 8.
    let text: [&[u32]; 2] = [&[0, 1, 2], &[0, 1]];
    let ngrams = Ngrams::count(4, text.into_iter().chain([[0u32, 2].as_slice()]));
    let question = ScoreQuery { prompt: vec![3, 0], continuations: vec![vec![1, 2], vec![3]], among: None };
    let unigram = &ngrams.score(NgramOrder::Unigram, std::slice::from_ref(&question))[0];
    close(unigram[0][0], 3.0 / 8.0, 0);
    close(unigram[0][1], 3.0 / 8.0, 0);
    close(unigram[1][0], 1.0 / 8.0, 2);
    let bigram = &ngrams.score(NgramOrder::Bigram, &[question])[0];
    close(bigram[0][0], (2.0 + 3.0 / 8.0) / 4.0, 0);
    close(bigram[0][1], (1.0 + 3.0 / 8.0) / 2.0, 0);
    close(bigram[1][0], (1.0 / 8.0) / 4.0, 2);
}

#[test]
fn the_held_out_mixture_is_the_one_trained_on() {
    for withhold in [true, false] {
        let experiment = tiny(&[&format!("mixture.withhold={withhold}"), "mixture.lambda=0.5"]);
        let (languages, text) = InputCache::default().languages_and_text(&experiment).unwrap();
        let held_out = HeldOutProbe::new(&languages, &text, &experiment.mixture, 300, 256).unwrap();
        let of_b = Task::WITHIN.map(|task| text.segmentation.special().task(task, Language::B));
        let has_masked = |tokens: &[u32]| {
            let words = text.segmentation.decode_words(&tokens[1..], &languages, Language::B).words;
            of_b.contains(&tokens[0])
                && words.into_iter().flatten().any(|symbol| languages.mask(Language::B).contains(symbol))
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

/// Of 100,000 training rows of a family with two masks and three word orders, in every task.
#[test]
fn no_masked_word_and_no_held_out_sentence_reaches_training_in_any_language() {
    let experiment = family(&["tokenizer.vocab=120"], mixed());
    let inputs = InputCache::default().get(&experiment).unwrap();
    let (languages, text) = (&inputs.languages, &inputs.text);
    let mut source = Source::training(languages, &experiment.mixture, 64, 1);
    // What is said, whatever the order of the words.
    let said = |sequence: &Sequence| {
        let mut words = sequence.sentence.symbols.clone();
        words.sort_unstable();
        words
    };
    let mut trained: HashSet<Vec<Symbol>> = HashSet::new();
    let mut rows: HashMap<(&str, Task), usize> = HashMap::new();
    for i in 0..100_000 {
        let sequence = text.training_row(&mut source, i / 64, i % 64, experiment.model.context).unwrap();
        let tokens = text.sequence(&sequence);
        for word in
            text.segmentation.decode_words(&tokens[1..], languages, sequence.language).words.into_iter().flatten()
        {
            assert!(!languages.mask(sequence.language).contains(word), "{}", languages.world.label(word));
        }
        trained.insert(said(&sequence));
        *rows.entry((sequence.language.name(), sequence.task)).or_default() += 1;
    }
    assert!(rows.len() == 9 && rows.values().all(|&count| count > 1000), "{rows:?}");
    // The rows of a language over those of A are what is left of its share.
    let of = |language: Language| {
        rows.iter().filter(|((name, _), _)| *name == language.name()).map(|(_, count)| *count as f64).sum::<f64>()
    };
    let measures = invitro_lab::measures(&experiment, languages, text).unwrap();
    let measured = |name: &str| measures.iter().find(|(quantity, _)| quantity.to_string() == name).unwrap().1;
    for language in &languages.all()[1..] {
        let left = measured(&format!("lambda_left.{}", language.name()));
        assert!((of(*language) / of(languages.all()[0]) - left).abs() < 0.02, "{left}");
        assert!(left < 0.5);
    }
    let (mut again, mut of_these) = (0, 0);
    for condition in languages.conditions() {
        for task in Task::WITHIN {
            let mut held_out = Source::condition(languages, "eval", condition, task).from_pool(Pool::HeldOut);
            let mut any = Source::condition(languages, "eval", condition, task);
            for row in 0..40 {
                assert!(!trained.contains(&said(&held_out.draw(0, row).unwrap())), "{condition}");
                again += usize::from(trained.contains(&said(&any.draw(0, row).unwrap())));
                of_these += 1;
            }
        }
    }
    assert!(again > of_these / 20, "the world is small enough to tell: {again} of {of_these}");
}

/// The floor of a masked sov language in a script of its own: short sentences come as often as it says. One sequence after
/// the other is added to the set, and what the floor rises by is its surprisal.
#[test]
fn the_floor_is_the_frequency_of_sentences_in_every_condition() {
    let small = ["entities=4", "names=1", "properties=6", "values=4", "valid_share=0.5", "relations=1"];
    let small = small.map(|setting| format!("language.{setting}"));
    let others =
        ["mixture.tasks=[1,0,0]", "language.adjective_rate=0", "language.adverb_rate=0", "tokenizer.vocab=120"];
    let settings: Vec<&str> = small.iter().map(String::as_str).chain(others).collect();
    let experiment = family(&settings, mixed());
    let (languages, text) = InputCache::default().languages_and_text(&experiment).unwrap();
    const SEQUENCES: usize = 40;
    const DRAWN: u64 = 60_000;
    // Nats of the first sequences of every condition, and the sequences.
    let nats = |count: usize| -> Vec<f64> {
        let set = HeldOutProbe::new(&languages, &text, &experiment.mixture, count, 160).unwrap();
        let mut rows = Rows::new(0);
        set.rows(&[], &mut rows);
        let floor = |condition: &LanguageCondition| {
            let row = find(&rows.list, 0, &format!("loss.{condition}.floor"));
            row.value * row.n as f64 * std::f64::consts::LN_2
        };
        languages.conditions().iter().map(floor).collect()
    };
    let sums: Vec<Vec<f64>> = (1..=SEQUENCES).map(nats).collect();
    let sequences = HeldOutProbe::new(&languages, &text, &experiment.mixture, SEQUENCES, 160).unwrap();
    for (at, &condition) in languages.conditions().iter().enumerate() {
        let mut counts: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut source = Source::condition(&languages, "test", condition, Task::T0);
        for row in 0..DRAWN {
            *counts.entry(text.sequence(&source.draw(0, row).unwrap())).or_default() += 1;
        }
        // The first part is the mixture.
        let own = sequences.batches(1024).into_iter().filter(|(part, _)| *part == at + 1).flat_map(|(_, batch)| batch);
        let mut compared = 0;
        for (place, sequence) in own.enumerate() {
            let before = if place == 0 { 0.0 } else { sums[place - 1][at] };
            let expected = (before - sums[place][at]).exp() * DRAWN as f64;
            let count = counts.get(&sequence.tokens).copied().unwrap_or(0) as f64;
            if expected > 30.0 {
                compared += 1;
                assert!((count - expected).abs() < 5.0 * expected.sqrt(), "{condition}: {count}, not {expected:.0}");
            } else {
                assert!(count < expected + 5.0 * expected.sqrt() + 5.0, "{condition}: {count}, not {expected:.1}");
            }
        }
        assert!(compared > 1, "{condition}: {compared} sentences are frequent enough to compare");
    }
}

/// The columns of a family, and where they come from.
#[test]
fn measures_of_a_family_are_matrices() {
    use invitro_tokenizer::{Bridges, MEASURED_SENTENCES, Measures, WordCounts};
    for (list, masks) in [(trio(), 1), (mixed(), 2)] {
        let experiment = family(&["tokenizer.vocab=120"], list);
        let (languages, text) = InputCache::default().languages_and_text(&experiment).unwrap();
        let all = invitro_lab::measures(&experiment, &languages, &text).unwrap();
        let by_name: HashMap<String, f64> =
            all.iter().map(|(quantity, value)| (quantity.to_string(), *value)).collect();
        assert_eq!(by_name.len(), all.len(), "no column stands twice");
        assert!(all.iter().all(|(quantity, _)| quantity.to_string().parse::<Quantity>().as_ref() == Ok(quantity)));
        let counts = WordCounts::text(&languages, MEASURED_SENTENCES).unwrap();
        let measured = Measures::new(&text.segmentation, &languages, &counts);
        let distances = languages.lexicon.distances();
        let process = Process::new(&languages);
        let [a, b, c] = languages.all() else { panic!() };
        for (at, (one, other)) in [(a, b), (a, c), (b, c)].into_iter().enumerate() {
            let of = |measure: &str| by_name[&format!("{measure}.{}-{}", one.name(), other.name())];
            assert_eq!(of("distance.stems"), distances.stems(*one, *other).relative);
            assert_eq!(of("distance.words"), distances.words(*one, *other).relative);
            assert_eq!(of("overlap"), measured.text.overlap.0[at].1);
            assert_eq!(of("parity"), measured.text.parity.0[at].1);
            assert_eq!(of("lexicon.overlap"), measured.lexicon.overlap.0[at].1);
        }
        for language in [b, c] {
            let left = process.size_left(*language, &experiment.mixture);
            assert_eq!(by_name[&format!("lambda_left.{}", language.name())], left);
        }
        for name in ["overlap", "parity", "distance.stems", "lambda_left", "lambda_left.A"] {
            assert!(!by_name.contains_key(name), "{name}");
        }
        assert_eq!(languages.masked().count(), masks);
        for masked in languages.masked() {
            let bridges = Bridges::new(&text.segmentation, &languages, masked);
            let own = if masks == 1 { String::new() } else { format!(".{}_masked", masked.name()) };
            assert_eq!(by_name[&format!("bridge.jaccard{own}")], bridges.mean().jaccard);
            assert_eq!(by_name[&format!("cognate_bridge.dice{own}")], bridges.mean_cognate().dice);
            for other in languages.all().iter().filter(|&&other| other != masked) {
                let pair = format!("{}-{}", masked.name(), other.name());
                assert_eq!(by_name[&format!("bridge.jaccard.{pair}")], bridges.mean_with(*other).jaccard);
                let cognate = by_name[&format!("cognate_bridge.containment.{pair}")];
                assert_eq!(cognate, bridges.mean_cognate_with(*other).containment);
            }
        }
        assert_eq!(by_name.contains_key("bridge.jaccard"), masks == 1);
    }
}

/// A translation is judged by its direction, and by the words that are withheld where some are.
#[test]
fn translations_are_judged_by_what_was_meant() {
    for (experiment, sides) in [
        (tiny(&["mixture.translation=0.3"]), vec!["A>B", "A>B_masked", "B>A", "B_masked>A"]),
        (
            family(&["mixture.translation=0.3", "tokenizer.vocab=120"], trio()),
            vec!["A>B", "B>A", "A>C", "A>C_masked", "C>A", "C_masked>A", "B>C", "B>C_masked", "C>B", "C_masked>B"],
        ),
    ] {
        let (languages, text) = InputCache::default().languages_and_text(&experiment).unwrap();
        let all = generation::translations(&languages, &text, 12, experiment.model.context).unwrap();
        let mut checker = languages.checker();
        let mut rows = Rows::new(0);
        for part in all.chunk_by(TaskPrompt::is_like) {
            // What was meant, and the same with one of its descriptors left out.
            let mut judge = |prompted: &TaskPrompt, leave_out: bool| {
                let Sequence { sentence, language, .. } = &prompted.sequence;
                let withheld = languages.withheld(prompted.condition.language, sentence);
                let is_descriptor = |symbol: &Symbol| languages.world.category(*symbol) == Category::Descriptor;
                let of_these = |symbol: &Symbol| {
                    if prompted.condition.masked { withheld.contains(symbol) } else { is_descriptor(symbol) }
                };
                let mut symbols = sentence.symbols.clone();
                if leave_out && let Some(at) = symbols.iter().position(of_these) {
                    symbols.remove(at);
                }
                let pieces = symbols.iter().flat_map(|&symbol| text.segmentation.pieces(symbol, *language)).copied();
                let decoded = Decoded { tokens: pieces.collect(), ended: true };
                generation::check(prompted, &decoded, &text, &mut checker, &languages)
            };
            assert!(part.iter().all(|prompted| prompted.condition.masked == prompted.sequence.masked));
            let whole: Vec<CheckedOutput> = part.iter().map(|prompted| judge(prompted, false)).collect();
            assert!(whole.iter().all(|judged| judged.exact && judged.descriptors.held == judged.descriptors.of));
            let less: Vec<CheckedOutput> = part.iter().map(|prompted| judge(prompted, true)).collect();
            for judged in &less {
                let missing = u32::from(judged.descriptors.of > 0);
                assert_eq!(judged.descriptors.held + missing, judged.descriptors.of);
                assert!(missing == 0 || !judged.exact);
            }
            assert!(!part[0].condition.masked || less.iter().all(|judged| judged.descriptors.of > 0));
            let both: Vec<&CheckedOutput> = whole.iter().chain(&less).collect();
            generation::rows(&part[0], &both, &mut rows);
        }
        let exact: Vec<String> = rows
            .list
            .iter()
            .map(|row| {
                let name = row.quantity.to_string();
                assert_eq!(name.parse(), Ok(row.quantity.clone()), "{name}");
                name
            })
            .filter(|name| name.ends_with(".exact"))
            .collect();
        assert_eq!(exact, sides.iter().map(|side| format!("T3.{side}.exact")).collect::<Vec<_>>());
    }
}

/// Where facts are withheld and not words, every measure speaks of facts that B never states, and no word is masked.
#[test]
fn withheld_facts_are_what_is_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let settings = ["mixture.withhold=facts", "language.mask_share=0.25", "train.steps=60"];
    let experiment = tiny(&settings);
    let rows = run(&experiment, place.path());
    let knows =
        |scorer| Quantity::in_condition(Measure::reach(scorer, Targets::Facts, Statistic::LogProb), &b_masked());
    for scorer in [Scorer::Unigram, Scorer::Bigram] {
        let of_ngrams: Vec<&Row> = rows.iter().filter(|row| row.quantity == knows(scorer)).collect();
        assert!(!of_ngrams.is_empty() && of_ngrams.iter().all(|row| row.value == 0.0 && row.n > 0));
    }
    let inputs = InputCache::default().get(&experiment).unwrap();
    let world = &inputs.languages.world;
    for (language, word) in inputs.probes.contrast_words() {
        assert!(!inputs.languages.is_masked(word));
        assert!(world.entities().any(|entity| inputs.languages.never_says(language, word, entity)));
    }
    // The words are those of the same experiment that withholds words.
    let words = InputCache::default().get(&tiny(&["language.mask_share=0.25"])).unwrap();
    assert!(world.symbols().all(|s| words.languages.form(s, Language::B) == inputs.languages.form(s, Language::B)));
    let trained = Trained::load(place.path(), None).unwrap();
    let again = trained.evaluate(&experiment, Device::Cpu).unwrap().rows;
    let of =
        |rows: &[Row]| rows.iter().rfind(|row| row.quantity == knows(Scorer::Network)).map(|row| row.value.to_bits());
    assert!(of(&rows).is_some() && of(&again) == of(&rows));
}

fn b_masked() -> invitro_results::Condition {
    LanguageCondition::B_MASKED.into()
}

/// Every switch of the mixture trains, and goes on after an interruption with the same bytes as without.
#[test]
fn runs_under_every_switch_go_on_as_if_never_interrupted() {
    let switches: [&[&str]; 4] = [
        &["mixture.translation=0.3", "mixture.tags=task"],
        &["mixture.schedule=[0, 0.6]", "mixture.code_switch=0.2"],
        &["mixture.parallel=symbols", "mixture.lambda=1"],
        &["mixture.withhold=nothing", "mixture.translation=0.2"],
    ];
    for switch in switches {
        let settings: Vec<&str> = switch.iter().copied().chain(["train.steps=40", "checkpoint.every=20"]).collect();
        let experiment = tiny(&settings);
        let [whole, parts] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        run(&experiment, whole.path());
        let soon = Stop::new().at(std::time::Instant::now());
        assert!(matches!(
            train(&[member(&experiment, parts.path())], &soon)[..],
            [MemberOutcome::Stopped { step: 1.. }]
        ));
        run(&experiment, parts.path());
        for name in SAME {
            assert!(bytes(whole.path(), name) == bytes(parts.path(), name), "{switch:?}: {name}");
        }
    }
}

/// Under a schedule n-gram models read rows of all stages, not of the first alone.
#[test]
fn baselines_read_all_stages() {
    let experiment = tiny(&["mixture.schedule=[0, 1]", "train.steps=100"]);
    let (languages, text) = InputCache::default().languages_and_text(&experiment).unwrap();
    let rows = text.training_rows(&experiment, &languages, 200).unwrap();
    let of_b = Task::WITHIN.map(|task| text.segmentation.special().task(task, Language::B));
    let is_of_b: Vec<bool> = rows.iter().map(|row| of_b.contains(&row[0])).collect();
    assert!(is_of_b[..100].iter().all(|of_b| !of_b) && is_of_b[100..].iter().all(|of_b| *of_b));
}
