//! Translations over training, by direction: whether the sentence is the one that was meant, and how many of its
//! descriptors were found. Into what a language withholds, words never seen are said; from there, they are understood.

use super::captions::{BANDS, Runs};
use super::facets::{Facets, across, compared, label_in, split, variants};
use super::figure::{Chooser, Figure};
use super::progress::Progress;
use super::style::{self, Style};
use super::table::Table;
use crate::data::Study;
use crate::draw::{Axis, plain};
use invitro_results::{Kind, Measure, Quantity, Task, TaskMetric};
use std::collections::BTreeSet;

const DESCRIPTORS: &str = "4 1.6";

/// Nothing where nothing was translated.
pub fn figure(study: &Study) -> Option<Figure> {
    let exact = Measure::Task(Task::T3, TaskMetric::Exact);
    let all = study.runs.iter().flat_map(|run| run.curves.keys()).filter(|quantity| quantity.measure == exact);
    let directions: BTreeSet<&Quantity> = all.collect();
    if directions.is_empty() {
        return None;
    }
    let (by, progress) = (study.varying(), Progress::all(study));
    let choosers = vec![Chooser::by(&by), Progress::chooser(&progress)];
    let mut table = Table::of_estimates(["direction", "by", "level", "metric", "step"]);
    let metrics = [(TaskMetric::Exact, "exact", ""), (TaskMetric::Descriptors, "descriptors", DESCRIPTORS)];
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let factor = by.get(choice.options[0]).copied();
        choice.cell.extend(study.comparable(&[factor]));
        let progress = &progress[choice.options[1]];
        let mut facets = Facets::new(study, &mut table, Axis::share("share")).over(progress);
        let levels = style::levels(study, factor);
        for direction in &directions {
            let title = label(direction);
            facets.panel(title.clone(), progress.axis());
            for (style, (_, level)) in levels.iter().zip(split(study, factor)) {
                let cell = [choice.cell.as_slice(), &level].concat();
                for (metric, name, dash) in metrics {
                    let quantity = Quantity { measure: Measure::Task(Task::T3, metric), ..(*direction).clone() };
                    let said = format!("{name} {}", plain(&style.name));
                    let style = Style { dash, ..Style::line(said.trim_end(), style.colour) };
                    let by = compared(factor);
                    let keys = [&title, &by, label_in(study, &cell, factor), name];
                    facets.curve(&keys, &style, &cell, &quantity);
                }
            }
        }
        let mut layout = facets.layout(across(directions.len()));
        layout.ratio = 0.85;
        let kinds = metrics.map(|(_, name, dash)| Style { dash, ..Style::line(name, crate::draw::Colour::Text) });
        layout.legend = style::lines(levels.iter().filter(|style| !style.name.is_empty()).chain(&kinds));
        layout
    });
    Some(Figure {
        name: "translation",
        title: "Translation over training".into(),
        caption: format!(
            "Shares of held-out sentences that are translated exactly, and of their descriptors that the answer has; in a direction \
             with †, of the descriptors that are withheld there. Into such sentences something is asked for that was never shown in that \
             language; from them it must be understood, and all of the answer is known. {}",
            if study.kind == Kind::Study { BANDS } else { "" }
        ),
        choosers,
        variants,
        table,
    })
}

/// `A→B†`
fn label(quantity: &Quantity) -> String {
    let (Some([from, to]), Some(condition)) = (&quantity.pair, &quantity.condition) else { return String::new() };
    let is_from = condition.masked && condition.language == *from;
    let [from, to] =
        [(from, is_from), (to, !is_from)].map(|(name, own)| if own { condition.label() } else { name.to_string() });
    format!("{from}→{to}")
}
