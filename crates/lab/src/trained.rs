//! A trained model from its run folder: to evaluate again, to prompt by hand, to export.

use crate::card::{Published, model_card};
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::inputs::InputCache;
use crate::inputs::tokenized::TokenizedText;
use crate::probes::batch_rows;
use crate::probes::evaluation::{Evaluation, MemberToEvaluate, evaluate};
use crate::run_folder::{self, TOKENIZER_SEAL};
use invitro_language::{Language, Languages};
use invitro_model::export::ExportTokens;
use invitro_model::{Checkpoint, Device, Population, Shape};
use invitro_results::folder::{SEGMENTATION, TOKENIZER, write_file};
use invitro_results::{At, Seal};
use invitro_tokenizer::{Tokenizer, per_language, special};
use std::path::Path;

pub struct Trained {
    pub experiment: Experiment,
    pub languages: Languages,
    /// The tokenizer that lies in the folder.
    pub text: TokenizedText,
    pub checkpoint: Checkpoint,
}

impl Trained {
    /// The model of a step, or of the last one there is.
    pub fn load(path: &Path, step: Option<u64>) -> Result<Trained> {
        let experiment = Experiment::open(path)?.ok_or_else(|| Error::NoRun { path: path.to_owned() })?;
        let steps = run_folder::saved(path);
        let none = || Error::NoCheckpoint { path: path.to_owned(), step, steps: steps.clone() };
        let step = match step {
            Some(step) => steps.contains(&step).then_some(step).ok_or_else(none)?,
            None => steps.last().copied().ok_or_else(none)?,
        };
        let checkpoint = run_folder::load_checkpoint(path, &experiment.id(), step)?;
        if !checkpoint.is_finite() {
            return Err(Error::NotFinite { path: run_folder::checkpoint(path, step) });
        }
        let tokenizer = path.join(TOKENIZER[0]);
        if checkpoint.metadata.get(TOKENIZER_SEAL) != Some(&Seal::of_file(&tokenizer)?.blake3) {
            return Err(Error::OtherTokenizer { path: tokenizer });
        }
        let languages = experiment.make_languages(experiment.seeds.data.first())?;
        let tokenizer = Tokenizer::load(path)?;
        let text = TokenizedText::with_tokenizer(tokenizer, &experiment, &languages)?;
        if experiment.tokenizer.intervenes() {
            Seal::of(text.segmentation.table(&languages).as_bytes()).read(&path.join(SEGMENTATION))?;
        }
        checkpoint.fits(&Shape::new(&experiment.model, text.rows()))?;
        Ok(Trained { experiment, languages, text, checkpoint })
    }

    /// The model on a device, alone, with room for batches of `rows` rows.
    pub fn population(&self, device: Device, rows: usize) -> Result<Population> {
        let seed = self.experiment.seeds.model.first();
        let mut population = Population::new(device, &self.checkpoint.shape, &[seed], rows)?;
        population.restore(0, &self.checkpoint)?;
        Ok(population)
    }

    /// Evaluates the model as `settings`, an experiment that may differ in `[eval]` alone, says.
    pub fn evaluate(&self, settings: &Experiment, device: Device) -> Result<Evaluation> {
        let differing = settings.differing(&self.experiment, ["asked for", "in the folder"]);
        let elsewhere: Vec<String> = differing.into_iter().filter(|key| !key.starts_with("eval.")).collect();
        if !elsewhere.is_empty() {
            return Err(Error::NotEvaluation { keys: elsewhere.join("; ") });
        }
        // Whatever the step is.
        let mut settings = settings.clone();
        settings.eval.inside_every = 0;
        let inputs = InputCache::default().get(&settings)?;
        let member = MemberToEvaluate { inputs: &inputs, with_baselines: true };
        let rows = batch_rows(self.checkpoint.shape.context);
        let mut population = self.population(device, rows)?;
        let step = self.checkpoint.step;
        let mut evaluated = evaluate(&mut population, &[Some(member)], step)?;
        Ok(evaluated.pop().flatten().expect("the slot is `Some`"))
    }

    /// Writes the model, its tokenizers and a model card, which looks for the measures in the run's folder, into a folder
    /// that `transformers` loads. Returns the languages whose words' ids no `tokenizer.json` can give.
    pub fn export(&self, run: &Path, out: &Path, published: Published) -> Result<Vec<Language>> {
        let tokens = ExportTokens { bos: None, eos: special::EOS, pad: special::PAD };
        invitro_model::export::export(out, &self.checkpoint.shape, &self.checkpoint.weights, tokens)?;
        if self.experiment.tokenizer.intervenes() {
            write_file(&out.join(SEGMENTATION), self.text.segmentation.table(&self.languages).as_bytes())?;
        } else {
            self.text.tokenizer.save(out)?;
        }
        let mut without = Vec::new();
        for &language in self.languages.all() {
            let TokenizedText { tokenizer, segmentation, .. } = &self.text;
            match per_language::files(tokenizer, segmentation, &self.languages, language)? {
                Some(files) => {
                    let folder = out.join(tokenizer_folder(language));
                    std::fs::create_dir_all(&folder).writing(&folder)?;
                    files.iter().try_for_each(|(name, text)| write_file(&folder.join(name), text.as_bytes()))?;
                }
                None => without.push(language),
            }
        }
        write_file(&out.join("README.md"), model_card(self, run, published, &without)?.as_bytes())?;
        Ok(without)
    }
}

/// The folder of a language's own tokenizer in an export.
pub fn tokenizer_folder(language: Language) -> String {
    format!("tokenizer-{}", language.name())
}
