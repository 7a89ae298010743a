//! States of the same words in two languages: word translation, CKA, the alignment of every masked word, and a map.
//!
//! A word's state is the residual stream at its last piece after `<T0:ℓ> subject copula`, the mean over `SUBJECTS` subjects of
//! its class, which are the same for every word of the class and in every language. Words are compared with those of their
//! class: all of its descriptors or, where there are more than `CANDIDATES`, as many, the contrast's words first.

use super::super::{Answers, Probe, Queries, Record, Setup};
use super::{Cadence, all_layers, piece_counts, targets};
use crate::error::Result;
use invitro_language::{Class, Language, Stream, Symbol};
use invitro_model::inference::{HiddenQuery, LayerStates};
use invitro_results::words::WordMap;
use invitro_results::{Condition, InsideMetric, Measure, Rows};
use invitro_stats::alignment::{
    CentredGram, centred, cosines, is_nearest, margin, mean_cka, mean_vector, on_plane, transposed,
};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Subjects that every word of a class is read after.
const SUBJECTS: usize = 2;
/// Words per class, more only if the contrast has more.
const CANDIDATES: usize = 160;
/// Random pairings of the null of CKA.
const PERMUTATIONS: u64 = 100;

struct WordStatesProbe {
    cadence: Cadence,
    /// The source and its targets.
    languages: Vec<Language>,
    classes: Vec<Vec<Symbol>>,
    /// Of every language, class and word, one per subject.
    queries: Vec<HiddenQuery>,
    /// By target: whether each word of each class is masked there.
    masked: Vec<Vec<Vec<bool>>>,
    /// By target: the contrast's masked words, by class and place.
    contrasted: Vec<Vec<(usize, usize)>>,
    /// By target: what pieces alone give, the same at every step.
    by_pieces: Vec<[Vec<Vec<f32>>; 2]>,
    map: Option<MappedProperty>,
    stream: Stream,
}

/// The words of one property, whose states are drawn on a map.
struct MappedProperty {
    class: usize,
    words: Vec<usize>,
    labels: Vec<String>,
    target: usize,
}

/// Of every class, the cosines of its words in the source with those in a target, and the other way round.
type ClassCosines = Vec<[Vec<Vec<f32>>; 2]>;

fn class_cosines([source, target]: [&ClassStates; 2]) -> ClassCosines {
    let of_class = |(source, target): (&Vec<Vec<f32>>, &Vec<Vec<f32>>)| {
        let rows = cosines(source, target);
        let columns = transposed(&rows);
        [rows, columns]
    };
    source.iter().zip(target).map(of_class).collect()
}

/// The words' states in one language and layer, by class.
type ClassStates = Vec<Vec<Vec<f32>>>;

pub fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Setup { experiment, languages, text, contrast, .. } = setup;
    let Some(cadence) = Cadence::of(experiment) else { return Ok(None) };
    let (world, kinds, source) = (&languages.world, contrast.kinds(), languages.all()[0]);
    let compared: Vec<Language> = targets(languages).filter(|&target| kinds.prompts(target)).collect();
    if !kinds.prompts(source) || compared.is_empty() {
        return Ok(None);
    }
    let stream = Stream::new(languages.seed, "eval/inside/words");
    let contrasted: HashSet<Symbol> =
        (0..kinds.count()).flat_map(|kind| contrast.facts(kind)).map(|fact| fact.0).collect();
    let of_class = |class: Class| {
        let mut words: Vec<Symbol> = world.descriptors().filter(|&word| world.class(word) == Some(class)).collect();
        stream.at(0, class.0.into()).shuffle(&mut words);
        words.sort_by_key(|word| !contrasted.contains(word));
        words.truncate(CANDIDATES.max(words.iter().filter(|word| contrasted.contains(word)).count()));
        words.sort_unstable();
        words
    };
    let subjects_of = |class: Class| {
        let mut subjects: Vec<Symbol> = (0..world.entity_count(class)).map(|i| world.entity(class, i)).collect();
        stream.at(1, class.0.into()).shuffle(&mut subjects);
        subjects.truncate(SUBJECTS);
        subjects
    };
    let classes = world.classes().map(|class| (of_class(class), subjects_of(class)));
    let classes: Vec<(Vec<Symbol>, Vec<Symbol>)> =
        classes.filter(|(words, subjects)| words.len() > 1 && subjects.len() == SUBJECTS).collect();
    let all: Vec<Language> = [source].into_iter().chain(compared.iter().copied()).collect();
    let mut queries = Vec::new();
    for &language in &all {
        for (words, subjects) in &classes {
            let prompts: Vec<Vec<u32>> = subjects
                .iter()
                .filter_map(|&subject| Some(text.opening(language, &languages.opening(subject, language)?)))
                .collect();
            for &word in words {
                let with_word = |prompt: &Vec<u32>| [prompt, text.segmentation.core(word, language)].concat();
                queries.extend(prompts.iter().map(with_word).map(|tokens| HiddenQuery {
                    positions: vec![tokens.len() - 1],
                    layers: all_layers(setup),
                    normed: false,
                    tokens,
                }));
            }
        }
    }
    let classes: Vec<Vec<Symbol>> = classes.into_iter().map(|(words, _)| words).collect();
    let is_masked = |target: Language, words: &Vec<Symbol>| -> Vec<bool> {
        words.iter().map(|&word| languages.mask(target).contains(word)).collect()
    };
    let masked: Vec<Vec<Vec<bool>>> =
        compared.iter().map(|&target| classes.iter().map(|words| is_masked(target, words)).collect()).collect();
    let place = |word: Symbol| {
        let class = classes.iter().position(|words| words.binary_search(&word).is_ok())?;
        Some((class, classes[class].binary_search(&word).ok()?))
    };
    let of_target = |&target: &Language| {
        let own = contrast.masked().filter(|(language, _)| *language == target);
        // They have two subjects, and a class of two words or more.
        own.map(|(_, word)| place(word).expect("a word of the contrast is compared")).collect()
    };
    let contrasted: Vec<Vec<(usize, usize)>> = compared.iter().map(of_target).collect();
    let pieces = |target: Language| {
        let all = [source, target].into_iter().flat_map(|language| {
            let words = classes.iter().flatten();
            words.map(move |&word| text.segmentation.core(word, language))
        });
        let mut counts = piece_counts(all);
        let of_target = counts.split_off(counts.len() / 2);
        [counts, of_target]
    };
    let by_pieces = compared.iter().map(|&target| pieces(target)).collect();
    // The property of the first masked word of the contrast.
    let map = (0..compared.len()).find_map(|target| {
        let &(class, word) = contrasted[target].first()?;
        let property = |word: Symbol| world.descriptor_of(word).map(|(property, _)| property);
        let own = property(classes[class][word]);
        let words = (0..classes[class].len()).filter(|&at| property(classes[class][at]) == own).collect::<Vec<_>>();
        let labels = words.iter().map(|&at| world.label(classes[class][at])).collect();
        Some(MappedProperty { class, words, labels, target })
    });
    Ok(Some(Arc::new(WordStatesProbe {
        cadence,
        languages: all,
        classes,
        queries,
        masked,
        contrasted,
        by_pieces,
        map,
        stream,
    })))
}

/// Vectors of all words, class after class, by class.
fn by_class(classes: &[Vec<Symbol>], vectors: &[Vec<f32>]) -> ClassStates {
    let mut rest = vectors;
    let mut take = |words: &Vec<Symbol>| {
        let (own, after) = rest.split_at(words.len());
        rest = after;
        own.to_vec()
    };
    classes.iter().map(&mut take).collect()
}

impl WordStatesProbe {
    /// The state of every word, the mean over its subjects: `[language][layer][class][word]`.
    fn states(&self, answers: &[LayerStates]) -> Vec<Vec<ClassStates>> {
        let per_language = answers.len() / self.languages.len();
        let words: usize = self.classes.iter().map(Vec::len).sum();
        let of_layer = |answers: &[LayerStates], layer: usize| {
            let means = answers.chunks(answers.len() / words);
            let means: Vec<Vec<f32>> = means
                .map(|subjects| mean_vector(subjects.iter().map(|states| states[layer][0].residual.as_slice())))
                .collect();
            by_class(&self.classes, &means)
        };
        let layers = answers.first().map_or(0, Vec::len);
        answers.chunks(per_language).map(|own| (0..layers).map(|layer| of_layer(own, layer)).collect()).collect()
    }

    /// P@1 of the words of a target that are masked there, or that are not: from the source, and into it.
    fn precision(&self, target: usize, masked: bool, cosines: &ClassCosines) -> Option<([f64; 2], usize)> {
        let (mut sums, mut count) = ([0.0; 2], 0);
        for (is_masked, ways) in self.masked[target].iter().zip(cosines) {
            for word in (0..is_masked.len()).filter(|&word| is_masked[word] == masked) {
                count += 1;
                sums.iter_mut().zip(ways).for_each(|(sum, rows)| *sum += is_nearest(&rows[word], word));
            }
        }
        (count > 0).then(|| (sums.map(|sum| sum / count as f64), count))
    }

    /// The mean over classes of the CKA of their words, and its null.
    fn cka(&self, target: usize, masked: bool, pair: [&ClassStates; 2]) -> Option<(f64, f64)> {
        let of_class = |(class, is_masked): (usize, &Vec<bool>)| {
            let pick = |states: &ClassStates| {
                let words = states[class].iter().zip(is_masked);
                CentredGram::new(
                    &words.filter(|(_, own)| **own == masked).map(|(it, _)| it.clone()).collect::<Vec<_>>(),
                )
            };
            Some([pick(pair[0])?, pick(pair[1])?])
        };
        let grams: Vec<[CentredGram; 2]> = self.masked[target].iter().enumerate().filter_map(of_class).collect();
        mean_cka(&grams, PERMUTATIONS, &self.stream)
    }

    /// The rows of one target in one layer. Returns the cosines of states less their means.
    fn layer_rows(&self, target: usize, layer: u32, states: [&ClassStates; 2], rows: &mut Rows) -> ClassCosines {
        use InsideMetric::{Cka, CkaNull, Translation, TranslationBack, TranslationRaw, TranslationRawBack};
        let less_mean = states.map(|classes| classes.iter().map(|words| centred(words)).collect::<ClassStates>());
        let less_mean = class_cosines([&less_mean[0], &less_mean[1]]);
        let raw = class_cosines(states);
        for masked in [false, true] {
            let condition = Condition::new(self.languages[target + 1].name(), masked);
            let mut push = |metric, value, n| {
                rows.push(Some(&condition), Measure::Inside(metric, Some(layer)), value, n);
            };
            for (cosines, metrics) in
                [(&less_mean, [Translation, TranslationBack]), (&raw, [TranslationRaw, TranslationRawBack])]
            {
                let Some((values, n)) = self.precision(target, masked, cosines) else { continue };
                metrics.into_iter().zip(values).for_each(|(metric, value)| push(metric, value, n));
            }
            if let Some((cka, null)) = self.cka(target, masked, states) {
                let n = self.masked[target].iter().flatten().filter(|own| **own == masked).count();
                push(Cka, cka, n);
                push(CkaNull, null, n);
            }
        }
        less_mean
    }

    /// What pieces alone give, and chance.
    fn baseline_rows(&self, target: usize, rows: &mut Rows) {
        use InsideMetric::{CkaPieces, TranslationChance, TranslationPieces};
        let [source, own] = &self.by_pieces[target];
        let [source, own] = [source, own].map(|vectors| by_class(&self.classes, vectors));
        let by_cosine = class_cosines([&source, &own]);
        for masked in [false, true] {
            let condition = Condition::new(self.languages[target + 1].name(), masked);
            let Some((values, n)) = self.precision(target, masked, &by_cosine) else { continue };
            let mut push = |metric, value| rows.push(Some(&condition), Measure::Inside(metric, None), value, n);
            push(TranslationPieces, values[0]);
            let words = self.masked[target]
                .iter()
                .map(|words| words.iter().filter(|own| **own == masked).count() as f64 / words.len() as f64);
            push(TranslationChance, words.sum::<f64>() / n as f64);
            self.cka(target, masked, [&source, &own]).into_iter().for_each(|(cka, _)| push(CkaPieces, cka));
        }
    }

    /// The alignment of the contrast's masked words: cosine with the translation less the largest with another word, mean
    /// over layers after the embedding.
    fn alignment(&self, target: usize, layers: &[ClassCosines]) -> Vec<f64> {
        let mean_margin = |&(class, word): &(usize, usize)| {
            let margins = layers[1..].iter().filter_map(|layer| margin(&layer[class][1][word], word));
            let margins: Vec<f64> = margins.collect();
            (margins.iter().sum::<f64>() / margins.len() as f64 * 1e4).round() / 1e4
        };
        self.contrasted[target].iter().map(mean_margin).collect()
    }

    /// The states of one property's words in both languages on a plane, in the middle layer.
    fn map(&self, states: &[Vec<ClassStates>]) -> Option<WordMap> {
        let MappedProperty { class, words, labels, target } = self.map.as_ref()?;
        let layer = (states[0].len() - 1).div_ceil(2);
        let sides = [0, target + 1];
        let vectors = sides.iter().flat_map(|&side| words.iter().map(move |&word| &states[side][layer][*class][word]));
        let rounded = |place: [f64; 2]| place.map(|value| (value * 1e3).round() / 1e3);
        let mut places: Vec<[f64; 2]> =
            on_plane(&vectors.cloned().collect::<Vec<_>>()).into_iter().map(rounded).collect();
        let of_target = places.split_off(words.len());
        let names = sides.map(|side| self.languages[side].name().to_owned());
        Some(WordMap {
            layer: layer as u32,
            words: labels.clone(),
            masked: words.iter().map(|&word| self.masked[*target][*class][word]).collect(),
            places: names.into_iter().zip([places, of_target]).collect(),
        })
    }
}

impl Probe for WordStatesProbe {
    fn queries(&self, step: u64) -> Queries {
        let hidden = if self.cadence.has(step) { self.queries.clone() } else { Vec::new() };
        Queries { hidden, ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        if answers.hidden.is_empty() {
            return;
        }
        let states = self.states(&answers.hidden);
        let mut alignment = BTreeMap::new();
        for target in 0..self.masked.len() {
            let of_layer = |layer: usize, rows: &mut Rows| {
                self.layer_rows(target, layer as u32, [&states[0][layer], &states[target + 1][layer]], rows)
            };
            let layers: Vec<ClassCosines> =
                (0..states[0].len()).map(|layer| of_layer(layer, &mut record.rows)).collect();
            if record.with_baselines {
                self.baseline_rows(target, &mut record.rows);
            }
            let own = self.alignment(target, &layers);
            if !own.is_empty() {
                alignment.insert(self.languages[target + 1].name().to_owned(), own);
            }
        }
        record.contrasts.alignment = alignment;
        record.contrasts.map = self.map(&states);
    }
}
