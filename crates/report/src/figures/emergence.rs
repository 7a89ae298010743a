//! When grammaticality and the rest emerge: by condition, and by each factor that varies in each condition.

use super::captions::{self, Runs};
use super::facets::{Facets, across, dodge, ends, label_in, level_axis, named, pick, regime, split, variants};
use super::figure::{Choice, Chooser, Figure, Variant};
use super::groups::{self, groups};
use super::style::{self, Style};
use super::table::Table;
use crate::data::{Factor, FactorWords, Run, Study};
use crate::draw::{Axis, Layout, Mark, Point, Shape, plain};
use crate::wording::{counted, spoken};
use invitro_results::{Condition, Crossing, Emergence, Measure, TaskMetric};
use invitro_stats::{Estimate, Scale};

/// What a metric has to exceed.
pub(super) struct Threshold {
    pub label: String,
    /// `None`: what each run's experiment sets.
    fixed: Option<f64>,
}

impl Threshold {
    pub fn of(&self, run: &Run) -> f64 {
        self.fixed.unwrap_or_else(|| run.emergence_threshold())
    }
}

/// What the experiments set first, then the paper's and two higher ones.
pub(super) fn thresholds(study: &Study) -> Vec<Threshold> {
    let own = study.emergence_threshold();
    let mut all = vec![Threshold { label: own.map_or("as configured".into(), |own| own.to_string()), fixed: own }];
    let others = [0.02, 0.1, 0.5].into_iter().filter(|other| own != Some(*other));
    all.extend(others.map(|other| Threshold { label: other.to_string(), fixed: Some(other) }));
    all
}

pub(super) fn threshold_chooser(thresholds: &[Threshold]) -> Chooser {
    Chooser::new("threshold", "threshold", thresholds.iter().map(|threshold| threshold.label.clone()))
}

/// The mean step of the runs in which something emerged, and how many there were of how many.
pub(super) struct Emerged {
    pub estimate: Option<Estimate>,
    pub runs: usize,
    pub measured: usize,
}

impl Emerged {
    pub fn new(study: &Study, cell: &[(Factor, usize)], when: impl Fn(&Run) -> Option<Emergence>) -> Emerged {
        let estimate = study.mean_on(Scale::Positive, study.ended(cell), |run| when(run)?.step().map(f64::from));
        let measured = study.ended(cell).filter(|run| when(run).is_some()).count();
        Emerged { estimate, runs: estimate.map_or(0, |estimate| estimate.runs), measured }
    }

    /// The full marker where it emerged in every run, a ring where in some.
    pub fn shape(&self, full: Shape) -> Shape {
        if self.runs == self.measured { full } else { Shape::Ring }
    }

    pub fn tip(&self, name: &str, estimate: &Estimate) -> String {
        format!("{name}: step {}, emerged in {} of {}", spoken(estimate), self.runs, counted(self.measured, "run"))
    }
}

/// Markers of the nested checks side by side at a place, and their rows.
fn mark(
    facets: &mut Facets,
    (study, cell): (&Study, &[(Factor, usize)]),
    condition: &Condition,
    threshold: &Threshold,
    (x, place): (usize, &str),
    keys: impl Fn(&'static str) -> Vec<String>,
) {
    for (stage, (metric, style)) in style::cascade().into_iter().enumerate() {
        let when =
            |run: &Run| run.emergence(Measure::unscrambling(metric), condition, threshold.of(run), Crossing::First);
        let emerged = Emerged::new(study, cell, when);
        let (runs, measured) = (emerged.runs.to_string(), emerged.measured.to_string());
        let keys = keys(metric.name());
        let keys: Vec<&str> = keys.iter().map(String::as_str).chain([runs.as_str(), measured.as_str()]).collect();
        facets.row(&keys, emerged.estimate.as_ref());
        let Some(estimate) = emerged.estimate else { continue };
        let point = Point {
            x: x as f64 + dodge(stage, TaskMetric::CASCADE.len(), 0.17),
            y: estimate.value,
            interval: ends(&estimate),
            tip: emerged.tip(&format!("{} in {place}", style.name), &estimate),
        };
        let shape = emerged.shape(Shape::Circle);
        facets.mark(Mark::ErrorBar { point, colour: style.colour, shape, along_x: false });
    }
}

pub fn by_language(study: &Study) -> Figure {
    let panel = pick(study, &[Factor::VOCAB], &[]);
    let chosen = regime(study, &[panel]);
    let header = [named(chosen), "threshold", named(panel), "condition", "metric", "emerged", "measured"];
    let mut table = Table::of_estimates(header);
    let groups = groups(study);
    let choosers = vec![Chooser::levels(study, chosen), groups::chooser(&groups)];
    let panels = split(study, panel);
    let (choosers, variants) = per_choice(study, choosers, |choice, threshold| {
        choice.cell.extend(study.comparable(&[panel, chosen]));
        let conditions = &groups[choice.options[2]].conditions;
        let mut facets = Facets::new(study, &mut table, Axis::share(""));
        for (title, level) in &panels {
            let cell = [choice.cell.as_slice(), level].concat();
            facets.panel(title, Axis::levels("", conditions.iter().map(|(_, style)| style.name.clone())));
            for (place, (condition, style)) in conditions.iter().enumerate() {
                mark(&mut facets, (study, &cell), condition, threshold, (place, &style.name), |metric| {
                    let [chosen, panel] = [chosen, panel].map(|factor| label_in(study, &cell, factor));
                    [chosen, &threshold.label, panel, &style.name, metric].map(str::to_owned).into()
                });
            }
        }
        facets.layout(across(panels.len()))
    });
    Figure {
        name: "emergence-by-language",
        title: "Emergence by language".into(),
        caption: caption(study, &[panel, chosen]),
        choosers,
        variants,
        table,
    }
}

/// By each factor that varies; `None` where none does.
pub fn by_level(study: &Study) -> Option<Figure> {
    let by = Some(study.varying()).filter(|factors| !factors.is_empty())?;
    let groups = groups(study);
    let mut table = Table::of_estimates(["by", "level", "threshold", "condition", "metric", "emerged", "measured"]);
    let choosers = vec![Chooser::by(&by), groups::chooser(&groups)];
    let (choosers, variants) = per_choice(study, choosers, |choice, threshold| {
        let factor = by[choice.options[1]];
        choice.cell.extend(study.comparable(&[factor]));
        let mut conditions: Vec<_> = groups[choice.options[2]].conditions.iter().collect();
        conditions.sort_by_key(|(condition, _)| !condition.masked);
        let mut facets = Facets::new(study, &mut table, Axis::share(""));
        for (condition, style) in &conditions {
            facets.panel(&style.name, level_axis(study, factor));
            for (place, level) in study.levels(factor).iter().enumerate() {
                let cell = [choice.cell.as_slice(), &[(factor, place)]].concat();
                let name = format!("{}, {}", style.name, plain(&style::titled(factor, level)));
                mark(&mut facets, (study, &cell), condition, threshold, (place, &name), |metric| {
                    let by = plain(&factor.symbol());
                    [&by, level, &threshold.label, &style.name, metric].map(str::to_owned).into()
                });
            }
        }
        facets.layout(across(conditions.len()))
    });
    Some(Figure {
        name: "emergence-by-level",
        title: "Emergence by what was varied".into(),
        caption: caption(study, &by.iter().map(|factor| Some(*factor)).collect::<Vec<_>>()),
        choosers,
        variants,
        table,
    })
}

/// Variants over the thresholds and what else can be chosen.
fn per_choice(
    study: &Study,
    others: Vec<Chooser>,
    mut panels: impl FnMut(&mut Choice, &Threshold) -> Layout,
) -> (Vec<Chooser>, Vec<Variant>) {
    let thresholds = thresholds(study);
    let choosers: Vec<Chooser> = std::iter::once(threshold_chooser(&thresholds)).chain(others).collect();
    let legend: Vec<Style> = style::cascade().map(|(_, style)| style).into();
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let threshold = &thresholds[choice.options[0]];
        let mut layout = panels(choice, threshold);
        let marks = layout.panels.iter().flat_map(|panel| &panel.marks);
        let top = marks.fold(0.0f64, |top, mark| match mark {
            Mark::ErrorBar { point, .. } => top.max(point.interval.map_or(point.y, |(_, high)| high)),
            _ => top,
        });
        let y = Axis { label: "emergence step".into(), ..Axis::steps((1.05 * top).ceil().max(1.0) as u32) };
        layout.panels.iter_mut().for_each(|panel| panel.y = y.clone());
        layout.ratio = 0.85;
        layout.legend = style::markers(&legend);
        layout
    });
    (choosers, variants)
}

fn caption(study: &Study, shown: &[Option<Factor>]) -> String {
    format!(
        "The first evaluated step at which a metric of T₁ exceeds the threshold (the paper's is 0.02), averaged over the runs in \
         which it did; lower is earlier. A ring means that in some runs it never did: hover for how many. Bars are 95 % intervals \
         over seeds.{}",
        captions::pooled(study, shown)
    )
}
