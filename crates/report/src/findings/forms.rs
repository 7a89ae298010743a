//! What the same models know of words in other forms (`eval.forms`), and what the form changes.

use super::arms::not_known;
use crate::data::{Factor, Study};
use invitro_results::{Condition, Form, Kind, Measure, Moment, Quantity, Scorer, Verdict};
use invitro_stats::Estimate;

fn quantity(form: Form, condition: &Condition) -> Quantity {
    Quantity::of(Measure::Contrast(Scorer::Network, form), condition)
}

/// The conditions in which any run was asked about words in other forms.
pub fn conditions(study: &Study) -> Vec<Condition> {
    let asked = |condition: &&Condition| {
        let quantities = Form::ALL.map(|form| quantity(form, condition));
        study.ended(&[]).any(|run| quantities.iter().any(|quantity| run.curve(quantity).end().is_some()))
    };
    study.conditions().iter().filter(asked).cloned().collect()
}

/// The contrast at the end. Of one run, with its own interval over pairs of subjects.
pub fn contrast(study: &Study, cell: &[(Factor, usize)], condition: &Condition, form: Form) -> Option<Estimate> {
    let quantity = quantity(form, condition);
    let mean = study.read(study.ended(cell), &quantity, Moment::End)?;
    let own =
        study.runs.first().filter(|_| study.kind == Kind::Run).and_then(|run| run.curve(&quantity).last()?.interval());
    Some(Estimate { interval: own.or(mean.interval), ..mean })
}

/// What a form changes in a condition.
pub struct Changed {
    pub form: Form,
    pub condition: Condition,
    pub contrast: Option<Estimate>,
    /// Less the contrast of the words as they are, in the same runs.
    pub change: Option<Estimate>,
    pub verdict: Verdict,
}

/// Every form in every condition that was asked.
pub fn all(study: &Study) -> Vec<Changed> {
    let gate = not_known(study, study.plain());
    let mut all = Vec::new();
    for condition in conditions(study) {
        for &form in Form::ALL.iter() {
            let [other, own] = [form, Form::Own].map(|form| quantity(form, &condition));
            let change =
                study.mean(study.ended(study.plain()), |run| Some(run.curve(&other).end()? - run.curve(&own).end()?));
            let verdict = match Verdict::of(change.as_ref(), 0.0, 0.0) {
                _ if gate.is_some() => Verdict::NotJudged,
                verdict => verdict,
            };
            let contrast = contrast(study, study.plain(), &condition, form);
            all.push(Changed { form, condition: condition.clone(), contrast, change, verdict });
        }
    }
    all
}
