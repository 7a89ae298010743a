//! Exposures: masked words in the training text, without any fact.

use crate::common::small;
use invitro_language::*;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A, which has no mask; B and C, which have; under a mixture.
fn family(mixture: &MixtureConfig) -> Languages {
    let listed = [("A", 0.0), ("B", 0.25), ("C", 0.3)]
        .map(|(name, mask_share)| LanguageEntry { mask_share, ..LanguageEntry::new(name) });
    Languages::of_family(&small(), &listed, 1).unwrap().under(mixture).unwrap()
}

fn pair(mixture: &MixtureConfig) -> Languages {
    Languages::new(&small(), 0).unwrap().under(mixture).unwrap()
}

/// Both kinds beside everything that goes together with them.
fn mixtures() -> Vec<MixtureConfig> {
    let mut all = Vec::new();
    for exposure in [Exposure::Bare, Exposure::Dictionary] {
        let usual = MixtureConfig { exposure, exposures: 7, lambda: 1.0, ..Default::default() };
        all.extend([
            MixtureConfig { translation: 0.3, ..usual.clone() },
            MixtureConfig { code_switch: 0.5, ..usual.clone() },
            MixtureConfig { schedule: vec![0.2, 0.8], tags: Tags::Task, ..usual.clone() },
            MixtureConfig { parallel: Parallel::Symbols, code_switch: 0.2, ..usual.clone() },
            usual,
        ]);
    }
    all
}

fn is_masked(languages: &Languages, (symbol, language): (Symbol, Language)) -> bool {
    languages.mask(language).contains(symbol)
}

fn words(row: &Sequence) -> Vec<(Symbol, Language)> {
    row.prompt_words().chain(row.sentence_words()).collect()
}

#[test]
fn every_masked_word_is_shown_as_often_as_set_and_never_with_a_fact() {
    let (steps, batch) = (50u64, 250u64);
    let cases: Vec<(usize, MixtureConfig)> = mixtures().into_iter().enumerate().collect();
    // More than 100,000 rows, of a pair and of a family.
    cases.into_par_iter().for_each(|(at, mixture)| {
        // Tags of tasks alone do not say into which of three languages to translate.
        let languages =
            if at % 2 == 0 && mixture.tags == Tags::TaskLanguage { family(&mixture) } else { pair(&mixture) };
        let mut source = Source::training(&languages, &mixture, batch, steps);
        let mut usual =
            Source::training(&languages, &MixtureConfig { exposure: Exposure::None, ..mixture.clone() }, batch, steps);
        let mut counts: BTreeMap<(Symbol, Language), u64> = BTreeMap::new();
        let mut directions: HashMap<(Symbol, Language), Vec<(Option<Language>, Language)>> = HashMap::new();
        for (step, row) in (0..steps).flat_map(|step| (0..batch).map(move |row| (step, row))) {
            let drawn = source.draw(step, row).unwrap();
            let hidden: Vec<_> = words(&drawn).into_iter().filter(|&word| is_masked(&languages, word)).collect();
            let Some(&word) = hidden.first() else {
                assert_eq!(drawn, usual.draw(step, row).unwrap(), "all other rows stay");
                continue;
            };
            *counts.entry(word).or_default() += 1;
            directions.entry(word).or_default().push((drawn.from, drawn.language));
            assert_eq!(hidden.len(), 1);
            assert!(drawn.masked && drawn.switched.is_empty());
            let symbols: HashSet<Symbol> = words(&drawn).into_iter().map(|(symbol, _)| symbol).collect();
            assert_eq!(symbols, HashSet::from([word.0]), "nothing is said of it: {drawn:?}");
            let form = |language| languages.form(word.0, language);
            let expected = match (mixture.exposure, drawn.from) {
                (Exposure::Bare, None) => format!("{} {} <eos>", drawn.tag(&languages), form(word.1)),
                (Exposure::Dictionary, Some(from)) => {
                    assert_ne!(from, drawn.language);
                    format!("{} {} <out> {} <eos>", drawn.tag(&languages), form(from), form(drawn.language))
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(drawn.text(&languages), expected);
            assert_eq!(drawn.task, if mixture.exposure == Exposure::Bare { Task::T0 } else { Task::T3 });
        }
        let masked: BTreeMap<(Symbol, Language), u64> = languages
            .masked()
            .flat_map(|language| languages.mask(language).symbols().iter().map(move |&symbol| ((symbol, language), 7)))
            .collect();
        assert_eq!(counts, masked, "{at}");
        for ((symbol, language), mut rows) in
            directions.into_iter().filter(|_| mixture.exposure == Exposure::Dictionary)
        {
            // Directions and other languages by turns, beginning with the first other language and into its own.
            let others: Vec<Language> =
                languages.all().iter().copied().filter(|&other| !languages.mask(other).contains(symbol)).collect();
            let turn = |turn: usize| match (turn % 2, others[turn / 2 % others.len()]) {
                (0, other) => (Some(other), language),
                (_, other) => (Some(language), other),
            };
            let mut expected: Vec<_> = (0..7).map(turn).collect();
            rows.sort();
            expected.sort();
            assert_eq!(rows, expected);
        }
    });
}

#[test]
fn an_exposure_can_be_made_alone_and_a_larger_number_keeps_those_of_a_smaller() {
    for mixture in mixtures() {
        let languages = pair(&mixture);
        let (steps, batch) = (25u64, 64u64);
        let rows = |exposures: u64| -> Vec<Sequence> {
            let mixture = MixtureConfig { exposures, ..mixture.clone() };
            let mut source = Source::training(&languages, &mixture, batch, steps);
            (0..steps * batch).map(|i| source.draw(i / batch, i % batch).unwrap()).collect()
        };
        let (few, many) = (rows(2), rows(9));
        for (i, row) in few.iter().enumerate().filter(|(_, row)| row.masked) {
            assert_eq!(*row, many[i]);
            let (step, at) = (i as u64 / batch, i as u64 % batch);
            let mixture = MixtureConfig { exposures: 2, ..mixture.clone() };
            assert_eq!(Source::training(&languages, &mixture, batch, steps).draw(step, at).unwrap(), *row);
        }
        // They are spread over the training.
        let word = languages.mask(Language::B).symbols()[0];
        let places: Vec<usize> =
            (0..many.len()).filter(|&i| many[i].masked && many[i].sentence.symbols == [word]).collect();
        assert!(places.len() == 9 && places[8] - places[0] > 300, "{places:?}");
    }
}

#[test]
fn rows_after_the_last_step_and_other_sources_have_no_exposures() {
    for mixture in mixtures() {
        let languages = pair(&mixture);
        let mut source = Source::training(&languages, &mixture, 64, 40);
        let later = (40 * 64..41 * 64).map(|i| source.draw(i / 64, i % 64).unwrap());
        assert!(later.into_iter().all(|row| !row.masked));
        let mut fresh = Source::mixture(&languages, "test", &mixture);
        assert!((0..2000).all(|row| !fresh.draw(0, row).unwrap().masked));
    }
}

#[test]
fn exposures_that_make_no_sense_are_refused() {
    let bare = MixtureConfig { exposure: Exposure::Bare, ..Default::default() };
    let wrong = |mixture: MixtureConfig| mixture.validate().unwrap_err().to_string();
    let refused = [
        (MixtureConfig { withhold: Withhold::Facts, ..bare.clone() }, "is facts: there are no masked words"),
        (MixtureConfig { withhold: Withhold::Nothing, ..bare.clone() }, "in the training text anyway"),
        (MixtureConfig { corpus: Corpus::Finite, ..bare.clone() }, "`mixture.corpus` is finite"),
        (MixtureConfig { schedule: vec![0.0, 0.5], ..bare.clone() }, "has a stage with nothing but the first language"),
    ];
    for (mixture, why) in refused {
        let error = wrong(mixture);
        assert!(error.starts_with("`mixture.exposure` is bare, but ") && error.contains(why), "{error}");
    }
    assert!(bare.validate().is_ok());
}
