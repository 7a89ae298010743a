//! The four hypotheses of the paper, each tested on the runs and answered by the rule of [`Verdict`].

use super::crossings::crossings;
use super::design::{BETA, Design, LAMBDA, REGIME, SIMILARITY};
use super::order::{self, Milestone, Order};
use super::stages::Stage;
use super::transfer::{Transfer, telling};
use crate::data::factors::{BALANCED, VANILLA};
use crate::data::{Factor, Study};
use crate::stats::{Estimate, Seed, permutation, seeds};
use crate::wording::{counted, listed, spoken};
use invitro_results::{Condition, MARGIN, Measure, Quantity, TaskMetric, Verdict};
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
    pub verdict: Verdict,
    /// The verdict in one sentence, with its numbers.
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
        Some(estimate) if verdict == Verdict::NotJudged => {
            format!(
                "Not judged, with {}: {} is {}.",
                counted(estimate.data_seeds, "data seed"),
                test.what,
                spoken(estimate)
            )
        }
        Some(estimate) if estimate.interval.is_some() => {
            format!("{}: {} is {}.", capital(verdict.word()), test.what, spoken(estimate))
        }
        Some(estimate) => {
            format!("Cannot tell: {} is {}, and these seeds give no interval.", test.what, spoken(estimate))
        }
        None => format!("Cannot tell: {}.", test.note),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// One test per measure of transfer; a saturated one answers nothing.
fn by_transfer(study: &Study, bridge: bool, make: impl Fn(Transfer, &Design) -> Test) -> Vec<Test> {
    let one = |transfer: Transfer| {
        let mut test = make(transfer, &Design::of_transfer(study, transfer, bridge));
        if transfer.saturated(study) {
            test.verdict = Verdict::CannotTell;
            test.note = "nearly every run is at the bound of this measure".into();
            test.saturated = true;
        }
        test
    };
    Transfer::ALL.into_iter().map(one).collect()
}

fn headline(study: &Study, tests: &[Test]) -> (Verdict, String) {
    let place = Transfer::ALL.iter().position(|transfer| *transfer == telling(study)).unwrap_or(0);
    let test = &tests[place];
    let mut said = sentence(test.verdict, test);
    if place > 0 {
        said.push_str(" The paper's reading, any target, is saturated and cannot answer.");
    }
    (test.verdict, said)
}

const NO_MASKED: &str = "Cannot tell: no run has measured a condition with masked words.";
const LACKING: &str = "the runs that ended do not vary, or do not record, what this compares";

fn tokenizer(study: &Study) -> Hypothesis {
    let mut tests = by_transfer(study, true, |transfer, design| {
        let difference = design.effect(&[BETA, REGIME], |effects| effects[0].abs() - effects[1].abs());
        let slope = design.slope(BETA);
        let p = design.regression().and_then(|fitted| fitted.effect(BETA).map(|effect| effect.p));
        // Both must hold: bridges help, and they matter more than balance.
        let verdict =
            Verdict::all([Verdict::of(slope.as_ref(), 0.0, MARGIN), Verdict::of(difference.as_ref(), 0.0, MARGIN)]);
        let note = slope.map_or(LACKING.into(), |slope| format!("effect of *β̂* itself: {}", spoken(&slope)));
        let what = format!("the effect of *β̂* less that of balance, |*β̂*| − |balanced|, on {}", transfer.name(study));
        test(what, difference, p, verdict, &note)
    });
    let (verdict, said) = headline(study, &tests);
    tests.push(paired_regimes(study));
    Hypothesis {
        id: "H1",
        name: "Tokenizer influence",
        claim: "Transfer depends less on tokenizer balance itself than on whether tokenization preserves shared subword bridges.",
        method: "Standardised regression of transfer on log₂ |*V*|, regime, log₂ *λ*, 1 − *d* and *β̂*. Supported if the effect of \
                 *β̂* is positive and larger in size than that of the regime, both with their intervals."
            .into(),
        tests,
        verdict,
        sentence: said,
    }
}

/// What a vanilla and a balanced run of a pair have in common: the other levels and the seeds.
type Pairing = ([Option<usize>; 3], Seed);

/// Balanced minus vanilla, run by run with all else equal; signs are flipped by whole data seeds.
fn paired_regimes(study: &Study) -> Test {
    let transfer = telling(study);
    let what = format!("balanced less vanilla, all else equal, in {}", transfer.name(study));
    let regimes = study.levels(Factor::Regime);
    let place = |name: &str| regimes.iter().position(|level| *level == name);
    let Some((vanilla, balanced)) = place(VANILLA).zip(place(BALANCED)) else {
        return test(what, None, None, Verdict::CannotTell, LACKING);
    };
    let mut pairs: BTreeMap<Pairing, [Option<f64>; 2]> = BTreeMap::new();
    for run in study.ended(&[]) {
        let side = match run.levels[Factor::Regime as usize] {
            Some(level) if level == vanilla => 0,
            Some(level) if level == balanced => 1,
            _ => continue,
        };
        let others = [Factor::Vocab, Factor::Lambda, Factor::Distance].map(|factor| run.levels[factor as usize]);
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
    let estimate = seeds::mean(differences);
    let verdict = Verdict::of(estimate.as_ref(), 0.0, 0.0);
    test(what, estimate, p, verdict, "not part of the verdict; p by flipping signs of whole data seeds")
}

fn similarity(study: &Study) -> Hypothesis {
    let tests = by_transfer(study, false, |transfer, design| slope_test(design, SIMILARITY, &transfer.name(study)));
    let (verdict, sentence) = headline(study, &tests);
    Hypothesis {
        id: "H2",
        name: "Lexical similarity",
        claim: "Lexically similar languages result in easier cross-lingual transfer.",
        method: "Standardised effect of similarity 1 − *d*, with |*V*|, regime and *λ* in the regression. Supported if it is positive."
            .into(),
        tests,
        verdict,
        sentence,
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
    let in_target = |target: &Condition| {
        let types = Quantity::of(Measure::unscrambling(TaskMetric::Types), target);
        let peak = |run: &crate::data::Run| run.curve(&types).peak().map(|point| point.value);
        let design = Design::new(study, study.ended(&[]), false, peak);
        slope_test(&design, LAMBDA, &format!("maximum type constraints in {}", target.label()))
    };
    let mut tests: Vec<Test> = targets.iter().map(in_target).collect();
    let own: Vec<String> = targets.iter().map(Condition::label).collect();
    let judged = tests.len();
    tests.extend(by_transfer(study, false, |transfer, design| slope_test(design, LAMBDA, &transfer.name(study))));
    let verdict = Verdict::all(tests[..judged].iter().map(|test| test.verdict));
    let mut said = tests.first().filter(|_| judged > 0).map_or(NO_MASKED.into(), |test| sentence(verdict, test));
    let (positive, cells) = conditions_with_a_gain(study);
    if cells > 1 {
        let more = format!(
            " On {} it is positive, with its interval, in {positive} of {cells} conditions of |*V*| × regime.",
            telling(study).name(study)
        );
        said.push_str(&more);
    }
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
        verdict,
        sentence: said,
    }
}

/// In how many |V| × regime cells the effect of λ on masked transfer is positive with its interval.
fn conditions_with_a_gain(study: &Study) -> (usize, usize) {
    let transfer = telling(study);
    let (mut positive, mut cells) = (0, 0);
    for vocab in 0..study.levels(Factor::Vocab).len() {
        for regime in 0..study.levels(Factor::Regime).len() {
            let cell = [(Factor::Vocab, vocab), (Factor::Regime, regime)];
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
    for crossing in crossings(study) {
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
    let link = |(first, second): (Milestone, Milestone)| {
        let order = Order::of(study, &first, &second);
        let verdict = Verdict::of(order.share.as_ref(), 0.5, 0.0);
        let what = format!("the share of runs with {}", order::label(&first, &second));
        let note = order.note();
        test(what, order.share, None, verdict, &note)
    };
    let tests: Vec<Test> = links(study).into_iter().map(link).collect();
    let verdict = Verdict::all(tests.iter().map(|test| test.verdict));
    // The sentence names the link that decides: the first that does not hold, or the weakest.
    let decisive = tests.iter().find(|test| test.verdict == verdict && verdict != Verdict::Supported);
    let weakest = tests.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
    let said = decisive.or(weakest).map_or(NO_MASKED.into(), |test| sentence(verdict, test));
    let held = tests.iter().filter(|test| test.verdict == Verdict::Supported).count();
    Hypothesis {
        id: "H4",
        name: "Skill cascade",
        claim: "The majority language comes first (grammar, then types), then the minority language, then unseen concepts.",
        method: format!(
            "For each link, the share of runs in which the earlier stage emerges first, of those in which one is strictly \
             before the other (threshold {}; reachability above the unigram model). Supported if every share is above one \
             half. Grammar before types cannot fail, since one is nested in the other, and is no link.",
            study.emergence_threshold().map_or("as each run sets it".into(), |threshold| threshold.to_string())
        ),
        sentence: format!("{said} {held} of {} links hold.", tests.len()),
        tests,
        verdict,
    }
}

fn value(test: &Test) -> f64 {
    test.estimate.map_or(f64::MAX, |estimate| estimate.value)
}
