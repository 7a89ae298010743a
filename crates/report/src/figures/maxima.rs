//! The maximum over training of grammaticality, type constraints, Γ and reachability, as heat maps of λ × d.

use super::captions::{self, Runs};
use super::facets::{Facets, across, label_in, level_axis, variants};
use super::figure::{Chooser, Figure};
use super::table::Table;
use crate::data::{Factor, Study};
use crate::draw::Mark;
use crate::wording::spoken;
use invitro_results::{Measure, Quantity, Scorer, Statistic, Targets, TaskMetric};

const METRICS: [(Measure, &str); 5] = [
    (Measure::unscrambling(TaskMetric::Grammaticality), "grammaticality"),
    (Measure::unscrambling(TaskMetric::Types), "type constraints"),
    (Measure::unscrambling(TaskMetric::Facts), "Γ"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Any), "reachability, any target"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share), "reachability, share of targets"),
];

pub fn figure(study: &Study) -> Figure {
    let choosers = vec![
        Chooser::new("metric", "metric", METRICS.map(|(_, name)| name)),
        Chooser::levels(study, Factor::Vocab),
        Chooser::levels(study, Factor::Regime),
    ];
    let mut table = Table::of_estimates(["metric", "vocab", "regime", "condition", "lambda", "d"]);
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let (measure, name) = METRICS[choice.options[0]];
        let [vocab, regime] = [Factor::Vocab, Factor::Regime].map(|factor| label_in(study, &choice.cell, factor));
        let mut facets = Facets::new(study, &mut table, level_axis(study, Factor::Distance));
        for condition in study.conditions() {
            let (quantity, label) = (Quantity::of(measure, condition), condition.label());
            facets.panel(&label, level_axis(study, Factor::Lambda));
            for (x, lambda) in study.levels(Factor::Lambda).iter().enumerate() {
                for (y, distance) in study.levels(Factor::Distance).iter().enumerate() {
                    let cell = [choice.cell.as_slice(), &[(Factor::Lambda, x), (Factor::Distance, y)]].concat();
                    let peak = |run: &crate::data::Run| run.curve(&quantity).peak().map(|point| point.value);
                    let estimate = study.mean(study.ended(&cell), peak);
                    facets.row(&[name, vocab, regime, &label, lambda, distance], estimate.as_ref());
                    let said = estimate.as_ref().map_or("no run ended".into(), spoken);
                    facets.mark(Mark::Cell {
                        x,
                        y,
                        share: estimate.map(|estimate| estimate.value),
                        label: estimate.map_or(String::new(), |estimate| brief(estimate.value)),
                        tip: format!("{label}, λ = {lambda}, d = {distance}: {said}"),
                    });
                }
            }
        }
        let mut layout = facets.layout(across(study.conditions().len()));
        layout.ratio = 0.8;
        layout.scale = Some((format!("maximum {name}"), "0".into(), "1".into()));
        layout
    });
    Figure {
        name: "maxima",
        title: "Maximum over training, by *λ* and *d*".into(),
        caption: format!(
            "Means over seeds of each run's maximum over training, in {}. Grammaticality, type constraints and Γ are \
             of the unscrambling task T₁. Crossed-out cells have no run that ended; hover for the interval over seeds.",
            captions::conditions(study)
        ),
        choosers,
        variants,
        table,
    }
}

/// Two decimals without the leading zero: `.87`, `1.0`.
fn brief(value: f64) -> String {
    let text = format!("{value:.2}");
    if value < 0.995 { text.trim_start_matches('0').to_owned() } else { format!("{value:.1}") }
}
