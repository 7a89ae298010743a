//! The training mixture: the language of each row, withholding, and code switching.

use super::task::{Sequence, Task};
use crate::languages::Languages;
use crate::world::symbol::{Language, Symbol};
use invitro_base::random::Rng;
use invitro_base::settings::MixtureConfig;

/// The mixture settings that concern training rows: languages, withholding, translation, code switching.
#[derive(Clone, Debug)]
pub(crate) struct TrainingMixture {
    /// The languages' shares in every stage.
    pub stages: Vec<Vec<f64>>,
    /// Steps of all stages.
    steps: u64,
    withhold: bool,
    pub translation: f64,
    code_switch: f64,
}

impl TrainingMixture {
    pub fn new(languages: &Languages, mixture: &MixtureConfig, steps: u64) -> TrainingMixture {
        TrainingMixture {
            stages: languages.family.stages(mixture),
            steps,
            withhold: mixture.withholds(),
            translation: mixture.translation,
            code_switch: mixture.code_switch,
        }
    }

    /// The languages' shares at a step; steps count from 0.
    pub fn shares(&self, step: u64) -> &[f64] {
        let stages = self.stages.len() as u64;
        let stage = if stages == 1 { 0 } else { (step * stages / self.steps.max(1)).min(stages - 1) };
        &self.stages[stage as usize]
    }

    /// Whether training may show a sequence.
    pub fn allows(&self, sequence: &Sequence) -> bool {
        !(self.withhold && sequence.masked)
    }

    /// Switches some words of a sequence to other languages, except words and facts that those languages withhold.
    pub fn switch(&self, languages: &Languages, rng: &mut Rng, out: &mut Sequence) {
        out.switched.clear();
        if self.code_switch == 0.0 || out.task == Task::T3 || languages.all().len() == 1 {
            return;
        }
        let mut seen: Vec<Symbol> = Vec::with_capacity(out.sentence.symbols.len());
        for &symbol in &out.sentence.symbols {
            if seen.contains(&symbol) {
                continue;
            }
            seen.push(symbol);
            if !rng.chance(self.code_switch) {
                continue;
            }
            let other = random_other(languages, out.language, rng);
            if !(self.withhold && languages.withholds_word(other, symbol, &out.sentence)) {
                out.switched.push((symbol, other));
            }
        }
    }
}

/// A random language other than the given one.
pub(crate) fn random_other(languages: &Languages, language: Language, rng: &mut Rng) -> Language {
    let at = rng.index(languages.all().len() - 1);
    languages.all()[at + usize::from(at >= language.index())]
}
