//! What may be said of a number: estimates with their intervals, and verdicts by one rule.
//!
//! Nothing is judged on fewer than [`SEEDS`] data seeds: then the value of every seed is shown. Nothing about transfer is
//! judged where the thing was not learned in the languages that saw it. A run's last words, comparisons and pages all take
//! their sentences from here.

use crate::{Trajectory, Withheld};
use invitro_stats::{Estimate, digits, grouped, p_value};

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
     of seeds (Student's t with one degree of freedom less than seeds): with three they are wide. Shares have theirs by the logit, \
     correlations and differences of shares by Fisher's z. Nothing about transfer is judged where grammar (half of T1's sentences at the \
     end) or facts (a contrast above 0) were not learned where the words were seen: of several languages, in the first that has no masked words.";

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

/// The same in a text: `p = 0.0123`, `p < 0.0001`, the letter between asterisks.
pub fn p_text(p: f64) -> String {
    let value = p_value(p);
    if value.starts_with('<') { format!("*p* {value}") } else { format!("*p* = {value}") }
}

/// A number of something in a condition, and what every data seed gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The condition, as people write it.
    pub label: String,
    /// Over all runs.
    pub estimate: Option<Estimate>,
    /// The means of the data seeds, in their order.
    pub by_seed: Vec<f64>,
}

impl Measured {
    /// The estimate, or with too few data seeds the value of each.
    fn values(&self) -> String {
        match &self.estimate {
            None => "not measured".into(),
            Some(estimate) if estimate.data_seeds >= SEEDS || self.by_seed.len() < 2 => estimate.to_string(),
            Some(_) => self.by_seed.iter().map(|value| digits(*value)).collect::<Vec<_>>().join(" and "),
        }
    }
}

/// `1 data seed`, `2 data seeds`.
fn seeds(count: usize) -> String {
    if count == 1 { "one data seed".into() } else { format!("{count} data seeds") }
}

/// The share of sentences of T1 that must be grammatical at the end, in the language that saw all words, before
/// anything is said of the form of words that were masked.
const LEARNED: f64 = 0.5;

/// Why nothing may be said of transfer, where grammar was not learned where all words were seen. `None` where it was, or
/// was not measured.
pub fn not_learned(seen: &str, grammatical: Option<&Estimate>) -> Option<String> {
    let grammatical = grammatical.filter(|it| it.value < LEARNED)?;
    Some(format!(
        "grammar was not learned in {seen}: {} of its sentences are grammatical at the end, where {LEARNED} are needed",
        digits(grammatical.value)
    ))
}

/// Declines smaller than this are nothing to speak of.
pub const FADED: f64 = 0.02;

/// Where no more than this share was ever there, nothing can fade.
const HARDLY_ANY: f64 = 0.05;

/// `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [first @ .., before, last] if !first.is_empty() => format!("{}, {before} and {last}", first.join(", ")),
        names => names.join(" and "),
    }
}

/// Whether form with unseen words fades: `what` is the plural of what is counted, as in "grammatical sentences".
/// `seen` is the end of the same measure where all words were seen, and `gate` what [`not_learned`] says.
pub fn fading(
    what: &str,
    masked: &str,
    trajectory: &Trajectory,
    seen: &[Measured],
    gate: Option<&str>,
) -> (Verdict, String) {
    let Trajectory { peak, end, decline, steps: [first, middle, last], by_seed, .. } = trajectory;
    let absent = (peak.value < HARDLY_ANY).then(|| "there are hardly any at any time".to_owned());
    let gate = gate.map(str::to_owned).or(absent);
    let verdict = match (&gate, Verdict::of(decline.as_ref(), 0.0, FADED)) {
        (Some(_), _) => Verdict::NotJudged,
        _ if end.data_seeds < SEEDS => Verdict::NotJudged,
        (None, verdict) => verdict,
    };
    let [first, middle, last] = [first, middle, last].map(|step| grouped(f64::from(*step)));
    let steps =
        if first == last { format!("step {first}") } else { format!("step {middle}; {first} to {last} in all runs") };
    let own = Measured { label: masked.to_owned(), estimate: Some(*end), by_seed: by_seed.clone() };
    let at_peak = if peak.of_two.is_some() { peak.to_string() } else { digits(peak.value) };
    let values = format!("{at_peak} at the peak ({steps}), {} at the end", own.values());
    let others: Vec<String> = seen.iter().map(|it| format!("{} in {}", it.values(), it.label)).collect();
    let others = if others.is_empty() { String::new() } else { format!("; at the end {}", listed(&others)) };
    let what_in = format!("{what} in {masked}");
    let said = match verdict {
        Verdict::Supported => {
            let early = if trajectory.is_early() { "come early and " } else { "" };
            format!("{} {early}fade: {values}{others}.", capital(&what_in))
        }
        Verdict::Contradicted | Verdict::Negligible => {
            format!("{} do not fade: {values}{others}.", capital(&what_in))
        }
        Verdict::CannotTell => format!("It cannot be told whether {what_in} fade: {values}{others}."),
        Verdict::NotJudged => match gate {
            Some(why) => format!("Whether {what_in} fade is not judged, since {why}: {values}{others}."),
            None => format!(
                "Whether {what_in} fade is not judged, with {} where {SEEDS} are needed: {values}{others}.",
                seeds(end.data_seeds)
            ),
        },
    };
    (verdict, said)
}

/// With a capital letter first.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// Whether knowledge crossed, from the contrast of facts in nats, at the end of training: in the language that saw the
/// words, and in a condition where they, or facts, were withheld.
pub fn knowledge(seen: &Measured, masked: &Measured, withheld: Withheld) -> (Verdict, String) {
    let (Some(known), Some(crossed)) = (&seen.estimate, &masked.estimate) else {
        let unmeasured = if seen.estimate.is_none() { seen } else { masked };
        let sentence = format!("Cannot tell: the contrast of facts was not measured in {}.", unmeasured.label);
        return (Verdict::CannotTell, sentence);
    };
    let learned = Verdict::of(Some(known), 0.0, 0.0);
    let verdict = match (learned, Verdict::of(Some(crossed), 0.0, 0.0)) {
        (Verdict::Supported, crossed) => crossed,
        _ => Verdict::NotJudged,
    };
    let too_few = known.data_seeds.min(crossed.data_seeds) < SEEDS;
    let said = match verdict {
        Verdict::NotJudged if too_few => format!(
            "Whether {} is not judged, with {} where {SEEDS} are needed",
            withheld.crossing(),
            seeds(known.data_seeds.min(crossed.data_seeds))
        ),
        Verdict::NotJudged => {
            format!(
                "Whether {} is not judged, since facts were not clearly learned in {}",
                withheld.crossing(),
                seen.label
            )
        }
        Verdict::Supported => withheld.known(masked.label.trim_end_matches('†')),
        Verdict::Contradicted if withheld == Withheld::Nothing => "What is known misleads".into(),
        Verdict::Contradicted => "What crossed misleads".into(),
        _ => format!("It cannot be told whether {}", withheld.crossing()),
    };
    let sentence = format!(
        "{said}. The contrast of facts is {} nats in {} and {} in {}.",
        seen.values(),
        seen.label,
        masked.values(),
        masked.label
    );
    (verdict, sentence)
}
