//! Settings that are legal and usually a mistake.

use super::Experiment;
use super::read::{PRESETS, preset_table};
use invitro_base::dotted::{LIST, leaves};
use invitro_base::settings::{Cut, Morphology, TrainConfig};
use invitro_language::{Family, Language};

/// Settings that decide how many words there are to choose from.
const WORLD: [&str; 8] = [
    "language.classes",
    "language.entities",
    "language.names",
    "language.properties",
    "language.values",
    "language.valid_share",
    "language.relations",
    "language.mask_share",
];

impl Experiment {
    /// Whether a setting and the size of the world are a preset's own, so that nobody needs to be told that they do not fit.
    pub(crate) fn is_presets_own(&self, key: &str) -> bool {
        let chosen = |settings: Vec<(String, toml::Value)>| -> Vec<_> {
            let counts = |own: &str| own == key || WORLD.contains(&own) || own.starts_with(LIST);
            settings.into_iter().filter(|(own, _)| counts(own)).collect()
        };
        let own = chosen(self.flatten());
        PRESETS.iter().filter_map(|(name, _)| preset_table(name).ok()).any(|preset| chosen(leaves(&preset)) == own)
    }

    /// A sentence about each of them.
    pub fn notes(&self) -> Vec<String> {
        let TrainConfig { steps, warmup, .. } = self.train;
        let mut notes = Vec::new();
        if steps == 0 {
            notes.push("`train.steps` is 0: nothing is trained, and every measure is of the initial weights".into());
        } else if warmup > steps {
            notes.push(format!(
                "`train.warmup` is {warmup}, above `train.steps` ({steps}): the learning rate ends before it reaches `train.lr`"
            ));
        }
        let beyond: Vec<String> = self.eval.also.iter().filter(|&&at| at > steps).map(u64::to_string).collect();
        if !beyond.is_empty() {
            notes.push(format!(
                "`eval.also` names {}, beyond the last step ({steps}): there is no evaluation there",
                beyond.join(", ")
            ));
        }
        notes.extend(self.unused_notes());
        notes.extend(self.clone_notes());
        notes
    }

    /// Settings that have no effect beside the others, and what a cut between morphemes changes.
    fn unused_notes(&self) -> Vec<String> {
        let presets: Vec<_> = PRESETS.iter().filter_map(|(name, _)| Some(leaves(&preset_table(name).ok()?))).collect();
        let is_given = |setting: &_| !presets.iter().any(|preset| preset.contains(setting));
        let unused = self.flatten().into_iter().filter(is_given).filter_map(|(key, value)| {
            let of_language = || self.language.why_unused(&key).filter(|_| self.languages.is_empty());
            let why = self.tokenizer.why_unused(&key).or_else(of_language)?;
            Some(format!("`{key}` is {value} without effect: {why}"))
        });
        let mut notes: Vec<String> = unused.collect();
        if self.tokenizer.cut == Cut::Morpheme {
            notes.push(
                "`tokenizer.cut` is morpheme: words may have more pieces than learned, so that fertility is not that of other cuts"
                    .into(),
            );
        }
        notes
    }

    /// Languages whose masked words are trained in another one, letter by letter.
    fn clone_notes(&self) -> Vec<String> {
        let Ok(family) = Family::new(&self.language, &self.languages) else { return Vec::new() };
        let at = if self.languages.is_empty() { "`language.distance` 0" } else { "distance 0 of each other" };
        let word = if self.language.lexicon.is_empty() { "word" } else { "made-up word" };
        let differing = match self.language.morphology {
            Morphology::Templatic => "patterns that differ",
            Morphology::Fusional => "endings that differ",
            Morphology::Agglutinative | Morphology::Reduplicating => "affixes",
        };
        let note = |pair: [Language; 2]| {
            let [masked, other] = pair.map(Language::name);
            format!(
                "at {at} and without {differing} every {word} of {masked} is a word of {other}: what is masked in {masked} is \
                 trained in {other}, letter by letter"
            )
        };
        let vary = self.language.words_of_a_stem_vary(self.language.morphology);
        if vary { Vec::new() } else { family.clones().into_iter().map(note).collect() }
    }
}
