//! The languages in numbers: what `invitro language show` tells, and writes as JSON.

use invitro_lab::Experiment;
use invitro_language::{Borrowed, Distance, Languages, Law, Process, Regularity, Stream};
use invitro_results::{DistanceFrom, FamilyNode, FamilyTree};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Sentences drawn of each grammar.
const SAMPLE: u64 = 10_000;

#[derive(Serialize)]
pub struct LanguageFigures {
    pub name: String,
    pub seed: u64,
    /// Of the first language, as are the words and nats of a sentence.
    pub grammar: String,
    pub symbols: usize,
    pub classes: usize,
    pub properties: usize,
    pub values: usize,
    pub valid_values: usize,
    pub categories: BTreeMap<&'static str, usize>,
    /// Symbols with real words, and notes on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_words: Option<usize>,
    #[serde(skip)]
    pub told: Vec<String>,
    /// Figures of a pair of languages.
    #[serde(flatten)]
    pub pair: Option<LanguagePair>,
    pub word_length: BTreeMap<String, f64>,
    pub letters: BTreeMap<String, [String; 2]>,
    pub lambda: f64,
    pub sentence_words: f64,
    pub sentence_nats: f64,
    /// By name, in the order of the list.
    #[serde(serialize_with = "as_map")]
    pub languages: Vec<(String, OfLanguage)>,
    pub family: FamilyTree,
}

/// How far apart two languages are, and what is masked in the one with the larger mask.
#[derive(Serialize)]
pub struct LanguagePair {
    /// What was asked for, if it was asked for between the two.
    pub distance: Option<f64>,
    pub stem_distance: Distance,
    pub word_distance: Distance,
    pub masked: usize,
    pub masked_sentences: f64,
    pub lambda_left: f64,
}

#[derive(Serialize)]
pub struct OfLanguage {
    pub grammar: String,
    pub alphabet: String,
    #[serde(skip)]
    pub letters: [String; 2],
    /// Its sound laws, in order, where laws made it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<String>,
    /// How regular its stems are, given those of the first language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regularity: Option<Regularity>,
    /// Its words with stems of the first language, and its words that mean something else there.
    #[serde(skip_serializing_if = "is_zero")]
    pub loans: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub false_friends: usize,
    pub word_length: f64,
    pub sentence_words: f64,
    pub sentence_nats: f64,
    pub masked: usize,
    /// How many facts are never stated in it, where facts are withheld.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld_facts: Option<usize>,
    pub masked_sentences: f64,
    /// The size of its text over that of the first language's, and the same without the masked sentences.
    pub size: f64,
    pub size_left: f64,
}

impl LanguageFigures {
    pub fn compute(experiment: &Experiment, languages: &Languages, stream: &Stream) -> LanguageFigures {
        let process = Process::new(languages);
        let (world, lexicon) = (&languages.world, &languages.lexicon);
        let mut categories = BTreeMap::new();
        for symbol in world.symbols() {
            *categories.entry(world.category(symbol).name()).or_insert(0) += 1;
        }
        let sizes = languages.family.sizes(&experiment.mixture);
        let mut of_grammar: Vec<(String, [f64; 2])> = Vec::new();
        let mut all: Vec<(String, OfLanguage)> = Vec::new();
        for &language in languages.all() {
            let grammar = languages.grammar(language).name().to_owned();
            // The sentences of a grammar are the same in every language that has it.
            let known = of_grammar.iter().find(|(name, _)| *name == grammar).map(|(_, measured)| *measured);
            let [sentence_words, sentence_nats] = known.unwrap_or_else(|| {
                let mut sampler = languages.sampler();
                let (mut words, mut nats) = (0, 0.0);
                for row in 0..SAMPLE {
                    let sentence = sampler.sentence(language, &mut stream.at(1, row));
                    words += sentence.symbols.len();
                    nats -= process.sentence(&sentence.symbols, language);
                }
                [words as f64 / SAMPLE as f64, nats / SAMPLE as f64]
            });
            of_grammar.push((grammar.clone(), [sentence_words, sentence_nats]));
            let alphabet = languages.alphabet(language);
            let consonants = lexicon.letters(language).consonants().chars().count();
            let (first, last) = (alphabet.chars().take(consonants), alphabet.chars().skip(consonants));
            let [own_node, first_node] = [language, languages.all()[0]].map(|of| languages.family.position(of));
            let laws =
                lexicon.laws(own_node).map(|laws| laws.laws().iter().map(Law::text).map(str::to_owned).collect());
            let figures = OfLanguage {
                grammar,
                loans: world.symbols().filter(|&symbol| languages.is_loan(symbol, language)).count(),
                false_friends: world.symbols().filter(|&symbol| languages.friend(symbol, language).is_some()).count(),
                laws: laws.unwrap_or_default(),
                regularity: (own_node != first_node).then(|| lexicon.regularity(world, first_node, own_node)),
                letters: [first.collect(), last.collect()],
                alphabet,
                word_length: lexicon.mean_length(world, language),
                sentence_words,
                sentence_nats,
                masked: languages.mask(language).symbols().len(),
                withheld_facts: languages.facts(language).map(|facts| facts.count()).filter(|&count| count > 0),
                masked_sentences: process.masked_share(language),
                size: sizes[language.index()] / sizes[0],
                size_left: process.size_left(language, &experiment.mixture),
            };
            all.push((language.name().to_owned(), figures));
        }
        let family = FamilyTree::of(languages, &experiment.mixture);
        let pair = match languages.all() {
            &[first, second] => Some(LanguagePair {
                distance: requested_distance(&family),
                stem_distance: lexicon.distances().stems(first, second),
                word_distance: lexicon.distances().words(first, second),
                masked: all.iter().map(|(_, figures)| figures.masked).max().unwrap_or(0),
                masked_sentences: all.iter().map(|(_, figures)| figures.masked_sentences).fold(0.0, f64::max),
                lambda_left: all[1].1.size_left,
            }),
            _ => None,
        };
        LanguageFigures {
            name: experiment.name.clone(),
            seed: languages.seed,
            grammar: all[0].1.grammar.clone(),
            symbols: world.len(),
            classes: languages.config.classes,
            properties: world.property_count(),
            values: languages.config.values,
            valid_values: world.valid_count(),
            categories,
            real_words: lexicon.borrowed().map(Borrowed::assigned),
            told: lexicon.borrowed().map(Borrowed::report).unwrap_or_default(),
            pair,
            word_length: all.iter().map(|(name, figures)| (name.clone(), figures.word_length)).collect(),
            letters: all.iter().map(|(name, figures)| (name.clone(), figures.letters.clone())).collect(),
            lambda: experiment.mixture.lambda,
            sentence_words: all[0].1.sentence_words,
            sentence_nats: all[0].1.sentence_nats,
            languages: all,
            family,
        }
    }
}

/// The distance that was asked for between two languages: they are siblings, or one descends from the other.
fn requested_distance(family: &FamilyTree) -> Option<f64> {
    let mut languages = family.languages();
    let [first, second] = [languages.next()?, languages.next()?];
    let from = |node: &FamilyNode, parent: &FamilyNode| {
        (node.from == DistanceFrom::Parent && node.parent.as_ref() == Some(&parent.name)).then_some(node.asked)
    };
    let siblings = first.from == DistanceFrom::Siblings && second.from == first.from && first.parent == second.parent;
    siblings.then_some(first.asked).or_else(|| from(second, first)).or_else(|| from(first, second))
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Pairs as an object, in their order.
fn as_map<S: Serializer>(all: &[(String, OfLanguage)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(all.iter().map(|(name, of)| (name, of)))
}
