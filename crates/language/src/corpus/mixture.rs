//! The training mixture: which language a row has at a step, whether training may show it, and which words it says in
//! another language.

use super::task::{Sequence, Task};
use crate::languages::Languages;
use crate::world::symbol::{Language, Symbol};
use invitro_base::random::Rng;
use invitro_base::settings::MixtureConfig;

/// What the mixture settings decide about training rows: languages, withholding, translation, code switching.
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

    /// The shares at a step, the first of which is 0.
    pub fn shares(&self, step: u64) -> &[f64] {
        let stages = self.stages.len() as u64;
        let stage = if stages == 1 { 0 } else { (step * stages / self.steps.max(1)).min(stages - 1) };
        &self.stages[stage as usize]
    }

    /// Whether training may show a sequence.
    pub fn allows(&self, sequence: &Sequence) -> bool {
        !(self.withhold && sequence.masked)
    }

    /// Says some words of a sequence in other languages, never one that is masked there, and none of a sentence that states a
    /// fact which is withheld there.
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
            let other = other_than(languages, out.language, rng);
            if !(self.withhold && languages.withholds_word(other, symbol, &out.sentence)) {
                out.switched.push((symbol, other));
            }
        }
    }
}

/// One of the other languages.
pub(crate) fn other_than(languages: &Languages, language: Language, rng: &mut Rng) -> Language {
    let at = rng.index(languages.all().len() - 1);
    languages.all()[at + usize::from(at >= language.index())]
}
