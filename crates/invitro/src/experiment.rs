//! The arguments every command shares: which experiment it is about.

use anyhow::{Result, bail};
use invitro_lab::Experiment;
use invitro_language::Languages;
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
        let sets_it = |given: &&String| given.split('=').next().is_some_and(|key| key.trim() == "seeds.data");
        if let (Some(seed), Some(given)) = (self.seed, overrides.iter().find(sets_it)) {
            bail!("--seed {seed} and {given} both set the data seed: give one of them");
        }
        overrides.extend(self.seed.map(|seed| format!("seeds.data={seed}")));
        Ok(Experiment::load(self.preset.as_deref(), self.config.as_deref(), &overrides)?)
    }

    /// The experiment and its languages under its one data seed.
    pub fn languages(&self) -> Result<(Experiment, Languages)> {
        let experiment = self.load()?;
        let seeds = &experiment.seeds.data.0;
        if seeds.len() > 1 {
            bail!("this command takes one data seed, but `seeds.data` is {seeds:?}: choose one with --seed");
        }
        let languages = Languages::new(&experiment.language, experiment.seeds.data.first())?;
        Ok((experiment, languages))
    }
}
