//! Masked words, sentences and samples that no language ever had.

use super::Plan;
use super::curves::Config;
use invitro_base::random::Rng;
use invitro_results::Task;
use invitro_results::words::{Contrasts, MaskedWord, Sample, SentencePair, Traits, WordForm, WordMap};

const SYLLABLES: [&str; 16] =
    ["xuc", "bo", "pz", "iw", "ka", "le", "mo", "ru", "hed", "qui", "va", "sor", "ti", "gne", "ul", "fa"];

/// The forms depend on the data seed and the symbol; d changes some syllables in all but the first language; |V| joins
/// some pieces.
pub fn words(config: &Config, plan: &Plan) -> Vec<MaskedWord> {
    (0..plan.words).map(|symbol| word(config, plan, symbol)).collect()
}

fn word(config: &Config, plan: &Plan, symbol: usize) -> MaskedWord {
    let mut rng = Rng::keyed(&format!("word {} {symbol}", config.data), [0; 3]);
    let first: Vec<&str> = (0..4).map(|_| SYLLABLES[rng.index(16)]).collect();
    let mut changed = |piece: &&'static str| {
        let changes = (rng.index(100) as f64) < config.distance * 100.0;
        if changes { SYLLABLES[rng.index(16)] } else { *piece }
    };
    let mut own = Rng::keyed(&format!("bridge {} {symbol}", config.data), [0; 3]);
    let mut drawn = |wide: f64| wide * (own.index(2001) as f64 / 1000.0 - 1.0);
    let bridge = (config.cognate() + drawn(0.3) * config.left()).clamp(0.0, 1.0);
    let of_word = drawn(0.4);
    let run = format!("{} {:?} {} {} {}", config.data, config.arm, config.vocab, config.distance, config.model);
    let of_run = 0.2 * (Rng::keyed(&format!("known {run} {symbol}"), [0; 3]).index(2001) as f64 / 1000.0 - 1.0);
    let form = |(place, language): (usize, &&str)| {
        let syllables: Vec<&str> = if place == 0 { first.clone() } else { first.iter().map(&mut changed).collect() };
        let pieces = if config.vocab > 4096 {
            vec![syllables[..2].concat(), syllables[2..].concat()]
        } else {
            syllables.iter().map(|&syllable| syllable.to_owned()).collect()
        };
        // Known from the first in the language that saw it, and slowly in the other, by its bridge.
        let end = if place == 0 { 1.0 } else { 0.5 * bridge / 0.4f64.max(config.cognate()) + of_word + of_run };
        let known = |step: u32| (step, f64::from(step) / f64::from(plan.steps) * end);
        let contrasts = (0..=4).map(|part| known(part * plan.steps / 4)).collect();
        let contrast = Some(known(plan.steps).1);
        WordForm { language: (*language).to_owned(), form: syllables.concat(), pieces, contrast, contrasts }
    };
    let forms: Vec<WordForm> = plan.languages.iter().enumerate().map(form).collect();
    let reached = rng.index(3) > 0;
    let own = forms.last().expect("a plan has languages");
    let moved = first.iter().filter(|syllable| !own.form.contains(**syllable)).count();
    let traits = Traits {
        pairs: Some(1),
        distance: Some(moved as f64 / first.len() as f64),
        letters: Some(own.form.len() as u32),
        pieces: Some(own.pieces.len() as u32),
        frequency: Some(0.002 * (1 + symbol % 3) as f64),
        rank: None,
    };
    MaskedWord {
        symbol: format!("value:{}:{symbol}", symbol % 40),
        masked_in: plan.languages.last().map(|language| (*language).to_owned()),
        bridge: Some(config.bridge()),
        bridge_to: Some((forms[0].form.clone(), forms[0].language.clone())),
        bridge_pieces: forms[0].pieces.clone(),
        forms,
        cognate_bridge: Some(bridge),
        asked: Some(true),
        traits,
        reachable_from: reached.then_some(plan.steps / 2 + 100 * config.model),
        reachable: Some(bridge > config.cognate()),
        logprob: None,
        alignments: if plan.inside { vec![(0, -0.4), (plan.steps, bridge - 0.5 + of_word)] } else { Vec::new() },
    }
}

/// One map, at every step turned a little more and every other time mirrored.
pub fn maps(plan: &Plan, steps: &[u32]) -> Vec<Contrasts> {
    let map = |(at, &step): (usize, &u32)| {
        let (sin, cos) = (at as f64).sin_cos();
        let turned = |[x, y]: [f64; 2]| [cos * x - sin * y, (sin * x + cos * y) * if at % 2 == 1 { -1.0 } else { 1.0 }];
        let place = |word: usize, side: usize| turned([(word * word) as f64 - 3.0, (word + side) as f64]);
        let places = |side: usize| (0..5).map(|word| place(word, side)).collect();
        let sides = plan.languages.iter().take(2).enumerate();
        let map = WordMap {
            layer: 1,
            words: (0..5).map(|word| format!("desc.0.{word}")).collect(),
            masked: (0..5).map(|word| word == 2).collect(),
            places: sides.map(|(side, language)| ((*language).to_owned(), places(side))).collect(),
        };
        Contrasts { step: u64::from(step), map: Some(map), ..Contrasts::default() }
    };
    steps.iter().enumerate().map(map).collect()
}

pub fn samples(plan: &Plan, step: u32) -> Vec<Sample> {
    let sample = |failure: &str, output: &str| Sample {
        step: u64::from(step),
        condition: plan.conditions().pop().expect("a plan has conditions"),
        task: Task::T1.name().into(),
        prompt: "xucbop Labzvae foc".into(),
        output: output.into(),
        expected: "Labzvae foc xucbop".into(),
        holds: "none".into(),
        failure: Some(failure.into()),
        reason: None,
    };
    vec![sample("unknown_word", "Labzvae foc <xuc>"), sample("ungrammatical", "foc Labzvae xucbop")]
}

pub fn pairs(plan: &Plan) -> Vec<SentencePair> {
    let split = |text: &str| text.split(' ').map(|word| word.split('·').map(str::to_owned).collect()).collect();
    let sentences = [
        ["Labzvae fekoc x·uc·bo·p·z·h·by·iw", "Labzvae foc enux·x·uc·bo·p·z·hi·v·iw·big"],
        ["Ditlethdehi fekoc ik·ad·ci·z·m·oh·bbgi", "Ditlethdehi foc ik·ad·ce·z·m·oh·b"],
    ];
    let pair = |sides: [&str; 2]| {
        plan.languages.iter().zip(sides).map(|(language, side)| ((*language).to_owned(), split(side))).collect()
    };
    sentences.map(pair).into()
}
