//! The arguments every command shares: which experiment it is about.

use anyhow::Result;
use invitro_lab::Experiment;
use invitro_language::Language;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct ExperimentArgs {
    /// Built-in experiment to start from: quick or paper [default: quick]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Experiment file, laid over the preset
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data seed: short for seeds.data=SEED
    #[arg(long)]
    seed: Option<u64>,
    /// Settings, laid over both, such as language.distance=0.5
    #[arg(value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

impl ExperimentArgs {
    pub fn load(&self) -> Result<Experiment> {
        let mut overrides = self.overrides.clone();
        overrides.extend(self.seed.map(|seed| format!("seeds.data={seed}")));
        Ok(Experiment::load(self.preset.as_deref(), self.config.as_deref(), &overrides)?)
    }

    /// The experiment and its languages under the first data seed.
    pub fn language(&self) -> Result<(Experiment, Language)> {
        let experiment = self.load()?;
        let language = Language::new(&experiment.language, experiment.seeds.data.first())?;
        Ok((experiment, language))
    }
}
