//! The arguments every command shares: which experiment it is about.

use anyhow::{Context, Result, bail};
use invitro_lab::{Experiment, FIRST};
use invitro_language::{Language, Languages, Task};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct ExperimentArgs {
    /// Built-in experiment to start from: quick, first, paper or converged [default: quick; of `run` and `train`: first]
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
        self.load_with(&[])
    }

    /// The experiment to run: where none is named, the first one.
    pub fn load_to_run(&self, more: &[&str]) -> Result<Experiment> {
        let preset = if self.is_named() { self.preset.as_deref() } else { Some(FIRST) };
        Ok(Experiment::load(preset, self.config.as_deref(), &self.overrides(more)?)?)
    }

    /// The same with more overrides laid over it.
    pub fn load_with(&self, more: &[&str]) -> Result<Experiment> {
        Ok(Experiment::load(self.preset.as_deref(), self.config.as_deref(), &self.overrides(more)?)?)
    }

    /// Takes the folders out of the settings: whatever is no `key=value`.
    pub fn take_folders(&mut self) -> Result<Vec<PathBuf>> {
        let folders: Vec<String> = self.overrides.extract_if(.., |given| !given.contains('=')).collect();
        if let Some(other) = folders.iter().find(|given| !Path::new(given).is_dir()) {
            bail!(
                "`{other}` is neither a run's folder nor a setting: settings are key=value, as in \
                 language.distance=0.5"
            );
        }
        Ok(folders.into_iter().map(PathBuf::from).collect())
    }

    /// Whether an experiment is named, which a run's folder does by itself.
    pub fn is_named(&self) -> bool {
        self.preset.is_some() || self.config.is_some()
    }

    /// Whether anything is said of an experiment.
    pub fn is_given(&self) -> bool {
        self.is_named() || self.seed.is_some() || !self.overrides.is_empty()
    }

    /// The settings that are laid over the rest, and `more`.
    pub fn overrides(&self, more: &[&str]) -> Result<Vec<String>> {
        let mut overrides = self.overrides.clone();
        let sets_it = |given: &&String| given.split('=').next().is_some_and(|key| key.trim() == "seeds.data");
        if let (Some(seed), Some(given)) = (self.seed, overrides.iter().find(sets_it)) {
            bail!("--seed {seed} and {given} both set the data seed: give one of them");
        }
        overrides.extend(self.seed.map(|seed| format!("seeds.data={seed}")));
        overrides.extend(more.iter().map(|more| (*more).to_owned()));
        Ok(overrides)
    }

    /// The experiment and its languages under its one data seed.
    pub fn languages(&self) -> Result<(Experiment, Languages)> {
        let experiment = self.load()?;
        let seeds = &experiment.seeds.data.0;
        if seeds.len() > 1 {
            bail!("this command takes one data seed, but `seeds.data` is {seeds:?}: choose one with --seed");
        }
        let languages = experiment.make_languages(experiment.seeds.data.first())?;
        Ok((experiment, languages))
    }
}

/// The language of a name that was given.
pub fn language(languages: &Languages, name: &str) -> Result<Language> {
    let names = || languages.all().iter().map(|language| language.name()).collect::<Vec<_>>().join(", ");
    let found = languages.all().iter().copied().find(|language| language.name().eq_ignore_ascii_case(name));
    found.with_context(|| format!("there is no language {name}: --language must be one of {}", names()))
}

/// The language that a task is given words of: that of the answer or, of a translation, the one named, or else the first
/// other one.
pub fn language_given(languages: &Languages, task: Task, to: Language, name: Option<&str>) -> Result<Option<Language>> {
    match (task, name) {
        (Task::T3, _) if !languages.translates => {
            bail!("the run was trained without translations: its `mixture.translation` is 0")
        }
        (Task::T3, None) => {
            let other = languages.all().iter().copied().find(|&other| other != to);
            Ok(Some(other.context("there is no other language to translate from")?))
        }
        (Task::T3, Some(name)) => match language(languages, name)? {
            from if from == to => bail!("--from and --language are both {}", to.name()),
            from => Ok(Some(from)),
        },
        (_, None) => Ok(None),
        (task, Some(_)) => bail!("--from is for T3 (translation), but --task is {}", task.name()),
    }
}

/// The same, or the first language that has masked words.
pub fn language_or_masked(languages: &Languages, name: Option<&str>) -> Result<Language> {
    match (name, languages.masked().next()) {
        (Some(name), _) => language(languages, name),
        (None, masked) => masked.context("no language has masked words: choose one with --language"),
    }
}
