//! The paper's claims beside what these runs say: agrees, differs, cannot tell.

use super::correlations::Correlated;
use super::crossings::{Crossing, crossings};
use super::design::{BRIDGE, Design, LAMBDA, SIMILARITY, VOCAB};
use super::order::{self, Milestone, Order};
use super::stages::Stage;
use super::transfer::{Transfer, telling};
use crate::data::{Run, Study};
use crate::stats::Estimate;
use crate::wording::spoken;
use invitro_results::{Condition, MARGIN, Measure, Quantity, TokenizerMetric, Verdict, Words};

pub struct Claim {
    pub paper: String,
    /// What was computed here.
    pub measured: String,
    pub estimate: Option<Estimate>,
    pub verdict: Verdict,
    pub note: String,
}

pub fn all(study: &Study, correlations: &[Correlated]) -> Vec<Claim> {
    let mut claims = vec![bridge(study, correlations)];
    let transfer = telling(study);
    let name = transfer.name(study);
    let design = Design::of_transfer(study, transfer, false);
    claims.push(less(
        "Masked reachability falls as |*V*| grows.",
        format!("standardised effect of {VOCAB} on {name}"),
        design.slope(VOCAB),
    ));
    let crossings = crossings(study);
    crossings.iter().for_each(|crossing| claims.extend(fragmentation(study, crossing)));

    let overlap = Quantity::overall(Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap));
    claims.push(less(
        "Vocabulary overlap falls as |*V*| grows.",
        format!("standardised effect of {VOCAB} on the overlap"),
        Design::new(study, study.at(&[]), false, |run| run.once(&overlap)).slope(VOCAB),
    ));
    claims.push(more(
        "*λ* matters more than *d*.",
        format!("|effect of {LAMBDA}| less |effect of {SIMILARITY}|, on {name}"),
        design.effect(&[LAMBDA, SIMILARITY], |effects| effects[0].abs() - effects[1].abs()),
        (0.0, MARGIN),
    ));
    crossings.iter().for_each(|crossing| claims.extend(orders(study, crossing)));
    if transfer != Transfer::Any {
        for claim in claims.iter_mut().filter(|claim| claim.measured.contains(&name)) {
            let before = if claim.note.is_empty() { "" } else { "; " };
            claim.note = format!("the paper's own reading, any target, is saturated here{before}{}", claim.note);
        }
    }
    claims
}

fn fragmentation(study: &Study, crossing: &Crossing) -> [Claim; 2] {
    let fertility =
        |condition: &Condition| Quantity::of(Measure::Tokenizer(Words::Text, TokenizerMetric::Fertility), condition);
    let (of_target, of_source) = (fertility(&crossing.target), fertility(&crossing.source));
    let gap = |run: &Run| Some(run.once(&of_target)? - run.once(&of_source)?);
    let (target, source) = (crossing.target.label(), crossing.source.label());
    [
        more(
            &format!("{target} is more fragmented than {source}."),
            format!("fertility of {target} less that of {source}"),
            study.mean(study.at(&[]), gap),
            (0.0, 0.0),
        ),
        less(
            "The gap is largest at small *λ*.",
            format!("standardised effect of {LAMBDA} on that difference"),
            Design::new(study, study.at(&[]), false, gap).slope(LAMBDA),
        ),
    ]
}

fn orders(study: &Study, crossing: &Crossing) -> [Claim; 4] {
    let Crossing { source, target, masked } = crossing;
    let at = |condition: &Condition, stage: Stage| -> Milestone { (condition.clone(), stage) };
    let then = |first: &Condition, second: &Condition| format!("{} comes before {}.", first.label(), second.label());
    let orders = [
        (then(source, target), at(source, Stage::TYPES), at(target, Stage::TYPES)),
        (then(target, masked), at(target, Stage::TYPES), at(masked, Stage::TYPES)),
        ("Grammar comes before types.".into(), at(masked, Stage::GRAMMAR), at(masked, Stage::TYPES)),
        ("Types come before masked reachability.".into(), at(masked, Stage::TYPES), at(masked, Stage::Reachable)),
    ];
    orders.map(|(paper, first, second)| {
        let measured = format!("share of runs with {}", order::label(&first, &second));
        let order = Order::of(study, &first, &second);
        let note = order.note();
        let mut claim = Claim { note, ..more(&paper, measured, order.share, (0.5, 0.0)) };
        if (first.1, second.1) == (Stage::GRAMMAR, Stage::TYPES) {
            claim.verdict = Verdict::NotJudged;
            claim.note = "types are counted among grammatical sentences, so this cannot fail and is no evidence".into();
        }
        claim
    })
}

/// A claim of more than `neutral`.
fn more(paper: &str, measured: String, estimate: Option<Estimate>, (neutral, margin): (f64, f64)) -> Claim {
    let verdict = Verdict::of(estimate.as_ref(), neutral, margin);
    Claim { paper: paper.to_owned(), measured, estimate, verdict, note: String::new() }
}

/// A claim that a standardised effect is negative.
fn less(paper: &str, measured: String, estimate: Option<Estimate>) -> Claim {
    let verdict = Verdict::of(estimate.map(Estimate::negated).as_ref(), 0.0, MARGIN);
    Claim { verdict, ..more(paper, measured, estimate, (0.0, MARGIN)) }
}

fn bridge(study: &Study, correlations: &[Correlated]) -> Claim {
    let transfer = telling(study);
    let with_bridge = || correlations.iter().filter(|row| row.transfer == transfer && row.bridge == BRIDGE);
    let estimate = with_bridge().find(|row| row.vocab.is_none()).and_then(|row| row.over_seeds);
    let within: Vec<String> = with_bridge()
        .filter(|row| row.vocab.is_some())
        .filter_map(|row| row.over_seeds.map(|estimate| spoken(&estimate)))
        .collect();
    let mut claim = more(
        "*β̂* correlates with peak masked reachability, *r* = 0.62 (*p* < 0.0001).",
        format!("Pearson's *r* of *β̂* with {}", transfer.name(study)),
        estimate,
        (0.0, MARGIN),
    );
    claim.note = match estimate.and_then(|estimate| estimate.interval).map(|interval| interval.contains(0.62)) {
        Some(true) => "0.62 lies in the interval".to_owned(),
        Some(false) => "0.62 lies outside the interval".to_owned(),
        None => String::new(),
    };
    if !within.is_empty() {
        claim.note.push_str(&format!("; within each |*V*|: {}", within.join("; ")));
    }
    claim
}
