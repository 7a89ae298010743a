//! One run: the contrast over training, with its interval over pairs of subjects.

use super::captions::Runs;
use super::contrast;
use super::contrasts::{SETS, places};
use super::facets::{Facets, variants};
use super::figure::Figure;
use super::groups::{self, groups};
use super::progress::Progress;
use super::table::Table;
use crate::data::Study;
use crate::draw::{Axis, Point};
use invitro_results::Curve;
use invitro_stats::Estimate;

pub fn figure(study: &Study) -> Figure {
    let (groups, progress) = (groups(study), Progress::all(study));
    let mut choosers = contrast::choosers();
    choosers.extend([groups::chooser(&groups), Progress::chooser(&progress)]);
    let mut table = Table::new(["contrast", "in", "condition", "step", "value", "low", "high"]);
    let mut drawn = Table::default();
    let nothing = Curve::default();
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let (targets, set) = SETS[choice.options[0]];
        let (statistic, name, axis) = contrast::statistics()[choice.options[1]];
        let group = &groups[choice.options[2]];
        let progress = &progress[choice.options[3]];
        let mut facets = Facets::new(study, &mut drawn, Axis::share(axis)).fitted(&[0.0]);
        facets.room_for_bands = true;
        for place in places(study) {
            let own = group.conditions.iter().find(|(condition, _)| *condition == place.condition);
            let Some((_, style)) = own else { continue };
            let quantity = place.quantity(targets, statistic);
            let curve = study.runs.first().map_or(&nothing, |run| run.curve(&quantity)).points();
            for point in curve.iter().filter(|_| progress.first) {
                let numbers = [point.value, f64::from(point.low), f64::from(point.high)].map(|it| it.to_string());
                let keys = [set.to_owned(), name.to_owned(), place.title.clone(), point.step.to_string()];
                table.row(keys.into_iter().chain(numbers));
            }
            facets.panel(&place.title, progress.axis());
            let per_step = progress.per_step(study, &[]);
            let at = |point: &invitro_results::Point| {
                let at = at(&place.title, point);
                Point { x: at.x * per_step, tip: if progress.first { at.tip } else { String::new() }, ..at }
            };
            facets.line(curve.iter().map(at).collect(), &style.unmarked());
        }
        let mut layout = facets.layout([2, 4]);
        contrast::zero(&mut layout, 0.0, progress.last());
        layout.ratio = 0.9;
        layout
    });
    Figure {
        name: "contrast",
        title: "Knowledge: the contrast over training".into(),
        caption: "Reachability of the descriptors Γ allows the subject minus that of an equal set it forbids (facts) or of other classes \
                  (types). Bands are 95 % intervals over pairs of subjects; zero means the subject made no difference."
            .into(),
        choosers,
        variants,
        table,
    }
}

fn at(title: &str, point: &invitro_results::Point) -> Point {
    let of_run = Estimate::of_run(point.value, point.interval());
    let interval = of_run.interval.map(|interval| (interval.low, interval.high));
    let tip = format!("{title}, step {}: {of_run}", point.step);
    Point { x: f64::from(point.step), y: point.value, interval, tip }
}
