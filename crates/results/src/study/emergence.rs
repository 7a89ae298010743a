//! When a measure emerged in a run.
//!
//! It emerges at the first evaluated step at which it exceeds a threshold (the paper's is 0.02; an experiment may set its own).
//! Reachability counts only from where the network passes the unigram model, which reaches targets by itself. A contrast counts
//! from where its own interval over pairs of subjects lies above 0 and stays there: of many looks, some are above by chance.

use crate::{Condition, Crossing, Curve, Emergence, Measure, Quantity, Reach, Run, Scorer};

impl Run {
    /// When a measure crossed its threshold in a condition. `None` where the run has no such measure.
    pub fn emergence(
        &self,
        measure: Measure,
        condition: &Condition,
        threshold: f64,
        crossing: Crossing,
    ) -> Option<Emergence> {
        let curve = |measure| self.curve(&Quantity::in_condition(measure, condition));
        if crossing == Crossing::Half {
            return curve(measure).half_way();
        }
        let dated = |curve: &Curve, threshold: f64| match crossing {
            Crossing::First => curve.emergence(threshold),
            _ => curve.lasting_emergence(threshold),
        };
        match measure {
            _ if measure.is_contrast() => curve(measure).lasting_above_zero(threshold),
            Measure::Reach(reach) if reach.scorer == Scorer::Network => {
                let null = curve(Measure::Reach(Reach { scorer: Scorer::Unigram, ..reach })).peak()?.value;
                dated(curve(measure), null + threshold)
            }
            _ => dated(curve(measure), threshold),
        }
    }
}
