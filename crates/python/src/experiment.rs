//! An experiment: its languages, its tokenizer, the rows its training reads.

use crate::errors::{catch, detached, py_error};
use invitro_lab::corpus::{CorpusRow, CorpusRows, CorpusSplit};
use invitro_lab::inputs::InputCache;
use invitro_lab::{Error, Result};
use invitro_language::{Language, LanguageCondition, Languages, Pool, Source, Task};
use invitro_tokenizer::Tokenizer;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A single run's experiment. Its inputs are made once, on first use.
#[pyclass(name = "Experiment", frozen, module = "invitro._invitro")]
pub struct PyExperiment {
    pub experiment: invitro_lab::Experiment,
    pub cache: InputCache,
}

#[pymethods]
impl PyExperiment {
    #[new]
    fn new(preset: Option<&str>, config: Option<PathBuf>, overrides: Vec<String>) -> PyResult<PyExperiment> {
        PyExperiment::for_one_run(catch(|| invitro_lab::Experiment::load(preset, config.as_deref(), &overrides))?)
    }

    /// The experiment of a run's folder.
    #[staticmethod]
    fn open(folder: PathBuf) -> PyResult<PyExperiment> {
        let found = catch(|| invitro_lab::Experiment::open(&folder))?;
        PyExperiment::for_one_run(found.ok_or_else(|| py_error(Error::NoRun { path: folder }))?)
    }

    /// Its identity.
    #[getter]
    fn id(&self) -> String {
        self.experiment.id()
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.experiment.train.steps
    }

    /// The whole experiment as a file.
    fn to_toml(&self) -> String {
        self.experiment.to_toml()
    }

    /// Every setting under its dotted key, as JSON.
    fn settings(&self) -> PyResult<String> {
        let settings: BTreeMap<_, _> = self.experiment.flatten().into_iter().collect();
        serde_json::to_string(&settings).map_err(py_error)
    }

    /// What is allowed, but hardly meant.
    fn notes(&self) -> Vec<String> {
        self.experiment.notes()
    }

    /// The languages with their words, as JSON.
    fn languages(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || {
            let languages = self.cache.languages(&self.experiment)?;
            let list: Vec<Value> = languages.all().iter().map(|&one| self.describe(&languages, one)).collect();
            Result::Ok(Value::Array(list).to_string())
        })
    }

    /// Rows as JSON: of training, or of a language where one is named.
    #[pyo3(signature = (n, language, task, masked, held_out, seed, start))]
    #[allow(clippy::too_many_arguments)]
    fn sample(
        &self,
        py: Python<'_>,
        n: u64,
        language: Option<&str>,
        task: Option<&str>,
        masked: bool,
        held_out: bool,
        seed: u64,
        start: u64,
    ) -> PyResult<String> {
        let mut interrupt = None;
        let sampled = detached(py, || {
            let (languages, text) = match language {
                Some(_) => (self.cache.languages(&self.experiment)?, None),
                None => {
                    self.cache.languages_and_text(&self.experiment).map(|(languages, text)| (languages, Some(text)))?
                }
            };
            let task =
                task.map(|name| name.parse::<Task>().map_err(|why| Error::Corpus(why.to_string()))).transpose()?;
            let split = match language {
                None => CorpusSplit::Train,
                Some(name) => CorpusSplit::Condition(condition(&languages, name, masked)?),
            };
            let pool = if held_out { Pool::HeldOut } else { Pool::Training };
            let mut all: Vec<CorpusRow> = Vec::new();
            let rows = CorpusRows::new(&self.experiment, &languages, split, task, pool, text)?;
            rows.starting(seed, start)?.each_round(n, |rows, _| {
                all.extend(rows);
                Python::attach(|py| py.check_signals()).map_err(|signal| {
                    interrupt = Some(signal);
                    Error::Corpus("interrupted".into())
                })
            })?;
            serde_json::to_string(&all).map_err(|why| Error::Corpus(why.to_string()))
        });
        // Ctrl-C raises Python's own exception.
        interrupt.map_or(sampled, Err)
    }

    /// Verdicts on sentences of a language, as JSON.
    fn check(&self, py: Python<'_>, sentences: Vec<String>, language: &str) -> PyResult<String> {
        detached(py, || {
            let languages = self.cache.languages(&self.experiment)?;
            let language = named(&languages, language)?;
            let mut checker = languages.checker();
            let mut checked = Vec::with_capacity(sentences.len());
            for text in &sentences {
                let verdict = checker.text(text, language);
                checked.push(checker.explained(text, language, verdict));
            }
            serde_json::to_string(&checked).map_err(|why| Error::Corpus(why.to_string()))
        })
    }

    /// The ids of a text, special tokens among its words.
    fn encode(&self, py: Python<'_>, text: &str, language: Option<&str>) -> PyResult<Vec<u32>> {
        detached(py, || {
            let (languages, tokenized) = self.cache.languages_and_text(&self.experiment)?;
            match language {
                None if self.experiment.tokenizer.intervenes() => Err(Error::Corpus(
                    "words have ids of their language's own here (`tokenizer.share`, `tokenizer.cut`): say which language".into(),
                )),
                None => Ok(tokenized.tokenizer.encode(text)?),
                Some(name) => tokenized.words(text, &languages, named(&languages, name)?),
            }
        })
    }

    /// The text of ids.
    fn decode(&self, py: Python<'_>, ids: Vec<u32>) -> PyResult<String> {
        detached(py, || {
            let (_, text) = self.cache.languages_and_text(&self.experiment)?;
            match ids.iter().find(|&&id| id as usize >= text.rows()) {
                Some(id) => Err(Error::Corpus(format!("there is no token {id}: ids are 0 to {}", text.rows() - 1))),
                None => Ok(text.segmentation.decode(&ids)),
            }
        })
    }

    /// `tokenizer.json`.
    fn tokenizer(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || {
            let (_, text) = self.cache.languages_and_text(&self.experiment)?;
            Result::Ok(Tokenizer::to_json(&text.tokenizer)?)
        })
    }

    /// How many ids a model of it must know: |V|, and more where languages have ids of their own.
    fn vocab(&self, py: Python<'_>) -> PyResult<usize> {
        detached(py, || Result::Ok(self.cache.languages_and_text(&self.experiment)?.1.rows()))
    }

    /// The rows that a step of training reads: their ids end to end (u32), where each begins and the last ends (u64),
    /// and the number of each one's task (u8).
    fn batch<'py>(
        &self,
        py: Python<'py>,
        step: u64,
    ) -> PyResult<(Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>)> {
        let (ids, offsets, tasks) = detached(py, || self.rows(step))?;
        Ok((PyByteArray::new(py, &ids), PyByteArray::new(py, &offsets), PyByteArray::new(py, &tasks)))
    }
}

impl PyExperiment {
    fn for_one_run(experiment: invitro_lab::Experiment) -> PyResult<PyExperiment> {
        for (key, seeds) in [("seeds.data", &experiment.seeds.data), ("seeds.model", &experiment.seeds.model)] {
            if seeds.0.len() > 1 {
                return Err(py_error(format!("an Experiment is of one run, but `{key}` is {:?}: choose one", seeds.0)));
            }
        }
        Ok(PyExperiment { experiment, cache: InputCache::default() })
    }

    fn describe(&self, languages: &Languages, language: Language) -> Value {
        let shares = languages.family.shares(&self.experiment.mixture);
        let other_languages: f64 = shares[1..].iter().sum();
        let share = if language.index() == 0 { 1.0 - other_languages } else { shares[language.index()] };
        let label = |symbol| languages.world.label(symbol);
        let other_languages = languages.all().iter().filter(|&&other| other != language);
        let distances = languages.lexicon.distances();
        json!({
            "name": language.name(),
            "alphabet": languages.alphabet(language),
            "share": share,
            "distances": other_languages
                .map(|&other| (other.name(), distances.stems(language, other).relative))
                .collect::<BTreeMap<_, _>>(),
            "masked": languages.mask(language).symbols().iter().map(|&symbol| label(symbol)).collect::<Vec<_>>(),
            "words": languages.world.symbols()
                .map(|symbol| (label(symbol), languages.form(symbol, language).to_owned()))
                .collect::<Vec<_>>(),
        })
    }

    fn rows(&self, step: u64) -> Result<(Vec<u8>, Vec<u8>, Vec<u8>)> {
        let train = &self.experiment.train;
        if !(1..=train.steps).contains(&step) {
            return Err(Error::Corpus(format!("there is no step {step}: training has steps 1 to {}", train.steps)));
        }
        let (languages, text) = self.cache.languages_and_text(&self.experiment)?;
        let rows = train.batch as u64;
        let mut source = Source::training(&languages, &self.experiment.mixture, rows, train.steps);
        let batch = text.batch(&mut source, step, rows, self.experiment.model.context)?;
        let (mut ids, mut end, mut offsets) = (Vec::new(), 0, vec![0; 8]);
        for sequence in &batch {
            ids.extend(sequence.tokens.iter().flat_map(|id| id.to_le_bytes()));
            end += sequence.tokens.len() as u64;
            offsets.extend(end.to_le_bytes());
        }
        Ok((ids, offsets, batch.iter().map(|sequence| sequence.group).collect()))
    }
}

/// The language of a name.
pub fn named(languages: &Languages, name: &str) -> Result<Language> {
    let names = || languages.all().iter().map(|language| language.name()).collect::<Vec<_>>().join(", ");
    languages.language(name).ok_or_else(|| Error::Corpus(format!("there is no language {name}: there are {}", names())))
}

fn condition(languages: &Languages, name: &str, masked: bool) -> Result<LanguageCondition> {
    let language = named(languages, name)?;
    if masked && !languages.masked().any(|one| one == language) {
        return Err(Error::Corpus(format!("nothing is masked in {name}: its `mask_share` is 0")));
    }
    Ok(LanguageCondition { language, masked })
}
