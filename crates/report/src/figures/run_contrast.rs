//! One run: the contrast over training, with its interval over pairs of subjects.

use super::captions::Runs;
use super::contrast;
use super::facets::{Facets, variants};
use super::figure::Figure;
use super::style;
use super::table::Table;
use crate::data::Study;
use crate::draw::{Axis, Point};
use crate::findings::contrasts::{SETS, STATISTICS, places};
use invitro_results::{Curve, Estimate};

pub fn figure(study: &Study) -> Figure {
    let choosers = contrast::choosers();
    let mut table = Table::new(["contrast", "in", "condition", "step", "value", "low", "high"]);
    let mut drawn = Table::default();
    let styles = style::conditions(study);
    let nothing = Curve::default();
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let (targets, set) = SETS[choice.options[0]];
        let (statistic, name, axis) = STATISTICS[choice.options[1]];
        let mut facets = Facets::new(study, &mut drawn, Axis::share(axis)).fitted(&[0.0]);
        for place in places(study) {
            let quantity = place.quantity(targets, statistic);
            let curve = study.runs.first().map_or(&nothing, |run| run.curve(&quantity)).points();
            for point in curve {
                let numbers = [point.value, f64::from(point.low), f64::from(point.high)].map(|it| it.to_string());
                let keys = [set.to_owned(), name.to_owned(), place.title.clone(), point.step.to_string()];
                table.row(keys.into_iter().chain(numbers));
            }
            let Some((_, style)) = styles.iter().find(|(condition, _)| *condition == place.condition) else { continue };
            facets.panel(&place.title, Axis::steps(study.last_step()));
            facets.line(curve.iter().map(|point| at(&place.title, point)).collect(), &style.unmarked());
        }
        let mut layout = facets.layout([2, 4]);
        contrast::zero(&mut layout, 0.0, f64::from(study.last_step()));
        layout.ratio = 0.9;
        layout
    });
    Figure {
        name: "contrast",
        title: "Knowledge that crossed: the contrast over training".into(),
        caption: "Reachability of the descriptors Γ allows the subject minus that of an equal set it forbids (facts) or of other classes \
                  (types). Bands are 95 % intervals over pairs of subjects; zero means the subject made no difference."
            .into(),
        choosers,
        variants,
        table,
    }
}

fn at(title: &str, point: &invitro_results::Point) -> Point {
    let of_run = Estimate { value: point.value, interval: point.interval(), runs: 1, data_seeds: 1 };
    let interval = of_run.interval.map(|interval| (interval.low, interval.high));
    let tip = format!("{title}, step {}: {of_run}", point.step);
    Point { x: f64::from(point.step), y: point.value, interval, tip }
}
