//! The same trained models asked about words in other forms (`eval.forms`): recut, in the first language's form, with
//! another stem; masked words, and unmasked ones as the control.

use super::captions::Runs;
use super::facets::{dodge, ends, variants};
use super::figure::{Chooser, Figure};
use super::outcomes;
use super::style;
use super::table::Table;
use crate::data::{FactorWords, Levels, Study};
use crate::draw::{Axis, Colour, Layout, Mark, Panel, Point, plain};
use crate::wording::spoken;
use invitro_results::{Condition, Form, Kind, Measure, Moment, Quantity, Scorer};
use invitro_stats::Estimate;

fn quantity(form: Form, condition: &Condition) -> Quantity {
    Quantity::of(Measure::Contrast(Scorer::Network, form), condition)
}

/// The conditions in which any run was asked about words in other forms.
fn conditions(study: &Study) -> Vec<Condition> {
    let is_measured = |condition: &&Condition| {
        let quantities = Form::ALL.map(|form| quantity(form, condition));
        study.ended(&[]).any(|run| quantities.iter().any(|quantity| run.curve(quantity).end().is_some()))
    };
    study.conditions().iter().filter(is_measured).cloned().collect()
}

/// The contrast at the end. Of one run, with its own interval over pairs of subjects.
fn contrast(study: &Study, levels: &Levels, condition: &Condition, form: Form) -> Option<Estimate> {
    let quantity = quantity(form, condition);
    let mean = study.read(study.ended(levels), &quantity, Moment::End)?;
    let own =
        study.runs.first().filter(|_| study.kind == Kind::Run).and_then(|run| run.curve(&quantity).last()?.interval());
    Some(Estimate { interval: own.or(mean.interval), ..mean })
}

/// `None` where no run was asked.
pub fn figure(study: &Study) -> Option<Figure> {
    let asked = conditions(study);
    if asked.is_empty() {
        return None;
    }
    let styles: Vec<(Condition, style::Style)> =
        style::conditions(study).into_iter().filter(|(condition, _)| asked.contains(condition)).collect();
    let arms = outcomes::arms(study);
    let choosers = vec![Chooser::by(&arms)];
    let mut table = Table::of_estimates(["arm", "form", "condition"]);
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let cells: Vec<(String, Levels)> = match arms.get(choice.options[0]) {
            Some(&factor) => {
                let levels = study.levels(factor).iter().enumerate();
                levels.map(|(place, level)| (factor.with_level(level), vec![(factor, place)])).collect()
            }
            None => vec![(String::new(), Levels::new())],
        };
        let (mut panels, mut room) = (Vec::new(), vec![0.0]);
        for (title, cell) in cells {
            let labels = Form::ALL.iter().rev().map(|form| form.name().to_owned());
            let mut panel = Panel::new(title.clone(), Axis::share(""), Axis::levels("", labels));
            for (row, &form) in Form::ALL.iter().enumerate() {
                for (place, (condition, style)) in styles.iter().enumerate() {
                    let estimate = contrast(study, &cell, condition, form);
                    let arm = if title.is_empty() { "all runs" } else { &title };
                    table.estimate([arm, form.name(), &style.name], estimate.as_ref());
                    let Some(estimate) = estimate else { continue };
                    // The interval of one run is its own, over pairs of subjects.
                    let interval = match study.kind {
                        Kind::Run => estimate.interval.map(|it| (it.low, it.high)),
                        Kind::Study => ends(&estimate),
                    };
                    room.push(estimate.value);
                    room.extend(interval.into_iter().flat_map(|(low, high)| [low, high]));
                    let point = Point {
                        x: estimate.value,
                        y: (Form::ALL.len() - 1 - row) as f64 - dodge(place, styles.len(), 0.24),
                        interval,
                        tip: plain(&format!("{}, {}: {}", style.name, form.name(), spoken(&estimate))),
                    };
                    panel.marks.push(Mark::ErrorBar { point, colour: style.colour, shape: style.shape, along_x: true });
                }
            }
            panels.push(panel);
        }
        panels.retain(|panel| !panel.is_empty());
        for panel in &mut panels {
            panel.x = Axis::around("contrast of facts at the end (nats)", room.iter().copied());
            let (low, high) = (-0.5, Form::ALL.len() as f64 - 0.5);
            let zero = Mark::Segment { from: (0.0, low), to: (0.0, high), colour: Colour::Muted, dash: "2 2" };
            panel.marks.insert(0, zero);
        }
        let count = panels.len();
        let mut layout = Layout::new(panels, [1, count.clamp(1, 3)]);
        layout.height = Some(14.0 * Form::ALL.len() as f64);
        layout.legend = style::markers(styles.iter().map(|(_, style)| style));
        layout
    });
    let intervals = match study.kind {
        Kind::Run => "Bars are 95 % intervals over pairs of subjects.",
        Kind::Study => "Bars are 95 % intervals over seeds.",
    };
    let meanings: Vec<String> = Form::ALL.iter().map(|form| format!("{}: {}", form.name(), form.meaning())).collect();
    Some(Figure {
        name: "forms",
        title: "Words in other forms, asked of the same models".into(),
        caption: format!(
            "The contrast of facts at the end of training where each word is put to the model in another form. {}. The unmasked words of \
             the same language are the control. N-gram models have 0 in every form. {intervals}",
            meanings.join("; ")
        ),
        choosers,
        variants,
        table,
    })
}
