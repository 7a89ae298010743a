//! The loss in bits per character, comparable across |V|, with the entropy floor of the process.

use super::captions::{BANDS, Runs};
use super::facets::{Facets, across, compared, label_in, split, variants};
use super::figure::{Chooser, Figure};
use super::groups::{self, groups};
use super::progress::Progress;
use super::style::{self, Style};
use super::table::Table;
use crate::data::Study;
use crate::draw::{Axis, Colour, plain};
use invitro_results::{Condition, Kind, Loss, Measure, Quantity};

const FLOOR: &str = "2 1.6";

pub fn figure(study: &Study) -> Figure {
    let quantity = |loss, condition: &Option<Condition>| Quantity {
        measure: Measure::Loss(loss),
        condition: condition.clone(),
        pair: None,
    };
    let is_measured = |condition: &Option<Condition>| {
        let loss = quantity(Loss::BitsPerChar, condition);
        study.runs.iter().any(|run| !run.curve(&loss).is_empty())
    };
    let name = |over: &Option<Condition>| over.as_ref().map_or("the mixture".to_owned(), Condition::label);
    let (by, groups, progress) = (study.varying(), groups(study), Progress::all(study));
    let choosers = vec![Chooser::by(&by), groups::chooser(&groups), Progress::chooser(&progress)];
    let mut table = Table::of_estimates(["over", "by", "level", "what", "step"]);
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let factor = by.get(choice.options[0]).copied();
        choice.cell.extend(study.comparable(&[factor]));
        let conditions = groups[choice.options[1]].conditions.iter().map(|(condition, _)| Some(condition.clone()));
        let over: Vec<Option<Condition>> = std::iter::once(None).chain(conditions).filter(is_measured).collect();
        let progress = progress[choice.options[2]].late();
        let mut facets = Facets::new(study, &mut table, Axis::share("bits per character")).fitted(&[]).over(&progress);
        let levels = style::levels(study, factor);
        for over in &over {
            facets.panel(name(over), progress.axis());
            for (style, (_, level)) in levels.iter().zip(split(study, factor)) {
                let cell = [choice.cell.as_slice(), &level].concat();
                for (what, loss, dash) in [("loss", Loss::BitsPerChar, ""), ("floor", Loss::Floor, FLOOR)] {
                    let label = format!("{what} {}", plain(&style.name));
                    let style = Style { dash, ..Style::line(label.trim_end(), style.colour) };
                    let by = compared(factor);
                    let keys = [&name(over), &by, label_in(study, &cell, factor), what];
                    facets.curve(&keys, &style, &cell, &quantity(loss, over));
                }
            }
        }
        let mut layout = facets.layout(across(over.len()));
        layout.ratio = 0.85;
        let floor = Style { dash: FLOOR, ..Style::line("entropy floor", Colour::Text) };
        layout.legend = style::lines(levels.iter().chain([&floor]));
        layout
    });
    Figure {
        name: "loss",
        title: "Loss with the entropy floor".into(),
        caption: format!(
            "Loss over training in bits per character, so that vocabularies can be compared, and the entropy of the true process \
             below which no model can go. The first 2 % of training, far above, are in the table alone. {}",
            if study.kind == Kind::Study { BANDS } else { "" }
        ),
        choosers,
        variants,
        table,
    }
}
