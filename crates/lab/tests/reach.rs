//! Reachability: scoring every target once equals the paper's trie search, and a plain check of every target.

use crate::common::{self, family, mixed, tiny, trio};
use invitro_lab::inputs::{InputCache, RunInputs};
use invitro_lab::probes::contrast::ContrastProbe;
use invitro_lab::probes::forms::FormsProbe;
use invitro_lab::probes::reachability::{ReachabilityProbe, TargetScore};
use invitro_lab::probes::{Answers, Probe, Record};
use invitro_language::{Language, LanguageEntry, Symbol};
use invitro_model::inference::{MemberPass, Output, Outputs, Score};
use invitro_model::shard::{ModelShard, Shard};
use invitro_model::{ContinuationScores, Device, Population, ScoreQuery, Shape, TokenSequence, Update, Vector};
use invitro_results::{Form, Fraction, Measure, Scorer, Statistic, Targets};
use std::collections::{BTreeMap, BTreeSet};

/// What a probe records of scores.
fn record<'a>(probe: &impl Probe, inputs: &'a RunInputs, scores: Vec<ContinuationScores>) -> Record<'a> {
    let mut record = Record::new(0, &inputs.languages, &inputs.text, false);
    probe.record(&Answers { scores, ..Answers::default() }, &mut record);
    record
}

/// The logits after a context, computed for it alone: no cache, no shared prompt.
fn logits(shard: &mut dyn Shard, context: &[u32]) -> Vec<f32> {
    let mut part = MemberPass::default();
    part.push(context, 0, 0, 0);
    part.picks.push((context.len() as u32 - 1, 0));
    match shard.run(&[part], Output::Logits).unwrap().pop() {
        Some(Outputs::Logits(logits)) => logits,
        other => panic!("{other:?}"),
    }
}

/// The tokens with fewer than k logits strictly above their own, of those that count.
fn top_k(logits: &[f32], question: &ScoreQuery, k: u32) -> BTreeSet<u32> {
    let counts = |token: u32| question.among.as_ref().is_none_or(|among| among[token as usize]);
    let tokens = || (0..logits.len() as u32).filter(|&token| counts(token));
    let above = |token: u32| tokens().filter(|&other| logits[other as usize] > logits[token as usize]).count();
    tokens().filter(|&token| above(token) < k as usize).collect()
}

#[derive(Default)]
struct Trie {
    children: BTreeMap<u32, Trie>,
    /// The targets that end here.
    ends: Vec<usize>,
}

/// Algorithm 2 of the paper, gone on past the first hit: the targets that can be reached.
fn trie_search(shard: &mut dyn Shard, question: &ScoreQuery, k: u32) -> BTreeSet<usize> {
    let ScoreQuery { prompt, continuations: targets, .. } = question;
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
            let allowed = top_k(&logits(shard, &context), question, k);
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
fn exhaustive(shard: &mut dyn Shard, question: &ScoreQuery, k: u32) -> BTreeSet<usize> {
    let ScoreQuery { prompt, continuations: targets, .. } = question;
    let mut within = |target: &Vec<u32>| {
        let context = |i: usize| [&prompt[..], &target[..i]].concat();
        (0..target.len()).all(|i| top_k(&logits(shard, &context(i)), question, k).contains(&target[i]))
    };
    (0..targets.len()).filter(|&i| within(&targets[i])).collect()
}

#[test]
fn scoring_once_equals_the_trie_search_and_the_plain_check() {
    scoring_equals_searching(&tiny(&["eval.subjects=12", "language.mask_share=0.5"]), 40);
    scoring_equals_searching(&family(&["eval.subjects=4", "tokenizer.vocab=120"], mixed()), 40);
    // K is over the ids that the asked language can use.
    let arm = ["eval.subjects=6", "language.mask_share=0.5", "tokenizer.share=cognate"];
    scoring_equals_searching(&tiny(&arm), 40);
}

fn scoring_equals_searching(experiment: &invitro_lab::Experiment, steps: u64) {
    let inputs = InputCache::default().get(experiment).unwrap();
    let shape: Shape = Shape::new(&experiment.model, inputs.text.rows());
    let mut population = Population::new(Device::Cpu, &shape, &[5], 512).unwrap();
    // A little training, so that some targets are near and others far.
    let mut source = invitro_language::Source::training(&inputs.languages, &experiment.mixture, 8, 1);
    for step in 1..=steps {
        let batch: Vec<TokenSequence> =
            (0..4).map(|row| inputs.text.draw(&mut source, step, row, 100).unwrap()).collect();
        population.train_step(&[batch], &[Update::at(&experiment.train, step)]).unwrap();
        population.losses().unwrap();
    }
    let mut shard = ModelShard::new(invitro_model::cpu::Cpu::<f32>::new(&shape, 1, 512).unwrap(), 512, 1).unwrap();
    shard.make_room(512, 512, 512).unwrap();
    shard.write(0, Vector::Weights, &population.read(0, Vector::Weights).unwrap()).unwrap();

    let set = ReachabilityProbe::new(&inputs.languages, &inputs.text, &experiment.eval, inputs.text.vocab());
    let questions: Vec<ScoreQuery> = set.queries(0).scores;
    let answers = population.score(std::slice::from_ref(&questions)).unwrap().pop().unwrap();
    let mut counts = BTreeMap::new();
    for fraction in
        Fraction::ALL.into_iter().chain(["0.2", "0.3", "0.5", "0.7"].map(|fraction| fraction.parse().unwrap()))
    {
        let k = fraction.of(inputs.text.vocab());
        for (question, answer) in questions.iter().zip(&answers) {
            let continuations = &question.continuations;
            let counted = question.among.as_ref().map_or(shape.vocab, |among| among.iter().filter(|c| **c).count());
            assert_eq!(counted, inputs.text.vocab());
            let fast = |i: &usize| TargetScore::new(&answer[*i], continuations[*i].len()).rank < k;
            let fast: BTreeSet<usize> = (0..continuations.len()).filter(fast).collect();
            assert_eq!(fast, trie_search(&mut shard, question, k), "K = {k}");
            assert_eq!(fast, exhaustive(&mut shard, question, k), "K = {k}");
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
        let set = ContrastProbe::new(&inputs.languages, &inputs.text, &experiment.eval, inputs.text.vocab());
        let blind = |pieces: &Vec<u32>| -> Vec<Score> {
            let mixed = pieces.iter().fold(7u32, |mixed, &piece| (mixed ^ piece).wrapping_mul(0x9e37_79b1));
            let score = |i| Score { rank: mixed.rotate_left(i) % 12, logprob: -((mixed % 97) as f32) };
            (0..=pieces.len() as u32).map(score).collect()
        };
        let answers: Vec<_> =
            set.queries(0).scores.iter().map(|question| question.continuations.iter().map(blind).collect()).collect();
        let rows = record(&set, &inputs, answers).rows;
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
        let set = ContrastProbe::new(languages, text, &experiment.eval, text.vocab());
        let mut asked: BTreeMap<Symbol, usize> = BTreeMap::new();
        let answer = |(at, question): (usize, ScoreQuery)| -> Vec<Vec<Score>> {
            let language = [Language::A, Language::B][at % 2];
            let entity = world.entities().find(|&e| text.opening(language, &[e, world.copula()]) == question.prompt);
            let entity = entity.unwrap();
            let of = |pieces: &Vec<u32>| {
                let word = world.descriptors().find(|&word| text.word(word, language).0 == pieces).unwrap();
                if language == Language::B && languages.mask(Language::B).contains(word) {
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
        let answers: Vec<_> = set.queries(0).scores.into_iter().enumerate().map(answer).collect();
        let rows = record(&set, &inputs, answers).rows;
        for (targets, expected) in [(Targets::Facts, 1.0), (Targets::Types, 2.0)] {
            let measure = Measure::reach(Scorer::Network, targets, Statistic::LogProb);
            let values: Vec<f64> =
                rows.list.iter().filter(|row| row.quantity.measure == measure).map(|row| row.value).collect();
            assert_eq!(values, [expected; 3]);
        }
        // Every word once, of three subjects; as many as asked for, or all that are true of somebody.
        let somebody = |word: &&Symbol| world.entities().any(|entity| world.allows(entity, **word));
        let all = languages.mask(Language::B).symbols().iter().filter(somebody).count();
        assert!(asked.values().all(|&times| times == 3), "{asked:?}");
        assert!((words.min(all)..=words + 1).contains(&asked.len()), "{} of {all}", asked.len());
        assert_eq!(set.masked().count(), asked.len());
    }
}

/// What a scorer would answer that gives every word of every subject a score of its own; all of it on the first piece.
fn answered(
    inputs: &RunInputs,
    questions: Vec<ScoreQuery>,
    score: impl Fn(Language, Symbol, Symbol) -> Score,
) -> Vec<Vec<Vec<Score>>> {
    let (languages, text) = (&inputs.languages, &inputs.text);
    let world = &languages.world;
    let all = languages.all();
    let answer = |(at, question): (usize, ScoreQuery)| {
        let language = all[at % all.len()];
        let opens = |&e: &Symbol| {
            languages.opening(e, language).is_some_and(|words| text.opening(language, &words) == question.prompt)
        };
        let of = |pieces: &Vec<u32>| {
            let entity = world.entities().find(opens).expect("a question begins with its subject");
            let word = world.descriptors().find(|&word| text.word(word, language).0 == pieces).unwrap();
            let first = score(language, entity, word);
            (0..pieces.len()).map(|i| if i == 0 { first } else { Score { rank: 0, logprob: 0.0 } }).collect()
        };
        question.continuations.iter().map(of).collect()
    };
    questions.into_iter().enumerate().map(answer).collect()
}

/// B† is asked for what is masked in B and C† for what is masked in C, a language with a mask else for what is masked
/// nowhere, and A for both and, apart, for what is masked elsewhere.
#[test]
fn every_condition_is_asked_for_its_own_words() {
    let experiment = family(&["eval.subjects=12", "tokenizer.vocab=120"], mixed());
    let inputs = InputCache::default().get(&experiment).unwrap();
    let (languages, vocab) = (&inputs.languages, inputs.text.vocab());
    let [a, b, c] = languages.all() else { panic!() };
    let set = ReachabilityProbe::new(languages, &inputs.text, &experiment.eval, vocab);
    // 0 for words of the right kind, and -1 for others: a mean of 0 says that all were right.
    let masked = |language: Language, word: Symbol| languages.mask(language).contains(word);
    let of = |wanted: &dyn Fn(Symbol) -> bool, condition: &str, targets: &str| {
        let score = |_, _, word: Symbol| Score { rank: 0, logprob: if wanted(word) { 0.0 } else { -1.0 } };
        let rows = record(&set, &inputs, answered(&inputs, set.queries(0).scores, score)).rows;
        common::find(&rows.list, 0, &format!("reach.{condition}.network.{targets}.logprob")).value
    };
    for targets in ["allowed", "forbidden", "other"] {
        assert_eq!(of(&|word| masked(*b, word), "B_masked", targets), 0.0);
        assert_eq!(of(&|word| masked(*c, word), "C_masked", targets), 0.0);
        for condition in ["A", "B", "C"] {
            assert_eq!(of(&|word| !languages.is_masked(word), condition, targets), 0.0);
        }
        assert_eq!(of(&|word| languages.is_masked(word), "A", &format!("{targets}_masked")), 0.0);
        assert!(of(&|word| masked(*b, word), "C_masked", targets) < 0.0);
    }
    assert!(languages.mask(*a).symbols().is_empty());

    // Allowed is what Γ allows; reached is what is reached in the language it is masked in.
    let knows = |_, entity: Symbol, word: Symbol| {
        let allows = languages.world.allows(entity, word);
        Score { rank: if allows { 0 } else { vocab as u32 }, logprob: if allows { 0.0 } else { -1.0 } }
    };
    let answers = answered(&inputs, set.queries(0).scores, knows);
    let recorded = record(&set, &inputs, answers);
    let rows = recorded.rows;
    for condition in ["A", "B", "C", "B_masked", "C_masked"] {
        let value = |what: &str| common::find(&rows.list, 0, &format!("reach.{condition}.network.{what}")).value;
        assert_eq!((value("allowed.share@0.1"), value("forbidden.share@0.1")), (1.0, 0.0), "{condition}");
        assert_eq!((value("allowed.any@0.1"), value("other.logprob")), (1.0, -1.0), "{condition}");
    }
    let reachable = recorded.contrasts.reachable.unwrap();
    let in_language =
        |&language: &Language| reachable[language.name()].iter().map(move |&word| (Symbol(word), language));
    let reached: BTreeSet<(Symbol, Language)> = [b, c].into_iter().flat_map(in_language).collect();
    assert_eq!(reached, set.masked_targets().into_iter().collect());
    assert!([*b, *c].iter().all(|language| reached.iter().any(|(_, of)| of == language)));
    assert!(reached.iter().all(|&(word, language)| masked(language, word)));
}

/// The contrast of one who knows Γ is 1 nat and 2, of one who does not regard the subject 0, in every language and order.
#[test]
fn contrasts_of_a_family_with_several_word_orders() {
    for list in [mixed(), trio()] {
        let masks = list.iter().filter(|entry| entry.mask_share > 0.0).count();
        let experiment = family(&["eval.words=15", "tokenizer.vocab=120"], list);
        let inputs = InputCache::default().get(&experiment).unwrap();
        let (languages, world) = (&inputs.languages, &inputs.languages.world);
        let set = ContrastProbe::new(languages, &inputs.text, &experiment.eval, inputs.text.vocab());
        assert!(set.masked().all(|(language, word)| languages.mask(language).contains(word)));
        let rows = |score: &dyn Fn(Language, Symbol, Symbol) -> Score| {
            record(&set, &inputs, answered(&inputs, set.queries(0).scores, score)).rows.list
        };
        let blind = rows(&|language, _, word| {
            let mixed = (word.0 * 31 + language.index() as u32 * 7).wrapping_mul(0x9e37_79b1);
            Score { rank: mixed % 12, logprob: -((mixed % 97) as f32) }
        });
        assert!(blind.iter().all(|row| row.value.abs() < 1e-12));
        let conditions = languages.conditions().len() + languages.all().len() - masks;
        assert_eq!(
            blind.len(),
            5 * 2 * conditions,
            "languages without a mask are asked for what is masked elsewhere too"
        );
        let known = rows(&|_, entity, word| {
            let nats = match (world.allows(entity, word), world.class(entity) == world.class(word)) {
                (true, _) => 0.0,
                (false, true) => -1.0,
                (false, false) => -2.0,
            };
            Score { rank: 0, logprob: nats }
        });
        for row in
            known.iter().filter(|row| matches!(row.quantity.measure, Measure::Reach(reach) if reach.top.is_none()))
        {
            let expected = if row.quantity.measure.to_string().contains(".facts") { 1.0 } else { 2.0 };
            assert_eq!(row.value, expected, "{row:?}");
        }
        // By word, in the order of `masked`: a score that names the word comes back in its place.
        let named = answered(&inputs, set.queries(0).scores, |language, entity, word| {
            let nats = (word.0 * 4) as f32 + language.index() as f32;
            Score { rank: 0, logprob: if world.allows(entity, word) { nats } else { 0.0 } }
        });
        let by_word = record(&set, &inputs, named).contrasts.nats;
        assert_eq!(by_word.len(), languages.all().len());
        for &language in languages.all() {
            let expected: Vec<f64> =
                set.masked().map(|(_, word)| f64::from(word.0 * 4) + language.index() as f64).collect();
            assert_eq!(by_word[language.name()], expected);
        }
    }
}

/// Where descriptors come before their subjects no sentence begins with a subject and goes on with what is true of it.
#[test]
fn a_language_whose_descriptors_come_first_is_not_asked_and_a_note_says_so() {
    let vos = |entry: LanguageEntry| LanguageEntry { grammar: Some("vos".into()), ..entry };
    let list: Vec<LanguageEntry> =
        trio().into_iter().map(|entry| if entry.name == "C" { vos(entry) } else { entry }).collect();
    let experiment = family(&["tokenizer.vocab=120"], list);
    let inputs = InputCache::default().get(&experiment).unwrap();
    let set = ReachabilityProbe::new(&inputs.languages, &inputs.text, &experiment.eval, inputs.text.vocab());
    let answers = answered(&inputs, set.queries(0).scores, |_, _, _| Score { rank: 0, logprob: 0.0 });
    let recorded = record(&set, &inputs, answers);
    let rows = recorded.rows;
    let of = |name: &str| rows.list.iter().filter(|row| row.quantity.condition == Some(name.parse().unwrap())).count();
    assert!(of("A") > 0 && of("B") > 0 && of("C") == 0 && of("C_masked") == 0);
    assert!(recorded.contrasts.reachable.unwrap().is_empty() && set.masked_targets().is_empty());
    let notes = inputs.notes(&experiment);
    assert!(notes.iter().any(|note| note.contains("are not measured in C: in its word order")), "{notes:?}");
}

/// A scorer that reads the word, whatever its pieces, and knows Γ by heart: a nat for what is true.
#[test]
fn forms_of_a_word_are_the_word_and_others_say_nothing() {
    let settings = ["eval.words=30", "language.mask_share=0.5"];
    for arm in [
        &[][..],
        &["tokenizer.share=none"],
        &["tokenizer.share=other", "tokenizer.cut=apart"],
        &["mixture.withhold=facts", "language.mask_share=0.3"],
        &["tokenizer.cut=morpheme"],
    ] {
        let experiment = tiny(&[&settings[..], arm].concat());
        let inputs = InputCache::default().get(&experiment).unwrap();
        let (languages, text) = (&inputs.languages, &inputs.text);
        let contrast = ContrastProbe::new(languages, text, &experiment.eval, text.vocab());
        let set = FormsProbe::new(languages, text, &contrast).unwrap();
        let opens = |question: &ScoreQuery, entity: Symbol, language: Language| {
            text.opening(language, &languages.opening(entity, language).unwrap()) == question.prompt
        };
        let knows = |question: &ScoreQuery| {
            let opens = |&entity: &Symbol| languages.all().iter().any(|&language| opens(question, entity, language));
            let entity = languages.world.entities().find(opens).expect("a question begins with its subject");
            let read = |pieces: &Vec<u32>| {
                let form = text.segmentation.decode(pieces);
                let word = languages.all().iter().find_map(|&language| languages.lexicon.symbol(&form, language));
                let is_true = word.is_some_and(|word| languages.world.allows(entity, word));
                let score = |i| Score { rank: 0, logprob: if i == 0 && is_true { 1.0 } else { 0.0 } };
                (0..pieces.len()).map(score).collect()
            };
            question.continuations.iter().map(read).collect()
        };
        let queries = set.queries(0).scores;
        for &language in languages.all() {
            let in_language = |query: &ScoreQuery| languages.world.entities().any(|e| opens(query, e, language));
            assert!(queries.iter().any(in_language), "{arm:?}: no prompt in {language:?}");
        }
        let answers: Vec<_> = queries.iter().map(knows).collect();
        let rows = record(&set, &inputs, answers).rows;
        assert_eq!(rows.list.len(), 2 * Form::ALL.len(), "of B and of B†");
        for row in rows.list {
            let Measure::Contrast(Scorer::Network, form) = row.quantity.measure else { panic!() };
            if form == Form::Irregular {
                // Words whose stems do not differ have their own form.
                assert!((0.0..1.0).contains(&row.value) && row.n > 0, "{arm:?} {:?} {}", row.quantity, row.value);
                continue;
            }
            let expected = f64::from(u8::from(!matches!(form, Form::Stem | Form::Unrelated)));
            assert_eq!((row.value, row.n > 0), (expected, true), "{arm:?} {:?}", row.quantity);
        }
    }
}

/// The log-probability of a word is the mean over the subjects that Γ allows it, whatever the order of the questions; and a word is
/// one piece where its rank is below |V|.
#[test]
fn masked_words_have_a_log_probability_and_a_rank() {
    let experiment = tiny(&["eval.rank=true", "language.mask_share=0.5"]);
    let inputs = InputCache::default().get(&experiment).unwrap();
    let (languages, text) = (&inputs.languages, &inputs.text);
    let world = &languages.world;
    let set = ReachabilityProbe::new(languages, text, &experiment.eval, text.vocab());
    let mut expected: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let answer = |(at, question): (usize, ScoreQuery)| -> Vec<Vec<Score>> {
        let language = [Language::A, Language::B][at % 2];
        let entity =
            world.entities().find(|&e| text.opening(language, &[e, world.copula()]) == question.prompt).unwrap();
        let of = |pieces: &Vec<u32>| {
            let word = world.descriptors().find(|&word| text.word(word, language).0 == pieces).unwrap();
            let nats = -((7 * entity.0 + word.0) as f64);
            if language == Language::B && languages.mask(Language::B).contains(word) && world.allows(entity, word) {
                expected.entry(word.0).or_default().push(nats);
            }
            let score = |i| Score { rank: 0, logprob: if i == 0 { nats as f32 } else { 0.0 } };
            (0..=pieces.len()).map(score).collect()
        };
        question.continuations.iter().map(of).collect()
    };
    let answers: Vec<_> = set.queries(0).scores.into_iter().enumerate().map(answer).collect();
    let found = record(&set, &inputs, answers).contrasts.logprob;
    assert!(expected.len() > 3 && found.keys().eq(["B"]));
    assert!(found["B"].keys().eq(expected.keys()));
    for (word, nats) in expected {
        assert!((found["B"][&word] - nats.iter().sum::<f64>() / nats.len() as f64).abs() < 1e-4);
    }

    for settings in [
        ["tokenizer.kind=bpe", "tokenizer.boundary=token", "tokenizer.regime=vanilla"],
        ["tokenizer.kind=bpe", "tokenizer.boundary=first", "tokenizer.regime=balanced"],
        ["tokenizer.kind=bpe", "tokenizer.boundary=last", "tokenizer.regime=parity"],
        ["tokenizer.kind=wordpiece", "tokenizer.boundary=token", "tokenizer.regime=vanilla"],
    ] {
        let settings = [
            &settings[..],
            &[
                "eval.rank=true",
                "tokenizer.sees_masked=true",
                "tokenizer.vocab=300",
                "language.properties=20",
                "language.values=10",
            ],
        ];
        let experiment = tiny(&settings.concat());
        let RunInputs { languages, text, probes } = InputCache::default().get(&experiment).unwrap();
        let mut counts = [0; 3];
        for &symbol in languages.mask(Language::B).symbols() {
            let rank = probes.rank((Language::B, symbol));
            let is_below = rank.is_some_and(|rank| (rank as usize) < text.vocab());
            assert_eq!(is_below, text.segmentation.core(symbol, Language::B).len() == 1, "{settings:?}: {rank:?}");
            counts[if rank.is_none() { 2 } else { usize::from(is_below) }] += 1;
        }
        assert!(counts[0] > 0 && counts[1] > 0, "{settings:?}: {counts:?} above, below, without");
    }
    let rank_of = |settings: &[&str]| {
        let RunInputs { languages, probes, .. } = InputCache::default().get(&tiny(settings)).unwrap();
        languages.mask(Language::B).symbols().iter().filter_map(|&it| probes.rank((Language::B, it))).count()
    };
    assert_eq!(
        rank_of(&[]) + rank_of(&["eval.rank=true", "tokenizer.kind=unigram", "tokenizer.allow_shortfall=true"]),
        0
    );
}
