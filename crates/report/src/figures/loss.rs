//! The loss in bits per character, comparable across |V|, with the entropy floor of the process.

use super::captions::{self, BANDS, Runs};
use super::facets::{Facets, label_in, split, variants};
use super::figure::{Chooser, Figure};
use super::style::{self, Style};
use super::table::Table;
use crate::data::{Factor, Study};
use crate::draw::{Axis, Colour};
use invitro_results::{Condition, Kind, Loss, Measure, Quantity};

const FLOOR: &str = "2 1.6";

pub fn figure(study: &Study) -> Figure {
    let quantity =
        |loss, condition: &Option<Condition>| Quantity { measure: Measure::Loss(loss), condition: condition.clone() };
    let is_measured = |condition: &Option<Condition>| {
        let loss = quantity(Loss::BitsPerChar, condition);
        study.runs.iter().any(|run| !run.curve(&loss).is_empty())
    };
    let all = std::iter::once(None).chain(study.conditions().iter().cloned().map(Some));
    let over: Vec<Option<Condition>> = all.filter(is_measured).collect();
    let name = |over: &Option<Condition>| over.as_ref().map_or("the mixture".to_owned(), Condition::label);
    let choosers = vec![Chooser::new("over", "over", over.iter().map(name))];
    let mut table = Table::of_estimates(["over", "regime", "vocab", "what", "step"]);
    let vocabs = split(study, Factor::Vocab);
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let over = over.get(choice.options[0]).cloned().unwrap_or_default();
        let [loss, floor] = [Loss::BitsPerChar, Loss::Floor].map(|loss| quantity(loss, &over));
        let steps = study.runs.iter().flat_map(|run| run.curve(&loss).points()).map(|point| point.step);
        let first = steps.filter(|step| *step > 0).min().unwrap_or(1);
        let mut facets = Facets::new(study, &mut table, Axis::share("loss (bits per character)")).fitted(&[]);
        facets.room_for_intervals = false;
        for (regime, regime_cell) in split(study, Factor::Regime) {
            facets.panel(&regime, Axis::log_steps(first, study.last_step()));
            for (place, (title, cell)) in vocabs.iter().enumerate() {
                for (what, quantity, dash) in [("loss", &loss, ""), ("floor", &floor, FLOOR)] {
                    let colour = Colour::Level(place, vocabs.len());
                    let style = Style { dash, ..Style::line(format!("{what}, {title}"), colour) };
                    let keys = [&name(&over), &regime, label_in(study, cell, Factor::Vocab), what];
                    facets.curve(&keys, &style, &[regime_cell.as_slice(), cell].concat(), quantity);
                }
            }
        }
        let mut layout = facets.layout([2, 2]);
        layout.ratio = 0.6;
        let floor = Style { dash: FLOOR, ..Style::line("entropy floor", Colour::Text) };
        layout.legend = style::lines(style::levels(study, Factor::Vocab).iter().chain([&floor]));
        layout
    });
    Figure {
        name: "loss",
        title: "Loss with the entropy floor".into(),
        caption: format!(
            "Loss over training in bits per character, so that vocabularies can be compared, and the entropy of the true process \
             below which no model can go.{} {}",
            captions::pooled(study, &[Factor::Vocab, Factor::Regime]),
            if study.kind == Kind::Study { BANDS } else { "" }
        ),
        choosers,
        variants,
        table,
    }
}
