//! Mixture interventions: withheld facts, translation, code switching, schedules, parallel text.

use crate::common::{small, worlds};
use invitro_language::*;
use proptest::prelude::*;
use rayon::prelude::*;
use std::collections::HashSet;

fn under(config: &LanguageConfig, mixture: &MixtureConfig) -> Languages {
    Languages::new(config, 0).unwrap().under(mixture).unwrap()
}

fn balanced() -> MixtureConfig {
    MixtureConfig { lambda: 1.0, ..Default::default() }
}

/// Every switch by itself, and all that go together.
fn switches() -> Vec<MixtureConfig> {
    let with = |change: fn(&mut MixtureConfig)| {
        let mut mixture = balanced();
        change(&mut mixture);
        mixture
    };
    vec![
        with(|_| {}),
        with(|m| m.translation = 0.5),
        with(|m| m.code_switch = 0.5),
        with(|m| m.schedule = vec![0.0, 1.0, 0.3]),
        with(|m| m.tags = Tags::Task),
        with(|m| m.parallel = Parallel::Symbols),
        with(|m| {
            m.code_switch = 0.5;
            m.schedule = vec![0.2, 0.8];
            m.parallel = Parallel::Symbols;
            m.tags = Tags::Task;
        }),
        with(|m| {
            m.translation = 0.3;
            m.code_switch = 0.5;
            m.schedule = vec![0.2, 0.8];
            m.tags = Tags::Task;
        }),
        with(|m| {
            m.corpus = Corpus::Finite;
            m.sentences = 20_000;
            m.parallel = Parallel::Symbols;
            m.code_switch = 0.2;
        }),
    ]
}

/// Whether a row says, in B, a word that is masked there.
fn says_masked(languages: &Languages, row: &Sequence) -> bool {
    let mut words = row.prompt_words().chain(row.sentence_words());
    words.any(|(symbol, language)| languages.mask(language).contains(symbol))
}

/// Whether a row with words of B says a descriptor in one phrase with a subject of which B withholds it; told by the
/// phrases' bounds in the sentence, not by what the sampler knows of it.
fn states_withheld(languages: &Languages, row: &Sequence) -> bool {
    let world = &languages.world;
    let mut words = row.prompt_words().chain(row.sentence_words());
    if !words.any(|(_, language)| language == Language::B) {
        return false;
    }
    let facts = languages.facts(Language::B).unwrap();
    let is_separator = |symbol: &Symbol| world.category(*symbol) == Category::Separator;
    row.sentence.symbols.split(is_separator).any(|phrase| {
        let pairs = phrase.iter().flat_map(|&entity| phrase.iter().map(move |&descriptor| (entity, descriptor)));
        let withheld = |(entity, descriptor): (Symbol, Symbol)| {
            world.allows(entity, descriptor) && facts.contains(world, entity, descriptor)
        };
        pairs.into_iter().any(withheld)
    })
}

#[test]
fn a_million_rows_under_every_switch_show_nothing_that_is_withheld() {
    // Half of them where words are withheld, half where facts are.
    let (blocks, batch) = (250u64, 250u64);
    for (at, mixture) in switches().into_iter().enumerate() {
        for withhold in [Withhold::Words, Withhold::Facts] {
            let mixture = MixtureConfig { withhold, ..mixture.clone() };
            let languages = under(&small(), &mixture);
            let of_b: u64 = (0..8u64)
                .into_par_iter()
                .map(|part| {
                    let mut source = Source::training(&languages, &mixture, batch, 8 * blocks);
                    let mut of_b = 0;
                    for step in part * blocks..(part + 1) * blocks {
                        for row in 0..batch {
                            let row = source.draw(step, row).unwrap();
                            assert!(!languages.is_held_out(&row.sentence.symbols), "{at}");
                            match withhold {
                                Withhold::Facts => assert!(!states_withheld(&languages, &row), "{at}: {row:?}"),
                                _ => assert!(!says_masked(&languages, &row), "{at}: {row:?}"),
                            }
                            of_b += u64::from(row.language == Language::B);
                        }
                    }
                    of_b
                })
                .sum();
            // With nothing of B there would be nothing to hide.
            assert!(of_b > 8 * blocks * batch / 5, "{at}: {of_b}");
        }
    }
}

#[test]
fn without_a_check_the_same_rows_would_show_it() {
    // The checks above can fail.
    for mixture in [MixtureConfig { code_switch: 0.5, ..balanced() }, MixtureConfig { translation: 0.5, ..balanced() }]
    {
        let shown = |withhold: Withhold, shows: fn(&Languages, &Sequence) -> bool| {
            let languages = under(&small(), &MixtureConfig { withhold, ..mixture.clone() });
            let mut source =
                Source::training(&languages, &MixtureConfig { withhold: Withhold::Nothing, ..mixture.clone() }, 8, 1);
            (0..2000).any(|row| shows(&languages, &source.draw(0, row).unwrap()))
        };
        assert!(shown(Withhold::Words, says_masked) && shown(Withhold::Facts, states_withheld));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn withheld_facts_leave_every_word_something(config in worlds(), seed in 0u64..1000) {
        let config = LanguageConfig { mask_share: config.mask_share / 5.0, ..config };
        let mixture = MixtureConfig { withhold: Withhold::Facts, ..Default::default() };
        // Where entities share too little, nothing can be withheld, which is an error that says so.
        let Ok(without_facts) = Languages::new(&config, seed) else { return Ok(()) };
        let languages = match without_facts.clone().under(&mixture) {
            Ok(languages) => languages,
            Err(error) => {
                prop_assert!(error.to_string().contains("mask_share"), "{error}");
                return Ok(());
            }
        };
        let (world, facts) = (&languages.world, languages.facts(Language::B).unwrap());
        prop_assert_eq!(languages.facts(Language::A).unwrap().count(), 0);
        prop_assert!(world.descriptors().all(|word| !languages.is_masked(word)));
        let mut descriptors_seen = HashSet::new();
        for entity in world.entities() {
            let allowed = world.allowed(entity);
            let stated: Vec<Symbol> =
                allowed.iter().copied().filter(|&word| !facts.contains(world, entity, word)).collect();
            prop_assert!(!stated.is_empty(), "nothing is left to say of an entity");
            descriptors_seen.extend(stated.iter().copied());
            // Who shares the Γ of an entity shares what is withheld of it.
            let like = |&other: &Symbol| world.class(other) == world.class(entity) && world.allowed(other) == allowed;
            for other in world.entities().filter(like) {
                let alike = |&word: &Symbol| facts.contains(world, entity, word) == facts.contains(world, other, word);
                prop_assert!(allowed.iter().all(alike));
            }
        }
        let true_of_some: HashSet<Symbol> = world.entities().flat_map(|entity| world.allowed(entity)).collect();
        prop_assert_eq!(descriptors_seen, true_of_some);
        // No word changes.
        prop_assert!(world.symbols().all(|s| languages.form(s, Language::B) == without_facts.form(s, Language::B)));
    }
}

/// In a tiny world Γ repeats before all values are used: entities with different keys have the same one.
#[test]
fn facts_are_withheld_of_all_entities_with_the_same_gamma() {
    let tiny = LanguageConfig {
        classes: 2,
        entities: 9,
        names: 1,
        properties: 6,
        values: 8,
        valid_share: 0.5,
        relations: 1,
        mask_share: 0.2,
        ..small()
    };
    let mixture = MixtureConfig { withhold: Withhold::Facts, ..Default::default() };
    let mut shared = 0;
    for seed in 0..40 {
        let Ok(languages) = Languages::new(&tiny, seed).and_then(|languages| languages.under(&mixture)) else {
            continue;
        };
        let (world, facts) = (&languages.world, languages.facts(Language::B).unwrap());
        for entity in world.entities() {
            let allowed = world.allowed(entity);
            let is_like = |&other: &Symbol| {
                let other_key = world.key(other).map(|key| key as usize % tiny.values);
                let key = world.key(entity).map(|key| key as usize % tiny.values);
                world.class(other) == world.class(entity) && other_key != key && world.allowed(other) == allowed
            };
            for other in world.entities().filter(is_like) {
                let withheld = |entity| allowed.iter().map(|&d| facts.contains(world, entity, d)).collect::<Vec<_>>();
                assert_eq!(withheld(entity), withheld(other), "seed {seed}");
                shared += withheld(entity).into_iter().filter(|&withheld| withheld).count();
            }
        }
    }
    assert!(shared > 0, "no world has what is tested");
}

#[test]
fn too_many_facts_are_not_withheld() {
    let config = LanguageConfig { mask_share: 0.7, ..small() };
    let mixture = MixtureConfig { withhold: Withhold::Facts, ..Default::default() };
    let error = Languages::new(&config, 0).unwrap().under(&mixture).unwrap_err().to_string();
    assert!(error.starts_with("`language.mask_share` is 0.7 (") && error.contains("at most 0."), "{error}");
}

#[test]
fn a_translation_says_the_same_in_both_languages() {
    let mixture = MixtureConfig { translation: 0.999, ..balanced() };
    let list = [
        LanguageEntry::new("A"),
        LanguageEntry { mask_share: 0.25, grammar: Some("sov".into()), ..LanguageEntry::new("B") },
    ];
    let languages = Languages::of_family(&small(), &list, 0).unwrap().under(&mixture).unwrap();
    let [a, b] = [languages.all()[0], languages.all()[1]];
    let mut source = Source::training(&languages, &mixture, 8, 1);
    let mut into_b = 0;
    let rows: Vec<Sequence> = (0..2000).map(|row| source.draw(0, row).unwrap()).collect();
    let translations: Vec<&Sequence> = rows.iter().filter(|row| row.task == Task::T3).collect();
    assert!(translations.len() > 1900);
    let mut checker = languages.checker();
    for row in &translations {
        let from = row.from.unwrap();
        assert_ne!(from, row.language);
        into_b += usize::from(row.language == b);
        assert!(checker.symbols(&row.prompt, from).facts && checker.symbols(&row.sentence.symbols, row.language).facts);
        let sorted = |symbols: &[Symbol]| {
            let mut sorted = symbols.to_vec();
            sorted.sort_unstable();
            sorted
        };
        assert_eq!(sorted(&row.prompt), sorted(&row.sentence.symbols));
    }
    assert!((850..1150).contains(&into_b), "both directions alike: {into_b}");
    let first = translations.iter().find(|row| row.language == b).unwrap();
    let text = first.text(&languages);
    let given = languages.text(&first.prompt, a);
    let wanted = languages.text(&first.sentence.symbols, b);
    assert_eq!(text, format!("<T3:A>B> {given} <out> {wanted} <eos>"));
    let by_task = languages.under(&MixtureConfig { tags: Tags::Task, ..mixture }).unwrap();
    assert!(first.text(&by_task).starts_with("<T3> "));
    // Masked translations have a withheld word, the others have none.
    for (from, to, masked) in [(a, b, true), (b, a, true), (a, b, false)] {
        let mut source = Source::translations(&by_task, "test", from, to, masked);
        assert!((0..50).all(|row| by_task.withholds(b, &source.draw(0, row).unwrap().sentence) == masked));
    }
}

#[test]
fn a_schedule_gives_every_stage_its_share() {
    let mixture = MixtureConfig { schedule: vec![0.0, 0.25, 1.0], withhold: Withhold::Nothing, ..Default::default() };
    let languages = under(&small(), &mixture);
    assert_eq!(languages.family.shares(&mixture).iter().map(|s| (s * 12.0).round()).collect::<Vec<_>>(), [7.0, 5.0]);
    let (steps, batch) = (9, 500);
    let mut source = Source::training(&languages, &mixture, batch, steps);
    for step in 0..steps {
        let of_b = (0..batch).filter(|&row| source.draw(step, row).unwrap().language == Language::B).count();
        match step / 3 {
            0 => assert_eq!(of_b, 0),
            1 => assert!((85..165).contains(&of_b), "{of_b}"),
            _ => assert_eq!(of_b, batch as usize),
        }
    }
    let wrong = |mixture: MixtureConfig| mixture.validate().unwrap_err().to_string();
    let finite = MixtureConfig { corpus: Corpus::Finite, ..mixture };
    assert!(wrong(finite).contains("`mixture.corpus` is finite"));
    assert!(wrong(MixtureConfig { schedule: vec![0.0; 3], ..Default::default() }).contains("only zeros"));
}

#[test]
fn words_are_switched_as_often_as_asked() {
    let mixture = MixtureConfig { code_switch: 0.3, ..balanced() };
    let languages = under(&small(), &mixture);
    let mut source = Source::training(&languages, &mixture, 8, 1);
    let (mut words, mut switched) = (0, 0);
    for row in 0..4000 {
        let row = source.draw(0, row).unwrap();
        // One word is in one language throughout a row.
        for (symbol, language) in row.prompt_words().chain(row.sentence_words()) {
            let other = row.switched.iter().find(|(one, _)| *one == symbol).map(|&(_, language)| language);
            assert_eq!(language, other.unwrap_or(row.language));
        }
        let distinct: HashSet<Symbol> = row.sentence.symbols.iter().copied().collect();
        // B may withhold some descriptors of A.
        let free = |symbol: &&Symbol| !languages.is_masked(**symbol);
        words += distinct.iter().filter(free).count();
        switched += row.switched.len();
    }
    let share = switched as f64 / words as f64;
    assert!((share - 0.3).abs() < 0.02, "{share}");
}

#[test]
fn parallel_texts_say_the_same_sentences() {
    let mixture = MixtureConfig { lambda: 0.5, parallel: Parallel::Symbols, ..Default::default() };
    let languages = under(&small(), &mixture);
    let (steps, batch) = (40, 64);
    let mut source = Source::training(&languages, &mixture, batch, steps);
    let (mut of_b, mut alone) = (0, 0);
    for step in 0..steps {
        let rows: Vec<Sequence> = (0..batch).map(|row| source.draw(step, row).unwrap()).collect();
        let sentences_in = |language| -> Vec<&[Symbol]> {
            let of = rows.iter().filter(|row| row.language == language);
            of.map(|row| &row.sentence.symbols[..]).collect()
        };
        let in_a: HashSet<&[Symbol]> = sentences_in(Language::A).into_iter().collect();
        let in_b = sentences_in(Language::B);
        of_b += in_b.len();
        alone += in_b.iter().filter(|sentence| !in_a.contains(*sentence)).count();
        // Rows do not depend on the order of the calls.
        let again = Source::training(&languages, &mixture, batch, steps).draw(step, 7).unwrap();
        assert_eq!(again, rows[7]);
    }
    assert_eq!(alone, 0);
    let process = Process::new(&languages);
    let left = process.size_left(Language::B, &mixture);
    let expected = left / (1.0 + left) * (steps * batch) as f64;
    assert!((of_b as f64 - expected).abs() < 5.0 * expected.sqrt(), "{of_b}, not {expected}");
}

/// A sentence whose row is too long in the language of the larger text is in neither text.
#[test]
fn parallel_texts_say_the_same_sentences_where_long_rows_are_redrawn() {
    let mixture = MixtureConfig { lambda: 0.5, parallel: Parallel::Symbols, ..Default::default() };
    let languages = under(&small(), &mixture);
    let mut source = Source::training(&languages, &mixture, 64, 40);
    let is_short = |row: &Sequence| row.prompt.len() + row.sentence.symbols.len() <= 12;
    for step in 0..40 {
        let rows: Vec<Sequence> = (0..64).map(|row| source.draw_where(step, row, is_short).unwrap()).collect();
        let of = |language| rows.iter().filter(move |row| row.language == language);
        let in_a: HashSet<&[Symbol]> = of(Language::A).map(|row| &row.sentence.symbols[..]).collect();
        let alone = of(Language::B).filter(|row| !in_a.contains(&row.sentence.symbols[..])).count();
        assert_eq!((alone, rows.iter().all(is_short)), (0, true));
    }
}

/// Withheld words and facts change neither the share of translations nor that of their directions.
#[test]
fn translations_are_as_frequent_as_set_where_something_is_withheld() {
    let three = [("A", 0.0), ("B", 0.3), ("C", 0.0)]
        .map(|(name, mask_share)| LanguageEntry { mask_share, ..LanguageEntry::new(name) });
    for (languages, withhold) in [(&[][..], Withhold::Words), (&[], Withhold::Facts), (&three, Withhold::Words)] {
        let mixture = MixtureConfig { lambda: 0.5, translation: 0.4, withhold, ..Default::default() };
        let languages = Languages::of_family(&small(), languages, 0).unwrap().under(&mixture).unwrap();
        let n = 20_000;
        let mut source = Source::training(&languages, &mixture, n, 1);
        let rows: Vec<Sequence> = (0..n).map(|row| source.draw(0, row).unwrap()).collect();
        let near = |count: usize, of: f64, share: f64| (count as f64 - of * share).abs() < 4.5 * (of * share).sqrt();
        let translations: Vec<&Sequence> = rows.iter().filter(|row| row.task == Task::T3).collect();
        assert!(near(translations.len(), n as f64, 0.4), "{} of {n}", translations.len());
        let pairs = languages.all().len() * (languages.all().len() - 1);
        for &to in languages.all() {
            for &from in languages.all().iter().filter(|&&from| from != to) {
                let count = translations.iter().filter(|row| row.language == to && row.from == Some(from)).count();
                assert!(near(count, translations.len() as f64, 1.0 / pairs as f64), "{from:?} {to:?}: {count}");
            }
        }
        assert!(rows.iter().all(|row| !row.masked));
    }
}

#[test]
fn what_came_later_changes_nothing_at_its_neutral_value() {
    let languages = Languages::new(&small(), 3).unwrap();
    let neutral = MixtureConfig {
        translation: 0.0,
        schedule: Vec::new(),
        code_switch: 0.0,
        tags: Tags::TaskLanguage,
        parallel: Parallel::None,
        withhold: Withhold::Words,
        given: Given::OneToAll,
        exposure: Exposure::None,
        ..Default::default()
    };
    assert_eq!(neutral, MixtureConfig::default());
    let under = languages.clone().under(&neutral).unwrap();
    let mut one = Source::training(&languages, &neutral, 8, 100);
    let mut other = Source::training(&under, &neutral, 8, 7);
    assert!((0..200).all(|row| one.draw(3, row).unwrap() == other.draw(3, row).unwrap()));
}
