//! `[language]`

use super::{Range, Section, SettingError, require};
use crate::{named, settings};

/// The word orders that are built in.
const WORD_ORDERS: &[&str] = &["svo", "sov", "vso", "vos"];
/// The range of a grammar.
pub(super) const GRAMMAR: Range =
    Range::File { built_in: WORD_ORDERS, words: "svo, sov, vso, vos or the path of a file" };

/// The range of how words change.
pub(super) const CHANGE: Range =
    Range::File { built_in: &["edits", "rules"], words: "edits, rules or the path of a file" };

settings! {
    /// `[language]`: the world, the grammar and the lexicons.
    LanguageConfig in "language", "the world, the grammar and the lexicons" {
        classes: usize = 10, Range::Words("even, 2 to 1000"), Paper,
            "classes of entities, half of them subjects of relations, half objects";
        entities: usize = 100, Range::Words("above names to 60000"), Paper,
            "entities of a subject class; an object class has only the nouns";
        names: usize = 20, Range::Words("1 to below entities"), Lubana, "how many of these are names";
        properties: usize = 460, Range::Words("a multiple of classes, 3 for each to 60000"), Paper,
            "assigned evenly to the classes; each gives up one for its nouns, subject classes one for names";
        values: usize = 40, Range::within(2.0, 6e4), Paper,
            "values of a property; a property and a value make a descriptor";
        valid_share: f64 = 0.1, Range::Words("one value to all but one"), Lubana,
            "share of a property's values that fit an entity";
        relations: usize = 100, Range::Words("a multiple of classes / 2 to 60000"), Paper,
            "relation verbs, assigned evenly to the pairs of classes";
        adjectives: usize = 20, Range::within(1.0, 6e4), Lubana, "they modify nouns and descriptors";
        adverbs: usize = 20, Range::within(1.0, 6e4), Lubana, "they modify relation verbs";
        adjective_rate: f64 = 0.9, Range::within(0.0, 1.0), Ours, "how often a noun or a descriptor takes an adjective";
        adverb_rate: f64 = 0.95, Range::within(0.0, 1.0), Ours, "how often a relation verb takes an adverb";
        grammar: String = "svo".into(), GRAMMAR, Paper, "word order";
        word_length: f64 = 9.0, Range::within(3.0, 20.0), Paper, "mean letters of a word";
        distance: f64 = 0.25, Range::within(0.0, 1.0), Paper,
            "lexical distance d of A and B, or of siblings: Levenshtein's over that of unrelated stems; similarity is 1 - d";
        zipf: f64 = 1.0, Range::within(0.0, 5.0), Ours, "exponent of the letters' Zipf distribution";
        letter_drift: f64 = 0.5, Range::within(0.0, 5.0), Ours,
            "how far the languages' letter rankings drift apart at d = 1";
        affixes: usize = 4, Range::within(1.0, 50.0), Ours, "prefixes, and as many suffixes, of each category";
        affix_rate: f64 = 0.5, Range::within(0.0, 1.0), Ours, "chance of a prefix, and of a suffix";
        lexicon: String = String::new(), Range::File { built_in: &[""], words: "the path of a table, or empty" },
            Ours + neutral,
            "real words as stems: concept and form in each language (TSV), or CLDF's forms.csv; `distance` is then that of the other words";
        lexicon_languages: Vec<String> = Vec::new(), Range::Words("a list of texts"), Ours + neutral,
            "what the languages are called in `lexicon`, in their order, where it has other names for them";
        change: String = "edits".into(), CHANGE, Ours + neutral,
            "how stems change: random edits of letters, or sound laws drawn at random, or those of a file, which make B from the proto-stems";
        morphology: Morphology = Morphology::Agglutinative, Range::Any, Ours + neutral, "how words are made of their stems";
        harmony: bool = false, Range::Any, Ours + neutral,
            "whether the vowels of affixes agree with the stem's: front with front, back with back";
        loans: f64 = 0.0, Range::within(0.0, 1.0), Ours + neutral,
            "share of B's words whose stem is that of A, after all changes";
        false_friends: f64 = 0.0, Range::within(0.0, 1.0), Ours + neutral,
            "share of B's words that are A's words of other symbols, of the same category";
        mask_share: f64 = 0.25, Range::between(0.0, 1.0), Paper, "share of the descriptors withheld from B";
        mask: MaskUnit = MaskUnit::Descriptors, Range::Any, Ours + neutral,
            "what that is a share of. descriptors: of all; properties: of each class's properties, with all of their values";
    }
}

named! {
    /// What is masked together.
    MaskUnit {
        /// Every descriptor by itself.
        Descriptors = "descriptors",
        /// All values of a property.
        Properties = "properties",
    }
}

named! {
    /// How words are made of their stems.
    Morphology {
        /// A prefix, the stem and a suffix, either of which may be missing.
        Agglutinative = "agglutinative",
        /// The stem, whose end assimilates, and one ending for each category and class.
        Fusional = "fusional",
        /// The consonants of the stem with the vowels of a pattern.
        Templatic = "templatic",
        /// A copy of how the stem begins instead of a prefix.
        Reduplicating = "reduplicating",
    }
}

impl LanguageConfig {
    /// Classes whose entities are subjects of relations.
    pub fn subject_classes(&self) -> usize {
        self.classes / 2
    }

    /// Whether words of one stem can differ between two languages that make their words in this way.
    pub fn words_of_a_stem_vary(&self, morphology: Morphology) -> bool {
        match morphology {
            Morphology::Agglutinative | Morphology::Reduplicating => self.affix_rate > 0.0,
            Morphology::Fusional => false,
            Morphology::Templatic => self.affixes > 1,
        }
    }

    /// Why a setting has no effect beside the others, if it has none.
    pub fn why_unused(&self, key: &str) -> Option<&'static str> {
        match (key, self.morphology) {
            ("language.affix_rate", Morphology::Fusional) => Some("every fusional word has an ending"),
            ("language.affixes", Morphology::Fusional) => Some("fusional words have endings and no affixes"),
            ("language.affix_rate", Morphology::Templatic) => {
                Some("templatic words have patterns and no affixes; `language.affixes` counts the patterns")
            }
            _ => None,
        }
    }

    /// Nouns of a class.
    pub fn nouns(&self) -> usize {
        self.entities - self.names
    }

    /// How many values of a property Γ allows an entity.
    pub fn valid_values(&self) -> usize {
        (self.valid_share * self.values as f64).round() as usize
    }

    /// Descriptive properties left once the classes have given theirs up for nouns and names.
    pub fn descriptive(&self) -> usize {
        self.properties - self.classes - self.subject_classes()
    }

    /// How many descriptors a mask of a share has.
    pub fn masked_words(&self, share: f64) -> usize {
        let of_each = self.properties / self.classes;
        let properties = |classes: usize, of_class: usize| classes * self.masked_properties(share, of_class);
        match self.mask {
            MaskUnit::Descriptors => (share * (self.descriptive() * self.values) as f64).round() as usize,
            // One property of a class is its nouns, one of a subject class its names.
            MaskUnit::Properties => {
                let subjects = self.subject_classes();
                (properties(subjects, of_each - 2) + properties(self.classes - subjects, of_each - 1)) * self.values
            }
        }
    }

    /// How many of a class's properties a mask of a share has.
    pub fn masked_properties(&self, share: f64, of_class: usize) -> usize {
        (share * of_class as f64).round() as usize
    }

    /// Every setting in its range, and all of them fitting each other.
    pub fn validate(&self) -> Result<(), SettingError> {
        let pairs = self.subject_classes();
        let is_even = (2..=1000).contains(&self.classes) && self.classes.is_multiple_of(2);
        require(is_even, "language.classes", self.classes, "an even number from 2 to 1000")?;
        require(self.names >= 1, "language.names", self.names, "at least 1")?;
        require(
            self.entities > self.names && self.entities <= 60_000,
            "language.entities",
            self.entities,
            format!("above `language.names` ({}) and at most 60000", self.names),
        )?;
        self.check_ranges()?;
        require_multiple("language.properties", self.properties, "language.classes", self.classes)?;
        require(
            (3..=6000).contains(&(self.properties / self.classes)) && self.properties <= 60_000,
            "language.properties",
            self.properties,
            format!(
                "at least 3 for each of the {} classes (one becomes its nouns, one its names), at most 60000 in all",
                self.classes
            ),
        )?;
        require_multiple("language.relations", self.relations, "language.classes / 2", pairs)?;
        require(
            (pairs..=60_000).contains(&self.relations),
            "language.relations",
            self.relations,
            format!("at least one for each of the {pairs} pairs of classes, at most 60000"),
        )?;
        require(
            self.valid_share > 0.0 && (1..self.values).contains(&self.valid_values()),
            "language.valid_share",
            self.valid_share,
            format!("a share that allows at least 1 and forbids at least 1 of {} values", self.values),
        )?;
        let symbols = self.classes * self.entities
            + self.descriptive() * self.values
            + self.relations
            + self.adjectives
            + self.adverbs;
        if symbols > 10_000_000 {
            return Err(SettingError::Mismatch(format!(
                "a world of {symbols} symbols was asked for, but at most 10000000 are allowed"
            )));
        }
        Ok(())
    }
}

fn require_multiple(key: &str, given: usize, by: &str, divisor: usize) -> Result<(), SettingError> {
    require(given.is_multiple_of(divisor), key, given, format!("a multiple of `{by}` ({divisor})"))
}
