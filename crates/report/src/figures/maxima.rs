//! Grammaticality, type constraints, Γ and reachability at their peak and at the end of training: as heat maps of two
//! factors, λ × d where both vary; over the levels of one where only one does.

use super::captions::{self, BARS, Runs};
use super::facets::{Facets, across, label_in, level_axis, named, pick, variants};
use super::figure::{Choice, Chooser, Figure};
use super::groups::{self, Group, groups};
use super::table::Table;
use crate::data::{Factor, FactorWords, Study};
use crate::draw::{Axis, Layout, Mark, plain};
use crate::wording::spoken;
use invitro_results::{Condition, Measure, Moment, Quantity, Scorer, Statistic, Targets, TaskMetric};
use invitro_stats::Estimate;

const METRICS: [(Measure, &str); 5] = [
    (Measure::unscrambling(TaskMetric::Grammaticality), "grammaticality"),
    (Measure::unscrambling(TaskMetric::Types), "type constraints"),
    (Measure::unscrambling(TaskMetric::Facts), "Γ"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share), "reachability, share of targets"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Any), "reachability, any target"),
];

/// When a curve is read.
const MOMENTS: [Moment; 2] = [Moment::Peak, Moment::End];

/// What a choice reads in a condition.
struct Read<'a> {
    study: &'a Study,
    measure: Measure,
    moment: Moment,
}

impl Read<'_> {
    fn mean(&self, cell: &[(Factor, usize)], condition: &Condition) -> Option<Estimate> {
        self.study.read(self.study.ended(cell), &Quantity::of(self.measure, condition), self.moment)
    }
}

/// `None` where no factor varies.
pub fn figure(study: &Study) -> Option<Figure> {
    let x = pick(study, &[Factor::LAMBDA, Factor::DISTANCE], &[])?;
    let y = pick(study, &[Factor::DISTANCE], &[Some(x)]);
    let first = pick(study, &[Factor::VOCAB], &[Some(x), y]);
    let second = pick(study, &[Factor::REGIME], &[Some(x), y, first]);
    let groups = groups(study);
    let choosers = vec![
        Chooser::new("metric", "metric", METRICS.map(|(_, name)| name)),
        Chooser::new("at", "at the", MOMENTS.map(Moment::name)),
        Chooser::levels(study, first),
        Chooser::levels(study, second),
        groups::chooser(&groups),
    ];
    let header = ["metric", "at", named(first), named(second), "condition", x.name(), named(y)];
    let mut table = Table::of_estimates(header);
    let shown = [Some(x), y, first, second];
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        choice.cell.extend(study.comparable(&shown));
        let (measure, name) = METRICS[choice.options[0]];
        let moment = MOMENTS[choice.options[1]];
        let group = &groups[choice.options[4]];
        let at = moment.name();
        let keys = [name, &at, label_in(study, &choice.cell, first), label_in(study, &choice.cell, second)];
        let read = Read { study, measure, moment };
        let mut layout = match y {
            Some(y) => maps(&read, &mut table, &keys, (x, y), group, choice),
            None => lines(&read, &mut table, &keys, x, group, choice),
        };
        if y.is_some() {
            layout.ratio = 0.8;
            layout.scale = Some((format!("{name}, {}", moment.name()), "0".into(), "1".into()));
        }
        layout
    });
    Some(Figure {
        name: "maxima",
        title: format!("At the peak and at the end of training{}", captions::by(&[Some(x), y])),
        caption: format!(
            "Means over seeds of each run's largest value over training, or of its last, in {}. Grammaticality, type constraints and Γ \
             are of the unscrambling task T₁. {}{}",
            captions::conditions(study),
            if y.is_some() {
                "Crossed-out cells have no run that ended; hover for the interval over seeds."
            } else {
                BARS
            },
            captions::pooled(study, &shown)
        ),
        choosers,
        variants,
        table,
    })
}

fn maps(
    read: &Read,
    table: &mut Table,
    keys: &[&str],
    (x, y): (Factor, Factor),
    group: &Group,
    choice: &Choice,
) -> Layout {
    let study = read.study;
    let mut facets = Facets::new(study, table, level_axis(study, y));
    for (condition, style) in &group.conditions {
        facets.panel(&style.name, level_axis(study, x));
        for (across, x_level) in study.levels(x).iter().enumerate() {
            for (up, y_level) in study.levels(y).iter().enumerate() {
                let cell = [choice.cell.as_slice(), &[(x, across), (y, up)]].concat();
                let estimate = read.mean(&cell, condition);
                facets.row(&[keys, &[&style.name, x_level, y_level]].concat(), estimate.as_ref());
                let said = estimate.as_ref().map_or("no run ended".into(), spoken);
                let [x, y] = [x, y].map(|factor| plain(&factor.symbol()));
                facets.mark(Mark::Cell {
                    x: across,
                    y: up,
                    share: estimate.map(|estimate| estimate.value),
                    label: estimate.map_or(String::new(), |estimate| brief(estimate.value)),
                    tip: format!("{}, {x} = {x_level}, {y} = {y_level}: {said}", style.name),
                });
            }
        }
    }
    facets.layout(across(group.conditions.len()))
}

fn lines(read: &Read, table: &mut Table, keys: &[&str], x: Factor, group: &Group, choice: &Choice) -> Layout {
    let study = read.study;
    let mut facets = Facets::new(study, table, Axis::share(format!("{}, {}", keys[0], keys[1]))).fitted_share();
    for (condition, style) in &group.conditions {
        facets.panel(&style.name, level_axis(study, x));
        facets.levels((&[keys, &[&style.name]].concat(), &[""]), style, x, 0.0, |level| {
            read.mean(&[choice.cell.as_slice(), level].concat(), condition)
        });
    }
    facets.layout(across(group.conditions.len()))
}

/// Two decimals without the leading zero: `.87`, `1.0`.
fn brief(value: f64) -> String {
    let text = format!("{value:.2}");
    if value < 0.995 { text.trim_start_matches('0').to_owned() } else { format!("{value:.1}") }
}
