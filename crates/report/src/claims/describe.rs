//! What was estimated, in words.

use super::measures::{measure_noun, metric_label, predictor_symbol};
use crate::data::FactorWords;
use crate::wording::listed;
use invitro_results::claims::{
    Bound, ConditionRole, Covariate, Estimand, EstimandKind as Kind, Outcome, Reading, Scope,
};
use invitro_results::{Crossing, Factor, Measure, Moment};

/// `difference between share = none and share = all in the contrast of facts in B† at the end`
pub fn describe(scope: &Scope, estimand: &Estimand) -> String {
    let value = || run_value(scope, estimand);
    let described = match &estimand.kind {
        Kind::Mean => value(),
        Kind::Difference { of, .. } => {
            // A second factor compares the differences that the first one makes.
            of.iter().fold(value(), |of_what, (factor, levels)| {
                let [first, second] = levels.each_ref().map(|level| factor.with_level(&level.to_string()));
                format!("difference between {first} and {second} in the {of_what}")
            })
        }
        Kind::Effect(of) => match &of[..] {
            [one] => format!("standardised effect of {} on the {}", predictor_symbol(one), value()),
            two => {
                let [first, second] = [0, 1].map(|place| predictor_symbol(&two[place].column()));
                format!(
                    "excess of the standardised effect of {first} over that of {second}, in size, on the {}",
                    value()
                )
            }
        },
        Kind::Bend(factor) => {
            format!("{} at the inner levels of {} less that at the outer two", value(), factor.symbol())
        }
        Kind::Correlation { with, within } => {
            let held = held_nouns(scope, within);
            match &with[..] {
                [one] => format!("Pearson's *r* of {} with the {}{held}", predictor_symbol(one), value()),
                two => {
                    let [first, second] = [0, 1].map(|place| predictor_symbol(&two[place]));
                    format!("excess of Pearson's *r* with {first} over that with {second}, in size, of the {}", value())
                }
            }
        }
        Kind::Slope { with, within } => {
            format!("slope on {} of the {}{}", predictor_symbol(with), value(), held_nouns(scope, within))
        }
        Kind::Combined(combined) => {
            let times = combined.times.iter().map(|it| format!(", times the {}", describe(scope, it)));
            let less = combined.less.iter().map(|it| format!(", less the {}", describe(scope, it)));
            return times.chain(less).fold(describe(scope, &combined.of), |of, next| of + &next);
        }
        Kind::Words { outcome, of, bounds, .. } => {
            let outcome = outcome_noun(*outcome);
            match of {
                Some(of) => format!("{outcome} per unit of {}, among the words of one run", covariate_noun(*of)),
                None => format!("{outcome}{}", bounded(bounds)),
            }
        }
        Kind::Jump { outcome, width } => format!(
            "jump of the {} where ranks cross |V|, among the words of one run within {width} |V| of it",
            outcome_noun(*outcome)
        ),
        Kind::Order(crossing) => {
            let place = |reading: &Reading| {
                format!("{} in {}", stage(reading.measures[0]), place_label(scope, reading, reading.measures[0]))
            };
            let stages: Vec<String> = estimand.value.readings().map(place).collect();
            format!("share of runs with {} ({} crossing)", stages.join(" before "), crossing.name())
        }
    };
    described + &held_levels(estimand)
}

/// What kind of number an estimand is, in a few words: `effect of log₂ |V|`.
pub fn statistic(estimand: &Estimand) -> String {
    match &estimand.kind {
        Kind::Effect(of) => match &of[..] {
            [one] => format!("effect of {}", predictor_symbol(one)),
            two => {
                let [first, second] = [0, 1].map(|place| predictor_symbol(&two[place].column()));
                format!("|effect of {first}| − |effect of {second}|")
            }
        },
        Kind::Correlation { .. } => "Pearson's *r*".into(),
        Kind::Slope { with, .. } => format!("per unit of {}", predictor_symbol(with)),
        Kind::Combined(combined) if combined.less.is_some() => "error".into(),
        Kind::Combined(_) => "prediction".into(),
        Kind::Order(_) => "share of the runs with an order".into(),
        Kind::Words { outcome, of: Some(of), .. } => {
            format!("{} per unit of {}", outcome_noun(*outcome), covariate_noun(*of))
        }
        _ if estimand.value.is_ratio => "ratio".into(),
        Kind::Mean if estimand.value.second.is_none() => "mean".into(),
        Kind::Mean | Kind::Difference { .. } => "difference".into(),
        Kind::Bend(_) => "bend".into(),
        Kind::Words { outcome, .. } => format!("{}, mean", outcome_noun(*outcome)),
        Kind::Jump { outcome, .. } => format!("jump of the {}", outcome_noun(*outcome)),
    }
}

/// The same where the claim is known: `A at the end`.
pub fn describe_short(scope: &Scope, estimand: &Estimand, claim: &Estimand) -> String {
    let reading = &estimand.value.first;
    if let (Kind::Jump { outcome, width }, Kind::Jump { outcome: of_claim, .. }) = (&estimand.kind, &claim.kind)
        && outcome == of_claim
    {
        return format!("within {width} |V|");
    }
    if estimand.kind != claim.kind || reading.measures != claim.value.first.measures || estimand.value.second.is_some()
    {
        return describe(scope, estimand);
    }
    let measure = scope.measure(reading);
    let held = if estimand.at == claim.at { String::new() } else { held_levels(estimand) };
    format!("{} {}{held}", place_label(scope, reading, measure), when(reading.moment)).trim_end().to_owned()
}

fn held_levels(estimand: &Estimand) -> String {
    held(estimand).map(|level| format!(", {level}")).collect()
}

/// The levels that are held: `width = 128`.
pub fn held(estimand: &Estimand) -> impl Iterator<Item = String> {
    let held = estimand.at.iter().filter(|(_, levels)| !levels.is_empty());
    held.map(|(factor, levels)| factor.with_level(&listed(&levels.iter().map(ToString::to_string).collect::<Vec<_>>())))
}

/// `, with distance held`, of what varies.
fn held_nouns(scope: &Scope, within: &[Factor]) -> String {
    let held = within.iter().map(|factor| held_noun(scope, *factor)).filter(|held| !held.is_empty());
    let held: Vec<String> = held.collect();
    if held.is_empty() { String::new() } else { format!(", with {} held", listed(&held)) }
}

/// What is held, where it varies.
fn held_noun(scope: &Scope, factor: Factor) -> String {
    let varying = scope.study.varying();
    let names =
        varying.iter().filter(|own| **own == factor || (factor == Factor::LANGUAGES && own.is_kind_of_languages()));
    listed(&names.map(|own| own.noun()).collect::<Vec<_>>())
}

fn run_value(scope: &Scope, estimand: &Estimand) -> String {
    let value = &estimand.value;
    match &value.second {
        None => reading(scope, &value.first),
        Some(second) => {
            let [first, second] = [&value.first, second].map(|one| reading(scope, one));
            if value.is_ratio { format!("ratio of {first} to {second}") } else { format!("{first}, less {second}") }
        }
    }
}

fn reading(scope: &Scope, reading: &Reading) -> String {
    let measure = scope.measure(reading);
    let place = place_label(scope, reading, measure);
    let place = if place.is_empty() { place } else { format!(" in {place}") };
    let noun = measure_noun(measure);
    match reading.moment {
        Moment::Decline => format!("decline of the {noun}{place}"),
        Moment::OwnDecline => format!("own decline of the {noun}{place}"),
        Moment::Emergence(Crossing::First) => format!("step at which the {noun}{place} emerges"),
        Moment::Emergence(Crossing::Half) => format!("step at which the {noun}{place} has come half of its way"),
        Moment::Emergence(Crossing::Lasting) => format!("step from which on the {noun}{place} has emerged"),
        moment if measure.is_curve() => format!("{noun}{place} {}", when(moment)),
        _ => format!("{noun}{place}"),
    }
}

fn when(moment: Moment) -> String {
    match moment {
        Moment::End => "at the end".into(),
        Moment::Peak => "at the peak".into(),
        Moment::Before => "before the decline".into(),
        Moment::Step(step) => format!("at step {step}"),
        other => other.name(),
    }
}

/// `B†`; nothing of what is over all conditions.
fn place_label(scope: &Scope, reading: &Reading, measure: Measure) -> String {
    if matches!(measure, Measure::Bridge(..)) && reading.place == ConditionRole::Masked {
        return String::new();
    }
    let conditions = scope.conditions(&reading.place, measure).ok().flatten().unwrap_or_default();
    listed(&conditions.iter().map(|condition| condition.label()).collect::<Vec<_>>())
}

/// What emerges, as figures call it.
fn stage(measure: Measure) -> String {
    match measure {
        Measure::Reach(_) if measure.is_contrast() => "allowed above forbidden".into(),
        Measure::Reach(_) => "reachability above the unigram model's".into(),
        Measure::Task(_, metric) => metric_label(metric).into(),
        other => measure_noun(other),
    }
}

fn outcome_noun(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Contrast => "contrast of a word",
        Outcome::Reachable => "share of words reachable",
        Outcome::LogProb => "log-probability of a word",
    }
}

pub(super) fn covariate_noun(covariate: Covariate) -> String {
    covariate.name().replace('_', " ")
}

fn bounded(bounds: &[(Covariate, Bound, f64)]) -> String {
    let bound = |(covariate, bound, value): &(Covariate, Bound, f64)| {
        let relation = match bound {
            Bound::Below => "below",
            Bound::AtMost => "of at most",
            Bound::Above => "above",
            Bound::AtLeast => "of at least",
            Bound::Is => "of",
        };
        format!("{} {relation} {value}", covariate_noun(*covariate))
    };
    let all: Vec<String> = bounds.iter().map(bound).collect();
    if all.is_empty() { String::new() } else { format!(" with a {}", listed(&all)) }
}
