//! What runs of one experiment say, in three plain sentences: the answer, its control, and what both rest on.

use super::measures::unit;
use super::rendered::{reason_words, withheld_noun};
use crate::wording::{counted, listed};
use invitro_results::claims::{
    ConditionRole, Estimand, EstimandKind, Estimated, Expectation, LEVEL, Reading, Reason, RunValue, SEEDS, Scope,
    Verdict,
};
use invitro_results::{Condition, FolderKind, Measure, Moment, Study};
use invitro_stats::Estimate;

/// Nothing where no fact was asked for in a masked condition. `*` stands around what is italic.
pub fn in_plain_words(study: &Study) -> Vec<String> {
    let masked: Vec<&Condition> = study.masked().collect();
    let [masked] = masked[..] else { return Vec::new() };
    let read = |condition: &Condition, measure: Measure| {
        let place = ConditionRole::Condition(condition.clone());
        let first = Reading { measures: vec![measure], place, moment: Moment::End };
        let value = RunValue { first, second: None, is_ratio: false };
        let mean = Estimand { kind: EstimandKind::Mean, value, at: Vec::new() };
        Scope { masked: Some(masked), ..Scope::new(study) }.estimate(&mean)
    };
    let estimated = read(masked, Measure::KNOWLEDGE);
    let Some(crossed) = estimated.estimate else { return Vec::new() };
    let source = study.source(Measure::KNOWLEDGE, masked);
    let language = &masked.language;
    let mut sentences = vec![format!(
        "{}: of {} of {language}, what is true is {crossed}{} likelier than what is false.",
        answer(study, &estimated, &crossed),
        withheld_noun(study.withheld()),
        unit(Measure::KNOWLEDGE),
    )];
    let target = Condition { masked: false, ..masked.clone() };
    let in_source = source.and_then(|source| {
        let same = read(&source, Measure::KNOWLEDGE.masked_elsewhere()).estimate;
        let same = same.or_else(|| read(&source, Measure::KNOWLEDGE).estimate)?;
        Some(format!("the same words in {}, which it read there: {same}{}", source.label(), unit(Measure::KNOWLEDGE)))
    });
    let in_target = read(&target, Measure::KNOWLEDGE)
        .estimate
        .map(|other| format!("other words of {language}, which it read: {other}{}", unit(Measure::KNOWLEDGE)));
    let controls: Vec<String> = in_source.into_iter().chain(in_target).collect();
    if !controls.is_empty() {
        sentences.push(format!("For comparison, {}.", listed(&controls)));
    }
    sentences.push(rests_on(study, &crossed));
    sentences
}

/// What the interval allows to say, where the facts were learned at all and there are seeds enough.
fn answer(study: &Study, estimated: &Estimated, crossed: &Estimate) -> String {
    let few = study.kind == FolderKind::Run || crossed.data_seeds < SEEDS;
    let reason = few.then_some(Reason::TooFewSeeds(crossed.data_seeds)).or_else(|| estimated.reason.clone());
    if let Some(reason) = reason {
        return format!("Whether facts cross is not tested ({})", reason_words(&reason));
    }
    match Verdict::new(crossed, Expectation::Above(0.0), 0.0, LEVEL) {
        Verdict::Supported => "Facts cross",
        Verdict::Contradicted | Verdict::Equivalent => "Facts do not cross",
        Verdict::Inconclusive | Verdict::NotTested(_) => "Whether facts cross is not clear",
    }
    .to_owned()
}

fn rests_on(study: &Study, crossed: &Estimate) -> String {
    if study.kind == FolderKind::Run || crossed.data_seeds < 2 {
        return format!(
            "One world with its words says nothing of others ({SEEDS} data seeds would): intervals are over pairs of its subjects."
        );
    }
    format!(
        "This rests on {} of {}, each a world with words of its own; intervals are 95 % intervals over them.",
        counted(crossed.runs, "run"),
        counted(crossed.data_seeds, "data seed")
    )
}
