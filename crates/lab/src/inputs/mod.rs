//! What a run is made of before any training: its languages, tokenizer and evaluation sets.
//!
//! Members of a population, and runs of a study, often share them; an [`InputCache`] makes each distinct one once, and
//! forgets what is no longer asked for.

pub mod tokenized;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::inputs::tokenized::TokenizedText;
use crate::probes::ProbeSet;
use invitro_base::settings::{Exposure, Stage, require, stage_key};
use invitro_language::{Borrowed, Language, Languages, Source, Symbol};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Shared by all members with the same settings.
#[derive(Clone)]
pub struct RunInputs {
    pub languages: Arc<Languages>,
    pub text: Arc<TokenizedText>,
    pub probes: Arc<ProbeSet>,
}

/// Makes inputs, and shares them between runs with the same settings.
#[derive(Default)]
pub struct InputCache {
    languages: MadeOnce<Languages>,
    texts: MadeOnce<TokenizedText>,
    probes: MadeOnce<ProbeSet>,
}

impl RunInputs {
    /// Settings that this world cannot satisfy, and legal ones that are usually a mistake.
    pub fn notes(&self, experiment: &Experiment) -> Vec<String> {
        let mut notes = experiment.notes();
        let borrowed = self.languages.lexicon.borrowed();
        notes.extend(borrowed.into_iter().flat_map(Borrowed::report));
        // For real words, no distance is set.
        for (of, measured, asked) in self.languages.calibrated_distances().into_iter().filter(|_| borrowed.is_none()) {
            if (measured - asked).abs() > 0.02 {
                let nodes = self.languages.family.nodes();
                let why = match nodes.iter().any(|node| node.loans > 0.0 || node.false_friends > 0.0) {
                    true => "it is asked of inherited words, and measured with loans and false friends among them",
                    false => {
                        "masked words may not be words of another language, and where nothing else can make them differ, their \
                         stems must"
                    }
                };
                notes.push(format!("the distance of the stems{of} is {measured:.3}, not {asked}: {why}"));
            }
        }
        notes.extend(self.probes.notes(experiment));
        notes
    }
}

impl InputCache {
    /// Forgets inputs that were not requested between the last `calls` calls of this. Called before every population with the number of
    /// those that train at once, the cache holds the inputs of two of each at most, however many a study has.
    pub fn forget_unused(&self, calls: usize) {
        self.languages.forget_unused(calls);
        self.texts.forget_unused(calls);
        self.probes.forget_unused(calls);
    }

    /// The languages of a single run's experiment.
    pub fn languages(&self, experiment: &Experiment) -> Result<Arc<Languages>> {
        let make = || experiment.make_languages(experiment.seeds.data.first());
        self.languages.get(experiment, Stage::Languages, make)
    }

    /// The same with its tokenizer.
    pub fn languages_and_text(&self, experiment: &Experiment) -> Result<(Arc<Languages>, Arc<TokenizedText>)> {
        let languages = self.languages(experiment)?;
        let text = self.texts.get(experiment, Stage::Tokenizer, || TokenizedText::new(experiment, &languages))?;
        Ok((languages, text))
    }

    /// All inputs of it. Safe to call from several threads: each thing is made once.
    pub fn get(&self, experiment: &Experiment) -> Result<RunInputs> {
        let (languages, text) = self.languages_and_text(experiment)?;
        let probes = self.probes.get(experiment, Stage::Probes, || {
            check_context(experiment, &languages, &text)?;
            ProbeSet::new(experiment, &languages, &text)
        })?;
        Ok(RunInputs { languages, text, probes })
    }
}

/// Works on all items at once, by threads of their own: one that waits for what another puts into an [`InputCache`] must
/// not be one that helps to make it, as rayon's would be.
pub fn on_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if let [item] = items {
        return vec![work(item)];
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(|| work(item))).collect();
        threads.into_iter().map(|thread| thread.join().expect("what makes inputs does not panic")).collect()
    })
}

/// Things by the settings they are made from.
struct MadeOnce<T>(Mutex<HashMap<String, Made<T>>>);

struct Made<T> {
    made: Arc<OnceLock<std::result::Result<Arc<T>, String>>>,
    /// How often unused things were forgotten since it was asked for.
    age: usize,
}

impl<T> Default for MadeOnce<T> {
    fn default() -> Self {
        MadeOnce(Mutex::default())
    }
}

impl<T> MadeOnce<T> {
    /// What `make` makes, once for all experiments with the same settings up to a stage.
    fn get(&self, experiment: &Experiment, stage: Stage, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let key = stage_key(&experiment.to_table(), stage);
        let place = {
            let mut all = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let entry = all.entry(key).or_insert_with(|| Made { made: Arc::default(), age: 0 });
            entry.age = 0;
            entry.made.clone()
        };
        // The cache is free again; only those who want the same thing wait for it.
        let made = place.get_or_init(|| make().map(Arc::new).map_err(|error| error.to_string()));
        made.clone().map_err(Error::Inputs)
    }

    fn forget_unused(&self, calls: usize) {
        let mut all = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.retain(|_, entry| {
            entry.age += 1;
            entry.age <= calls
        });
    }
}

/// Rows that lengths are estimated from.
const PROBE: u64 = 512;

/// The lengths of training sequences as drawn, whatever the context; from a fixed sample.
pub fn lengths(experiment: &Experiment, languages: &Languages, text: &TokenizedText) -> Result<Vec<usize>> {
    let mut source = Source::mixture(languages, "lengths", &experiment.mixture);
    (0..PROBE).map(|row| Ok(text.segmentation.length(&source.draw(0, row)?))).collect()
}

/// The tokens of the longest exposure; 0 without any.
fn longest_exposure(experiment: &Experiment, languages: &Languages, text: &TokenizedText) -> usize {
    let pieces = |symbol: Symbol, language: Language| text.segmentation.pieces(symbol, language).len();
    let others = |symbol: Symbol, language: Language| {
        let others = languages.all().iter().filter(|&&other| other != language);
        others.map(|&other| pieces(symbol, other)).max().unwrap_or(0)
    };
    let length = |language: Language, symbol: Symbol| match experiment.mixture.exposure {
        Exposure::None => 0,
        Exposure::Bare => 2 + pieces(symbol, language),
        Exposure::Dictionary => 3 + pieces(symbol, language) + others(symbol, language),
    };
    let masked = languages
        .all()
        .iter()
        .flat_map(|&language| languages.mask(language).symbols().iter().map(move |&symbol| length(language, symbol)));
    masked.max().unwrap_or(0)
}

/// Sequences longer than the context are redrawn; where most are, what is left is another language. An exposure cannot be
/// redrawn.
fn check_context(experiment: &Experiment, languages: &Languages, text: &TokenizedText) -> Result<()> {
    let mut lengths = lengths(experiment, languages, text)?;
    lengths.sort_unstable();
    let context = experiment.model.context;
    let longest = longest_exposure(experiment, languages, text);
    let allowed = format!("at least {longest}, the tokens of the longest row of `mixture.exposure`");
    require(longest <= context, "model.context", context, allowed)?;
    let too_long = lengths.iter().filter(|&&length| length > context).count() as f64 / lengths.len() as f64;
    if too_long <= 0.5 {
        return Ok(());
    }
    let at = |share: f64| lengths[((lengths.len() - 1) as f64 * share) as usize];
    Err(Error::Context { context, share: too_long * 100.0, half: at(0.5), enough: at(0.99).next_multiple_of(16) })
}
