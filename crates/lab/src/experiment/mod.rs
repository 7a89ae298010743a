//! An experiment is one TOML file: a preset, a file laid over it, overrides over that.
//!
//! The struct is the file on disk is the record in the run folder. Its sections and their settings are tables in
//! [`mod@invitro_base::settings`]; here they are put together, read, and checked against each other.
//!
//! - [`read`]: presets, files and overrides; [`named_files`]: files that settings refer to
//! - [`identity`]: the identity of an experiment's run
//!
//! ```
//! use invitro_lab::Experiment;
//! let overrides = ["language.distance=0.5".to_owned(), "seeds.data=3".to_owned()];
//! let experiment = Experiment::load(Some("paper"), None, &overrides).unwrap();
//! assert_eq!(experiment.language.distance, 0.5);
//! assert_eq!(experiment.seeds.data.first(), 3);
//! ```

pub mod identity;
pub mod named_files;
mod notes;
pub mod read;
pub mod wording;

use crate::error::{Error, Result};
use invitro_base::dotted::leaves;
use invitro_base::limits::EVALUATIONS;
use invitro_base::settings::{
    CheckpointConfig, Corpus, Cut, EvalConfig, Exposure, LanguageConfig, LanguageEntry, MaskUnit, MixtureConfig,
    ModelConfig, Parallel, Section, SeedsConfig, Tags, TokenizerConfig, TrainConfig, Withhold, require,
};
use invitro_language::{Family, Language, Languages};
use invitro_model::Shape;
use invitro_results::folder::{CONFIG, read_text};
use invitro_tokenizer::configured_vocab;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use toml::{Table, Value};

pub use read::{FIRST, PRESETS};

/// Everything a run is a function of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experiment {
    pub name: String,
    pub language: LanguageConfig,
    /// Empty for the pair A and B.
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
            name: "paper".into(),
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

impl Experiment {
    /// An error if changing a setting would change nothing, since every language of the list has its own, or another
    /// setting leaves it no effect.
    pub(crate) fn check_used(&self, key: &str) -> Result<()> {
        let in_list = Family::why_unused(&self.languages, key).map(|why| format!("{why}, under `languages.NAME`"));
        let scheduled = (key == "mixture.lambda" && !self.mixture.schedule.is_empty() && self.languages.is_empty())
            .then_some("`mixture.schedule` says how much there is of B in every stage");
        let unlisted = (key == "language.lexicon_languages" && self.language.lexicon.is_empty())
            .then_some("it counts only with `language.lexicon`");
        let unexposed = (key == "mixture.exposures" && self.mixture.exposure == Exposure::None)
            .then_some("it counts only with `mixture.exposure`");
        let is_by_file = !matches!(&*self.language.change, "edits" | "rules") && self.languages.is_empty();
        let by_file = (key == "language.distance" && is_by_file)
            .then_some("the sound laws of `language.change` decide how far apart A and B are");
        let alone = || self.has_no_second_language(key);
        let of_words = self.language.why_unused(key).filter(|_| self.languages.is_empty());
        let unused = self.tokenizer.why_unused(key).or(of_words).or(scheduled).or(unexposed).or(unlisted).or(by_file);
        let why = unused.or_else(alone).map(str::to_owned);
        in_list.or(why).map_or(Ok(()), |why| Err(Error::Unused { key: key.to_owned(), why }))
    }

    /// Settings between languages change nothing where only one is spoken.
    fn has_no_second_language(&self, key: &str) -> Option<&'static str> {
        let is_between = key.starts_with("tokenizer.share")
            || key == "eval.forms"
            || key == "tokenizer.cut" && self.tokenizer.cut != Cut::Morpheme;
        let is_alone = || Family::new(&self.language, &self.languages).is_ok_and(|family| family.languages().len() < 2);
        (is_between && is_alone()).then_some("only one language is spoken")
    }

    /// Every section's settings in their ranges, and all of them fitting each other.
    pub fn validate(&self) -> Result<()> {
        // It is part of a folder's name.
        let is_allowed = |c: char| !c.is_control() && !['/', '\\', '"'].contains(&c);
        let name = &self.name;
        let names_folder =
            !name.trim().is_empty() && !name.starts_with('.') && name.len() <= 100 && name.chars().all(is_allowed);
        let allowed = "1 to 100 characters that can name a folder: no slash, no quotation mark, no dot in front";
        require(names_folder, "name", format!("`{name}`"), allowed)?;
        self.language.validate()?;
        let family = Family::new(&self.language, &self.languages)?;
        self.mixture.validate()?;
        require(
            self.language.mask == MaskUnit::Descriptors || self.mixture.withhold != Withhold::Facts,
            "language.mask",
            "\"properties\"",
            "descriptors where `mixture.withhold` is facts: no word is masked",
        )?;
        let grammars: BTreeSet<&str> = family.languages().iter().map(|&one| &*family.node(one).grammar).collect();
        require(
            self.mixture.parallel != Parallel::Symbols || grammars.len() < 2,
            "mixture.parallel",
            "`symbols`",
            format!(
                "none where languages differ in their grammar, as here ({}): a sentence is said word for word",
                grammars.into_iter().collect::<Vec<_>>().join(", ")
            ),
        )?;
        self.check_translations(family.languages().len())?;
        self.tokenizer.validate()?;
        self.model.check_ranges()?;
        self.shape().validate()?;
        self.train.validate()?;
        self.check_epochs()?;
        self.check_exposures(&family)?;
        self.eval.check_ranges()?;
        self.check_evaluations()?;
        self.checkpoint.check_ranges()?;
        Ok(self.seeds.validate()?)
    }

    /// Translations go in all directions alike, and the tag says into which language.
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
        Ok(require(false, "mixture.translation", translation, allowed)?)
    }

    /// Exposures replace at most half of all rows, and the tag says from which language a word is translated.
    fn check_exposures(&self, family: &Family) -> Result<()> {
        let MixtureConfig { exposure, exposures, tags, .. } = self.mixture;
        let languages = family.languages();
        if exposure == Exposure::None {
            return Ok(());
        }
        require(
            exposure != Exposure::Dictionary || tags != Tags::Task || languages.len() < 3,
            "mixture.exposure",
            "\"dictionary\"",
            "none or bare where `mixture.tags` is task and there are more than two languages: nothing would say into which to \
             translate",
        )?;
        let masked = |&language: &Language| self.language.masked_words(family.node(language).mask_share) as u64;
        let words: u64 = languages.iter().map(masked).sum();
        let TrainConfig { steps, batch, .. } = self.train;
        let most = steps.saturating_mul(batch as u64) / 2 / words.max(1);
        let allowed = format!(
            "at most {most} here: so often can {words} masked words be shown in half of the rows of {steps} steps of {batch}"
        );
        Ok(require(exposures <= most, "mixture.exposures", exposures, allowed)?)
    }

    /// A finite corpus is read no more often than it may be.
    fn check_epochs(&self) -> Result<()> {
        let MixtureConfig { corpus, sentences, epochs, .. } = self.mixture;
        let TrainConfig { steps, batch, .. } = self.train;
        let needed = steps.saturating_mul(batch as u64).div_ceil(sentences);
        let allowed = format!("at least {needed}: {steps} steps of {batch} rows read {sentences} sentences that often");
        Ok(require(corpus == Corpus::Fresh || needed <= epochs, "mixture.epochs", epochs, allowed)?)
    }

    /// The steps of all evaluations are listed before a run begins.
    fn check_evaluations(&self) -> Result<()> {
        let (steps, every) = (self.train.steps, self.eval.every);
        let least = steps.div_ceil(EVALUATIONS);
        let allowed = format!("0 or at least {least}: a run of {steps} steps is evaluated at most {EVALUATIONS} times");
        Ok(require(every == 0 || every >= least, "eval.every", every, allowed)?)
    }

    /// The model's shape by the settings: a vocabulary that falls short, or has a size of its own, makes it another. Every
    /// language but the first may have a row of its own for every piece; the few special tokens are not told apart here.
    pub(crate) fn shape(&self) -> Shape {
        let own = match self.tokenizer.has_own_rows() {
            true => Family::new(&self.language, &self.languages).map_or(1, |family| family.languages().len()),
            false => 1,
        };
        Shape::new(&self.model, configured_vocab(&self.tokenizer).saturating_mul(own))
    }

    /// The languages of a data seed.
    pub fn make_languages(&self, seed: u64) -> Result<Languages> {
        Ok(Languages::of_family(&self.language, &self.languages, seed)?.under(&self.mixture)?)
    }

    /// The experiment of a run's folder, with the folder's own copies of the files it names.
    pub fn open(folder: &Path) -> Result<Option<Experiment>> {
        let path = folder.join(CONFIG);
        let Some(text) = read_text(&path)? else { return Ok(None) };
        let origin = format!("`{}`", path.display());
        let mut table = read::parse(&text, &origin)?;
        named_files::keep_all(&mut table, folder)?;
        Experiment::from_table(&table, &origin).map(Some)
    }

    /// A whole experiment, as [`Experiment::to_toml`] wrote it; `origin` is for messages. Files that it names are not
    /// read.
    pub fn from_toml(text: &str, origin: &str) -> Result<Experiment> {
        let experiment = read::experiment(&read::parse(text, origin)?, origin)?;
        let valid = experiment.validate();
        valid.map_err(|fault| Error::Parse { origin: origin.into(), why: fault.to_string() }).map(|()| experiment)
    }

    /// The experiment of a table; `origin` is for messages.
    pub(crate) fn from_table(table: &Table, origin: &str) -> Result<Experiment> {
        let experiment = read::experiment(table, origin)?;
        experiment.validate()?;
        Ok(experiment)
    }

    /// The whole experiment as a table, every default written out.
    pub fn to_table(&self) -> Table {
        Table::try_from(self).expect("an experiment is plain data")
    }

    /// The same as a file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("an experiment is plain data")
    }

    /// Every setting under its dotted key, in alphabetical order: columns for tables of runs.
    pub fn flatten(&self) -> Vec<(String, Value)> {
        leaves(&self.to_table())
    }
}
