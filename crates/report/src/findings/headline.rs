//! What the runs say in a few plain sentences, the most important first: what a page opens with.

use super::correlations::held;
use super::crossings::crossings;
use super::design::{BRIDGE, COGNATE, Design, LAMBDA, REGIME, SIMILARITY, VOCAB};
use super::transfer::{Transfer, gate};
use super::{Comparison, Findings, knowledge};
use crate::data::{Run, Study};
use crate::wording::{counted, listed};
use invitro_results::{
    Condition, Kind, MARGIN, Measure, Moment, Quantity, SEEDS, Scorer, Statistic, Targets, TaskMetric, Verdict,
    Withheld, capital, fading,
};
use invitro_stats::{Estimate, digits, grouped};

/// Measures of form that may fade, and what they count.
const FORMS: [(Measure, &str); 2] = [
    (Measure::unscrambling(TaskMetric::Grammaticality), "grammatical sentences"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share), "reachable targets"),
];

pub fn headline(study: &Study, findings: &Findings) -> Vec<String> {
    if study.kind == Kind::Run {
        return study.runs.first().map_or(Vec::new(), |run| of_run(study, run));
    }
    if study.ended(study.plain()).next().is_none() {
        return Vec::new();
    }
    let forms = forms(study);
    // What a study of arms was made for.
    let mut sentences = arms(findings);
    let (summary, together) = (summary(study, &forms), together(study));
    match study.plain().is_empty() {
        true => sentences.extend(summary.into_iter().chain(together)),
        false => sentences.extend(together.into_iter().chain(summary)),
    }
    sentences.extend(forms.into_iter().map(|form| form.sentence));
    sentences.extend(deciding(study));
    sentences.extend(bridges(study, findings));
    const MOST: usize = 3;
    let told = knowledge::told(study);
    let more = told.len().saturating_sub(MOST);
    sentences.extend(told.into_iter().take(MOST));
    if more > 0 {
        sentences.push(format!("And so on for {}: see below.", counted(more, "further language")));
    }
    sentences
}

/// All of it in one sentence without numbers.
fn summary(study: &Study, forms: &[Form]) -> Option<String> {
    let grammar = || forms.iter().filter(|form| form.measure == FORMS[0].0);
    grammar().next()?;
    let differ = |verdicts: &[Verdict]| verdicts.windows(2).any(|two| two[0] != two[1]);
    let verdicts: Vec<Verdict> = grammar().map(|form| form.verdict).collect();
    let form = match Verdict::all(verdicts.iter().copied()) {
        _ if differ(&verdicts) => "whether grammatical form fades is not the same in all",
        Verdict::Supported if grammar().all(|form| form.early) => "grammatical form comes early and fades",
        Verdict::Supported => "grammatical form fades",
        Verdict::Contradicted | Verdict::Negligible => "grammatical form stays to the end",
        Verdict::CannotTell => "it cannot be told whether grammatical form fades",
        Verdict::NotJudged => "whether grammatical form fades is not judged",
    };
    let nothing = study.withheld() == Withheld::Nothing;
    let known = match knowledge::verdict(study)? {
        _ if differ(&knowledge::verdicts(study)) => "whether knowledge crosses is not the same in all",
        Verdict::Supported if nothing => "they are known",
        Verdict::Supported => "some knowledge crosses",
        Verdict::Contradicted if nothing => "what is known of them misleads",
        Verdict::Contradicted => "what crosses misleads",
        Verdict::Negligible | Verdict::CannotTell if nothing => "whether they are known cannot be told",
        Verdict::Negligible | Verdict::CannotTell => "whether knowledge crosses cannot be told",
        Verdict::NotJudged if nothing => "whether they are known is not judged",
        Verdict::NotJudged => "whether knowledge crosses is not judged",
    };
    let languages: Vec<String> = study.masked().map(|masked| masked.language.to_string()).collect();
    Some(format!("{}, {form}; {known}.", study.withheld().with(&listed(&languages))))
}

/// Of what all means are taken, where languages differ between the runs.
fn together(study: &Study) -> Option<String> {
    let varying = study.varying();
    let of_languages =
        varying.iter().any(|factor| factor.key().starts_with("languages.") || factor.is_kind_of_languages());
    let names: Vec<String> = varying.iter().map(|factor| factor.noun()).collect();
    if !study.plain().is_empty() {
        let held = study.plain().iter().map(|(factor, level)| factor.said(&study.levels(*factor)[*level]));
        let held: Vec<String> = held.collect();
        return Some(format!("What follows is of the runs with {}, wherever nothing else is said.", listed(&held)));
    }
    of_languages.then(|| {
        format!(
            "Here all settings are taken together, whatever their {}, and a language's numbers are over the runs that have it; by setting they stand below.",
            listed(&names)
        )
    })
}

/// What became of one measure of form.
struct Form {
    measure: Measure,
    verdict: Verdict,
    early: bool,
    sentence: String,
}

/// As many languages are told beside a masked one.
const TOLD: usize = 4;

/// Whether form with unseen words fades.
fn forms(study: &Study) -> Vec<Form> {
    let gate = gate(study);
    let of = |masked: &Condition, (measure, what): (Measure, &str)| {
        let trajectory = study.trajectory(study.plain(), &Quantity::of(measure, masked))?;
        let seen: Vec<&Condition> = study.conditions().iter().filter(|other| !other.masked).collect();
        // Of many languages, the first and its own.
        let is_told = |(place, other): &(usize, &Condition)| {
            seen.len() <= TOLD || *place == 0 || other.language == masked.language
        };
        let seen: Vec<_> = seen.iter().copied().enumerate().filter(is_told).collect();
        let seen: Vec<_> = seen.into_iter().map(|(_, other)| study.end_of(measure, other)).collect();
        let (verdict, sentence) = fading(what, &masked.label(), &trajectory, &seen, gate.as_deref());
        Some(Form { measure, verdict, early: trajectory.is_early(), sentence })
    };
    study.masked().flat_map(|masked| FORMS.map(|form| of(masked, form))).flatten().collect()
}

/// What arms change over all other settings.
fn arms(findings: &Findings) -> Vec<String> {
    const MOST: usize = 6;
    let size = |it: &Comparison| it.difference.as_ref().map(|found| found.estimate.value.abs());
    let mut over_all: Vec<(f64, &Comparison)> =
        findings.comparisons.iter().filter(|it| it.cell.is_empty()).filter_map(|it| Some((size(it)?, it))).collect();
    // What can be told comes first, and the largest of it.
    let told = |it: &Comparison| matches!(it.verdict, Verdict::Supported | Verdict::Contradicted);
    over_all.sort_by(|(a, one), (b, other)| told(other).cmp(&told(one)).then(b.total_cmp(a)));
    over_all.into_iter().take(MOST).map(|(_, it)| it.sentence.clone()).collect()
}

/// A factor as the sentence names it, and whether the regression has it the other way round.
const FACTORS: [(&str, &str, bool); 4] =
    [(SIMILARITY, "*d*", true), (VOCAB, "|*V*|", false), (LAMBDA, "*λ*", false), (REGIME, "balance", false)];

/// What masked transfer depends on at the peak, and what at the end.
fn deciding(study: &Study) -> Option<String> {
    if gate(study).is_some() {
        return None;
    }
    let at = |moment: Moment| {
        let transfer = Transfer::Share(moment);
        let design = Design::of_transfer(study, transfer, false);
        let effect = |(predictor, name, negated): (&str, &str, bool)| {
            let slope =
                design.slope(predictor).filter(|slope| slope.data_seeds >= SEEDS && slope.interval.is_some())?;
            Some((name.to_owned(), if negated { slope.negated() } else { slope }))
        };
        (!transfer.saturated(study)).then(|| FACTORS.into_iter().filter_map(effect).collect::<Vec<_>>())
    };
    // With one evaluation the peak is the end.
    study.masked().find_map(|masked| study.trajectory(study.plain(), &Quantity::of(FORMS[1].0, masked)))?;
    let (peak, end) = (at(Moment::Peak)?, at(Moment::End)?);
    if end.is_empty() {
        return None;
    }
    let what = Transfer::Share(Moment::End).name(study);
    Some(format!("{} {}; the peak {}. (Standardised effects.)", capital(&what), depends(&end), depends(&peak)))
}

/// `falls with d (−0.83 [−0.95, −0.71]) and does not tell |V| (0.10 [−0.20, 0.40])`
fn depends(effects: &[(String, Estimate)]) -> String {
    let mut parts = Vec::new();
    let kinds = [
        (Verdict::Supported, "rises with"),
        (Verdict::Contradicted, "falls with"),
        (Verdict::Negligible, "hardly depends on"),
        (Verdict::CannotTell, "shows no clear effect of"),
    ];
    for (kind, said) in kinds {
        let of_kind = effects.iter().filter(|(_, effect)| Verdict::of(Some(effect), 0.0, MARGIN) == kind);
        let named: Vec<String> = of_kind.map(|(name, effect)| format!("{name} ({effect})")).collect();
        if !named.is_empty() {
            parts.push(format!("{said} {}", listed(&named)));
        }
    }
    listed(&parts)
}

/// Which bridge correlates with what is left at the end.
fn bridges(study: &Study, findings: &Findings) -> Option<String> {
    let outcome = Transfer::Share(Moment::End);
    if gate(study).is_some() || outcome.saturated(study) {
        return None;
    }
    // Vocabularies differ in both: what counts is the relation within them.
    let found = |bridge: Measure| {
        let of_it = findings.correlations.iter().filter(|row| row.transfer == outcome && row.bridge == bridge);
        of_it.filter(|row| row.vocab.is_none()).find_map(|row| row.within_vocab)
    };
    let (cognate, general) = (found(COGNATE)?, found(BRIDGE)?);
    if cognate.data_seeds < SEEDS {
        return None;
    }
    let said = |name: &str, r: &Estimate| match Verdict::of(Some(r), 0.0, MARGIN) {
        Verdict::Supported => format!("correlates with {name} (*r* = {r})"),
        Verdict::Contradicted => format!("correlates negatively with {name} (*r* = {r})"),
        Verdict::Negligible => format!("does not correlate with {name} (*r* = {r})"),
        _ => format!("shows no clear relation to {name} (*r* = {r})"),
    };
    Some(format!(
        "Over runs{}, what is left at the end {} and {}.",
        match &held(study)[..] {
            [] => String::new(),
            held => format!(" of the same {}", listed(&held.iter().map(|factor| factor.noun()).collect::<Vec<_>>())),
        },
        said("the cognate bridge", &cognate),
        said("the paper's *β̂*", &general)
    ))
}

/// One run: values alone, since one seed judges nothing.
fn of_run(study: &Study, run: &Run) -> Vec<String> {
    let grammatical = FORMS[0].0;
    let end = |condition: &Condition| run.curve(&Quantity::of(grammatical, condition)).end();
    let place = |condition: &Condition| {
        let unseen = if condition.masked { format!(", {},", study.withheld().apposition()) } else { String::new() };
        Some(format!("{} in {}{unseen}", digits(end(condition)?), condition.label()))
    };
    let ends: Vec<String> = study.conditions().iter().filter_map(place).collect();
    let mut sentences = Vec::new();
    if let (false, Some(step)) = (ends.is_empty(), run.last_step()) {
        let said = listed(&ends);
        sentences.push(format!(
            "After {} steps the share of unscrambled sentences that are grammatical is {}.",
            grouped(f64::from(step)),
            said.trim_end_matches(',')
        ));
    }
    for masked in study.masked() {
        let curve = run.curve(&Quantity::of(grammatical, masked));
        if let (Some(peak), Some(end), Some(last)) = (curve.peak(), curve.end(), curve.last())
            && peak.step < last.step
            && peak.value > end
        {
            sentences.push(format!(
                "{} was highest at step {}: {}, {} less at the end.",
                masked.label(),
                grouped(f64::from(peak.step)),
                digits(peak.value),
                digits(peak.value - end)
            ));
        }
        let facts = |condition: &Condition| {
            let quantity = Quantity::of(Measure::KNOWLEDGE, condition);
            let point = run.curve(&quantity).last().copied()?;
            let estimate =
                Estimate { value: point.value, interval: point.interval(), runs: 1, data_seeds: 1, of_two: None };
            Some(format!("{estimate} in {}", condition.label()))
        };
        let all = crossings(study);
        let sources = all.iter().filter(|crossing| crossing.masked == *masked).take(TOLD);
        let seen: Vec<String> = sources.filter_map(|crossing| facts(&crossing.source)).collect();
        if let (false, Some(masked)) = (seen.is_empty(), facts(masked)) {
            sentences.push(format!(
                "What it knows, as a contrast of facts in nats with the run's own interval: {}, {masked}.",
                seen.join(", ")
            ));
        }
    }
    if !sentences.is_empty() {
        sentences.push(format!("One run has one data seed: nothing is judged, where {SEEDS} are needed."));
    }
    sentences
}
