//! The tokenizer a command is about, with its languages and the pieces of their words.

use crate::experiment::ExperimentArgs;
use anyhow::Result;
use invitro_lab::Experiment;
use invitro_language::Languages;
use invitro_tokenizer::{Segmentation, Tokenizer, TokenizerConfig};
use std::path::PathBuf;

/// Which tokenizer a command is about: the experiment's, trained on the spot, or one that is there.
#[derive(clap::Args)]
pub struct TokenizerChoice {
    #[command(flatten)]
    pub experiment: ExperimentArgs,
    /// A tokenizer's folder or tokenizer.json instead of training one
    #[arg(long, value_name = "PATH")]
    pub tokenizer: Option<PathBuf>,
}

pub struct LoadedTokenizer {
    pub experiment: Experiment,
    pub languages: Languages,
    pub tokenizer: Tokenizer,
    pub segmentation: Segmentation,
    /// The settings that its words are cut and numbered by.
    pub arm: TokenizerConfig,
}

impl TokenizerChoice {
    pub fn load(&self) -> Result<LoadedTokenizer> {
        let (experiment, languages) = self.experiment.languages()?;
        let tokenizer = match &self.tokenizer {
            Some(path) => Tokenizer::load(path)?,
            None => Tokenizer::new(&languages, &experiment.tokenizer, &experiment.mixture)?,
        };
        tokenizer.expect(&experiment.tokenizer)?;
        // Of a tokenizer that is there: as it was made, unless asked otherwise.
        let own = tokenizer.provenance().map(|provenance| &provenance.config);
        let arm = own.filter(|_| !experiment.tokenizer.intervenes()).unwrap_or(&experiment.tokenizer).clone();
        let segmentation = Segmentation::under(&tokenizer, &languages, &arm)?;
        Ok(LoadedTokenizer { experiment, languages, tokenizer, segmentation, arm })
    }
}

impl LoadedTokenizer {
    /// The tokenizer in a line.
    pub fn title(&self) -> String {
        // In a list, shares and distances are each language's own.
        let listed = !self.experiment.languages.is_empty();
        let kind = self.tokenizer.kind().map_or("", |kind| kind.name());
        let (of, lambda) = match self.tokenizer.provenance() {
            Some(from) if !from.config.file.is_empty() => (from.config.file.clone(), String::new()),
            Some(from) if listed => (format!("{kind} {}", from.config.regime.name()), String::new()),
            Some(from) => (format!("{kind} {}", from.config.regime.name()), format!(", λ {}", from.lambda)),
            None => (format!("{kind} of unknown origin"), String::new()),
        };
        let languages = match listed {
            true => {
                let names: Vec<&str> = self.languages.all().iter().map(|language| language.name()).collect();
                format!("languages {}", names.join(" "))
            }
            false => format!("d {}", self.experiment.language.distance),
        };
        let short = self.tokenizer.shortfall();
        let short = if short > 0 { format!(" ({short} fewer than asked)") } else { String::new() };
        let mut arm: String = self.arm.interventions().map(|word| format!(", {word}")).collect();
        if self.arm.dropout > 0.0 {
            arm += &format!(", plain cuts (training drops merges: {})", self.arm.dropout);
        }
        format!(
            "{of}, |V| {}{short}, boundary {}{arm}{lambda}, {languages}, data seed {}",
            self.tokenizer.vocab_size(),
            self.tokenizer.boundary().name(),
            self.languages.seed
        )
    }
}
