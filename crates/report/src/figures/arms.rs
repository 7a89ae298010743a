//! The contrast of facts by arm: which pieces are shared, how words are cut, what is withheld. A panel for each |V| and d.

use super::captions::{self, BARS, Runs};
use super::facets::{dodge, ends, variants};
use super::figure::{Chooser, Figure};
use super::groups::{self, groups};
use super::outcomes;
use super::style;
use super::table::Table;
use crate::data::{Factor, FactorWords, Levels, Study};
use crate::draw::{Axis, Colour, Layout, Mark, Panel, Point, plain};
use crate::wording::spoken;
use invitro_results::{Measure, Moment, Quantity};

/// `None` where no arm varies.
pub fn figure(study: &Study) -> Option<Figure> {
    let factors = outcomes::arms(study);
    let groups = groups(study);
    let choosers = vec![Chooser::by(&factors), groups::chooser(&groups)];
    let mut shown = vec![*factors.first()?];
    shown.extend([Factor::VOCAB, Factor::DISTANCE]);
    let cells = Some(study.cells(&[Factor::VOCAB, Factor::DISTANCE]))
        .filter(|cells| !cells.is_empty())
        .unwrap_or_else(|| vec![Levels::new()]);
    let mut table = Table::of_estimates(["setting", "arm", "vocab", "d", "condition"]);
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let (factor, group) = (factors[choice.options[0]], &groups[choice.options[1]]);
        let levels = study.levels(factor);
        let mut room = vec![0.0];
        let mut panels = Vec::new();
        for cell in &cells {
            let title: Vec<String> =
                cell.iter().map(|(factor, level)| factor.with_level(&study.levels(*factor)[*level])).collect();
            let labels = levels.iter().rev().cloned();
            let mut panel = Panel::new(title.join(", "), Axis::share(""), Axis::levels("", labels));
            for (arm, level) in levels.iter().enumerate() {
                for (place, (condition, style)) in group.conditions.iter().enumerate() {
                    let runs = [&cell[..], &[(factor, arm)]].concat();
                    let quantity = Quantity::of(Measure::KNOWLEDGE, condition);
                    let estimate = study.read(study.ended(&runs), &quantity, Moment::End);
                    let label = |factor: Factor| {
                        let own = cell.iter().find(|(own, _)| *own == factor);
                        own.map_or("all", |(_, level)| study.levels(factor)[*level].as_str())
                    };
                    let keys = [factor.key(), level, label(Factor::VOCAB), label(Factor::DISTANCE), &style.name];
                    table.estimate(keys, estimate.as_ref());
                    let Some(estimate) = estimate else { continue };
                    let interval = ends(&estimate);
                    room.push(estimate.value);
                    room.extend(interval.into_iter().flat_map(|(low, high)| [low, high]));
                    let point = Point {
                        x: estimate.value,
                        y: (levels.len() - 1 - arm) as f64 - dodge(place, group.conditions.len(), 0.2),
                        interval,
                        tip: plain(&format!("{}, {}: {}", style.name, factor.with_level(level), spoken(&estimate))),
                    };
                    panel.marks.push(Mark::ErrorBar { point, colour: style.colour, shape: style.shape, along_x: true });
                }
            }
            panels.push(panel);
        }
        panels.retain(|panel| !panel.is_empty());
        for panel in &mut panels {
            panel.x = Axis::around("contrast of facts at the end (nats)", room.iter().copied());
            let (low, high) = (-0.5, levels.len() as f64 - 0.5);
            let zero = Mark::Segment { from: (0.0, low), to: (0.0, high), colour: Colour::Muted, dash: "2 2" };
            panel.marks.insert(0, zero);
        }
        let mut layout = Layout::new(panels, across(study));
        layout.height = Some(5.5 * (1 + group.conditions.len()) as f64 * levels.len() as f64);
        layout.legend = style::markers(group.styles());
        layout
    });
    Some(Figure {
        name: "arms",
        title: format!("Knowledge{}", captions::by(&factors.iter().map(|&factor| Some(factor)).collect::<Vec<_>>())),
        caption: format!(
            "The contrast of facts at the end of training by arm, in {}. Runs of one data seed have the same world and words in every arm. Zero means the subject made no difference. {BARS}{}",
            captions::conditions(study),
            captions::pooled(study, &shown.iter().map(|&factor| Some(factor)).collect::<Vec<_>>())
        ),
        choosers,
        variants,
        table,
    })
}

/// A row for each |V| and a column for each d, where these vary.
fn across(study: &Study) -> [usize; 2] {
    let columns = study.levels(Factor::DISTANCE).len().max(1);
    let columns = if columns == 1 { study.levels(Factor::VOCAB).len().max(1) } else { columns };
    [columns.min(2), columns.min(4)]
}
