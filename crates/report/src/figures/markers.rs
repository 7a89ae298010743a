//! Figures of estimates side by side or one under another: nulls, emergence, arms, forms, settings.

use super::captions::{self, BANDS, BARS, Runs};
use super::engine::{
    Datum, Facet, Markers, Plot, ReadEstimate, Spec, Ticks, X, Y, level_ticks, levels, named, pick, regime, ticks,
};
use super::figure::{Chooser, Figure};
use super::outcomes::{TRANSFERS, in_masked};
use super::parts::{arms, cascade, conditions, group_chooser, groups, models, styles};
use super::progress::ProgressAxis;
use super::style::{self, STAGES, Style};
use crate::data::{Factor, FactorWords, Levels, Run, Study, setting_name};
use crate::draw::{Colour, MarkerShape};
use crate::wording::counted;
use invitro_results::{Crossing, Emergence, FolderKind, Form, Fraction, Measure, Moment, Scorer, Statistic, Task};
use invitro_stats::{Estimate, Scale, Seed, seeds};
use std::collections::BTreeMap;
use std::sync::Arc;

const STATISTICS: [(Statistic, &str, &str); 2] = [
    (Statistic::Share, "share of targets", "share of targets reachable"),
    (Statistic::Any, "any target", "subjects with a reachable target"),
];

/// Reachability against its nulls: what Γ allows, what it forbids, other classes, and n-gram models.
pub fn nulls(study: &Study) -> Figure {
    let (by, groups) = (pick(study, &[Factor::VOCAB], &[]), groups(study));
    let fractions: Vec<Fraction> = Fraction::ALL.into_iter().rev().collect();
    Spec {
        name: "nulls",
        title: "Reachability against its nulls".into(),
        caption: format!(
            "Reachability at the end of training of three target sets of equal size per subject (descriptors Γ allows it, descriptors \
             of its own class that Γ forbids it, descriptors of other classes), and of the allowed set under bigram and unigram \
             models of the training text. Only the part above the nulls can be knowledge.{} {BANDS}",
            captions::pooled(study, &[by])
        ),
        choosers: vec![
            Chooser::new("reading", "reading", STATISTICS.map(|(_, name, _)| name)),
            Chooser::new("k", "*K*", fractions.iter().map(|fraction| format!("{fraction} |V|"))),
            group_chooser(&groups),
        ],
        runs: Runs::Ended,
        columns: &["reading", "K", "condition", named(by), "who"],
    }
    .draw(study, |choice| {
        choice.hold(study, &[by]);
        let ((statistic, _, axis), top) = (STATISTICS[choice.options[0]], fractions[choice.options[1]]);
        let ticks = Some(level_ticks(study, by, named(by)));
        Plot {
            all: Facet { cells: vec![("K", top.to_string())], ticks, ..Facet::default() },
            panels: groups[choice.options[2]].conditions.clone(),
            lines: models(statistic, top),
            ratio: 0.9,
            ..Plot::new(X::Ticks(Markers::Upright, 0.16), Y::Share(axis.into()))
        }
    })
}

/// What a metric has to exceed.
struct Threshold {
    label: String,
    /// `None`: what each run's experiment sets.
    fixed: Option<f64>,
}

/// What the experiments set first, then the paper's and two higher ones.
fn thresholds(study: &Study) -> Vec<Threshold> {
    let own = study.emergence_threshold();
    let mut all = vec![Threshold { label: own.map_or("as configured".into(), |own| own.to_string()), fixed: own }];
    let further = [0.02, 0.1, 0.5].into_iter().filter(|threshold| own != Some(*threshold));
    all.extend(further.map(|threshold| Threshold { label: threshold.to_string(), fixed: Some(threshold) }));
    all
}

fn threshold_chooser(thresholds: &[Threshold]) -> Chooser {
    Chooser::new("threshold", "threshold", thresholds.iter().map(|threshold| threshold.label.clone()))
}

/// The mean step at which something emerges, over the runs in which it did. The marker is a ring where in some it did not.
fn emergence<'a>(study: &'a Study, threshold: &'a Threshold) -> ReadEstimate<'a> {
    Box::new(move |facet| {
        let (Some(measure), Some(condition)) = (facet.measure, &facet.condition) else { return Datum::default() };
        let when = |run: &Run| {
            let threshold = threshold.fixed.unwrap_or_else(|| run.emergence_threshold());
            run.emergence(measure, condition, threshold, Crossing::First)
        };
        let dated: Vec<(Seed, Emergence)> =
            study.ended(&facet.levels).filter_map(|run| Some((run.seed, when(run)?))).collect();
        let steps = dated.iter().filter_map(|(seed, emergence)| Some((*seed, f64::from(emergence.step()?))));
        let estimate = seeds::mean(Scale::Positive, steps);
        let measured = dated.len();
        let emerged = estimate.map_or(0, |estimate| estimate.runs);
        let has_runs = study.ended(&facet.levels).next().is_some();
        Datum {
            estimate,
            cells: vec![("emerged", emerged.to_string()), ("measured", measured.to_string())],
            is_partial: emerged < measured,
            tip: format!(", emerged in {emerged} of {}", counted(measured, "run")),
            instead: if !has_runs {
                ""
            } else if measured > 0 {
                "never"
            } else {
                "not measured"
            },
        }
    })
}

/// The caption of emergence.
fn emergence_caption(study: &Study, shown: &[Option<Factor>]) -> String {
    format!(
        "The first evaluated step at which a metric of T₁ exceeds the threshold (the paper's is 0.02), averaged over the runs in \
         which it did; lower is earlier. A ring means that in some runs it never did: hover for how many. Bars are 95 % intervals \
         over seeds.{}",
        captions::pooled(study, shown)
    )
}

/// When each check of sentences emerges, by condition.
pub fn emergence_by_language(study: &Study) -> Figure {
    let panel = pick(study, &[Factor::VOCAB], &[]);
    let chosen = regime(study, &[panel]);
    let (groups, thresholds) = (groups(study), thresholds(study));
    Spec {
        name: "emergence-by-language",
        title: "Emergence by language".into(),
        caption: emergence_caption(study, &[panel, chosen]),
        choosers: vec![threshold_chooser(&thresholds), Chooser::levels(study, chosen), group_chooser(&groups)],
        runs: Runs::Ended,
        columns: &[named(chosen), "threshold", named(panel), "condition", "metric", "emerged", "measured"],
    }
    .draw(study, |choice| {
        choice.hold(study, &[panel, chosen]);
        let ticks = Some(ticks("", groups[choice.options[2]].conditions.clone()));
        Plot {
            all: Facet { ticks, ..Facet::default() },
            panels: levels(study, panel, named(panel)),
            lines: cascade(Task::T1),
            read: Some(emergence(study, &thresholds[choice.options[0]])),
            ratio: 0.85,
            ..Plot::new(X::Ticks(Markers::Upright, 0.17), Y::Steps("emergence step"))
        }
    })
}

/// The same by each factor that varies; `None` where none does.
pub fn emergence_by_level(study: &Study) -> Option<Figure> {
    let by = Some(study.varying()).filter(|factors| !factors.is_empty())?;
    let (groups, thresholds) = (groups(study), thresholds(study));
    let figure = Spec {
        name: "emergence-by-level",
        title: "Emergence by what was varied".into(),
        caption: emergence_caption(study, &by.iter().map(|factor| Some(*factor)).collect::<Vec<_>>()),
        choosers: vec![threshold_chooser(&thresholds), Chooser::by(&by), group_chooser(&groups)],
        runs: Runs::Ended,
        columns: &["by", "level", "threshold", "condition", "metric", "emerged", "measured"],
    }
    .draw(study, |choice| {
        let factor = choice.by(study, &by, 1);
        Plot {
            all: Facet { ticks: Some(level_ticks(study, factor, "level")), ..Facet::default() },
            panels: groups[choice.options[2]].conditions.clone(),
            lines: cascade(Task::T1),
            read: Some(emergence(study, &thresholds[choice.options[0]])),
            ratio: 0.85,
            ..Plot::new(X::Ticks(Markers::Upright, 0.17), Y::Steps("emergence step"))
        }
    });
    Some(figure)
}

/// When every stage emerges, in every condition, on one time line.
pub fn stages(study: &Study) -> Figure {
    let panel = pick(study, &[Factor::VOCAB], &[]);
    let chosen = regime(study, &[panel]);
    let (groups, thresholds, progress) = (groups(study), thresholds(study), ProgressAxis::all(study));
    // A group of rows per condition, with an empty row between them.
    let rows = |conditions: &[Facet]| {
        let mut rows: Vec<Facet> = Vec::new();
        for facet in conditions {
            rows.extend((!rows.is_empty()).then(|| Facet { is_gap: true, ..Facet::default() }));
            rows.extend(STAGES.map(|(measure, stage)| Facet {
                title: format!("{stage} in {}", facet.title),
                label: format!("{}: {stage}", facet.title),
                cells: [&facet.cells[..], &[("stage", stage.to_owned())]].concat(),
                measure: Some(measure),
                ..facet.clone()
            }));
        }
        rows
    };
    Spec {
        name: "cascade",
        title: "The cascade: when each skill emerges".into(),
        caption: format!(
            "Mean step at which each stage first exceeds the threshold, over the runs in which it did; a ring where in some runs it \
             never did. Reachability counts from where the share of targets reachable exceeds the unigram model's by the threshold, \
             the last stage from where allowed targets lie above forbidden ones with their interval over pairs of subjects, to stay. Bars are 95 % \
             intervals over seeds.{}",
            captions::pooled(study, &[panel, chosen])
        ),
        choosers: vec![Chooser::levels(study, chosen), threshold_chooser(&thresholds), group_chooser(&groups)],
        runs: Runs::Ended,
        columns: &[named(chosen), "threshold", named(panel), "condition", "stage", "emerged", "measured"],
    }
    .draw(study, |choice| {
        choice.hold(study, &[panel, chosen]);
        let conditions = &groups[choice.options[2]].conditions;
        let (facets, panels) = (rows(conditions), levels(study, panel, named(panel)));
        Plot {
            across: Some([1, panels.len().clamp(1, 3)]),
            panels,
            read: Some(emergence(study, &thresholds[choice.options[1]])),
            height: Some(8.8 * facets.len().max(1) as f64),
            all: Facet { ticks: Some(Arc::new(Ticks { label: String::new(), facets })), ..Facet::default() },
            legend: Some(style::markers(&styles(conditions))),
            ..Plot::new(X::Ticks(Markers::Lying, 0.0), Y::Axis(progress[0].axis()))
        }
    })
}

/// What axes call the contrast of facts.
const CONTRAST: &str = "contrast of facts at the end (nats)";

/// The contrast of facts by arm: which pieces are shared, how words are cut, what is withheld. A panel for each |V| and d;
/// `None` where no arm varies.
pub fn contrast_by_arm(study: &Study) -> Option<Figure> {
    const PANELS: [Factor; 2] = [Factor::VOCAB, Factor::DISTANCE];
    let (factors, groups) = (arms(study), groups(study));
    let shown = [Some(*factors.first()?), Some(PANELS[0]), Some(PANELS[1])];
    let mut cells = study.cells(&PANELS);
    cells.extend(cells.is_empty().then(Levels::new));
    let panel = |levels: Levels| {
        let name = |(factor, level): &(Factor, usize)| (factor.name(), study.levels(*factor)[*level].clone());
        let titles = levels.iter().map(|(factor, level)| factor.with_level(&study.levels(*factor)[*level]));
        let title = titles.collect::<Vec<_>>().join(", ");
        Facet { title, cells: levels.iter().map(name).collect(), levels, ..Facet::default() }
    };
    let panels: Vec<Facet> = cells.into_iter().map(panel).collect();
    // A row for each |V| and a column for each d, where these vary.
    let [rows, columns] = PANELS.map(|factor| study.levels(factor).len().max(1));
    let columns = if columns == 1 { rows } else { columns };
    let figure = Spec {
        name: "arms",
        title: format!("Knowledge{}", captions::by(&factors.iter().map(|&factor| Some(factor)).collect::<Vec<_>>())),
        caption: format!(
            "The contrast of facts at the end of training by arm, in {}. Runs of one data seed have the same world and words in every arm. Zero means the subject made no difference. {BARS}{}",
            captions::conditions(study),
            captions::pooled(study, &shown)
        ),
        choosers: vec![Chooser::by(&factors), group_chooser(&groups)],
        runs: Runs::Ended,
        columns: &["setting", "arm", "vocab", "d", "condition"],
    }
    .draw(study, |choice| {
        let (factor, lines) = (factors[choice.options[0]], groups[choice.options[1]].conditions.clone());
        let mut cells: Vec<_> = PANELS.map(|factor| (factor.name(), "all".to_owned())).into();
        cells.push(("setting", factor.key().to_owned()));
        let ticks = Some(ticks("", levels(study, factor, "arm")));
        Plot {
            all: Facet { measure: Some(Measure::KNOWLEDGE), cells, ticks, ..Facet::default() },
            panels: panels.clone(),
            zero: true,
            across: Some([columns.min(2), columns.min(4)]),
            height: Some(5.5 * (1 + lines.len()) as f64 * study.levels(factor).len() as f64),
            lines,
            ..Plot::new(X::Ticks(Markers::Lying, 0.2), Y::Around(CONTRAST.into(), vec![0.0]))
        }
    });
    Some(figure)
}

/// The contrast of words that the same models are asked for in other forms (`eval.forms`): recut, in the first language's form,
/// with another stem; masked words, and unmasked ones as the control. `None` where no run was asked.
pub fn forms(study: &Study) -> Option<Figure> {
    let row = |form: Form| Facet {
        title: form.name().into(),
        cells: vec![("form", form.name().into())],
        measure: Some(Measure::Contrast(Scorer::Network, form)),
        ..Facet::default()
    };
    let mut lines: Vec<Facet> = conditions(study);
    let is_measured = |facet: &Facet, form: Form| {
        let quantity = facet.with(&row(form)).quantity();
        study.ended(&[]).any(|run| run.curve(&quantity).end().is_some())
    };
    let forms = Form::ALL.into_iter().filter(|&form| lines.iter().any(|facet| is_measured(facet, form)));
    let forms: Vec<Form> = forms.collect();
    lines.retain(|facet| forms.iter().any(|&form| is_measured(facet, form)));
    lines.first()?;
    let rows = ticks("", forms.iter().copied().map(row).collect());
    let arms = arms(study);
    let meanings: Vec<String> = forms.iter().map(|form| format!("{}: {}", form.name(), form.meaning())).collect();
    let intervals = match study.kind {
        FolderKind::Run => "Bars are 95 % intervals over pairs of subjects.",
        FolderKind::Study => BARS,
    };
    // The interval of one run is its own, over pairs of subjects.
    let contrast = |facet: &Facet| {
        let quantity = facet.quantity();
        let mean = study.read(study.ended(&facet.levels), &quantity, Moment::End);
        let run = study.runs.first().filter(|_| study.kind == FolderKind::Run);
        let own = run.and_then(|run| run.curve(&quantity).last()?.interval());
        mean.map(|mean| Estimate { interval: own.or(mean.interval), ..mean }).into()
    };
    let figure = Spec {
        name: "forms",
        title: "Words in other forms, asked of the same models".into(),
        caption: format!(
            "The contrast of facts at the end of training where each word is put to the model in another form. {}. The unmasked words of \
             the same language are the control. N-gram models have 0 in every form. {intervals}",
            meanings.join("; ")
        ),
        choosers: vec![Chooser::by(&arms)],
        runs: Runs::Ended,
        columns: &["arm", "form", "condition"],
    }
    .draw(study, |choice| {
        let mut panels = levels(study, arms.get(choice.options[0]).copied(), "arm");
        panels.iter_mut().for_each(|facet| {
            let arm = if facet.title.is_empty() { "all runs".into() } else { facet.title.clone() };
            facet.cells = vec![("arm", arm)];
        });
        Plot {
            all: Facet { ticks: Some(rows.clone()), ..Facet::default() },
            across: Some([1, panels.len().clamp(1, 3)]),
            panels,
            lines: lines.clone(),
            read: Some(Box::new(contrast)),
            zero: true,
            height: Some(14.0 * forms.len() as f64),
            ..Plot::new(X::Ticks(Markers::Lying, 0.24), Y::Around(CONTRAST.into(), vec![0.0]))
        }
    });
    Some(figure)
}

/// What else a study varied, one thing at a time: word order, boundary, kind of tokenizer, share masked, … For each such
/// setting, the runs in which every other such setting has its usual value, the one that most runs have. `None` where only the
/// four factors and the seeds vary.
pub fn settings(study: &Study) -> Option<Figure> {
    let keys = study.other_factors();
    let value = |run: &Run, key: &str| run.columns.get(key).map(ToString::to_string);
    let usual = |key: &str| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        study.runs.iter().filter_map(|run| value(run, key)).for_each(|value| *counts.entry(value).or_default() += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(value, _)| value)
    };
    let usual: BTreeMap<&str, Option<String>> = keys.iter().map(|key| (*key, usual(key))).collect();
    let panel = |key: &str| {
        let level = |level: &String| Facet {
            title: format!("{} = {level}", setting_name(key)),
            label: level.clone(),
            cells: vec![("value", level.clone())],
            ..Facet::default()
        };
        let levels = study.varied().iter().find(|(name, _)| name == key).map_or(&[][..], |(_, levels)| levels);
        let ticks = Some(ticks("", levels.iter().map(level).collect()));
        Facet { title: setting_name(key), cells: vec![("setting", key.to_owned())], ticks, ..Facet::default() }
    };
    let panels: Vec<Facet> = keys.iter().map(|key| panel(key)).collect();
    let most = panels.iter().flat_map(|panel| &panel.ticks).map(|ticks| ticks.facets.len()).max()?;
    let figure = Spec {
        name: "settings",
        title: "What else was varied, one thing at a time".into(),
        caption: format!(
            "Masked transfer{} by each further setting, over the runs in which all the others have their usual value. A full mark \
             is the usual value of the setting itself. {BARS}",
            in_masked(study)
        ),
        choosers: vec![Chooser::new("outcome", "transfer as", TRANSFERS.map(|transfer| transfer.label))],
        runs: Runs::Ended,
        columns: &["outcome", "setting", "value"],
    }
    .draw(study, |choice| {
        let (transfer, usual) = (TRANSFERS[choice.options[0]], &usual);
        let read = move |facet: &Facet| {
            let (key, level) = (facet.cell("setting"), facet.cell("value"));
            let is_usual = |run: &Run| usual.iter().all(|(other, usual)| *other == key || value(run, other) == *usual);
            let runs = study.ended(&[]).filter(|run| is_usual(run) && value(run, key).as_deref() == Some(level));
            let estimate = study.mean_on(transfer.scale(study), runs, |run| transfer.value(study, run));
            Datum { is_partial: usual[key].as_deref() != Some(level), ..estimate.into() }
        };
        Plot {
            panels: panels.clone(),
            lines: vec![Facet {
                style: Some(Style::marked("", Colour::Masked(0), MarkerShape::Circle)),
                ..Facet::default()
            }],
            read: Some(Box::new(read)),
            across: Some([1, 2]),
            height: Some(11.0 * most as f64),
            ..Plot::new(X::Ticks(Markers::Lying, 0.0), Y::Tight(transfer.name(study)))
        }
    });
    Some(figure)
}
