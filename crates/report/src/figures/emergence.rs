//! When grammaticality and the rest emerge: by condition for each |V|, and by |V| in each condition.

use super::captions::{self, Runs};
use super::facets::{Facets, across, dodge, ends, label_in, level_axis, split, variants};
use super::figure::{Choice, Chooser, Figure, Variant};
use super::style::{self, Style};
use super::table::Table;
use crate::data::{Factor, Run, Study};
use crate::draw::{Axis, Layout, Mark, Point, Shape};
use crate::findings::stages::Stage;
use crate::stats::Estimate;
use crate::wording::{counted, spoken};
use invitro_results::{Condition, Emergence, TaskMetric};

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
        let estimate = study.mean(study.ended(cell), |run| when(run)?.step().map(f64::from));
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
        let when = |run: &Run| Stage::Sentences(metric).emergence(run, condition, threshold.of(run));
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
    let mut table = Table::of_estimates(["regime", "threshold", "vocab", "condition", "metric", "emerged", "measured"]);
    let labels: Vec<String> = study.conditions().iter().map(Condition::label).collect();
    let vocabs = split(study, Factor::Vocab);
    let (choosers, variants) = per_choice(study, |choice, threshold| {
        let regime = label_in(study, &choice.cell, Factor::Regime);
        let mut facets = Facets::new(study, &mut table, Axis::share(""));
        for (title, vocab) in &vocabs {
            let cell = [choice.cell.as_slice(), vocab].concat();
            facets.panel(title, Axis::levels("", labels.iter().cloned()));
            for (place, condition) in study.conditions().iter().enumerate() {
                let vocab = label_in(study, vocab, Factor::Vocab);
                mark(&mut facets, (study, &cell), condition, threshold, (place, &labels[place]), |metric| {
                    [regime, &threshold.label, vocab, &labels[place], metric].map(str::to_owned).into()
                });
            }
        }
        facets.layout(across(vocabs.len()))
    });
    Figure {
        name: "emergence-by-language",
        title: "Emergence by language".into(),
        caption: caption(study),
        choosers,
        variants,
        table,
    }
}

pub fn by_vocabulary(study: &Study) -> Figure {
    let mut table = Table::of_estimates(["regime", "threshold", "condition", "vocab", "metric", "emerged", "measured"]);
    let (choosers, variants) = per_choice(study, |choice, threshold| {
        let regime = label_in(study, &choice.cell, Factor::Regime);
        let mut facets = Facets::new(study, &mut table, Axis::share(""));
        for condition in study.conditions().iter().rev() {
            let label = condition.label();
            facets.panel(&label, level_axis(study, Factor::Vocab));
            for (place, vocab) in study.levels(Factor::Vocab).iter().enumerate() {
                let cell = [choice.cell.as_slice(), &[(Factor::Vocab, place)]].concat();
                let name = format!("{label}, |V| = {vocab}");
                mark(&mut facets, (study, &cell), condition, threshold, (place, &name), |metric| {
                    [regime, &threshold.label, &label, vocab, metric].map(str::to_owned).into()
                });
            }
        }
        facets.layout(across(study.conditions().len()))
    });
    Figure {
        name: "emergence-by-vocabulary",
        title: "Emergence by |*V*|".into(),
        caption: caption(study),
        choosers,
        variants,
        table,
    }
}

fn per_choice(study: &Study, mut panels: impl FnMut(&Choice, &Threshold) -> Layout) -> (Vec<Chooser>, Vec<Variant>) {
    let thresholds = thresholds(study);
    let choosers = vec![Chooser::levels(study, Factor::Regime), threshold_chooser(&thresholds)];
    let legend: Vec<Style> = style::cascade().map(|(_, style)| style).into();
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let mut layout = panels(choice, &thresholds[choice.options[1]]);
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

fn caption(study: &Study) -> String {
    format!(
        "The first evaluated step at which a metric of T₁ exceeds the threshold (the paper's is 0.02), averaged over the runs in \
         which it did; lower is earlier. A ring means that in some runs it never did: hover for how many. Bars are 95 % intervals \
         over seeds.{}",
        captions::pooled(study, &[Factor::Vocab, Factor::Regime])
    )
}
