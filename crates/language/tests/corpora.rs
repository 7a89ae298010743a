//! Mixture, tasks, conditions and mask: what a model is trained and judged on.

use crate::common::small;
use crate::sentences::joined;
use invitro_language::*;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

fn paper() -> Languages {
    Languages::new(&LanguageConfig::default(), 0).unwrap()
}

/// Within five standard errors of a share.
fn near(count: usize, n: usize, share: f64) -> bool {
    (count as f64 / n as f64 - share).abs() < 5.0 * (share * (1.0 - share) / n as f64).sqrt() + 1e-9
}

#[test]
fn length_and_masked_share_of_the_papers_sentences() {
    let languages = paper();
    let stream = Stream::new(0, "test/paper");
    let mut sampler = languages.sampler();
    let n = 40_000;
    let (mut words, mut masked, mut longest) = (0, 0, 0);
    for row in 0..n {
        let sentence = sampler.sentence(Language::A, &mut stream.at(0, row));
        words += sentence.symbols.len();
        longest = longest.max(sentence.symbols.len());
        masked += usize::from(languages.mask(Language::B).touches(&sentence.symbols));
    }
    let mean = words as f64 / n as f64;
    assert!((8.8..10.2).contains(&mean), "{mean} words a sentence");
    assert!(longest > 40, "the tail is long: {longest}");
    let share = masked as f64 / n as f64;
    assert!((0.145..0.175).contains(&share), "{share} of the sentences have a masked word");
}

#[test]
fn training_keeps_its_shares_and_never_shows_a_masked_word() {
    let languages = paper();
    for lambda in [0.05, 0.5] {
        let mixture = MixtureConfig { lambda, ..Default::default() };
        let process = Process::new(&languages);
        let mut source = Source::training(&languages, &mixture, 64, 1);
        let n = 30_000;
        let (mut of_b, mut tasks) = (0, [0; 3]);
        for i in 0..n {
            let sequence = source.draw(i / 64, i % 64).unwrap();
            tasks[sequence.task as usize] += 1;
            if sequence.language == Language::B {
                of_b += 1;
                assert!(!sequence.masked && !languages.mask(Language::B).touches(&sequence.sentence.symbols));
                assert!(!languages.mask(Language::B).touches(&sequence.prompt));
            }
        }
        let n = n as usize;
        let left = process.size_left(Language::B, &mixture);
        assert!(near(of_b, n, left / (1.0 + left)), "λ {lambda}: {of_b} of {n} in B, {left} left");
        for (task, share) in tasks.iter().zip(mixture.tasks) {
            assert!(near(*task, n, share), "{tasks:?}");
        }
    }
    let half = MixtureConfig { lambda: 0.5, ..Default::default() };
    assert!((Process::new(&languages).size_left(Language::B, &half) - 0.42).abs() < 0.01);
}

/// In a world so small that sentences come again and again, none that is evaluated was trained on.
#[test]
fn held_out_is_held_out() {
    let languages = Languages::new(&small(), 0).unwrap();
    let mixtures = [MixtureConfig::default(), MixtureConfig { corpus: Corpus::Finite, ..Default::default() }];
    for mixture in mixtures {
        let mut source = Source::training(&languages, &mixture, 64, 1);
        let drawn = (0..40_000).map(|i| source.draw(i / 64, i % 64).unwrap().sentence.symbols);
        let trained: HashSet<Vec<Symbol>> = drawn.collect();
        let mut again = 0;
        for condition in languages.conditions() {
            for task in Task::WITHIN {
                let mut evaluated = Source::condition(&languages, "test", condition, task).from_pool(Pool::HeldOut);
                let mut any = Source::condition(&languages, "test", condition, task);
                for row in 0..200 {
                    assert!(!trained.contains(&evaluated.draw(0, row).unwrap().sentence.symbols));
                    again += usize::from(trained.contains(&any.draw(0, row).unwrap().sentence.symbols));
                }
            }
        }
        assert!(again > 100, "the world is not small enough to tell: {again}");
    }
}

#[test]
fn one_sentence_in_64_is_held_out() {
    let languages = paper();
    let (mut sampler, stream) = (languages.sampler(), Stream::new(0, "test/held out"));
    let n = 60_000;
    let held_out =
        (0..n).filter(|&row| languages.is_held_out(&sampler.sentence(Language::A, &mut stream.at(0, row)).symbols));
    assert!(near(held_out.count(), n as usize, 1.0 / HELD_OUT_PARTS as f64));
}

#[test]
fn prompts_are_what_the_task_says() {
    let languages = paper();
    for condition in languages.conditions() {
        for task in Task::WITHIN {
            let mut source = Source::condition(&languages, "test", condition, task);
            for row in 0..300 {
                let sequence = source.draw(0, row).unwrap();
                assert_eq!((sequence.task, sequence.language), (task, condition.language));
                assert_eq!(sequence.masked, condition == LanguageCondition::B_MASKED);
                assert_eq!(
                    sequence.masked,
                    sequence.language == Language::B && languages.mask(Language::B).touches(&sequence.sentence.symbols)
                );
                let sorted = |mut words: Vec<Symbol>| (words.sort_unstable(), words).1;
                let prompt = sorted(sequence.prompt.clone());
                match task {
                    Task::T0 | Task::T3 => assert!(prompt.is_empty()),
                    Task::T1 => assert_eq!(prompt, sorted(sequence.sentence.symbols.clone())),
                    Task::T2 => {
                        for kind in invitro_language::corpus::task::KINDS {
                            let given: HashSet<Symbol> = prompt.iter().copied().collect();
                            let has: Vec<usize> = sequence.sentence.positions(kind).collect();
                            let any = has.iter().any(|&i| given.contains(&sequence.sentence.symbols[i]));
                            assert_eq!(any, !has.is_empty(), "one to all of each kind");
                        }
                        let function = |s: &Symbol| !languages.world.category(*s).is_open();
                        let modifier = |s: &Symbol| languages.world.category(*s).is_modifier();
                        assert!(!prompt.iter().any(|s| function(s) || modifier(s)));
                    }
                }
            }
        }
    }
}

#[test]
fn a_sequence_as_text() {
    let languages = Languages::new(&small(), 0).unwrap();
    let sequence = Source::condition(&languages, "test", LanguageCondition::B, Task::T1).draw(0, 0).unwrap();
    let text = sequence.text(&languages);
    let (prompt, sentence) =
        text.strip_prefix("<T1:B> ").unwrap().strip_suffix(" <eos>").unwrap().split_once(" <out> ").unwrap();
    assert!(languages.checker().text(sentence, Language::B).facts);
    let sorted = |text: &str| {
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        words.sort();
        words
    };
    assert_eq!(sorted(prompt), sorted(sentence));
    let free =
        Source::condition(&languages, "test", LanguageCondition::A, Task::T0).draw(0, 0).unwrap().text(&languages);
    assert!(free.starts_with("<T0:A> ") && !free.contains("<out>") && free.ends_with(" <eos>"));
}

#[test]
fn any_row_can_be_made_alone() {
    let languages = Languages::new(&small(), 0).unwrap();
    let mixture = MixtureConfig::default();
    let mut source = Source::training(&languages, &mixture, 8, 1);
    let all: Vec<Sequence> = (0..40).map(|i| source.draw(i / 8, i % 8).unwrap()).collect();
    for i in [39u64, 3, 17] {
        assert_eq!(Source::training(&languages, &mixture, 8, 1).draw(i / 8, i % 8).unwrap(), all[i as usize]);
    }
    assert_ne!(all[0], all[8]);
    let other = Languages::new(&small(), 1).unwrap();
    assert_ne!(Source::training(&other, &mixture, 8, 1).draw(0, 0).unwrap(), all[0]);
}

#[test]
fn sequences_too_long_are_redrawn_and_never_cut() {
    let languages = Languages::new(&small(), 0).unwrap();
    let mut source = Source::training(&languages, &MixtureConfig::default(), 8, 1);
    for row in 0..200 {
        let sequence = source.draw_where(0, row, |s| s.words(&languages).count() <= 12).unwrap();
        assert!(sequence.words(&languages).count() <= 12);
        assert!(languages.checker().symbols(&sequence.sentence.symbols, Language::A).facts);
    }
    let never = source.draw_where(0, 0, |_| false).unwrap_err().to_string();
    assert_eq!(never, "no training sequence that fits was found in 100000 draws");
}

#[test]
fn a_finite_corpus_repeats_every_epoch_in_another_order() {
    let languages = Languages::new(&small(), 0).unwrap();
    let mixture = MixtureConfig { corpus: Corpus::Finite, sentences: 50, epochs: 3, ..Default::default() };
    let mut source = Source::training(&languages, &mixture, 8, 1);
    let mut texts = |epoch: u64| -> Vec<String> {
        (50 * epoch..50 * (epoch + 1)).map(|i| source.draw(i / 8, i % 8).unwrap().text(&languages)).collect()
    };
    let (first, second) = (texts(0), texts(1));
    assert_ne!(first, second);
    let set = |list: &[String]| list.iter().cloned().collect::<HashSet<_>>();
    assert_eq!(set(&first), set(&second));
    assert!(set(&first).len() > 45);
}

#[test]
fn an_epoch_of_a_finite_corpus_takes_every_row_once() {
    let languages = Languages::new(&small(), 5).unwrap();
    for n in [1, 2, 7, 64, 1000] {
        let fresh = MixtureConfig::default();
        let finite = MixtureConfig { corpus: Corpus::Finite, sentences: n, epochs: 10, ..fresh.clone() };
        // A finite corpus has the first rows of a fresh one.
        let mut source = Source::training(&languages, &fresh, n, 1);
        let rows: Vec<String> = (0..n).map(|row| source.draw(0, row).unwrap().text(&languages)).collect();
        let mut source = Source::training(&languages, &finite, n, 1);
        let mut epoch = |epoch: u64| -> Vec<String> {
            (0..n).map(|row| source.draw(epoch, row).unwrap().text(&languages)).collect()
        };
        let taken = epoch(3);
        if n == 1000 {
            let place = |text: &String| rows.iter().position(|row| row == text).unwrap();
            let rising = taken.windows(2).filter(|pair| place(&pair[0]) < place(&pair[1])).count();
            assert!(rising < 700, "the order is mixed");
            assert_ne!(taken, epoch(4));
        }
        let sorted = |mut list: Vec<String>| {
            list.sort_unstable();
            list
        };
        assert_eq!(sorted(taken), sorted(rows));
    }
}

/// A world of so few sentences that their frequencies can be counted.
fn tiny() -> LanguageConfig {
    LanguageConfig {
        classes: 2,
        entities: 2,
        names: 1,
        properties: 6,
        values: 4,
        valid_share: 0.5,
        relations: 1,
        adjectives: 1,
        adverbs: 2,
        adjective_rate: 0.5,
        mask_share: 0.5,
        ..Default::default()
    }
}

/// Whether counts agree with probabilities, for everything seen often.
fn frequencies_agree<K: std::fmt::Debug + Ord>(counts: &BTreeMap<K, (usize, f64)>, n: usize) {
    let mut often = 0;
    for (key, &(count, ln_p)) in counts.iter().filter(|(_, c)| c.0 > 60) {
        assert!(near(count, n, ln_p.exp()), "{key:?}: {} drawn, {} expected", count as f64 / n as f64, ln_p.exp());
        often += 1;
    }
    assert!(often > 15, "only {often} were seen often");
}

#[test]
fn sentences_are_as_frequent_as_their_probability_says() {
    for grammar in ["svo", "vso"] {
        let languages = Languages::new(&LanguageConfig { grammar: grammar.into(), ..tiny() }, 0).unwrap();
        let process = Process::new(&languages);
        let (mut sampler, stream) = (languages.sampler(), Stream::new(0, "test/frequency"));
        let mut counts: BTreeMap<Vec<Symbol>, (usize, f64)> = BTreeMap::new();
        let n = 100_000;
        for row in 0..n {
            let symbols = sampler.sentence(Language::A, &mut stream.at(0, row)).symbols;
            let ln_p = || (0, process.sentence(&symbols, Language::A));
            counts.entry(symbols.clone()).or_insert_with(ln_p).0 += 1;
        }
        frequencies_agree(&counts, n as usize);
        assert_eq!(process.sentence(&[languages.world.copula()], Language::A), f64::NEG_INFINITY);
    }
}

#[test]
fn sequences_are_as_frequent_as_their_probability_says() {
    let usual = MixtureConfig { lambda: 0.5, ..Default::default() };
    let mixtures = [
        usual.clone(),
        MixtureConfig { withhold: Withhold::Facts, ..usual.clone() },
        MixtureConfig { translation: 0.3, tags: Tags::Task, ..usual.clone() },
        MixtureConfig { translation: 0.3, withhold: Withhold::Nothing, ..usual.clone() },
        MixtureConfig { schedule: vec![0.1, 0.7], ..usual.clone() },
        MixtureConfig { code_switch: 0.2, tasks: [1.0, 0.0, 0.0], ..usual },
    ];
    mixtures.into_par_iter().for_each(|mixture| {
        // Facts can be withheld of those who share some.
        let facts = LanguageConfig { entities: 4, mask_share: 0.3, ..tiny() };
        let world = if mixture.withhold == Withhold::Facts { facts } else { tiny() };
        let make = |seed| Languages::new(&world, seed).ok()?.under(&mixture).ok();
        let languages = (1..100).find_map(make).unwrap();
        let process = Process::new(&languages);
        let n = 100_000;
        let mut source = Source::training(&languages, &mixture, 1, n);
        let mut counts: BTreeMap<String, (usize, f64)> = BTreeMap::new();
        for step in 0..n {
            let sequence = source.draw(step, 0).unwrap();
            // What is said in another language may look the same there.
            let text = format!("{} {:?}", sequence.text(&languages), sequence.switched);
            counts.entry(text).or_insert_with(|| (0, process.sequence(&sequence, &mixture))).0 += 1;
        }
        frequencies_agree(&counts, n as usize);
    });
}

#[test]
fn prompts_are_as_frequent_as_their_probability_says() {
    for given in Given::ALL {
        let mixture = MixtureConfig { given, ..Default::default() };
        let languages = Languages::new(&tiny(), 0).unwrap().under(&mixture).unwrap();
        let process = Process::new(&languages);
        let stream = Stream::new(0, "test/prompts");
        // A sentence with words that repeat, two objects and two descriptors.
        let sentence = (0..)
            .map(|row| languages.sampler().sentence(Language::A, &mut stream.at(0, row)))
            .find(|s| s.positions(Terminal::Object).count() == 2 && s.positions(Terminal::Descriptor).count() == 2)
            .unwrap();
        let mut sequence = Sequence { sentence, ..Default::default() };
        let mut counts: HashMap<Vec<Symbol>, (usize, f64)> = HashMap::new();
        let mut rng = stream.at(1, 0);
        let n = 50_000;
        for _ in 0..n {
            sequence.prepare(Task::T2, languages.given, &mut rng);
            counts.entry(sequence.prompt.clone()).or_insert_with(|| (0, process.prompt(&sequence))).0 += 1;
        }
        let sum: f64 = counts.values().map(|(_, p)| p.exp()).sum();
        assert!((sum - 1.0).abs() < 0.01, "all prompts together have probability {sum}");
        frequencies_agree(&counts.into_iter().collect(), n);
    }
}

#[test]
fn one_word_of_each_kind_is_given_for_each_phrase() {
    let mixture = MixtureConfig { given: Given::OnePerPhrase, ..Default::default() };
    // A grammar with several phrases in a sentence.
    let (_file, config) = joined("svo", 0.4);
    let languages = Languages::new(&config, 0).unwrap().under(&mixture).unwrap();
    let mut source = Source::condition(&languages, "test", LanguageCondition::A, Task::T2);
    let process = Process::new(&languages);
    let (mut phrases_seen, mut fewer) = (0, 0);
    for row in 0..500 {
        let sequence = source.draw(0, row).unwrap();
        let sentence = &sequence.sentence;
        let phrases = sentence.places.last().unwrap().phrase + 1;
        phrases_seen = phrases_seen.max(phrases);
        let counts = (0..phrases).flat_map(|phrase| {
            let of_phrase = move |&at: &usize| sentence.places[at].phrase == phrase;
            let count = move |kind| sentence.positions(kind).filter(of_phrase).count();
            invitro_language::corpus::task::KINDS.map(count)
        });
        let counts: Vec<usize> = counts.collect();
        fewer += counts.iter().map(|count| count.saturating_sub(1)).sum::<usize>();
        assert_eq!(sequence.prompt.len(), counts.iter().filter(|&&count| count > 0).count());
        assert!(process.prompt(&sequence).is_finite(), "one of each can be assigned");
    }
    assert!(phrases_seen > 1 && fewer > 100);
    // Without the setting, prompts are longer.
    let usual = Languages::new(&small(), 0).unwrap();
    let mut usual = Source::condition(&usual, "test", LanguageCondition::A, Task::T2);
    assert!((0..500).any(|row| usual.draw(0, row).unwrap().prompt.len() > 4));
}

#[test]
fn a_control_that_withholds_nothing_has_masked_words() {
    let languages = Languages::new(&small(), 0).unwrap();
    let mixture = MixtureConfig { lambda: 0.5, withhold: Withhold::Nothing, ..Default::default() };
    let sources = [Source::training(&languages, &mixture, 8, 1), Source::mixture(&languages, "test", &mixture)];
    for mut source in sources {
        let n = 3000;
        let rows: Vec<Sequence> = (0..n).map(|row| source.draw(0, row).unwrap()).collect();
        let of_b = rows.iter().filter(|s| s.language == Language::B).count();
        assert!(near(of_b, n as usize, languages.family.shares(&mixture)[1]));
        assert!(rows.iter().any(|s| s.masked) && rows.iter().all(|s| !s.masked || s.language == Language::B));
    }
}
