//! The paper's claims beside what these runs say: agrees, differs, cannot tell.

use super::correlations::Correlated;
use super::order::{self, Place};
use super::outcome::{Outcome, telling};
use super::sample::{LAMBDA, SIMILARITY, Sample, VOCAB};
use super::stages::Stage;
use super::verdict::{MARGIN, Verdict, judge, turned};
use crate::data::{Run, Study};
use crate::figures::spoken;
use crate::stats::Estimate;

pub struct Claim {
    pub paper: &'static str,
    /// What was computed here.
    pub measured: String,
    pub estimate: Option<Estimate>,
    pub verdict: Verdict,
    pub note: String,
}

pub fn all(study: &Study, correlations: &[Correlated]) -> Vec<Claim> {
    let mut claims = vec![bridge(study, correlations)];
    let outcome = telling(study);
    let transfer = Sample::of_outcome(study, outcome, false);

    let slope = transfer.slope(VOCAB);
    claims.push(claim(
        "Masked reachability falls as |*V*| grows.",
        format!("standardised effect of {VOCAB} on {}", outcome.name()),
        slope,
        judge(slope.map(turned).as_ref(), 0.0, MARGIN),
    ));

    let gap = |run: &Run| Some(run.number("fertility.B")? - run.number("fertility.A")?);
    let more = study.mean(study.at(&[]), gap);
    claims.push(claim(
        "B is more fragmented than A.",
        "fertility of B less that of A".into(),
        more,
        judge(more.as_ref(), 0.0, 0.0),
    ));
    let slope = Sample::new(study, study.at(&[]), false, gap).slope(LAMBDA);
    claims.push(claim(
        "The gap is largest at small *λ*.",
        format!("standardised effect of {LAMBDA} on that difference"),
        slope,
        judge(slope.map(turned).as_ref(), 0.0, MARGIN),
    ));

    let slope = Sample::new(study, study.at(&[]), false, |run| run.number("overlap")).slope(VOCAB);
    claims.push(claim(
        "Vocabulary overlap falls as |*V*| grows.",
        format!("standardised effect of {VOCAB} on the overlap"),
        slope,
        judge(slope.map(turned).as_ref(), 0.0, MARGIN),
    ));

    let larger = transfer.effect(&[LAMBDA, SIMILARITY], |effects| effects[0].abs() - effects[1].abs());
    claims.push(claim(
        "*λ* matters more than *d*.",
        format!("|effect of {LAMBDA}| less |effect of {SIMILARITY}|, on {}", outcome.name()),
        larger,
        judge(larger.as_ref(), 0.0, MARGIN),
    ));

    const ORDERS: [(&str, Place, Place); 4] = [
        ("A comes before B.", ("A", Stage::Types), ("B", Stage::Types)),
        ("B comes before B†.", ("B", Stage::Types), ("B_masked", Stage::Types)),
        ("Grammar comes before types.", ("B_masked", Stage::Grammaticality), ("B_masked", Stage::Types)),
        ("Types come before masked reachability.", ("B_masked", Stage::Types), ("B_masked", Stage::Reachable)),
    ];
    for (paper, first, second) in ORDERS {
        let share = order::share_before(study, first, second);
        let measured = format!("share of runs with {} before {}", order::label(first), order::label(second));
        claims.push(claim(paper, measured, share, judge(share.as_ref(), 0.5, 0.0)));
    }
    if outcome != Outcome::Any {
        for claim in claims.iter_mut().filter(|claim| claim.measured.contains(outcome.name())) {
            let before = if claim.note.is_empty() { "" } else { "; " };
            claim.note = format!("the paper's own reading, any target, is saturated here{before}{}", claim.note);
        }
    }
    claims
}

fn claim(paper: &'static str, measured: String, estimate: Option<Estimate>, verdict: Verdict) -> Claim {
    Claim { paper, measured, estimate, verdict, note: String::new() }
}

fn bridge(study: &Study, correlations: &[Correlated]) -> Claim {
    let outcome = telling(study);
    let found =
        correlations.iter().find(|row| row.outcome == outcome && row.column == "bridge.jaccard" && row.vocab.is_none());
    let estimate = found.and_then(|row| row.over_seeds);
    let inside = estimate.and_then(|estimate| estimate.interval).map(|interval| interval.contains(0.62));
    let within: Vec<String> = correlations
        .iter()
        .filter(|row| row.outcome == outcome && row.column == "bridge.jaccard" && row.vocab.is_some())
        .filter_map(|row| row.over_seeds.map(|estimate| spoken(&estimate)))
        .collect();
    let mut note = match inside {
        Some(true) => "0.62 lies in the interval".to_owned(),
        Some(false) => "0.62 lies outside the interval".to_owned(),
        None => String::new(),
    };
    if !within.is_empty() {
        note.push_str(&format!("; within each |*V*|: {}", within.join("; ")));
    }
    Claim {
        paper: "*β̂* correlates with peak masked reachability, *r* = 0.62 (*p* < 0.0001).",
        measured: format!("Pearson's *r* of *β̂* with {}", outcome.name()),
        estimate,
        verdict: judge(estimate.as_ref(), 0.0, MARGIN),
        note,
    }
}
