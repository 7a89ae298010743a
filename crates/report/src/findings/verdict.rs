//! From an interval to a verdict, by one rule.

use crate::stats::Estimate;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Supported,
    /// The interval lies wholly on the other side.
    Opposed,
    /// The interval lies wholly so close to nothing that it does not matter.
    Negligible,
    CannotTell,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Supported => "supported",
            Verdict::Opposed => "contradicted",
            Verdict::Negligible => "not supported",
            Verdict::CannotTell => "cannot tell",
        }
    }

    /// The same, of a claim the paper makes.
    pub fn of_claim(self) -> &'static str {
        match self {
            Verdict::Supported => "agrees",
            Verdict::Opposed | Verdict::Negligible => "differs",
            Verdict::CannotTell => "cannot tell",
        }
    }

    /// Of several tests that must all hold.
    pub fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        let verdicts: Vec<Verdict> = verdicts.into_iter().collect();
        let any = |wanted: Verdict| verdicts.contains(&wanted);
        if any(Verdict::Opposed) {
            Verdict::Opposed
        } else if any(Verdict::Negligible) {
            Verdict::Negligible
        } else if verdicts.is_empty() || any(Verdict::CannotTell) {
            Verdict::CannotTell
        } else {
            Verdict::Supported
        }
    }
}

/// Standardised effects and correlations smaller than this are nothing to speak of.
pub const MARGIN: f64 = 0.1;

/// The rule, as the page states it.
pub const RULE: &str = "Supported where the 95 % interval over seeds lies wholly on the predicted side of the neutral value; \
     contradicted where it lies wholly on the other side; not supported where it lies wholly within 0.1 of it (standardised effects \
     and correlations only); otherwise, and with a single seed, cannot tell. Intervals allow for the number of seeds (Student's t with one \
     degree of freedom less than seeds): with two or three they are wide.";

/// Whether the estimate lies above `neutral`, where an interval wholly within `margin` of it is negligible.
pub fn judge(estimate: Option<&Estimate>, neutral: f64, margin: f64) -> Verdict {
    match estimate.and_then(|estimate| estimate.interval) {
        None => Verdict::CannotTell,
        Some(interval) if margin > 0.0 && interval.within(neutral - margin, neutral + margin) => Verdict::Negligible,
        Some(interval) if interval.above(neutral) => Verdict::Supported,
        Some(interval) if interval.below(neutral) => Verdict::Opposed,
        Some(_) => Verdict::CannotTell,
    }
}

/// The estimate with its sign turned, for predictions of less.
pub fn turned(estimate: Estimate) -> Estimate {
    let interval = estimate.interval.map(|it| crate::stats::Interval { low: -it.high, high: -it.low });
    Estimate { value: -estimate.value, interval, ..estimate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    #[test]
    fn the_rule() {
        let with = |low, high| Estimate { value: 0.5 * (low + high), interval: Some(Interval { low, high }), runs: 9 };
        assert_eq!(judge(Some(&with(0.2, 0.4)), 0.0, MARGIN), Verdict::Supported);
        assert_eq!(judge(Some(&with(-0.4, -0.2)), 0.0, MARGIN), Verdict::Opposed);
        assert_eq!(judge(Some(&with(0.02, 0.08)), 0.0, MARGIN), Verdict::Negligible);
        assert_eq!(judge(Some(&with(-0.1, 0.3)), 0.0, MARGIN), Verdict::CannotTell);
        assert_eq!(judge(None, 0.0, MARGIN), Verdict::CannotTell);
        assert_eq!(judge(Some(&with(0.6, 0.7)), 0.5, 0.0), Verdict::Supported);
        assert_eq!(Verdict::all([Verdict::Supported, Verdict::CannotTell]), Verdict::CannotTell);
        assert_eq!(Verdict::all([]), Verdict::CannotTell);
    }
}
