//! Figures over training.

use super::captions::{BANDS, Runs};
use super::engine::{Facet, Plot, Spec, X, Y, across, cross, levels, pick, regime};
use super::figure::{Chooser, Figure};
use super::outcomes::in_masked;
use super::parts::{
    cascade, conditions, contrast_caption, contrast_choosers, contrasts, group_chooser, groups, is_masked, kinds,
    models, styles, unmarked,
};
use super::progress::ProgressAxis;
use super::style::{self, Style};
use super::table::FigureTable;
use crate::data::{Factor, FactorWords, Study};
use crate::draw::{Axis, Colour, MarkerShape, PanelMark, PlotPanel, plain_text};
use crate::wording::listed;
use invitro_results::claims::{
    ConditionRole, Estimand, EstimandKind, Expectation, FADED, LEVEL, Reading, RunValue, Scope, Verdict,
};
use invitro_results::{
    COMPARED, Comparison, FolderKind, Fraction, Loss, Measure, Moment, Quantity, Run, RunGroup, Scorer, Statistic,
    Targets, Task, TaskMetric,
};
use invitro_stats::{Estimate, Scale, decimals, mean, places};
use std::collections::BTreeSet;

/// The two readings of reachability: what they are called, and the axis. The paper's is at its top nearly everywhere.
const READINGS: [(Statistic, &str, &str); 2] = [
    (Statistic::Share, "share of targets", "share of targets reachable"),
    (Statistic::Any, "any target (the paper's)", "Top-*K* reachability"),
];

fn readings() -> Chooser {
    Chooser::new("reading", "reading", READINGS.map(|(_, name, _)| name))
}

/// What bands mean, where there are several runs.
fn bands(study: &Study) -> &'static str {
    if study.kind == FolderKind::Study { BANDS } else { "" }
}

/// The nested checks of the unscrambling task, by each factor that varies.
pub fn dynamics(study: &Study) -> Figure {
    // The masked conditions first: they are what readers look for.
    let mut conditions = conditions(study);
    conditions.sort_by_key(|facet| !is_masked(facet));
    let (by, progress) = (study.varying(), ProgressAxis::all(study));
    Spec {
        name: "dynamics",
        title: "Validity, grammaticality and type constraints over training".into(),
        caption: format!(
            "Greedy unscrambling (T₁). Each metric is nested in the one before: a sentence counts as grammatical only if it is valid, \
             and so on to Γ. Each curve is the mean over the factors not shown. {BANDS}"
        ),
        choosers: vec![
            Chooser::by(&by),
            Chooser::new("condition", "condition", conditions.iter().map(|facet| facet.title.clone())),
            ProgressAxis::chooser(&progress),
        ],
        runs: Runs::Measured,
        columns: &["by", "level", "condition", "metric", "step"],
    }
    .draw(study, |choice| {
        let factor = choice.by(study, &by, 0);
        let condition = conditions.get(choice.options[1]).cloned().unwrap_or_default();
        let y = Axis::share(format!("share of sentences in {}", condition.title));
        Plot {
            all: Facet { condition: condition.condition, ..Facet::default() },
            panels: levels(study, factor, "level"),
            lines: cascade(Task::T1),
            ..Plot::training(&progress[choice.options[2]], y)
        }
    })
}

/// The tasks of one run.
const TASKS: [(Task, &str); 3] =
    [(Task::T1, "T₁ unscrambling"), (Task::T0, "T₀ free generation"), (Task::T2, "T₂ conditional generation")];

/// One run: the nested checks in every condition.
pub fn capabilities(study: &Study) -> Figure {
    let (groups, progress) = (groups(study), ProgressAxis::all(study));
    let tasks = Chooser::new("task", "task", TASKS.map(|(_, name)| name));
    Spec {
        name: "curves",
        title: "Capabilities over training".into(),
        caption: "Shares of generated sentences that are valid, grammatical, satisfy the type constraints and agree with Γ, each nested in \
                  the one before."
            .into(),
        choosers: vec![tasks, group_chooser(&groups), ProgressAxis::chooser(&progress)],
        runs: Runs::Ended,
        columns: &["task", "condition", "metric", "step"],
    }
    .draw(study, |choice| {
        let task = TASKS[choice.options[0]].0;
        Plot {
            all: Facet { cells: vec![("task", task.name().into())], ..Facet::default() },
            panels: groups[choice.options[1]].conditions.clone(),
            lines: cascade(task),
            ..Plot::training(&progress[choice.options[2]], Axis::share("share of sentences"))
        }
    })
}

/// One run: reachability of the allowed set, with the forbidden set and the n-gram models beside it.
pub fn reach(study: &Study) -> Figure {
    let (groups, progress) = (groups(study), ProgressAxis::all(study));
    Spec {
        name: "reach",
        title: "Reachability against its nulls over training".into(),
        caption: "Top-*K* reachability (*K* = 0.1 |*V*|) of descriptors Γ allows the subject, of ones it forbids, of other classes, and of \
                  the allowed set under n-gram models of the training text."
            .into(),
        choosers: vec![readings(), group_chooser(&groups), ProgressAxis::chooser(&progress)],
        runs: Runs::Ended,
        columns: &["reading", "condition", "who", "step"],
    }
    .draw(study, |choice| {
        let (statistic, _, axis) = READINGS[choice.options[0]];
        Plot {
            panels: groups[choice.options[1]].conditions.clone(),
            lines: unmarked(models(statistic, Fraction::PAPER)),
            ratio: 0.85,
            ..Plot::new(X::Training(&progress[choice.options[2]]), Y::Share(axis.into()))
        }
    })
}

/// Masked reachability, by each factor that varies.
pub fn reachability(study: &Study) -> Figure {
    let masked: Vec<Facet> = conditions(study).into_iter().filter(is_masked).collect();
    let labels: Vec<String> = masked.iter().map(|facet| facet.title.clone()).collect();
    let (by, progress) = (study.varying(), ProgressAxis::all(study));
    let conditions = Chooser::new("condition", "condition", labels.clone());
    Spec {
        name: "reachability",
        title: "Masked Top-*K* reachability over training".into(),
        caption: format!(
            "Reachability of masked descriptors ({}) that Γ allows the subject, *K* = 0.1 |*V*|: the share of targets that are \
             reachable, or the share of subjects with any reachable target among those asked for (at most *eval.targets* a \
             subject). Each curve is the mean over the factors not shown. {BANDS}",
            listed(&labels)
        ),
        choosers: vec![Chooser::by(&by), readings(), conditions, ProgressAxis::chooser(&progress)],
        runs: Runs::Measured,
        columns: &["reading", "condition", "by", "level", "panel", "row", "step"],
    }
    .draw(study, |choice| {
        let factor = by.get(choice.options[0]).copied();
        // Regimes are rows where there are two; |V| is columns, or λ where |V| is compared.
        let row = regime(study, &[factor]);
        let column = pick(study, &[Factor::VOCAB, Factor::LAMBDA], &[factor, row]);
        choice.hold(study, &[factor, column, row]);
        let (statistic, _, axis) = READINGS[choice.options[1]];
        let condition = masked.get(choice.options[2]).and_then(|facet| facet.condition.clone());
        let (mut rows, columns) = (levels(study, row, "row"), levels(study, column, "panel"));
        rows.iter_mut().for_each(|facet| facet.row = std::mem::take(&mut facet.title));
        let measure = Some(Measure::reach(Scorer::Network, Targets::Allowed, statistic));
        Plot {
            all: Facet { measure, condition, ..Facet::default() },
            panels: cross(&rows, &columns),
            lines: levels(study, factor, "level"),
            across: Some(across(columns.len())),
            ..Plot::new(X::Training(&progress[choice.options[3]]), Y::Share(axis.into()))
        }
    })
}

/// One run: the contrast, with its interval over pairs of subjects.
pub fn contrast(study: &Study) -> Figure {
    let (groups, progress) = (groups(study), ProgressAxis::all(study));
    let mut choosers = contrast_choosers();
    choosers.extend([group_chooser(&groups), ProgressAxis::chooser(&progress)]);
    let columns = ["contrast", "in", "condition", "step"];
    Spec {
        name: "contrast",
        title: "Knowledge: the contrast over training".into(),
        caption: String::new(),
        choosers,
        runs: Runs::Ended,
        columns: &columns,
    }
    .draw_into(study, FigureTable::of_run(columns), |choice| {
        let (axis, panels) = contrasts(study, &groups[choice.options[2]].conditions, &choice.options);
        let progress = &progress[choice.options[3]];
        let curve = |place: &Facet| {
            let curve = study.runs.first().map(|run| run.curve(&place.quantity()).clone()).unwrap_or_default();
            let own = curve.points().map(|point| (point.step, Estimate::of_run(point.value, point.interval())));
            (progress.per_step(study, &[]), own.collect())
        };
        Plot {
            panels: unmarked(panels),
            curve: Some(Box::new(curve)),
            zero: true,
            across: Some([2, 4]),
            ratio: 0.9,
            caption: Some(format!(
                "{} Bands are 95 % intervals over pairs of subjects.",
                contrast_caption(&choice.options)
            )),
            ..Plot::new(X::Training(progress), Y::Around(axis, vec![0.0]))
        }
    })
}

/// Translations by direction: whether the sentence is the one that was meant, and how many of its descriptors were found.
/// Nothing where nothing was translated.
pub fn translation(study: &Study) -> Option<Figure> {
    let exact = Measure::Task(Task::T3, TaskMetric::Exact);
    let measured = study.runs.iter().flat_map(|run| run.curves.keys()).filter(|quantity| quantity.measure == exact);
    let directions: BTreeSet<&Quantity> = measured.collect();
    directions.first()?;
    let direction = |quantity: &&Quantity| Facet {
        title: direction(quantity),
        cells: vec![("direction", direction(quantity))],
        condition: quantity.condition.clone(),
        pair: quantity.pair.clone(),
        ..Facet::default()
    };
    let panels: Vec<Facet> = directions.iter().map(direction).collect();
    let (by, progress) = (study.varying(), ProgressAxis::all(study));
    let metrics = [("exact", exact, ""), ("descriptors", Measure::Task(Task::T3, TaskMetric::Descriptors), "4 1.6")];
    let figure = Spec {
        name: "translation",
        title: "Translation over training".into(),
        caption: format!(
            "Shares of held-out sentences that are translated exactly, and of their descriptors that the answer has; in a direction \
             with †, of the descriptors that are withheld there. Into such sentences something is asked for that was never shown in that \
             language; from them it must be understood, and all of the answer is known. {}",
            bands(study)
        ),
        choosers: vec![Chooser::by(&by), ProgressAxis::chooser(&progress)],
        runs: Runs::Measured,
        columns: &["direction", "by", "level", "metric", "step"],
    }
    .draw(study, |choice| {
        let levels = levels(study, choice.by(study, &by, 0), "level");
        let dashes = metrics.map(|(name, _, dash)| Style { dash, ..Style::line(name, Colour::Text) });
        Plot {
            panels: panels.clone(),
            lines: kinds(&levels, "metric", &metrics),
            legend: Some(style::lines(styles(&levels).iter().chain(&dashes))),
            ..Plot::training(&progress[choice.options[1]], Axis::share("share"))
        }
    });
    Some(figure)
}

/// `A→B†`
fn direction(quantity: &Quantity) -> String {
    let (Some([from, to]), Some(condition)) = (&quantity.pair, &quantity.condition) else { return String::new() };
    let is_from = condition.masked && condition.language == *from;
    let [from, to] =
        [(from, is_from), (to, !is_from)].map(|(name, own)| if own { condition.label() } else { name.to_string() });
    format!("{from}→{to}")
}

/// The loss in bits per character, comparable across |V|, with the entropy floor of the process.
pub fn loss(study: &Study) -> Figure {
    const FLOOR: &str = "2 1.6";
    let (by, groups, progress) = (study.varying(), groups(study), ProgressAxis::all(study));
    let late: Vec<ProgressAxis> = progress.iter().map(ProgressAxis::late).collect();
    let losses = [("loss", Measure::Loss(Loss::BitsPerChar), ""), ("floor", Measure::Loss(Loss::Floor), FLOOR)];
    let is_measured = |facet: &Facet| {
        let loss = Quantity { measure: losses[0].1, condition: facet.condition.clone(), pair: None };
        study.runs.iter().any(|run| !run.curve(&loss).is_empty())
    };
    Spec {
        name: "loss",
        title: "Loss with the entropy floor".into(),
        caption: format!(
            "Loss over training in bits per character, so that vocabularies can be compared, and the entropy of the true process \
             below which no model can go. The first 2 % of training, far above, are in the table alone. {}",
            bands(study)
        ),
        choosers: vec![Chooser::by(&by), group_chooser(&groups), ProgressAxis::chooser(&progress)],
        runs: Runs::Measured,
        columns: &["over", "by", "level", "what", "step"],
    }
    .draw(study, |choice| {
        let levels = levels(study, choice.by(study, &by, 0), "level");
        let mixture = Facet { title: "the mixture".into(), ..Facet::default() };
        let mut panels = vec![mixture];
        panels.extend(groups[choice.options[1]].conditions.iter().cloned());
        panels.retain(is_measured);
        panels.iter_mut().for_each(|facet| facet.cells = vec![("over", facet.title.clone())]);
        let floor = Style { dash: FLOOR, ..Style::line("entropy floor", Colour::Text) };
        Plot {
            panels,
            lines: kinds(&levels, "what", &losses),
            ratio: 0.85,
            legend: Some(style::lines(styles(&levels).iter().chain([&floor]))),
            ..Plot::new(X::Training(&late[choice.options[2]]), Y::Around("bits per character".into(), Vec::new()))
        }
    })
}

/// What the trajectory shows, a panel each.
const TRAJECTORY: [(Measure, &str); 3] = [
    (Measure::unscrambling(TaskMetric::Grammaticality), "grammatical (T₁), share"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share), "reachable targets, share"),
    (Measure::KNOWLEDGE, "contrast of facts, nats"),
];

/// What comes, and what stays: the conditions, or one masked condition by level of a factor.
pub fn trajectory(study: &Study) -> Figure {
    let (groups, progress) = (groups(study), ProgressAxis::all(study));
    let masked: Vec<Facet> = conditions(study).into_iter().filter(is_masked).collect();
    let by_factor: Vec<(&Facet, Factor)> =
        masked.iter().flat_map(|facet| study.varying().into_iter().map(move |factor| (facet, factor))).collect();
    let named = by_factor.iter().map(|(facet, factor)| format!("{} by {}", facet.title, plain_text(&factor.symbol())));
    let all = groups.iter().map(|group| if groups.len() == 1 { "all conditions".into() } else { group.name.clone() });
    let lines = Chooser::new("lines", "lines", all.chain(named));
    // Of one run the two that matter most.
    let shown: Vec<(Measure, &str)> = match study.kind {
        FolderKind::Study => TRAJECTORY.to_vec(),
        FolderKind::Run => vec![TRAJECTORY[0], TRAJECTORY[2]],
    };
    let panel = |(measure, title): (Measure, &'static str)| Facet {
        title: title.into(),
        cells: vec![("measure", plain_text(title))],
        measure: Some(measure),
        ..Facet::default()
    };
    Spec {
        name: "trajectory",
        title: format!("What comes, and what stays{}", in_masked(study)),
        caption: format!(
            "Means over runs. Where a masked condition clearly fades, a dotted line runs from its peak to the end of training, with its decline. \
             Knowledge is the contrast of facts in nats: by how much a word is likelier of a subject that Γ allows it than \
             of one of the same class that Γ forbids it. {BANDS}"
        ),
        choosers: vec![lines, ProgressAxis::chooser(&progress)],
        runs: Runs::Measured,
        columns: &["lines", "measure", "condition", "level", "step"],
    }
    .draw(study, |choice| {
        let level = choice.options[0].checked_sub(groups.len()).map(|place| by_factor[place]);
        let factor = level.map(|(_, factor)| factor);
        choice.hold(study, &[factor]);
        let progress = &progress[choice.options[1]];
        let lines = match level {
            None => unmarked(groups[choice.options[0]].conditions.clone()),
            Some((facet, factor)) => cross(std::slice::from_ref(facet), &levels(study, factor, "level")),
        };
        let finish = move |panel: &mut PlotPanel, lines: &[(Facet, Vec<(u32, Estimate)>)]| {
            for (line, curve) in lines.iter().filter(|(line, _)| is_masked(line)) {
                if let Some(decline) = decline(study, line) {
                    mark_decline(panel, line, progress.per_step(study, &line.levels), curve, &decline);
                }
            }
        };
        Plot {
            panels: shown.iter().copied().map(panel).collect(),
            lines,
            finish: Some(Box::new(finish)),
            across: Some([1, shown.len()]),
            ratio: if shown.len() == 2 { 0.5 } else { 0.78 },
            ..Plot::new(X::Training(progress), Y::Own)
        }
    })
}

/// How much a share has clearly lost, where grammar was learned.
fn decline(study: &Study, line: &Facet) -> Option<Estimate> {
    let quantity = line.quantity();
    let condition = quantity.condition.filter(|_| quantity.measure.scale() == Scale::Share)?;
    let first = Reading {
        measures: vec![quantity.measure],
        place: ConditionRole::Condition(condition),
        moment: Moment::Decline,
    };
    let value = RunValue { first, second: None, is_ratio: false };
    let mean = Estimand { kind: EstimandKind::Mean, value, at: Vec::new() };
    let found = Scope::new(study).at(&line.levels).estimate(&mean);
    let is_small = |decline: &Estimate| Verdict::is_small(decline, Expectation::Above(0.0), FADED, LEVEL);
    let fades = |decline: &Estimate| Verdict::is_above_zero(decline) && !is_small(decline);
    found.estimate.filter(|decline| found.reason.is_none() && fades(decline))
}

/// A dotted line from the peak of a curve to the end.
fn mark_decline(panel: &mut PlotPanel, line: &Facet, per_step: f64, curve: &[(u32, Estimate)], decline: &Estimate) {
    let peak = curve.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value).then(b.0.cmp(&a.0)));
    if let (Some((step, peak)), Some((last, end)), Some(style)) = (peak, curve.last(), &line.style) {
        let [from, to] = [step, last].map(|step| f64::from(*step) * per_step);
        let dotted = |from, to| PanelMark::Segment { from, to, colour: style.colour, dash: "1.5 1.5" };
        let places = decline.interval.map_or(2, |it| places(decline.value, it.low, it.high));
        let label = PanelMark::Label { x: to, y: peak.value + 0.04, text: decimals(-decline.value, places) };
        let down = dotted((to, peak.value), (to, end.value));
        panel.marks.extend([dotted((from, peak.value), (to, peak.value)), down, label]);
    }
}

/// Groups of runs that are compared: a panel per condition, a line per group.
pub fn compare(comparison: &Comparison) -> Figure {
    const SHAPES: [MarkerShape; 5] =
        [MarkerShape::Circle, MarkerShape::Square, MarkerShape::Diamond, MarkerShape::Triangle, MarkerShape::Down];
    let study = &comparison.study;
    let (conditions, progress) = (groups(study), ProgressAxis::all(study));
    // What masked transfer is about comes first.
    let mut measures = COMPARED;
    measures.sort_by_key(|it| it.measure != Measure::KNOWLEDGE);
    let chooser = Chooser::new("measure", "measure", measures.map(|it| it.name));
    // Five colours, and then the same with other marks.
    let line = |(place, group): (usize, &RunGroup)| Facet {
        title: group.name.clone(),
        cells: vec![("group", group.name.clone())],
        style: Some(match place / 5 {
            0 => Style::line(&group.name, Colour::Language(place)),
            more => Style::marked(&group.name, Colour::Language(place % 5), SHAPES[more % SHAPES.len()]),
        }),
        ..Facet::default()
    };
    let lines: Vec<Facet> = comparison.groups.iter().enumerate().map(line).collect();
    let bands = if comparison.groups.iter().any(|group| group.runs.len() > 1) { BANDS } else { "" };
    Spec {
        name: "compare",
        title: "The groups over training".into(),
        caption: format!("A line per group, the mean of its runs; a panel per condition. {bands}"),
        choosers: vec![chooser, group_chooser(&conditions), ProgressAxis::chooser(&progress)],
        runs: Runs::Measured,
        columns: &["measure", "condition", "group", "step"],
    }
    .draw(study, |choice| {
        let compared = measures[choice.options[0]];
        let progress = &progress[choice.options[2]];
        let curve = |line: &Facet| {
            let group = comparison.groups.iter().find(|group| group.name == line.cell("group"));
            let runs: Vec<&Run> = group.map_or(Vec::new(), |group| comparison.runs(group).collect());
            let per_step: Vec<f64> = runs.iter().map(|run| progress.per_step_of(run)).collect();
            (mean(&per_step), study.mean_curve(runs.into_iter(), &line.quantity()))
        };
        Plot {
            all: Facet { measure: Some(compared.measure), ..Facet::default() },
            panels: conditions[choice.options[1]].conditions.clone(),
            lines: lines.clone(),
            curve: Some(Box::new(curve)),
            ratio: 0.85,
            ..Plot::new(X::Training(progress), Y::Around(compared.name.into(), vec![0.0]))
        }
    })
    .trimmed()
}
