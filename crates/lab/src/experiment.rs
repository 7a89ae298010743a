//! An experiment is one TOML file: a preset, a file laid over it, overrides over that.
//!
//! The struct is the file on disk is the record in the run folder. Every section is a field here and a struct in the
//! crate it configures; adding one is a field, a line in [`Experiment::validate`], and its keys in the preset `paper`,
//! as [`crate::keys`] describes. A section's `Default` is what that preset says, and the other presets say only where
//! they differ.
//!
//! ```
//! use invitro_lab::Experiment;
//! let overrides = ["language.distance=0.5".to_owned(), "seeds.data=3".to_owned()];
//! let experiment = Experiment::load(Some("paper"), None, &overrides).unwrap();
//! assert_eq!(experiment.language.distance, 0.5);
//! assert_eq!(experiment.seeds.data.first(), 3);
//! ```

use crate::error::{Error, Result};
use crate::settings::{CheckpointConfig, EvalConfig, ModelConfig};
use crate::wording::in_words;
use invitro_base::dotted::{self, LIST, NAME, assign, leaves};
use invitro_language::{
    Corpus, Family, Grammar, Language, LanguageConfig, LanguageEntry, Languages, MixtureConfig, Parallel, Tags,
};
use invitro_model::{Shape, TrainConfig};
use invitro_results::Seeds;
use invitro_results::folder::{CONFIG, read_text};
use invitro_tokenizer::{Cut, TokenizerConfig};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use toml::{Table, Value};

/// The paper's experiment: every key, with comments.
pub(crate) const PAPER: &str = include_str!("presets/paper.toml");

/// The built-in experiments, each laid over the defaults; the first is the one that is taken if none is named.
pub const PRESETS: [(&str, &str); 3] = [
    ("quick", include_str!("presets/quick.toml")),
    ("paper", PAPER),
    ("converged", include_str!("presets/converged.toml")),
];

/// Everything a run is a function of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experiment {
    pub name: String,
    pub language: LanguageConfig,
    /// None for the pair A and B.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<LanguageEntry>,
    pub mixture: MixtureConfig,
    pub tokenizer: TokenizerConfig,
    pub model: ModelConfig,
    pub train: TrainConfig,
    pub eval: EvalConfig,
    pub checkpoint: CheckpointConfig,
    pub seeds: SeedsConfig,
}

impl Default for Experiment {
    fn default() -> Self {
        Experiment {
            name: "experiment".into(),
            language: LanguageConfig::default(),
            languages: Vec::new(),
            mixture: MixtureConfig::default(),
            tokenizer: TokenizerConfig::default(),
            model: ModelConfig::default(),
            train: TrainConfig::default(),
            eval: EvalConfig::default(),
            checkpoint: CheckpointConfig::default(),
            seeds: SeedsConfig::default(),
        }
    }
}

/// `[seeds]`: `data` decides world, lexicons, mask, corpora and evaluation sets; `model` the initial weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeedsConfig {
    pub data: Seeds,
    pub model: Seeds,
}

impl Experiment {
    /// A preset, `quick` unless named, with a file laid over it, and `key=value` overrides over both.
    pub fn load(preset: Option<&str>, file: Option<&Path>, overrides: &[String]) -> Result<Experiment> {
        let mut table = preset_table(preset.unwrap_or(PRESETS[0].0))?;
        if let Some(path) = file {
            let text = std::fs::read_to_string(path)
                .map_err(|e| Error::NoExperiment { path: path.to_owned(), why: e.to_string() })?;
            let origin = format!("the experiment file `{}`", path.display());
            let mut own = parse(&text, &origin)?;
            keep_files(&mut own, path.parent().unwrap_or(Path::new("")))?;
            lay_over(&mut table, own, &origin)?;
            // Judged before the overrides, so that a fault is blamed on where it stands.
            read(&table, &origin)?;
        }
        for given in overrides {
            let (key, value) = parse_override(given)?;
            let value = keep_file(&key, value, Path::new(""))?;
            override_with(&mut table, &key, value, given)?;
            read(&table, &format!("the override `{given}`"))?;
        }
        let experiment = read(&table, "the preset")?;
        experiment.validate()?;
        for given in overrides {
            experiment.check_used(&parse_override(given)?.0)?;
        }
        Ok(experiment)
    }

    /// An error if changing a setting would change nothing, since the languages of the list say it each for itself, or
    /// another setting leaves it no effect.
    pub(crate) fn check_used(&self, key: &str) -> Result<()> {
        let in_list = Family::is_unused(&self.languages, key).map(|why| format!("{why}, under `languages.NAME`"));
        let scheduled = (key == "mixture.lambda" && !self.mixture.schedule.is_empty() && self.languages.is_empty())
            .then_some("`mixture.schedule` says how much there is of B in every stage");
        let unlisted = (key == "language.lexicon_languages" && self.language.lexicon.is_empty())
            .then_some("it counts only with `language.lexicon`");
        let others =
            self.tokenizer.is_unused(key).or(scheduled).or(unlisted).or_else(|| self.has_no_second_language(key));
        let why = in_list.or_else(|| others.map(str::to_owned));
        why.map_or(Ok(()), |why| Err(Error::Unused { key: key.to_owned(), why }))
    }

    /// What is between languages changes nothing where only one is spoken.
    fn has_no_second_language(&self, key: &str) -> Option<&'static str> {
        let is_between = key.starts_with("tokenizer.share")
            || key == "eval.forms"
            || key == "tokenizer.cut" && self.tokenizer.cut != Cut::Morpheme;
        let is_alone = || Family::new(&self.language, &self.languages).is_ok_and(|family| family.languages().len() < 2);
        (is_between && is_alone()).then_some("only one language is spoken")
    }

    /// A built-in experiment as it is.
    pub fn preset(name: &str) -> Result<Experiment> {
        Experiment::load(Some(name), None, &[])
    }

    /// Every section's settings in their ranges.
    pub fn validate(&self) -> Result<()> {
        // It is part of a folder's name.
        let plain = |c: char| !c.is_control() && !['/', '\\', '"'].contains(&c);
        let name = &self.name;
        if name.trim().is_empty() || name.starts_with('.') || name.len() > 100 || !name.chars().all(plain) {
            let allowed = "1 to 100 characters that can name a folder: no slash, no quotation mark, no dot in front";
            return Err(Error::Range { key: "name", given: format!("`{name}`"), allowed: allowed.into() });
        }
        self.language.validate()?;
        let family = Family::new(&self.language, &self.languages)?;
        self.mixture.validate()?;
        let grammars: BTreeSet<&str> = family.languages().iter().map(|&one| &*family.node(one).grammar).collect();
        if self.mixture.parallel == Parallel::Symbols && grammars.len() > 1 {
            return Err(Error::Range {
                key: "mixture.parallel",
                given: "`symbols`".into(),
                allowed: format!(
                    "none where languages differ in their grammar, as here ({}): a sentence is said word for word",
                    grammars.into_iter().collect::<Vec<_>>().join(", ")
                ),
            });
        }
        self.check_translations(family.languages().len())?;
        self.tokenizer.validate()?;
        self.shape().validate()?;
        self.train.validate()?;
        self.check_epochs()?;
        self.eval.validate()?;
        self.checkpoint.validate()?;
        for (key, seeds) in [("seeds.data", &self.seeds.data), ("seeds.model", &self.seeds.model)] {
            if !seeds.are_distinct() {
                let allowed = "one or more different seeds".into();
                return Err(Error::Range { key, given: format!("{:?}", seeds.0), allowed });
            }
        }
        Ok(())
    }

    /// Translations go in all directions alike, and say into which language.
    fn check_translations(&self, languages: usize) -> Result<()> {
        let MixtureConfig { translation, parallel, tags, .. } = self.mixture;
        let allowed = match (parallel, tags) {
            _ if translation == 0.0 => return Ok(()),
            (Parallel::Symbols, _) => {
                "0 where `mixture.parallel` is symbols, which says every sentence in all languages anyway"
            }
            (_, Tags::Task) if languages > 2 => {
                "0 where `mixture.tags` is task and there are more than two languages: nothing would say into which to translate"
            }
            _ => return Ok(()),
        };
        Err(Error::Range { key: "mixture.translation", given: translation.to_string(), allowed: allowed.into() })
    }

    /// The model's shape as asked for: a vocabulary that fell short, or has a size of its own, makes it another. Every
    /// language but the first may have a row of its own for every piece; the few special tokens are not told apart here.
    pub(crate) fn shape(&self) -> Shape {
        let own = match self.tokenizer.has_own_rows() {
            true => Family::new(&self.language, &self.languages).map_or(1, |family| family.languages().len()),
            false => 1,
        };
        self.model.shape(self.tokenizer.asked_vocab().saturating_mul(own))
    }

    /// The languages of a data seed.
    pub fn make_languages(&self, seed: u64) -> Result<Languages> {
        Ok(Languages::of_family(&self.language, &self.languages, seed)?.under(&self.mixture)?)
    }

    /// What is allowed, but hardly meant.
    pub fn notes(&self) -> Vec<String> {
        let TrainConfig { steps, warmup, .. } = self.train;
        let mut notes = Vec::new();
        if warmup > steps {
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
        notes.extend(self.tokenizer_notes());
        notes.extend(self.clones());
        notes
    }

    /// Settings of the tokenizer that have no effect beside the others, and what a cut between morphemes changes.
    fn tokenizer_notes(&self) -> Vec<String> {
        let own = leaves(&table_of(self));
        let presets: Vec<_> = PRESETS.iter().filter_map(|(name, _)| Some(leaves(&preset_table(name).ok()?))).collect();
        let is_given = |setting| !presets.iter().any(|preset| preset.contains(setting));
        let given = own.iter().filter(|setting| setting.0.starts_with("tokenizer.") && is_given(setting));
        let unused = given.filter_map(|(key, value)| Some((key, value, self.tokenizer.is_unused(key)?)));
        let mut notes: Vec<String> =
            unused.map(|(key, value, why)| format!("`{key}` is {value} without effect: {why}")).collect();
        if self.tokenizer.cut == Cut::Morpheme {
            notes.push(
                "`tokenizer.cut` is morpheme: words may have more pieces than learned, so that fertility is not that of other cuts"
                    .into(),
            );
        }
        notes
    }

    /// Languages whose masked words are trained in another one, letter by letter.
    fn clones(&self) -> Vec<String> {
        let Ok(family) = Family::new(&self.language, &self.languages) else { return Vec::new() };
        let at = if self.languages.is_empty() { "`language.distance` 0" } else { "distance 0 of each other" };
        let word = if self.language.lexicon.is_empty() { "word" } else { "made-up word" };
        let note = |pair: [Language; 2]| {
            let [masked, other] = pair.map(Language::name);
            format!(
                "at {at} and without affixes every {word} of {masked} is a word of {other}: what is masked in {masked} is \
                 trained in {other}, letter by letter"
            )
        };
        if self.language.affix_rate > 0.0 { Vec::new() } else { family.clones().into_iter().map(note).collect() }
    }

    /// A finite corpus is read no more often than it may be.
    fn check_epochs(&self) -> Result<()> {
        let MixtureConfig { corpus, sentences, epochs, .. } = self.mixture;
        let rows = self.train.steps.saturating_mul(self.train.batch as u64);
        let needed = rows.div_ceil(sentences);
        if corpus == Corpus::Fresh || needed <= epochs {
            return Ok(());
        }
        let (steps, batch) = (self.train.steps, self.train.batch);
        let allowed = format!("at least {needed}: {steps} steps of {batch} rows read {sentences} sentences that often");
        Err(Error::Range { key: "mixture.epochs", given: epochs.to_string(), allowed })
    }

    /// The experiment of a run's folder, with the folder's own copies of the files it names.
    pub fn open(folder: &Path) -> Result<Option<Experiment>> {
        let path = folder.join(CONFIG);
        let Some(text) = read_text(&path)? else { return Ok(None) };
        let origin = format!("`{}`", path.display());
        let mut table = parse(&text, &origin)?;
        keep_files(&mut table, folder)?;
        Experiment::from_table(&table, &origin).map(Some)
    }

    /// A whole experiment, as [`Experiment::to_toml`] wrote it; `origin` is for messages. Files that it names are not
    /// looked at.
    pub fn from_toml(text: &str, origin: &str) -> Result<Experiment> {
        let experiment = read(&parse(text, origin)?, origin)?;
        let valid = experiment.validate();
        valid.map_err(|fault| Error::Parse { origin: origin.into(), why: fault.to_string() }).map(|()| experiment)
    }

    /// The experiment of a table; `origin` is for messages.
    pub(crate) fn from_table(table: &Table, origin: &str) -> Result<Experiment> {
        let experiment = read(table, origin)?;
        experiment.validate()?;
        Ok(experiment)
    }

    /// The whole experiment as a file, every default written out.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("an experiment is plain data")
    }

    /// The files that it names, as [`invitro_base::named_files`] does.
    pub fn files(&self) -> Vec<String> {
        let named = self.flatten().into_iter().filter(|(key, value)| names_file(key, value));
        named.filter_map(|(_, value)| value.as_str().map(str::to_owned)).collect()
    }

    /// Every setting under its dotted key, in alphabetical order: columns for tables of runs.
    pub fn flatten(&self) -> Vec<(String, Value)> {
        leaves(&table_of(self))
    }
}

/// Whether a setting names a file, whose content is then part of the experiment.
pub(crate) fn names_file(key: &str, value: &Value) -> bool {
    let is_grammar = key == "language.grammar" || key.starts_with("languages.") && key.ends_with(".grammar");
    value.as_str().is_some_and(|name| match key {
        "tokenizer.file" | "language.lexicon" => !name.is_empty(),
        _ => is_grammar && !Grammar::is_built_in(name),
    })
}

/// A setting, with a file's path, which may be relative to `base`, replaced by a name that stands for its content.
pub(crate) fn keep_file(key: &str, value: Value, base: &Path) -> Result<Value> {
    let Some(given) = value.as_str().filter(|_| names_file(key, &value)) else { return Ok(value) };
    let path = base.join(given);
    let name = invitro_base::named_files::keep(&path).map_err(|error| Error::NamedFile {
        key: key.to_owned(),
        path,
        why: error.to_string(),
    })?;
    Ok(Value::String(name))
}

/// The same for every setting of a table.
pub(crate) fn keep_files(table: &mut Table, base: &Path) -> Result<()> {
    for (key, value) in leaves(table) {
        if names_file(&key, &value) {
            let kept = keep_file(&key, value, base)?;
            assign(table, &key, kept).expect("a key that was found");
        }
    }
    Ok(())
}

fn preset_table(name: &str) -> Result<Table> {
    let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) else {
        let [known @ .., last] = PRESETS.map(|(known, _)| known);
        let known = format!("{} and {last}", known.join(", "));
        return Err(Error::Preset { given: name.into(), known });
    };
    let mut table = table_of(&Experiment::default());
    let origin = format!("the preset `{name}`");
    lay_over(&mut table, parse(text, &origin)?, &origin)?;
    Ok(table)
}

fn parse(text: &str, origin: &str) -> Result<Table> {
    text.parse::<Table>().map_err(|e| Error::Parse { origin: origin.into(), why: in_words(&e.to_string()) })
}

pub(crate) fn table_of(experiment: &Experiment) -> Table {
    Table::try_from(experiment).expect("an experiment is plain data")
}

/// The experiment of a table. A key it does not know is answered with the nearest one it does.
fn read(table: &Table, origin: &str) -> Result<Experiment> {
    let wrong = |why: String| Error::Parse { origin: origin.into(), why };
    check_list(table).map_err(wrong)?;
    table.clone().try_into().map_err(|error: toml::de::Error| {
        let mut known: Vec<String> =
            leaves(&table_of(&Experiment::default())).into_iter().map(|(key, _)| key).collect();
        for name in dotted::names(table) {
            known.extend(LanguageEntry::KEYS.map(|key| format!("{LIST}.{name}.{key}")));
        }
        let sections: Vec<&str> = known.iter().filter_map(|key| key.split_once('.')).map(|(s, _)| s).collect();
        let unknown = leaves(table).into_iter().map(|(key, _)| key).find(|key| {
            // A section's own name is known, even if what it holds is of the wrong kind.
            !known.contains(key) && !sections.contains(&key.as_str())
        });
        match unknown {
            Some(key) => Error::UnknownKey { origin: origin.into(), nearest: nearest(&key, &known), key },
            None => wrong(list_fault(table).unwrap_or_else(|| in_words(&error.to_string()))),
        }
    })
}

/// A list of languages is a list of tables, and each has a name.
fn check_list(table: &Table) -> std::result::Result<(), String> {
    if table.get("language").is_some_and(Value::is_array) {
        return Err(format!("`language` is a list, but must be a section: a family of languages is `[[{LIST}]]`"));
    }
    let Some(list) = table.get(LIST) else { return Ok(()) };
    let wanted = format!("must be a list of tables, `[[{LIST}]]`, each with a `{NAME}`");
    let entries = list.as_array().ok_or_else(|| format!("`{LIST}` is {}, but {wanted}", kind(list)))?;
    for (number, entry) in (1..).zip(entries) {
        let entry = entry
            .as_table()
            .ok_or_else(|| format!("number {number} of `{LIST}` is {entry}, but must be a table with a `{NAME}`"))?;
        match entry.get(NAME) {
            Some(Value::String(_)) => {}
            Some(other) => {
                return Err(format!("the `{NAME}` of number {number} of `{LIST}` is {other}, but must be a text"));
            }
            None => return Err(format!("number {number} of `{LIST}` has no `{NAME}`")),
        }
    }
    Ok(())
}

fn kind(value: &Value) -> String {
    if value.is_table() { "a table".into() } else { value.to_string() }
}

/// What is wrong with an entry of the list, by its dotted key.
fn list_fault(table: &Table) -> Option<String> {
    dotted::names(table).iter().zip(table.get(LIST)?.as_array()?).find_map(|(name, entry)| {
        let fault = entry.clone().try_into::<LanguageEntry>().err()?.to_string();
        Some(in_words(&fault.replace("in `", &format!("in `{LIST}.{name}."))))
    })
}

/// The known key with the fewest edits, if these are few; a key without its section is compared with the keys' last
/// parts too.
fn nearest(key: &str, known: &[String]) -> Option<String> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let distance = |other: &String| {
        let whole = strsim::damerau_levenshtein(key, other);
        let ends = strsim::damerau_levenshtein(&last(key), &last(other));
        (whole.min(ends + 1), ends)
    };
    let is_near = |other: &&String| {
        let (whole, ends) = distance(other);
        whole <= 2.max(key.len() / 5) || ends <= last(key).len().div_ceil(4)
    };
    known.iter().min_by_key(|other| distance(other)).filter(is_near).cloned()
}

/// Values of `top` replace those of `table`, section by section; a list is replaced whole. Tables where `table` has a list
/// of languages are laid over those of their names.
pub(crate) fn lay_over(table: &mut Table, top: Table, origin: &str) -> Result<()> {
    for (key, value) in top {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => lay_over(inner, over, origin)?,
            (Some(Value::Array(_)), Value::Table(over)) if key == LIST => {
                for (below, value) in leaves(&over) {
                    let assigned = assign(table, &format!("{key}.{below}"), value);
                    assigned.map_err(|why| Error::Address { origin: origin.into(), why })?;
                }
            }
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
    Ok(())
}

/// A value of the override `given` under its key.
pub(crate) fn override_with(table: &mut Table, key: &str, value: Value, given: &str) -> Result<()> {
    assign(table, key, value).map_err(|why| Error::Address { origin: format!("the override `{given}`"), why })
}

/// `key=value`, the value in TOML's notation; a bare word is a string, and `0,1,2` a list.
pub(crate) fn parse_override(given: &str) -> Result<(String, Value)> {
    let fault = || Error::Override { given: given.into() };
    let (key, value) = given.split_once('=').ok_or_else(fault)?;
    let key = key.trim().to_owned();
    // No key has so many parts, and a table of any depth would not be walked.
    if key.split('.').any(str::is_empty) || key.split('.').nth(8).is_some() {
        return Err(fault());
    }
    let value = value.trim();
    let as_toml = |text: &str| format!("v = {text}").parse::<Table>().ok().and_then(|mut t| t.remove("v"));
    let value = as_toml(value)
        .or_else(|| value.contains(',').then(|| as_toml(&format!("[{value}]"))).flatten())
        .unwrap_or_else(|| Value::String(value.into()));
    Ok((key, value))
}
