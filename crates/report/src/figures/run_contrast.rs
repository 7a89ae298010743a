//! One run: the contrast over training, with its interval over subjects.

use super::contrast::{self, PLACES, SETS, STATISTICS};
use super::{Figure, Table, common};
use crate::data::{Point, Study};
use crate::draw::{At, Axis, Mark, Panel, Plate};

pub fn figure(study: &Study) -> Figure {
    let mut table = Table::new(["contrast", "in", "condition", "step", "value", "low", "high"]);
    let mut variants = Vec::new();
    for (row, (set_name, set)) in SETS.into_iter().enumerate() {
        for (column, (name, statistic, axis)) in STATISTICS.into_iter().enumerate() {
            let mut extent = vec![0.0];
            let mut panels = Vec::new();
            for (title, condition, symbols) in PLACES {
                let key = study.key(condition, "reach", &format!("network.{set}{symbols}.{statistic}"));
                let curve = study.runs.first().map_or(&[][..], |run| run.curve(key));
                let points: Vec<At> = curve.iter().map(|point| at(title, point)).collect();
                extent.extend(common::extent(&points));
                for point in curve {
                    let numbers = [point.value, f64::from(point.low), f64::from(point.high)].map(|it| it.to_string());
                    let keys = [set_name.to_owned(), name.to_owned(), title.to_owned(), point.step.to_string()];
                    table.row(keys.into_iter().chain(numbers));
                }
                let mut panel = Panel::new(title, Axis::steps(study.last_step()), Axis::share(""));
                panel.marks.push(Mark::Line { points, ink: common::ink(condition), dash: "", shape: None });
                panels.push(panel);
            }
            for panel in &mut panels {
                panel.y = Axis::around(axis, extent.iter().copied());
                contrast::zero(panel, 0.0, f64::from(study.last_step()));
            }
            let mut plate = Plate::new(panels, [2, 4]);
            plate.ratio = 0.9;
            variants.push(common::variant(vec![row, column], plate, common::count(study.runs.len())));
        }
    }
    Figure {
        name: "contrast",
        title: "Knowledge that crossed: the contrast over training".into(),
        caption: "Reachability of the descriptors Γ allows the subject minus that of an equal set it forbids (facts) or of other classes \
                  (types). Bands are 95 % intervals over subjects; zero means the subject made no difference."
            .into(),
        choosers: contrast::choosers(),
        variants,
        table,
    }
}

fn at(title: &str, point: &Point) -> At {
    let (low, high) = (f64::from(point.low), f64::from(point.high));
    let interval = (!low.is_nan() && !high.is_nan()).then_some((low, high));
    let bounds =
        interval.map_or(String::new(), |(low, high)| format!(" [{}, {}]", common::digits(low), common::digits(high)));
    let tip = format!("{title}, step {}: {}{bounds}", point.step, common::digits(point.value));
    At { x: f64::from(point.step), y: point.value, interval, tip }
}
