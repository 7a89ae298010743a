//! The paper's claims beside what these runs say: agrees, differs, cannot tell.

use super::correlations::Correlated;
use super::crossings::{Crossing, from_first};
use super::design::{BRIDGE, Design, LAMBDA, SIMILARITY, VOCAB};
use super::hypotheses::MOMENTS;
use super::order::{self, Milestone, Order};
use super::stages::{Crossed, Stage};
use super::transfer::{Transfer, gate, telling};
use crate::data::{Run, Study};
use crate::wording::spoken;
use invitro_results::{Condition, MARGIN, Measure, Moment, Quantity, TokenizerMetric, Verdict, Words};
use invitro_stats::Estimate;

/// A claim of the paper, and what these runs say of it, read in one way or several.
pub struct Claim {
    pub paper: String,
    pub readings: Vec<Reading>,
}

/// One way to read the runs.
pub struct Reading {
    /// `at the peak`, `at the end`; nothing where there is one way alone.
    pub when: &'static str,
    /// What was computed.
    pub measured: String,
    pub estimate: Option<Estimate>,
    pub verdict: Verdict,
    pub note: String,
}

pub fn all(study: &Study, correlations: &[Correlated]) -> Vec<Claim> {
    let gate = gate(study);
    let at_moments = |paper: &str, read: &dyn Fn(Transfer, &Design) -> Reading| {
        let reading = |(moment, when): (Moment, &'static str)| {
            let transfer = telling(study, moment);
            let design = Design::of_transfer(study, transfer, false);
            let mut reading = Reading { when, ..read(transfer, &design) };
            if transfer != Transfer::Any(moment) {
                reading.add("the paper's own reading, any target, is saturated here");
            }
            if let Some(why) = &gate {
                reading.verdict = Verdict::NotJudged;
                reading.add(why);
            }
            reading
        };
        Claim { paper: paper.to_owned(), readings: MOMENTS.map(reading).into() }
    };
    let mut claims = vec![
        at_moments("*β̂* correlates with peak masked reachability, *r* = 0.62 (*p* < 0.0001).", &|transfer, _| {
            bridge(study, correlations, transfer)
        }),
        at_moments("Masked reachability falls as |*V*| grows.", &|transfer, design| {
            let measured = format!("standardised effect of {VOCAB} on {}", transfer.name(study));
            Reading::of(measured, less(design.slope(VOCAB)))
        }),
    ];
    let crossings = from_first(study);
    crossings.iter().for_each(|crossing| claims.extend(fragmentation(study, crossing, crossings.len() > 1)));

    let overlap = Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap);
    let design = Design::new(study, study.at(study.plain()), false, |run| run.over_pairs(overlap));
    claims.push(once(
        "Vocabulary overlap falls as |*V*| grows.",
        Reading::of(format!("standardised effect of {VOCAB} on the overlap"), less(design.slope(VOCAB))),
    ));
    claims.push(at_moments("*λ* matters more than *d*.", &|transfer, design| {
        let measured = format!("|effect of {LAMBDA}| less |effect of {SIMILARITY}|, on {}", transfer.name(study));
        Reading::of(measured, more(design.lambda_over_distance(), (0.0, MARGIN)))
    }));
    crossings.iter().for_each(|crossing| claims.extend(orders(study, crossing, crossings.len() > 1)));
    claims
}

impl Reading {
    fn add(&mut self, note: &str) {
        let before = if self.note.is_empty() { "" } else { "; " };
        self.note = format!("{}{before}{note}", self.note);
    }
}

/// A claim that is read in one way.
fn once(paper: &str, reading: Reading) -> Claim {
    Claim { paper: paper.to_owned(), readings: vec![reading] }
}

/// By how many pieces a word more the target is cut into than the source.
pub fn fertility_gap(crossing: &Crossing) -> impl Fn(&Run) -> Option<f64> {
    let fertility = |condition| Quantity::of(Measure::Tokenizer(Words::Text, TokenizerMetric::Fertility), condition);
    let (of_target, of_source) = (fertility(&crossing.target), fertility(&crossing.source));
    move |run| Some(run.once(&of_target)? - run.once(&of_source)?)
}

/// What the paper says comes first, and what after it.
pub fn ordered(crossing: &Crossing, several: bool) -> [(String, Milestone, Milestone); 4] {
    let Crossing { source, target, masked } = crossing;
    let at = |condition: &Condition, stage: Stage| -> Milestone { (condition.clone(), stage) };
    let then = |first: &Condition, second: &Condition| format!("{} comes before {}.", first.label(), second.label());
    let here = if several { format!(" in {}", masked.label()) } else { String::new() };
    [
        (then(source, target), at(source, Stage::TYPES), at(target, Stage::TYPES)),
        (then(target, masked), at(target, Stage::TYPES), at(masked, Stage::TYPES)),
        (format!("Grammar comes before types{here}."), at(masked, Stage::GRAMMAR), at(masked, Stage::TYPES)),
        (
            format!("Types come before masked reachability{here}."),
            at(masked, Stage::TYPES),
            at(masked, Stage::Reachable),
        ),
    ]
}

/// Types are counted among grammatical sentences: that grammar comes before them cannot fail and is no evidence.
pub fn cannot_fail(first: &Milestone, second: &Milestone) -> bool {
    (first.1, second.1) == (Stage::GRAMMAR, Stage::TYPES)
}

fn fragmentation(study: &Study, crossing: &Crossing, several: bool) -> [Claim; 2] {
    let gap = fertility_gap(crossing);
    let (target, source) = (crossing.target.label(), crossing.source.label());
    let (gaps, slope) = (
        study.mean(study.at(study.plain()), &gap),
        Design::new(study, study.at(study.plain()), false, &gap).slope(LAMBDA),
    );
    [
        once(
            &format!("{target} is more fragmented than {source}."),
            Reading::of(format!("fertility of {target} less that of {source}"), more(gaps, (0.0, 0.0))),
        ),
        once(
            &if several {
                format!("The gap of {target} and {source} is largest at small *λ*.")
            } else {
                "The gap is largest at small *λ*.".into()
            },
            Reading::of(format!("standardised effect of {LAMBDA} on that difference"), less(slope)),
        ),
    ]
}

fn orders(study: &Study, crossing: &Crossing, several: bool) -> [Claim; 4] {
    ordered(crossing, several).map(|(paper, first, second)| {
        let reading = |crossed: Crossed| {
            let order = Order::of(study.ended(study.plain()), crossed, &first, &second);
            let measured = format!("share of runs with {}", order::label(&first, &second));
            let mut reading = Reading {
                when: match crossed {
                    Crossed::First => "first crossing",
                    Crossed::Lasting => "lasting crossing",
                },
                note: order.note(),
                ..Reading::of(measured, more(order.share, (0.5, 0.0)))
            };
            if cannot_fail(&first, &second) {
                reading.verdict = Verdict::NotJudged;
                reading.note =
                    "types are counted among grammatical sentences, so this cannot fail and is no evidence".into();
            }
            reading
        };
        Claim { paper, readings: Crossed::ALL.map(reading).into() }
    })
}

/// An estimate, and what it says of a claim.
pub type Judged = (Option<Estimate>, Verdict);

/// Of a claim of more than `neutral`.
pub fn more(estimate: Option<Estimate>, (neutral, margin): (f64, f64)) -> Judged {
    (estimate, Verdict::of(estimate.as_ref(), neutral, margin))
}

/// Of a claim that a standardised effect is negative.
pub fn less(estimate: Option<Estimate>) -> Judged {
    (estimate, Verdict::of(estimate.map(Estimate::negated).as_ref(), 0.0, MARGIN))
}

impl Reading {
    fn of(measured: String, (estimate, verdict): Judged) -> Reading {
        Reading { when: "", measured, estimate, verdict, note: String::new() }
    }
}

fn bridge(study: &Study, correlations: &[Correlated], transfer: Transfer) -> Reading {
    let with_bridge = || correlations.iter().filter(|row| row.transfer == transfer && row.bridge == BRIDGE);
    let estimate = with_bridge().find(|row| row.vocab.is_none()).and_then(|row| row.over_seeds);
    let within: Vec<String> = with_bridge()
        .filter(|row| row.vocab.is_some())
        .filter_map(|row| row.over_seeds.map(|estimate| spoken(&estimate)))
        .collect();
    let measured = format!("Pearson's *r* of *β̂* with {}", transfer.name(study));
    let mut reading = Reading::of(measured, more(estimate, (0.0, MARGIN)));
    reading.note = match estimate.and_then(|estimate| estimate.interval).map(|interval| interval.contains(0.62)) {
        Some(true) => "0.62 lies in the interval".to_owned(),
        Some(false) => "0.62 lies outside the interval".to_owned(),
        None => String::new(),
    };
    let held = with_bridge().find(|row| row.vocab.is_none()).and_then(|row| row.within_vocab);
    if let (Some(held), false) = (held, within.is_empty()) {
        reading.add(&format!("with |*V*| held: {}", spoken(&held)));
    }
    if !within.is_empty() {
        reading.add(&format!("within each |*V*|: {}", within.join("; ")));
    }
    reading
}
