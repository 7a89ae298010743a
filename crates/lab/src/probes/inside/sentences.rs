//! Retrieval of translated sentences, by MEXA's rule.
//!
//! A sentence's state is the mean of the residual stream over its pieces after `<T0:ℓ>`. Sentences are of one template and, in
//! either language, of one number of pieces: length alone explains much of the cosine of means.

use super::super::{Answers, Probe, Queries, Record, Setup};
use super::{Cadence, all_layers, piece_counts, targets};
use crate::error::Result;
use invitro_language::{Language, Role, Stream, Symbol, Task};
use invitro_model::inference::{HiddenQuery, LayerStates};
use invitro_results::{Condition, InsideMetric, Measure};
use invitro_stats::alignment::{cosines, mean_vector, mexa};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Sentences per condition, at most and at least.
const MOST: usize = 64;
const LEAST: usize = 8;
/// Sentences that are drawn to find as many of one template and length.
const DRAWN: u64 = 6000;

struct SentencesProbe {
    cadence: Cadence,
    sets: Vec<SentenceSet>,
}

/// Sentences in the source, then the same in the condition's language.
struct SentenceSet {
    condition: Condition,
    queries: [Vec<HiddenQuery>; 2],
    by_pieces: f64,
}

pub fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Some(cadence) = Cadence::of(setup.experiment) else { return Ok(None) };
    let mut sets = Vec::new();
    for target in targets(setup.languages) {
        let conditions = [false, true].into_iter().filter_map(|masked| sentences(setup, target, masked));
        sets.extend(conditions);
    }
    Ok((!sets.is_empty()).then(|| Arc::new(SentencesProbe { cadence, sets }) as Arc<dyn Probe>))
}

/// Sentences with or without a word that is masked in the target.
fn sentences(setup: &Setup, target: Language, masked: bool) -> Option<SentenceSet> {
    let Setup { languages, text, .. } = setup;
    let source = languages.all()[0];
    let stream = Stream::new(languages.seed, "eval/inside/sentences");
    let mut sampler = languages.sampler();
    let mut seen: HashSet<Vec<Symbol>> = HashSet::new();
    let mut groups: BTreeMap<(Vec<Role>, [usize; 2]), Vec<[Vec<u32>; 2]>> = BTreeMap::new();
    for row in 0..DRAWN {
        let sentence = sampler.sentence(source, &mut stream.at(0, row));
        let is_unseen_in_source = languages.withholds(source, &sentence);
        if is_unseen_in_source
            || languages.withholds(target, &sentence) != masked
            || !seen.insert(sentence.symbols.clone())
        {
            continue;
        }
        let pair = [source, target].map(|language| {
            let words = languages.reordered(&sentence, source, language);
            words.iter().flat_map(|&word| text.segmentation.pieces(word, language)).copied().collect::<Vec<u32>>()
        });
        let lengths = [pair[0].len(), pair[1].len()];
        if lengths.into_iter().any(|length| length >= setup.experiment.model.context) {
            continue;
        }
        let template = sentence.places.iter().map(|place| place.role).collect();
        groups.entry((template, lengths)).or_default().push(pair);
    }
    let mut chosen = groups.into_values().max_by_key(Vec::len).filter(|group| group.len() >= LEAST)?;
    chosen.truncate(MOST);
    let counts = piece_counts([0, 1].into_iter().flat_map(|side| chosen.iter().map(move |pair| pair[side].as_slice())));
    let (of_source, of_target) = counts.split_at(chosen.len());
    let query = |language: Language, pieces: &[u32]| {
        let tag = text.segmentation.special().task(Task::T0, language);
        let tokens: Vec<u32> = [tag].into_iter().chain(pieces.iter().copied()).collect();
        HiddenQuery { positions: (1..tokens.len()).collect(), layers: all_layers(setup), normed: false, tokens }
    };
    let queries = [(0, source), (1, target)]
        .map(|(side, language)| chosen.iter().map(|pair| query(language, &pair[side])).collect());
    let condition = Condition::new(target.name(), masked);
    Some(SentenceSet { condition, queries, by_pieces: mexa(&cosines(of_source, of_target)) })
}

impl Probe for SentencesProbe {
    fn queries(&self, step: u64) -> Queries {
        let own = self.sets.iter().filter(|_| self.cadence.has(step)).flat_map(|set| set.queries.iter().flatten());
        Queries { hidden: own.cloned().collect(), ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        let mut rest = &answers.hidden[..];
        if rest.is_empty() {
            return;
        }
        for SentenceSet { condition, queries, by_pieces } in &self.sets {
            let n = queries[0].len();
            let (own, after) = rest.split_at(2 * n);
            rest = after;
            for layer in 0..own[0].len() {
                let mean =
                    |states: &LayerStates| mean_vector(states[layer].iter().map(|state| state.residual.as_slice()));
                let means: Vec<Vec<f32>> = own.iter().map(mean).collect();
                let (source, target) = means.split_at(n);
                let measure = Measure::Inside(InsideMetric::Retrieval, Some(layer as u32));
                record.rows.push(Some(condition), measure, mexa(&cosines(source, target)), n);
            }
            if record.with_baselines {
                let chance = 1.0 / (2.0 * n as f64 - 1.0);
                let baselines = [(InsideMetric::RetrievalPieces, *by_pieces), (InsideMetric::RetrievalChance, chance)];
                for (metric, value) in baselines {
                    record.rows.push(Some(condition), Measure::Inside(metric, None), value, n);
                }
            }
        }
    }
}
