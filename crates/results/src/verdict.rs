//! What may be said of a number: estimates with their intervals, and verdicts by one rule.
//!
//! Nothing is judged on fewer than [`SEEDS`] data seeds, and nothing about transfer where the thing was not learned in
//! the languages that saw it.

use std::fmt;

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Whether all of it lies above the bound.
    pub fn above(&self, bound: f64) -> bool {
        self.low > bound
    }

    /// Whether all of it lies below the bound.
    pub fn below(&self, bound: f64) -> bool {
        self.high < bound
    }

    /// Whether all of it lies between the two.
    pub fn within(&self, low: f64, high: f64) -> bool {
        self.low >= low && self.high <= high
    }

    /// Whether the value lies in it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A mean or other statistic over runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The statistic.
    pub value: f64,
    /// Its interval, where there is one.
    pub interval: Option<Interval>,
    /// The runs behind it.
    pub runs: usize,
    /// The data seeds behind it.
    pub data_seeds: usize,
}

impl Estimate {
    /// With its sign turned, for predictions of less.
    pub fn negated(self) -> Estimate {
        let interval = self.interval.map(|it| Interval { low: -it.high, high: -it.low });
        Estimate { value: -self.value, interval, ..self }
    }
}

/// `0.331 [0.266, 0.397]`, and the value alone where there is no interval.
impl fmt::Display for Estimate {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&digits(self.value))?;
        match self.interval {
            Some(Interval { low, high }) => write!(out, " [{}, {}]", digits(low), digits(high)),
            None => Ok(()),
        }
    }
}

/// A number as texts write it: three decimals, none from 100 on, a real minus sign.
pub fn digits(value: f64) -> String {
    let text = if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") };
    text.replace('-', "−")
}

/// Data seeds below which nothing is judged.
pub const SEEDS: usize = 3;

/// Standardised effects and correlations smaller than this are nothing to speak of.
pub const MARGIN: f64 = 0.1;

/// What an interval says of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The interval lies wholly on the predicted side.
    Supported,
    /// It lies wholly on the other side.
    Contradicted,
    /// It lies wholly so close to nothing that it does not matter.
    Negligible,
    /// It holds the neutral value.
    CannotTell,
    /// Too few data seeds.
    NotJudged,
}

/// The rule, as pages state it.
pub const RULE: &str = "Supported where the 95 % interval over seeds lies wholly on the predicted side of the neutral value; \
     contradicted where it lies wholly on the other side; not supported where it lies wholly within 0.1 of it (standardised effects \
     and correlations only); otherwise cannot tell. With fewer than three data seeds nothing is judged. Intervals allow for the number \
     of seeds (Student's t with one degree of freedom less than seeds): with three they are wide.";

impl Verdict {
    /// Whether the estimate lies above `neutral`; an interval wholly within `margin` of it is negligible.
    pub fn of(estimate: Option<&Estimate>, neutral: f64, margin: f64) -> Verdict {
        let Some(estimate) = estimate else { return Verdict::CannotTell };
        if estimate.data_seeds < SEEDS {
            return Verdict::NotJudged;
        }
        match estimate.interval {
            None => Verdict::CannotTell,
            Some(interval) if margin > 0.0 && interval.within(neutral - margin, neutral + margin) => {
                Verdict::Negligible
            }
            Some(interval) if interval.above(neutral) => Verdict::Supported,
            Some(interval) if interval.below(neutral) => Verdict::Contradicted,
            Some(_) => Verdict::CannotTell,
        }
    }

    /// Of several tests that must all hold.
    pub fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        use Verdict::{CannotTell, Contradicted, Negligible, NotJudged, Supported};
        let verdicts: Vec<Verdict> = verdicts.into_iter().collect();
        let first = [NotJudged, Contradicted, Negligible, CannotTell].into_iter().find(|one| verdicts.contains(one));
        first.unwrap_or(if verdicts.is_empty() { CannotTell } else { Supported })
    }

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Supported => "supported",
            Verdict::Contradicted => "contradicted",
            Verdict::Negligible => "not supported",
            Verdict::CannotTell => "cannot tell",
            Verdict::NotJudged => "not judged",
        }
    }

    /// The same, of a claim that a paper makes.
    pub fn of_claim(self) -> &'static str {
        match self {
            Verdict::Supported => "agrees",
            Verdict::Contradicted | Verdict::Negligible => "differs",
            other => other.word(),
        }
    }
}

/// Whether knowledge crossed, from the contrast of facts in nats, at the end of training: in the language that saw the
/// words, and in a condition whose words were masked. Both with their names for people.
pub fn knowledge(seen: (&str, Option<&Estimate>), masked: (&str, Option<&Estimate>)) -> (Verdict, String) {
    let ((in_seen, Some(known)), (in_masked, Some(crossed))) = (seen, masked) else {
        return (Verdict::CannotTell, "Cannot tell: the contrast of facts was not measured.".into());
    };
    let verdict = match (Verdict::of(Some(known), 0.0, 0.0), Verdict::of(Some(crossed), 0.0, 0.0)) {
        (Verdict::Supported, crossed) => crossed,
        (Verdict::NotJudged, _) => Verdict::NotJudged,
        _ => Verdict::CannotTell,
    };
    let learned = Verdict::of(Some(known), 0.0, 0.0) == Verdict::Supported;
    let seeds =
        if crossed.data_seeds == 1 { "one data seed".into() } else { format!("{} data seeds", crossed.data_seeds) };
    let said = match verdict {
        Verdict::NotJudged => format!("Not judged, with {seeds} where {SEEDS} are needed"),
        Verdict::Supported => format!(
            "Knowledge crossed: of words it never saw in {}, the model knows something of what they are true of",
            in_masked.trim_end_matches('†')
        ),
        Verdict::Contradicted => "What crossed misleads".into(),
        _ if learned => "It cannot be told whether knowledge crossed".into(),
        _ => format!("The facts were not learned in {in_seen}, so none could cross"),
    };
    let sentence = format!("{said}. The contrast of facts is {known} nats in {in_seen} and {crossed} in {in_masked}.");
    (verdict, sentence)
}
