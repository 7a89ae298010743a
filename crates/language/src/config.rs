//! The settings of a world, its languages, and the mixture they are trained in, as they stand in an experiment
//! file under `[language]` and `[mixture]`. Defaults are the paper's world.

use crate::error::{Error, Result, range, within};
use invitro_base::named;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `[language]`: the world, the grammar and the lexicons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LanguageConfig {
    /// Classes of entities: an even number, half of them subjects of relations, half objects.
    pub classes: usize,
    /// Entities of a subject class, names among them; an object class has only the nouns.
    pub entities: usize,
    /// Of these, how many are names.
    pub names: usize,
    /// Descriptive properties, assigned evenly to the classes. Each class gives up one for its nouns, each subject class
    /// one more for its names.
    pub properties: usize,
    /// Values of each property: a property and a value make a descriptor.
    pub values: usize,
    /// The share of a property's values that Γ allows an entity.
    pub valid_share: f64,
    /// Relative properties (relation verbs), assigned evenly to the pairs of a subject and an object class.
    pub relations: usize,
    /// How many adjectives there are.
    pub adjectives: usize,
    /// How many adverbs there are.
    pub adverbs: usize,
    /// How often a noun or a descriptor takes an adjective.
    pub adjective_rate: f64,
    /// How often a relation verb takes an adverb.
    pub adverb_rate: f64,
    /// `svo`, `sov`, `vso`, `vos`, or the path of a grammar file.
    pub grammar: String,
    /// Mean letters of a word of the open classes.
    pub word_length: f64,
    /// The lexical distance d of A and B, or of siblings, 0 (stems identical) to 1 (stems unrelated).
    pub distance: f64,
    /// The exponent of the letters' Zipf distribution.
    pub zipf: f64,
    /// How far the languages' letter rankings drift apart at d = 1.
    pub letter_drift: f64,
    /// Prefixes, and as many suffixes, of each category, the empty one not counted.
    pub affixes: usize,
    /// The chance that a word takes a prefix, and that it takes a suffix.
    pub affix_rate: f64,
    /// A list of real words, by its path or the name that [`invitro_base::named_files`] gave it; empty for none.
    pub lexicon: String,
    /// What the languages are called in it, in their order; empty where it has their names.
    pub lexicon_languages: Vec<String>,
    /// The share of the descriptors whose forms in B are withheld from training.
    pub mask_share: f64,
}

impl Default for LanguageConfig {
    fn default() -> Self {
        LanguageConfig {
            classes: 10,
            entities: 100,
            names: 20,
            properties: 460,
            values: 40,
            valid_share: 0.1,
            relations: 100,
            adjectives: 20,
            adverbs: 20,
            adjective_rate: 0.9,
            adverb_rate: 0.95,
            grammar: "svo".into(),
            word_length: 9.0,
            distance: 0.25,
            zipf: 1.0,
            letter_drift: 0.5,
            affixes: 4,
            affix_rate: 0.5,
            lexicon: String::new(),
            lexicon_languages: Vec::new(),
            mask_share: 0.25,
        }
    }
}

impl LanguageConfig {
    /// Classes whose entities are subjects of relations.
    pub(crate) fn subject_classes(&self) -> usize {
        self.classes / 2
    }

    pub(crate) fn nouns(&self) -> usize {
        self.entities - self.names
    }

    /// How many values of a property Γ allows an entity.
    pub(crate) fn valid_values(&self) -> usize {
        (self.valid_share * self.values as f64).round() as usize
    }

    /// Descriptive properties left once the classes have given theirs up for nouns and names.
    pub(crate) fn descriptive(&self) -> usize {
        self.properties - self.classes - self.subject_classes()
    }

    /// Every setting in its range, and all of them fitting each other.
    pub fn validate(&self) -> Result<()> {
        let pairs = self.subject_classes();
        let even = (2..=1000).contains(&self.classes) && self.classes.is_multiple_of(2);
        range(even, "language.classes", self.classes, "an even number from 2 to 1000")?;
        range(self.names >= 1, "language.names", self.names, "at least 1")?;
        range(
            self.entities > self.names && self.entities <= 60_000,
            "language.entities",
            self.entities,
            format!("above `language.names` ({}) and at most 60000", self.names),
        )?;
        within("language.values", self.values, 2, 60_000)?;
        divides("language.properties", self.properties, "language.classes", self.classes)?;
        range(
            (3..=6000).contains(&(self.properties / self.classes)) && self.properties <= 60_000,
            "language.properties",
            self.properties,
            format!(
                "at least 3 for each of the {} classes (one becomes its nouns, one its names), at most 60000 in all",
                self.classes
            ),
        )?;
        divides("language.relations", self.relations, "language.classes / 2", pairs)?;
        range(
            (pairs..=60_000).contains(&self.relations),
            "language.relations",
            self.relations,
            format!("at least one for each of the {pairs} pairs of classes, at most 60000"),
        )?;
        within("language.adjectives", self.adjectives, 1, 60_000)?;
        within("language.adverbs", self.adverbs, 1, 60_000)?;
        range(
            self.valid_share > 0.0 && (1..self.values).contains(&self.valid_values()),
            "language.valid_share",
            self.valid_share,
            format!("a share that allows at least 1 and forbids at least 1 of {} values", self.values),
        )?;
        within("language.adjective_rate", self.adjective_rate, 0.0, 1.0)?;
        within("language.adverb_rate", self.adverb_rate, 0.0, 1.0)?;
        within("language.distance", self.distance, 0.0, 1.0)?;
        within("language.zipf", self.zipf, 0.0, 5.0)?;
        within("language.letter_drift", self.letter_drift, 0.0, 5.0)?;
        within("language.affixes", self.affixes, 1, 50)?;
        within("language.affix_rate", self.affix_rate, 0.0, 1.0)?;
        within("language.word_length", self.word_length, 3.0, 20.0)?;
        let some = self.mask_share > 0.0 && self.mask_share < 1.0;
        range(some, "language.mask_share", self.mask_share, "above 0, below 1")?;
        let symbols = self.classes * self.entities
            + self.descriptive() * self.values
            + self.relations
            + self.adjectives
            + self.adverbs;
        if symbols > 10_000_000 {
            return Err(Error::Mismatch(format!(
                "a world of {symbols} symbols was asked for, but at most 10000000 are allowed"
            )));
        }
        Ok(())
    }
}

fn divides(key: &'static str, given: usize, by: &str, divisor: usize) -> Result<()> {
    range(given.is_multiple_of(divisor), key, given, format!("a multiple of `{by}` ({divisor})"))
}

/// Whether training rows are drawn fresh for every step or from a finite set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Corpus {
    /// Every row is new.
    Fresh,
    /// Rows of a finite set, again in every epoch.
    Finite,
}

/// What training never shows of a language that has a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withhold {
    /// Sentences with a masked word.
    Words,
    /// Sentences that state a withheld fact: both of its words occur, but never the one said of the other.
    Facts,
    /// Nothing. B† should come out like B: the control of the whole setup.
    Nothing,
}

impl Withhold {
    const NAMES: [(Withhold, &str); 3] =
        [(Withhold::Words, "words"), (Withhold::Facts, "facts"), (Withhold::Nothing, "nothing")];

    /// As in files.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }
}

impl Serialize for Withhold {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// `true` and `false`, as older files have it, are `words` and `nothing`.
impl<'de> Deserialize<'de> for Withhold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Withhold, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Withhold;

            fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
                out.write_str("one of words, facts, nothing")
            }

            fn visit_bool<E: serde::de::Error>(self, withhold: bool) -> std::result::Result<Withhold, E> {
                Ok(if withhold { Withhold::Words } else { Withhold::Nothing })
            }

            fn visit_str<E: serde::de::Error>(self, given: &str) -> std::result::Result<Withhold, E> {
                let found = Withhold::NAMES.iter().find(|(_, name)| *name == given);
                let unknown = || E::unknown_variant(given, &["words", "facts", "nothing"]);
                found.map(|&(withhold, _)| withhold).ok_or_else(unknown)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

named! {
    /// What the token that opens a sequence says.
    Tags {
        /// Task and language: `<T1:B>`.
        TaskLanguage = "task-language",
        /// The task alone: `<T1>`.
        Task = "task",
    }
}

named! {
    /// Whether the languages' texts are translations of each other.
    Parallel {
        /// Every row has a sentence of its own.
        None = "none",
        /// A sentence is said in all languages, each as often as its size allows: a smaller text is a translation of a part
        /// of the largest.
        Symbols = "symbols",
    }
}

/// `[mixture]`: how the languages and the tasks share the training rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MixtureConfig {
    /// λ, the size of D_B over that of D_A before masked sentences are taken out.
    pub lambda: f64,
    /// The shares of T0 (free generation), T1 (unscrambling) and T2 (conditional generation).
    pub tasks: [f64; 3],
    /// `fresh`: every row of every step is new. `finite`: `sentences` rows, seen `epochs` times at most.
    pub corpus: Corpus,
    /// Rows of a finite corpus.
    pub sentences: u64,
    /// How often a finite corpus is seen at most.
    pub epochs: u64,
    /// α: a language is drawn by its size to this power. 1: as large as it is; 0: all alike.
    pub sampling: f64,
    /// What is kept from training: sentences of B with a masked word, sentences of B that state a withheld fact, nothing.
    pub withhold: Withhold,
    /// The share of T3 (translation), before the other tasks share the rest.
    pub translation: f64,
    /// The share of rows of all languages but the first, one number per equal stage of training; none: by λ throughout.
    pub schedule: Vec<f64>,
    /// How often a word of a training row is said in another language.
    pub code_switch: f64,
    /// `task-language` or `task`.
    pub tags: Tags,
    /// `none` or `symbols`.
    pub parallel: Parallel,
}

impl Default for MixtureConfig {
    fn default() -> Self {
        MixtureConfig {
            lambda: 0.25,
            tasks: [0.2, 0.4, 0.4],
            corpus: Corpus::Fresh,
            sentences: 100_000,
            epochs: 10,
            sampling: 1.0,
            withhold: Withhold::Words,
            translation: 0.0,
            schedule: Vec::new(),
            code_switch: 0.0,
            tags: Tags::TaskLanguage,
            parallel: Parallel::None,
        }
    }
}

impl MixtureConfig {
    /// Whether anything is kept from training.
    pub fn withholds(&self) -> bool {
        self.withhold != Withhold::Nothing
    }

    /// Every setting in its range.
    pub fn validate(&self) -> Result<()> {
        range(
            self.lambda > 0.0 && self.lambda <= 1.0,
            "mixture.lambda",
            self.lambda,
            "above 0 and at most 1 (as much of B as of A)",
        )?;
        let sum: f64 = self.tasks.iter().sum();
        range(
            self.tasks.iter().all(|&t| t >= 0.0) && (sum - 1.0).abs() < 1e-6,
            "mixture.tasks",
            format!("{:?}, which sums to {sum}", self.tasks),
            "three shares that sum to 1",
        )?;
        range(self.sentences >= 1, "mixture.sentences", self.sentences, "at least 1")?;
        range(self.epochs >= 1, "mixture.epochs", self.epochs, "at least 1")?;
        within("mixture.sampling", self.sampling, 0.0, 1.0)?;
        range(
            (0.0..1.0).contains(&self.translation),
            "mixture.translation",
            self.translation,
            "at least 0 and below 1",
        )?;
        within("mixture.code_switch", self.code_switch, 0.0, 1.0)?;
        let share = |share: &f64| (0.0..=1.0).contains(share);
        range(
            self.schedule.len() <= 1000 && self.schedule.iter().all(share),
            "mixture.schedule",
            format!("{:?}", self.schedule),
            "at most 1000 shares from 0 to 1, one for each stage of training",
        )?;
        if !self.schedule.is_empty() && self.schedule.iter().all(|&share| share == 0.0) {
            return Err(Error::Mismatch(
                "`mixture.schedule` has only zeros: all but the first language would never be seen".into(),
            ));
        }
        if !self.schedule.is_empty() && self.corpus == Corpus::Finite {
            return Err(Error::Mismatch(
                "`mixture.schedule` changes the share of B as training goes on, but `mixture.corpus` is finite: its rows are \
                 the same in every epoch"
                    .into(),
            ));
        }
        Ok(())
    }
}
