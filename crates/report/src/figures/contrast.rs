//! The contrast, allowed minus forbidden: what "knowledge crossed" means here. By d × |V|, and against bridges.

use super::common;
use super::{Chooser, Figure, Table};
use crate::data::{Factor, Study};
use crate::draw::{Axis, Ink, Mark, Panel, Plate, Shape};
use crate::findings::Outcome;

/// Chooser label and the metrics' name.
pub(super) const SETS: [(&str, &str); 2] =
    [("facts (allowed − forbidden)", "facts"), ("types (allowed − other classes)", "types")];
/// Chooser label, statistic, axis.
pub(super) const STATISTICS: [(&str, &str, &str); 2] = [
    ("share of targets", "share@0.1", "contrast in share of targets"),
    ("log-probability", "logprob", "contrast in log-probability (nats)"),
];

pub(super) fn choosers() -> Vec<Chooser> {
    vec![
        Chooser { name: "contrast", label: "contrast".into(), options: SETS.map(|it| it.0.to_owned()).into() },
        Chooser { name: "in", label: "in".into(), options: STATISTICS.map(|it| it.0.to_owned()).into() },
    ]
}

/// Where the contrast is taken: title, condition, which symbols. A is also asked about the very symbols masked in B:
/// what B† can at most have received.
pub(super) const PLACES: [(&str, &str, &str); 4] =
    [("A", "A", ""), ("A, symbols masked in B", "A", "_masked"), ("B", "B", ""), ("B†", "B_masked", "")];

/// The same for those who do not draw.
pub fn places_of_contrast() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    PLACES.into_iter()
}

/// A line at 0.
pub(super) fn zero(panel: &mut Panel, from: f64, to: f64) {
    panel.marks.insert(0, Mark::Rule { from: (from, 0.0), to: (to, 0.0), ink: Ink::Muted, dash: "2 2" });
}

pub fn by_distance(study: &Study) -> Figure {
    let lambdas = study.levels(Factor::Lambda);
    let mut choosers = choosers();
    let mut shares: Vec<Option<usize>> = vec![None];
    if lambdas.len() > 1 {
        shares.extend((0..lambdas.len()).map(Some));
        let options =
            std::iter::once("all".to_owned()).chain(lambdas.iter().map(|level| level.label.clone())).collect();
        choosers.push(Chooser { name: "lambda", label: "*λ*".into(), options });
    }
    let mut table = Table::of_estimates(["contrast", "in", "lambda", "condition", "vocab", "d"]);
    let mut variants = Vec::new();
    for (set_place, (set_name, set)) in SETS.into_iter().enumerate() {
        for (place, (name, statistic, axis)) in STATISTICS.into_iter().enumerate() {
            for (share_place, share) in shares.iter().enumerate() {
                let fixed: Vec<(Factor, usize)> = share.map(|level| (Factor::Lambda, level)).into_iter().collect();
                let (panels, extent) = panels(study, (set_name, set), (name, statistic), &fixed, &mut table);
                let mut panels = panels;
                for panel in &mut panels {
                    panel.y = Axis::around(axis, extent.iter().copied());
                    zero(panel, -0.5, study.levels(Factor::Distance).len() as f64 - 0.5);
                }
                let mut plate = Plate::new(panels, [2, 4]);
                plate.ratio = 0.9;
                plate.legend = common::level_legend(study, Factor::Vocab);
                let mut options = vec![set_place, place];
                if lambdas.len() > 1 {
                    options.push(share_place);
                }
                variants.push(common::variant(options, plate, common::counted(study, &fixed, true)));
            }
        }
    }
    Figure {
        name: "contrast",
        title: "Knowledge that crossed: the contrast by *d* and |*V*|".into(),
        caption: format!(
            "At the end of training, reachability of the descriptors Γ allows the subject minus that of an equal set it forbids (facts: of the \
             subject's own class; types: of other classes). Zero means the subject made no difference. Bars are 95 % intervals over seeds.{}",
            common::pooled(study, &[Factor::Vocab, Factor::Distance])
        ),
        choosers,
        variants,
        table,
    }
}

fn panels(
    study: &Study,
    set: (&str, &str),
    statistic: (&str, &str),
    fixed: &[(Factor, usize)],
    table: &mut Table,
) -> (Vec<Panel>, Vec<f64>) {
    let vocabs = study.levels(Factor::Vocab);
    let mut extent = vec![0.0];
    let mut panels = Vec::new();
    for (title, condition, symbols) in PLACES {
        let key = study.key(condition, "reach", &format!("network.{}{symbols}.{}", set.1, statistic.1));
        let mut panel = Panel::new(title, common::level_axis(study, Factor::Distance), Axis::share(""));
        for (vocab, vocab_level) in vocabs.iter().enumerate() {
            let mut points = Vec::new();
            for (place, distance) in study.levels(Factor::Distance).iter().enumerate() {
                let cell = [fixed, &[(Factor::Vocab, vocab), (Factor::Distance, place)]].concat();
                let estimate = study.mean(study.ended(&cell), |run| run.last(key));
                let x = place as f64 + (vocab as f64 - (vocabs.len() as f64 - 1.0) / 2.0) * 0.1;
                let name = format!("|V| = {}, d = {}", vocab_level.label, distance.label);
                points.extend(estimate.as_ref().map(|it| common::at(x, it, &name)));
                let lambda = common::label_in(study, fixed, Factor::Lambda);
                let keys = [set.0, statistic.0, lambda, title, &vocab_level.label, &distance.label];
                table.estimate(keys, estimate.as_ref());
            }
            extent.extend(common::extent(&points));
            panel.marks.push(Mark::Line {
                points,
                ink: Ink::Level(vocab, vocabs.len()),
                dash: "",
                shape: Some(Shape::Circle),
            });
        }
        panels.push(panel);
    }
    (panels, extent)
}

pub fn against_bridges(study: &Study) -> Figure {
    const BRIDGES: [(&str, &str, &str); 2] = [
        ("the word's own cognate in A", "cognate_bridge.jaccard", "mean cognate bridge"),
        ("any unmasked word", "bridge.jaccard", "mean bridge *β̂*"),
    ];
    let (choosers, variants, table) = super::bridge::scatter(study, &[Outcome::Facts, Outcome::Nats], &BRIDGES);
    Figure {
        name: "contrast-bridge",
        title: "Which bridge carries knowledge?".into(),
        caption: "The contrast of facts in B† at the end of training against the mean bridge of the masked words: to their own cognate \
                  in A, or to any unmasked word. One mark per run that ended; *r* with its 95 % interval over seeds, *p* over runs as \
                  if independent."
            .into(),
        choosers,
        variants,
        table,
    }
}
