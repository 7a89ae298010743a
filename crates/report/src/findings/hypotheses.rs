//! The four hypotheses of the paper, each tested on the runs and answered by the rule of [`Verdict`].

use super::crossings::{crossings, from_first};
use super::design::{BETA, Design, LAMBDA, REGIME, SIMILARITY};
use super::knowledge;
use super::order::{self, Milestone, Order};
use super::stages::{Crossed, Stage};
use super::transfer::{Transfer, gate, telling};
use crate::data::factors::{BALANCED, VANILLA};
use crate::data::{Factor, Study};
use crate::wording::{counted, listed, spoken};
use invitro_results::{Condition, MARGIN, Measure, Moment, Quantity, SEEDS, TaskMetric, Verdict, capital};
use invitro_stats::{Estimate, Scale, Seed, permutation, seeds};
use std::collections::{BTreeMap, BTreeSet};

/// One number that was computed, and what it says.
pub struct Test {
    /// What was measured, on which measure of transfer.
    pub what: String,
    pub estimate: Option<Estimate>,
    pub p: Option<f64>,
    pub verdict: Verdict,
    /// Why there is no estimate, or what else to know.
    pub note: String,
    /// Whether the measure hardly varies, and so answers nothing.
    pub saturated: bool,
}

pub struct Hypothesis {
    pub id: &'static str,
    pub name: &'static str,
    pub claim: &'static str,
    pub method: String,
    pub tests: Vec<Test>,
    /// What it is at each moment: the verdict, and a sentence with its numbers.
    pub answers: Vec<Answer>,
}

/// A verdict on one reading.
pub struct Answer {
    /// When the measure is read: `at the peak`, `at the end`.
    pub when: String,
    pub verdict: Verdict,
    pub sentence: String,
}

pub fn all(study: &Study) -> Vec<Hypothesis> {
    vec![tokenizer(study), similarity(study), proportions(study), cascade(study)]
}

fn test(what: String, estimate: Option<Estimate>, p: Option<f64>, verdict: Verdict, note: &str) -> Test {
    Test { what, estimate, p, verdict, note: note.to_owned(), saturated: false }
}

/// The sentence for a test: the verdict, the quantity, the number.
fn sentence(verdict: Verdict, test: &Test) -> String {
    match &test.estimate {
        _ if test.saturated => format!("Cannot tell: {}.", test.note),
        Some(estimate) if estimate.data_seeds < SEEDS => {
            let seeds = counted(estimate.data_seeds, "data seed");
            format!("Not judged, with {seeds}: {} is {}.", test.what, spoken(estimate))
        }
        Some(estimate) if verdict == Verdict::NotJudged => {
            format!("Not judged, since {}: {} is {}.", test.note, test.what, spoken(estimate))
        }
        Some(estimate) if estimate.interval.is_some() => {
            let why = if test.note.starts_with("since") { format!(", {}", test.note) } else { String::new() };
            format!("{}{why}: {} is {}.", capital(verdict.word()), test.what, spoken(estimate))
        }
        Some(estimate) => {
            format!("Cannot tell: {} is {}, and these seeds give no interval.", test.what, spoken(estimate))
        }
        None => format!("{}: {}.", capital(verdict.word()), test.note),
    }
}

/// One test per measure of transfer; a saturated one answers nothing, and what was not learned is not judged.
fn by_transfer(study: &Study, bridge: bool, make: impl Fn(Transfer, &Design) -> Test) -> Vec<Test> {
    let gates = [gate(study), knowledge::gate(study)];
    let one = |transfer: Transfer| {
        let mut test = make(transfer, &Design::of_transfer(study, transfer, bridge));
        if transfer.saturated(study) {
            test.verdict = Verdict::CannotTell;
            test.note = "nearly every run is at the bound of this measure".into();
            test.saturated = true;
        } else if let Some(why) = &gates[usize::from(!transfer.is_form())] {
            test.verdict = Verdict::NotJudged;
            test.note = why.clone();
        }
        test
    };
    Transfer::ALL.into_iter().map(one).collect()
}

/// The moments at which the paper's claims are judged, and how that is said.
pub const MOMENTS: [(Moment, &str); 2] = [(Moment::Peak, "at the peak"), (Moment::End, "at the end")];

/// What the tests say at the peak and at the end.
fn headlines(study: &Study, tests: &[Test]) -> Vec<Answer> {
    let at = |(moment, when): (Moment, &str)| {
        let transfer = telling(study, moment);
        let place = Transfer::ALL.iter().position(|other| *other == transfer).unwrap_or(0);
        let test = &tests[place];
        let mut said = sentence(test.verdict, test);
        if transfer != Transfer::Any(moment) {
            said.push_str(" The paper's reading, any target, is saturated and cannot answer.");
        }
        Answer { when: when.to_owned(), verdict: test.verdict, sentence: said }
    };
    MOMENTS.map(at).into()
}

const NO_MAJORITY: &str = "Cannot tell: the first language has no more text than the one with masked words.";
const NO_MASKED: &str = "Cannot tell: no run has measured a condition with masked words.";
const LACKING: &str = "the runs that ended do not vary, or do not record, what this compares";

fn tokenizer(study: &Study) -> Hypothesis {
    let mut tests = by_transfer(study, true, |transfer, design| {
        let difference = design.effect(&[BETA, REGIME], |effects| effects[0].abs() - effects[1].abs());
        let slope = design.slope(BETA);
        // Both must hold: bridges help, and they matter more than balance.
        let verdict =
            Verdict::all([Verdict::of(slope.as_ref(), 0.0, MARGIN), Verdict::of(difference.as_ref(), 0.0, MARGIN)]);
        // The part that decides is told, the other beside it.
        let helps = Verdict::of(slope.as_ref(), 0.0, MARGIN) == Verdict::Supported;
        if let (Some(own), false) = (slope, helps && difference.is_some()) {
            let note = match difference {
                None => "since the regime does not vary".to_owned(),
                Some(difference) => format!("less that of balance, by size: {}", spoken(&difference)),
            };
            let what = format!("the effect of *β̂* on {}", transfer.name(study));
            return test(what, Some(own), None, verdict, &note);
        }
        let note = slope.map_or(LACKING.into(), |slope| format!("the effect of *β̂* itself is {}", spoken(&slope)));
        let what = format!("the effect of *β̂* less that of balance, |*β̂*| − |balanced|, on {}", transfer.name(study));
        test(what, difference, None, verdict, &note)
    });
    let answers = headlines(study, &tests);
    tests.extend(MOMENTS.map(|(moment, _)| paired_regimes(study, moment)));
    Hypothesis {
        id: "H1",
        name: "Tokenizer influence",
        claim: "Transfer depends less on tokenizer balance itself than on whether tokenization preserves shared subword bridges.",
        method: "Standardised regression of transfer on log₂ |*V*|, regime, log₂ *λ*, 1 − *d* and *β̂*. Supported if the effect of \
                 *β̂* is positive and larger in size than that of the regime, both with their intervals."
            .into(),
        tests,
        answers,
    }
}

/// What a vanilla and a balanced run of a pair have in common: the other levels and the seeds.
type Pairing = (Vec<Option<usize>>, Seed);

/// Balanced minus vanilla, run by run with all else equal; signs are flipped by whole data seeds.
fn paired_regimes(study: &Study, moment: Moment) -> Test {
    let transfer = telling(study, moment);
    let what = format!("balanced less vanilla, all else equal, in {}", transfer.name(study));
    let regimes = study.levels(Factor::Regime);
    let place = |name: &str| regimes.iter().position(|level| *level == name);
    let Some((vanilla, balanced)) = place(VANILLA).zip(place(BALANCED)) else {
        return test(what, None, None, Verdict::CannotTell, LACKING);
    };
    let mut pairs: BTreeMap<Pairing, [Option<f64>; 2]> = BTreeMap::new();
    for run in study.ended(study.plain()) {
        let side = match run.level(Factor::Regime) {
            Some(level) if level == vanilla => 0,
            Some(level) if level == balanced => 1,
            _ => continue,
        };
        let others = study.varying().into_iter().filter(|factor| *factor != Factor::Regime);
        let others: Vec<Option<usize>> = others.map(|factor| run.level(factor)).collect();
        pairs.entry((others, run.seed)).or_default()[side] = transfer.value(study, run);
    }
    let differences: Vec<(Seed, f64)> = pairs
        .iter()
        .filter_map(|((_, seed), [vanilla, balanced])| Some((*seed, balanced.as_ref()? - vanilla.as_ref()?)))
        .collect();
    let groups = seeds::groups(&differences.iter().map(|(seed, _)| *seed).collect::<Vec<_>>());
    let mut by_group: BTreeMap<usize, f64> = BTreeMap::new();
    for (group, (_, difference)) in groups.into_iter().zip(&differences) {
        *by_group.entry(group).or_default() += difference;
    }
    let flipped: Vec<f64> = by_group.into_values().collect();
    let p = (flipped.len() > 1).then(|| permutation::sign_flip_p(&flipped)).flatten();
    let estimate = seeds::mean(Scale::Signed, differences);
    let verdict = Verdict::of(estimate.as_ref(), 0.0, 0.0);
    test(what, estimate, p, verdict, "not part of the verdict; p by flipping signs of whole data seeds")
}

fn similarity(study: &Study) -> Hypothesis {
    let tests = by_transfer(study, false, |transfer, design| slope_test(design, SIMILARITY, &transfer.name(study)));
    let answers = headlines(study, &tests);
    Hypothesis {
        id: "H2",
        name: "Lexical similarity",
        claim: "Lexically similar languages result in easier cross-lingual transfer.",
        method: "Standardised effect of similarity 1 − *d*, with |*V*|, regime and *λ* in the regression. Supported if it is positive."
            .into(),
        tests,
        answers,
    }
}

fn slope_test(design: &Design, predictor: &str, on: &str) -> Test {
    let slope = design.slope(predictor);
    let p = design.regression().and_then(|fitted| fitted.effect(predictor).map(|effect| effect.p));
    let verdict = Verdict::of(slope.as_ref(), 0.0, MARGIN);
    test(format!("the effect of {predictor} on {on}"), slope, p, verdict, LACKING)
}

fn proportions(study: &Study) -> Hypothesis {
    let targets: BTreeSet<Condition> = crossings(study).into_iter().map(|crossing| crossing.target).collect();
    let own: Vec<String> = targets.iter().map(Condition::label).collect();
    let mut tests = Vec::new();
    let mut answers = Vec::new();
    for (moment, when) in MOMENTS {
        let in_target = |target: &Condition| {
            let types = Quantity::of(Measure::unscrambling(TaskMetric::Types), target);
            let design = Design::new(study, study.ended(study.plain()), false, |run| run.curve(&types).at(moment));
            slope_test(&design, LAMBDA, &format!("type constraints in {}, {when}", target.label()))
        };
        let judged: Vec<Test> = targets.iter().map(in_target).collect();
        let verdict = Verdict::all(judged.iter().map(|test| test.verdict));
        let mut said = judged.first().map_or(NO_MASKED.into(), |test| sentence(verdict, test));
        let (positive, cells) = conditions_with_a_gain(study, moment);
        if cells > 1 {
            let more = format!(
                " On {} it is positive, with its interval, in {positive} of {cells} conditions of |*V*| × regime.",
                telling(study, moment).name(study)
            );
            said.push_str(&more);
        }
        answers.push(Answer { when: when.to_owned(), verdict, sentence: said });
        tests.extend(judged);
    }
    tests.extend(by_transfer(study, false, |transfer, design| slope_test(design, LAMBDA, &transfer.name(study))));
    Hypothesis {
        id: "H3",
        name: "Language proportions",
        claim: "More minority-language data improves target-language capabilities, though the benefit depends on the condition.",
        method: format!(
            "Standardised effect of log₂ *λ* on type constraints in {0}, with |*V*|, regime and *d* in the regression; then on masked \
             transfer, and within each |*V*| × regime. Supported if the effect in {0} is positive.",
            if own.is_empty() { "the language with masked words".into() } else { listed(&own) }
        ),
        tests,
        answers,
    }
}

/// In how many |V| × regime cells the effect of λ on masked transfer is positive with its interval.
fn conditions_with_a_gain(study: &Study, moment: Moment) -> (usize, usize) {
    let (mut positive, mut cells) = (0, 0);
    if gate(study).is_some() || study.end_seeds() < SEEDS {
        return (positive, cells);
    }
    let transfer = telling(study, moment);
    for vocab in 0..study.levels(Factor::Vocab).len() {
        for regime in 0..study.levels(Factor::Regime).len() {
            let cell = [&[(Factor::Vocab, vocab), (Factor::Regime, regime)], study.plain()].concat();
            let design = Design::new(study, study.ended(&cell), false, |run| transfer.value(study, run));
            if let Some(slope) = design.slope(LAMBDA) {
                cells += 1;
                positive += usize::from(Verdict::of(Some(&slope), 0.0, MARGIN) == Verdict::Supported);
            }
        }
    }
    (positive, cells)
}

/// The links of the cascade as the hypothesis orders them. Grammar before types is none: types are counted among
/// grammatical sentences, so it cannot fail.
fn links(study: &Study) -> Vec<(Milestone, Milestone)> {
    let mut links = Vec::new();
    for crossing in from_first(study) {
        let [source, target, masked] = [&crossing.source, &crossing.target, &crossing.masked];
        let at = |condition: &Condition, stage: Stage| -> Milestone { (condition.clone(), stage) };
        let of_this = [
            (at(source, Stage::TYPES), at(target, Stage::TYPES)),
            (at(target, Stage::TYPES), at(masked, Stage::Reachable)),
        ];
        // Languages may take part in several crossings.
        links.extend(of_this.into_iter().filter(|link| !links.contains(link)).collect::<Vec<_>>());
    }
    links
}

fn cascade(study: &Study) -> Hypothesis {
    let links = links(study);
    let mut tests = Vec::new();
    let mut answers = Vec::new();
    for crossed in Crossed::ALL {
        let link = |(first, second): &(Milestone, Milestone)| {
            let order = Order::of(study.ended(study.plain()), crossed, first, second);
            let verdict = Verdict::of(order.share.as_ref(), 0.5, 0.0);
            let what = format!("the share of runs with {} ({})", order::label(first, second), crossed.label());
            let note = order.note();
            test(what, order.share, None, verdict, &note)
        };
        let of_these: Vec<Test> = links.iter().map(link).collect();
        let verdict = Verdict::all(of_these.iter().map(|test| test.verdict));
        // The sentence names the link that decides: the first that does not hold, or the one with the smallest share.
        let decisive = of_these.iter().find(|test| test.verdict == verdict && verdict != Verdict::Supported);
        let smallest = of_these.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
        let none = if study.masked().next().is_some() { NO_MAJORITY } else { NO_MASKED };
        let said = decisive.or(smallest).map_or(none.into(), |test| sentence(verdict, test));
        let held = of_these.iter().filter(|test| test.verdict == Verdict::Supported).count();
        let links = format!(" {held} of {} links hold.", of_these.len());
        let sentence = said + if verdict == Verdict::NotJudged || of_these.is_empty() { "" } else { &links };
        answers.push(Answer { when: format!("by the {}", crossed.label()), verdict, sentence });
        tests.extend(of_these);
    }
    Hypothesis {
        id: "H4",
        name: "Skill cascade",
        claim: "The majority language comes first (grammar, then types), then the minority language, then unseen concepts.",
        method: format!(
            "For each link, the share of runs in which the earlier stage emerges first, of those in which one is strictly \
             before the other (threshold {}; reachability above the unigram model), dated by the first crossing of the threshold \
             and by the one after which it stays above. Supported if every share is above one half. Grammar before types cannot \
             fail, since one is nested in the other, and is no link.",
            study.emergence_threshold().map_or("as each run sets it".into(), |threshold| threshold.to_string())
        ),
        tests,
        answers,
    }
}

fn value(test: &Test) -> f64 {
    test.estimate.map_or(f64::MAX, |estimate| estimate.value)
}
