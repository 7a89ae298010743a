//! `[eval]`

use super::Range;
use crate::settings;

settings! {
    /// `[eval]`: when a model is evaluated, and on how much.
    EvalConfig in "eval", "when a model is evaluated, and on how much" {
        every: u64 = 500, Range::from(0.0), Ours, "steps between evaluations; 0 for one at the end";
        early: u32 = 5, Range::within(0.0, 40.0), Ours, "further ones before the first, each at half the step of the next";
        also: Vec<u64> = Vec::new(), Range::Words("a list of steps"), Ours, "and at these steps";
        sentences: usize = 100, Range::within(1.0, 1e5), Ours, "prompts of T1, per condition";
        samples: usize = 32, Range::within(0.0, 1e5), Ours, "sampled sentences of T0 and T2, per condition";
        temperature: f64 = 1.0, Range::above(0.0), Ours, "sampling temperature of these";
        subjects: usize = 48, Range::within(2.0, 1e5), Ours, "subjects of reachability";
        targets: usize = 20, Range::within(1.0, 1e5), Ours, "targets of each set, per subject, at most";
        words: usize = 200, Range::within(2.0, 1e5), Ours,
            "masked words of the contrast, and as many unmasked ones, or all there are";
        forms: bool = false, Range::Any, Ours + neutral,
            "also the contrast of these words in other forms: recut, in the first language's form, with another stem, another word";
        rank: bool = false, Range::Any, Ours + neutral,
            "also the rank of each masked word among the merges of a tokenizer of 2 |V| pieces, and its log-probability";
        inside: bool = false, Range::Any, Ours + neutral, "whether the inside of the model is measured, layer by layer";
        inside_every: u64 = 2500, Range::from(0.0), Ours + neutral,
            "evaluations that measure the inside: those at multiples of this step, and the last; 0 for all of them";
        losses: usize = 128, Range::within(1.0, 1e5), Ours, "held-out sequences for the loss, per condition";
        ngram_rows: u64 = 20_000, Range::within(1.0, 1e8), Ours, "training rows that the n-gram models are counted on";
        emergence: f64 = 0.02, Range::to_below(0.0, 1.0), Paper, "a metric has emerged once it exceeds this";
        kept: usize = 6, Range::within(0.0, 1e5), Ours, "decoded sentences kept, per condition and task";
    }
}

impl EvalConfig {
    /// The steps at which a run of `steps` is evaluated, rising.
    ///
    /// ```
    /// let eval = invitro_base::settings::EvalConfig { every: 100, early: 2, ..Default::default() };
    /// assert_eq!(eval.at(250), [0, 25, 50, 100, 200, 250]);
    /// ```
    pub fn at(&self, steps: u64) -> Vec<u64> {
        if self.every == 0 {
            return vec![steps];
        }
        let early = (1..=self.early).map(|halvings| self.every.checked_shr(halvings).unwrap_or(0));
        let mut at: Vec<u64> = [0, steps].into_iter().chain(early).chain(self.also.iter().copied()).collect();
        at.extend((1..=steps / self.every).map(|i| i * self.every));
        at.retain(|&step| step <= steps);
        at.sort_unstable();
        at.dedup();
        at
    }
}
