//! Standardised effects of the varied settings, and of the bridge, on masked transfer.

use super::captions::Runs;
use super::engine::variants;
use super::figure::Figure;
use super::outcomes::{BRIDGE, TRANSFERS, Transfer, in_masked};
use super::style::{self, Style};
use super::table::FigureTable;
use crate::claims::predictor_symbol;
use crate::data::{Factor, Run, Study};
use crate::draw::{Axis, Colour, FigureLayout, MarkerShape, PanelMark, PlotPanel, PlotPoint, plain_text};
use crate::wording::{counted, p_text};
use invitro_results::claims::{Design, Predictor, Scope};
use invitro_stats::regression::Regression;
use invitro_stats::with_interval;

/// The regression of one outcome on the factors, without and with the bridge.
struct Regressed {
    transfer: Transfer,
    factors: Option<Regression>,
    with_bridge: Option<Regression>,
}

fn regressions(study: &Study) -> Vec<Regressed> {
    let runs: Vec<&Run> = study.ended(study.baseline()).collect();
    let regressed = |transfer: Transfer| {
        let values = transfer.values(study, &runs);
        let fit = |more: &[Predictor]| Design::new(&Scope::new(study), &values, more).regression();
        Regressed { transfer, factors: fit(&[]), with_bridge: fit(&[Predictor::Measure(BRIDGE)]) }
    };
    TRANSFERS.into_iter().map(regressed).collect()
}

/// The predictors of any regression, in their order: the one with the bridge has all of them.
fn predictors(regressions: &[Regressed]) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for model in regressions.iter().flat_map(|it| it.with_bridge.iter().chain(&it.factors)) {
        for effect in &model.effects {
            if !rows.contains(&effect.name) {
                rows.push(effect.name.clone());
            }
        }
    }
    rows
}

/// A column of a regression as it is written.
fn symbol(name: &str) -> String {
    let known = Factor::PAPER.map(Predictor::Setting).into_iter();
    let known = known.chain([Predictor::Similarity, Predictor::Measure(BRIDGE)]);
    known.into_iter().find(|one| one.name() == name).map_or_else(|| name.to_owned(), |one| predictor_symbol(&one))
}

/// `None` where no factor varies that a regression knows.
pub fn figure(study: &Study) -> Option<Figure> {
    let known = |model: &Regression| !model.effects.is_empty();
    let regressions = regressions(study);
    if !study.varying().is_empty() && !regressions.iter().flat_map(|it| &it.factors).any(known) {
        return None;
    }
    let mut table = FigureTable::new([
        "outcome",
        "model",
        "predictor",
        "effect",
        "low",
        "high",
        "error",
        "p",
        "runs",
        "groups",
        "r_squared",
    ]);
    let rows = predictors(&regressions);
    let mut panels = Vec::new();
    let (mut extent, mut furthest) = (vec![-0.2, 0.2], 2.0f64);
    for regressed in &regressions {
        let labels = rows.iter().rev().map(|row| symbol(row));
        let mut panel = PlotPanel::new(regressed.transfer.label, Axis::share(""), Axis::levels("", labels));
        let models = [
            ("factors", &regressed.factors, MarkerShape::Ring, 0.14),
            ("factors and bridge", &regressed.with_bridge, MarkerShape::Circle, -0.14),
        ];
        for (name, model, shape, shift) in models {
            for effect in model.iter().flat_map(|model| &model.effects) {
                let Some(row) = rows.iter().position(|row| *row == effect.name) else { continue };
                let model = model.as_ref().expect("an effect has its model");
                let point = PlotPoint {
                    x: effect.value,
                    y: (rows.len() - 1 - row) as f64 + shift,
                    interval: Some((effect.interval.low, effect.interval.high)),
                    tip: format!(
                        "{} ({name}): {}, {}, {} in {} groups",
                        plain_text(&symbol(&effect.name)),
                        with_interval(effect.value, effect.interval.low, effect.interval.high),
                        plain_text(&p_text(effect.p)),
                        counted(model.rows, "run"),
                        model.groups
                    ),
                };
                extent.extend([effect.interval.low, effect.interval.high]);
                furthest = furthest.max(1.1 * effect.value.abs());
                panel.marks.push(PanelMark::ErrorBar { point, colour: Colour::Text, shape, along_x: true });
                let numbers = [effect.value, effect.interval.low, effect.interval.high, effect.error, effect.p];
                let mut cells =
                    vec![regressed.transfer.label.to_owned(), name.to_owned(), plain_text(&symbol(&effect.name))];
                cells.extend(numbers.map(|number| number.to_string()));
                cells.extend([model.rows.to_string(), model.groups.to_string(), model.r_squared.to_string()]);
                table.row(cells);
            }
        }
        // What does not vary between runs has no effects worth a panel.
        if !panel.is_empty() && !regressed.transfer.is_saturated(study) {
            panels.push(panel);
        }
    }
    for panel in &mut panels {
        panel.x = Axis::around("standardised effect", extent.iter().map(|value| value.clamp(-furthest, furthest)));
        let (low, high) = (-0.5, rows.len() as f64 - 0.5);
        panel
            .marks
            .insert(0, PanelMark::Segment { from: (0.0, low), to: (0.0, high), colour: Colour::Muted, dash: "2 2" });
    }
    let legend = [("factors alone", MarkerShape::Ring), ("with *β̂*", MarkerShape::Circle)];
    let count = panels.len();
    let mut layout = FigureLayout::new(panels, [1, if count == 4 { 4 } else { 3 }]);
    layout.height = Some(16.4 * rows.len().max(2) as f64);
    layout.legend = style::markers(&legend.map(|(name, shape)| Style::marked(name, Colour::Text, shape)));
    Some(Figure {
        name: "effects",
        title: "What moves masked transfer".into(),
        caption: format!(
            "Standardised effects (standard deviations of the outcome per standard deviation of the predictor) on masked transfer{}, \
             by least squares over the runs that ended, with the factors alone and with *β̂* added; measures that are the same in nearly all \
             runs are left out. Bars are 95 % intervals \
             with errors clustered by data seed, or by model seed where there is one data seed.",
            in_masked(study)
        ),
        choosers: Vec::new(),
        variants: variants(study, &[], Runs::Ended, |_| layout.clone()),
        table,
    })
}
