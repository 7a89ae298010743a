//! What a run is made of before any training: its languages, tokenizer and evaluation sets.
//!
//! Members of a population, and runs of a study, often share them; a [`Pantry`] makes each distinct one once.

use crate::error::{Error, Result};
use crate::evaluation::Sets;
use crate::experiment::Experiment;
use crate::text::Text;
use invitro_language::{Languages, Source};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Shared by all members with the same settings.
#[derive(Clone)]
pub struct Materials {
    pub languages: Arc<Languages>,
    pub text: Arc<Text>,
    pub sets: Arc<Sets>,
}

/// Makes materials, and keeps them for whoever asks for the same.
#[derive(Default)]
pub struct Pantry {
    languages: Shelf<Languages>,
    texts: Shelf<Text>,
    sets: Shelf<Sets>,
}

impl Pantry {
    /// The materials of many, made at once. By threads of their own: one that waits for what another makes must not be
    /// one that helps to make it, as rayon's would be.
    pub fn get_all(&self, experiments: &[Experiment]) -> Vec<Result<Materials>> {
        std::thread::scope(|scope| {
            let making: Vec<_> = experiments.iter().map(|one| scope.spawn(|| self.get(one))).collect();
            making.into_iter().map(|thread| thread.join().expect("making materials does not panic")).collect()
        })
    }

    /// The materials of a single run's experiment. Safe to call from several threads: each thing is made once.
    pub fn get(&self, experiment: &Experiment) -> Result<Materials> {
        let seed = experiment.seeds.data.first();
        let key = (&experiment.language, seed);
        let languages = self.languages.get(&key, || Ok(Languages::new(&experiment.language, seed)?))?;
        let key = (key, &experiment.tokenizer, experiment.mixture.lambda);
        let text = self.texts.get(&key, || Text::new(experiment, &languages))?;
        let key = (key, &experiment.mixture, &experiment.eval, experiment.model.context, experiment.train.batch);
        let sets = self.sets.get(&key, || {
            check_context(experiment, &languages, &text)?;
            Sets::new(experiment, &languages, &text)
        })?;
        Ok(Materials { languages, text, sets })
    }
}

/// Things by the settings they are made from.
struct Shelf<T>(Mutex<HashMap<String, Arc<OnceLock<std::result::Result<Arc<T>, String>>>>>);

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Shelf(Mutex::default())
    }
}

impl<T> Shelf<T> {
    fn get(&self, key: &impl Serialize, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let key = serde_json::to_string(key).expect("settings are plain data");
        let place = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).entry(key).or_default().clone();
        // The shelf is free again; only those who want the same thing wait for it.
        let made = place.get_or_init(|| make().map(Arc::new).map_err(|error| error.to_string()));
        made.clone().map_err(Error::Material)
    }
}

/// Rows that lengths are estimated from.
const PROBE: u64 = 512;

/// The lengths of training sequences as drawn, whatever the context; from a fixed sample.
pub fn lengths(experiment: &Experiment, languages: &Languages, text: &Text) -> Result<Vec<usize>> {
    let mut source = Source::mixture(languages, "lengths", experiment.mixture.share_of_b(), experiment.mixture.tasks);
    (0..PROBE).map(|row| Ok(text.segmentation.length(&source.draw(0, row)?))).collect()
}

/// Sequences longer than the context are redrawn; where most are, what is left is another language.
fn check_context(experiment: &Experiment, languages: &Languages, text: &Text) -> Result<()> {
    let mut lengths = lengths(experiment, languages, text)?;
    lengths.sort_unstable();
    let context = experiment.model.context;
    let longer = lengths.iter().filter(|&&length| length > context).count() as f64 / lengths.len() as f64;
    if longer <= 0.5 {
        return Ok(());
    }
    let at = |share: f64| lengths[((lengths.len() - 1) as f64 * share) as usize];
    Err(Error::Context { context, share: longer * 100.0, half: at(0.5), enough: at(0.99).next_multiple_of(16) })
}
