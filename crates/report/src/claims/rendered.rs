//! An answer as texts. Sentences, rows of tables and cards are all made of these. `*` stands around what is italic.

use super::ClaimAnswers;
use super::describe::{covariate_noun, describe, describe_short};
use super::measures::unit;
use crate::data::FactorWords;
use crate::wording::{capital, counted, listed, with_runs};
use invitro_results::claims::{
    Answer, Claim, Covariate, Estimand, EstimandKind, Estimated, Expectation, LEVEL, Reason, SEEDS, Scope, Test,
    Verdict,
};
use invitro_results::{Condition, Factor, Levels, Study, Withheld};
use invitro_stats::{Estimate, digits, p_value};

/// An answer in words.
pub struct Rendered {
    /// The claim as a sentence.
    pub says: String,
    /// The verdict, with the reason where it was not tested.
    pub verdict: String,
    /// What was estimated.
    pub measured: String,
    /// The estimate with its interval and unit; empty where there is none.
    pub value: String,
    /// The same with the number of runs.
    pub value_of_runs: String,
    /// Other numbers to know, each with what it is.
    pub beside: Vec<(String, String)>,
    /// What else to know of the estimate.
    pub notes: Vec<String>,
}

impl Rendered {
    pub fn new(study: &Study, answer: &Answer) -> Rendered {
        let scope = Scope { masked: answer.masked.as_ref(), ..Scope::new(study) };
        let claim = &answer.claim;
        let says = filled(study, &claim.says, answer.masked.as_ref());
        let verdict = verdict_words(&answer.verdict);
        let Test::Estimand(estimand) = &claim.test else {
            let part = |(id, verdict): &(String, Verdict)| format!("{id}: {}", verdict_words(verdict));
            let notes = vec![format!(
                "holds where all of these do: {}",
                listed(&answer.parts.iter().map(part).collect::<Vec<_>>())
            )];
            let none = String::new();
            let (measured, value, value_of_runs) = (none.clone(), none.clone(), none);
            return Rendered { says, verdict, measured, value, value_of_runs, beside: Vec::new(), notes };
        };
        let number = |estimand: &Estimand, estimated: &Estimated| {
            let estimate = estimated.estimate.as_ref()?;
            Some(format!("{estimate}{}", unit_of(&scope, estimand)))
        };
        let value = number(estimand, &answer.estimated).unwrap_or_default();
        let runs = answer.estimated.estimate.map_or(String::new(), |it| format!(", {}", counted(it.runs, "run")));
        let beside = answer.beside.iter().filter_map(|(other, estimated)| {
            Some((describe_short(&scope, other, estimand), number(other, estimated)?))
        });
        let measured = match &claim.against {
            Some(truth) => format!("error against the claim *{truth}*"),
            None => describe(&scope, estimand),
        };
        Rendered {
            says,
            verdict,
            measured,
            value_of_runs: if value.is_empty() { value.clone() } else { format!("{value}{runs}") },
            value,
            beside: beside.collect(),
            notes: notes(study, answer, estimand),
        }
    }

    /// `Supported: Knowledge crosses. The contrast of facts in B† at the end is 0.49 [0.32, 0.65] nats, 540 runs; A at the end 3.54.`
    pub fn sentence(&self) -> String {
        let number = match (self.value.is_empty(), self.measured.is_empty()) {
            (false, _) => format!(" {} is {}", self.subject(), self.value_of_runs),
            (true, false) if !self.beside.is_empty() => " Here are".to_owned(),
            _ => String::new(),
        };
        let beside: Vec<String> = self.beside.iter().map(|(what, value)| format!("{what} {value}")).collect();
        let joint = if self.value.is_empty() { " " } else { "; " };
        let beside = if beside.is_empty() { String::new() } else { format!("{joint}{}", beside.join("; ")) };
        let stop = if number.is_empty() { "" } else { "." };
        format!("{}: {}{number}{beside}{stop}", capital(&self.verdict), self.says)
    }

    /// What was measured, as a sentence begins with it.
    pub fn subject(&self) -> String {
        if self.measured.starts_with("Pearson") { self.measured.clone() } else { format!("The {}", self.measured) }
    }
}

/// A claim's sentence with the study's own languages in it.
fn filled(study: &Study, says: &str, masked: Option<&Condition>) -> String {
    let all: Vec<Condition> = masked.map_or_else(|| study.masked().cloned().collect(), |one| vec![one.clone()]);
    let joined = |label: &dyn Fn(&Condition) -> Option<String>, without: &str| {
        let names: Vec<String> = all.iter().filter_map(label).collect();
        if names.is_empty() { without.to_owned() } else { listed(&names) }
    };
    let knowledge = invitro_results::Measure::KNOWLEDGE;
    let language = |it: &Condition| Some(it.language.to_string());
    says.replace("{masked}", &joined(&|it| Some(it.label()), "the masked condition"))
        .replace("{target}", &joined(&language, "the target language"))
        .replace("{source}", &joined(&|it| study.source(knowledge, it).map(|it| it.label()), "the source language"))
        .replace("{majority}", &joined(&|it| study.majority(it).map(|it| it.label()), "the majority language"))
        .replace(
            "{withheld}",
            &format!("{} of {}", withheld_noun(study.withheld()), joined(&language, "the target language")),
        )
}

/// What training withheld, as a plural.
pub fn withheld_noun(withheld: Withheld) -> &'static str {
    match withheld {
        Withheld::Words => "unseen words",
        Withheld::Facts => "unstated facts",
        Withheld::Nothing => "words of the mask, which training showed,",
        Withheld::Mixed => "withheld words or facts",
    }
}

fn unit_of(scope: &Scope, estimand: &Estimand) -> &'static str {
    match &estimand.kind {
        EstimandKind::Effect(_) | EstimandKind::Correlation { .. } | EstimandKind::Order(_) => "",
        _ if estimand.value.is_ratio => "",
        _ => unit(scope.measure(&estimand.value.first)),
    }
}

fn verdict_words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::NotTested(reason) => format!("not tested ({})", reason_words(reason)),
        other => other.name().to_owned(),
    }
}

/// Why a claim was not tested.
pub fn reason_words(reason: &Reason) -> String {
    match reason {
        Reason::TooFewSeeds(_) => format!("fewer than {SEEDS} data seeds"),
        Reason::NotLearned { condition, grammatical: Some(share) } => format!(
            "grammar was not learned in {}: {} of its sentences are grammatical at the end",
            condition.label(),
            digits(*share)
        ),
        Reason::NotLearned { condition, .. } => format!("facts were not clearly learned in {}", condition.label()),
        Reason::Saturated => "nearly every run is at a bound of this measure".into(),
        Reason::Absent => "there is hardly any at any time".into(),
        Reason::NotVaried => "not varied".into(),
        Reason::NotMeasured => "not measured".into(),
        Reason::NeverBoth => "in no run do both rise".into(),
        Reason::Nested => "one is counted among the other, so this cannot fail".into(),
        Reason::Collinear(inflation) => {
            format!("other settings nearly determine it: its variance inflation factor is {}", digits(*inflation))
        }
        Reason::NoMajority => "the first language has no more text than the one with masked words".into(),
        Reason::NoExpectation => "nothing was expected".into(),
    }
}

fn notes(study: &Study, answer: &Answer, estimand: &Estimand) -> Vec<String> {
    let detail = &answer.estimated.detail;
    let mut notes = Vec::new();
    if let Some(Expectation::Value(value)) = answer.claim.expect {
        notes.push(format!("{value} was expected"));
    }
    if let (Some(measure), Some(first)) = (answer.estimated.measure, estimand.value.first.measures.first())
        && measure != *first
    {
        notes.push(format!("the {} is saturated here", super::measures::measure_noun(*first)));
    }
    if let Some([first, middle, last]) = detail.steps {
        let [first, middle, last] = [first, middle, last].map(|step| invitro_stats::grouped(f64::from(step)));
        notes.push(if first == last { format!("step {first}") } else { format!("step {middle} ({first} to {last})") });
    }
    if detail.ties > 0 {
        notes.push(format!("{} with both at the same evaluation", counted(detail.ties, "run")));
    }
    if detail.words > 0 {
        notes.push(format!("{} words in runs", detail.words));
    }
    if let Some(p) = detail.p {
        notes.push(format!("*p* {} by permutation of words", p_value(p)));
    }
    if let (true, Some(expect)) = (answer.is_small(), answer.claim.expect) {
        notes.push(format!("small: its whole interval is within {} of {}", answer.claim.margin, expect.neutral()));
    }
    if answer.alpha < LEVEL {
        notes.push(format!("tested at {:.1} % (Holm)", 100.0 * answer.alpha));
    }
    let decided = answer.cells.iter().filter(|cell| cell.verdict.is_decided()).count();
    if !answer.cells.is_empty() {
        let supported = answer.cells.iter().filter(|cell| cell.verdict == Verdict::Supported).count();
        let by: Vec<String> =
            answer.claim.by.iter().filter(|by| study.varying().contains(by)).map(|by| by.symbol()).collect();
        notes.push(format!(
            "supported in {supported} of {} cells of {} ({decided} decided)",
            answer.cells.len(),
            by.join(" × ")
        ));
    }
    notes
}

/// `|V| = 256, d = 0`.
pub fn levels_label(study: &Study, levels: &Levels) -> String {
    let label = |(factor, level): &(Factor, usize)| factor.with_level(&study.levels(*factor)[*level]);
    levels.iter().map(label).collect::<Vec<_>>().join(", ")
}

/// Rows of the regression behind a coefficient of words: covariate, coefficient with its error, interval over seeds.
pub fn coefficients(answer: &Answer) -> Vec<[String; 3]> {
    let Some(regression) = &answer.estimated.detail.regression else { return Vec::new() };
    let row = |effect: &invitro_stats::regression::Effect| {
        let covariate: Option<Covariate> = effect.name.parse().ok();
        let over_seeds = covariate.and_then(|own| regression.estimate(own));
        [
            covariate.map_or_else(|| effect.name.clone(), covariate_noun),
            format!("{} ({})", digits(effect.value), digits(effect.error)),
            over_seeds.map_or("none".into(), |estimate| estimate.to_string()),
        ]
    };
    regression.clustered.effects.iter().map(row).collect()
}

/// Whether an answer says anything about this study: what it does not vary or measure is no news.
pub fn is_shown(answer: &Answer) -> bool {
    let is_absent = |reason: &Reason| matches!(reason, Reason::NotVaried | Reason::NotMeasured | Reason::NoMajority);
    answer.claim.primary || !matches!(&answer.verdict, Verdict::NotTested(reason) if is_absent(reason))
}

/// The sentences a page or a run's summary opens with: the answers to primary claims, or else to the first ones.
pub fn headline(study: &Study, answers: &ClaimAnswers) -> Vec<String> {
    const MOST: usize = 4;
    let has_value = |answer: &&Answer| {
        answer.estimated.estimate.is_some() || answer.beside.iter().any(|it| it.1.estimate.is_some())
    };
    let primary: Vec<&Answer> = answers.answers.iter().filter(|answer| answer.claim.primary).collect();
    let first = answers.answers.iter().filter(|answer| is_shown(answer)).filter(has_value).take(MOST);
    let shown: Vec<&Answer> = if primary.is_empty() { first.collect() } else { primary };
    shown.into_iter().map(|answer| Rendered::new(study, answer).sentence()).collect()
}

/// A value with the number of runs, as tables show it.
pub fn table_value(estimate: Option<&Estimate>) -> String {
    estimate.map_or("–".into(), with_runs)
}

/// The claims that decide another one.
pub fn is_part(answers: &ClaimAnswers, claim: &Claim) -> bool {
    answers.answers.iter().any(|other| matches!(&other.claim.test, Test::All(ids) if ids.contains(&claim.id)))
}
