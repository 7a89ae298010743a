//! The contrast, allowed minus forbidden: what "knowledge crossed" means here. By d × |V|, and against bridges.

use super::bridge;
use super::captions::{self, Runs};
use super::facets::{Facets, dodge, label_in, level_axis, variants};
use super::figure::{Chooser, Figure};
use super::style;
use super::table::Table;
use crate::data::{Cell, Factor, Study};
use crate::draw::{Axis, Colour, Layout, Mark};
use crate::findings::Transfer;
use crate::findings::contrasts::{SETS, STATISTICS, places};
use crate::findings::design::{BRIDGE, COGNATE};
use crate::findings::transfer::in_masked;

/// Which contrast, and counted how.
pub(super) fn choosers() -> Vec<Chooser> {
    vec![
        Chooser::new("contrast", "contrast", SETS.map(|(_, name)| name)),
        Chooser::new("in", "in", STATISTICS.map(|(_, name, _)| name)),
    ]
}

/// A line at 0 across every panel.
pub(super) fn zero(layout: &mut Layout, from: f64, to: f64) {
    for panel in &mut layout.panels {
        let line = Mark::Segment { from: (from, 0.0), to: (to, 0.0), colour: Colour::Muted, dash: "2 2" };
        panel.marks.insert(0, line);
    }
}

pub fn by_distance(study: &Study) -> Figure {
    let lambdas = Some(study.levels(Factor::Lambda)).filter(|levels| levels.len() > 1).unwrap_or_default();
    let all = lambdas.first().map(|_| "all".to_owned());
    let mut choosers = choosers();
    choosers.push(Chooser::new("lambda", "*λ*", all.into_iter().chain(lambdas.iter().cloned())));
    let mut table = Table::of_estimates(["contrast", "in", "lambda", "condition", "vocab", "d"]);
    let vocabs = style::levels(study, Factor::Vocab);
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let [set, statistic, lambda] = choice.options[..] else { unreachable!("three choosers") };
        let (targets, set) = SETS[set];
        let (statistic, name, axis) = STATISTICS[statistic];
        let fixed: Cell = lambda.checked_sub(1).map(|level| (Factor::Lambda, level)).into_iter().collect();
        let lambda = label_in(study, &fixed, Factor::Lambda);
        let mut facets = Facets::new(study, &mut table, Axis::share(axis)).fitted(&[0.0]);
        for place in places(study) {
            let quantity = place.quantity(targets, statistic);
            facets.panel(&place.title, level_axis(study, Factor::Distance));
            for (vocab, style) in vocabs.iter().enumerate() {
                let before = [set, name, lambda, &place.title, &study.levels(Factor::Vocab)[vocab]];
                let aside = dodge(vocab, vocabs.len(), 0.1);
                facets.levels((&before, &[]), style, Factor::Distance, aside, |level| {
                    let cell = [fixed.as_slice(), &[(Factor::Vocab, vocab)], level].concat();
                    study.mean(study.ended(&cell), |run| run.curve(&quantity).end())
                });
            }
        }
        let mut layout = facets.layout([2, 4]);
        zero(&mut layout, -0.5, study.levels(Factor::Distance).len() as f64 - 0.5);
        layout.ratio = 0.9;
        layout.legend = style::lines(&vocabs);
        layout
    });
    Figure {
        name: "contrast",
        title: "Knowledge that crossed: the contrast by *d* and |*V*|".into(),
        caption: format!(
            "At the end of training, reachability of the descriptors Γ allows the subject minus that of an equal set it forbids (facts: of the \
             subject's own class; types: of other classes). Zero means the subject made no difference. Bars are 95 % intervals over seeds.{}",
            captions::pooled(study, &[Factor::Vocab, Factor::Distance])
        ),
        choosers,
        variants,
        table,
    }
}

pub fn against_bridges(study: &Study) -> Figure {
    let bridges =
        [(COGNATE, "the word's own cognate", "mean cognate bridge"), (BRIDGE, "any unmasked word", "mean bridge *β̂*")];
    let (choosers, variants, table) = bridge::scatter(study, &[Transfer::Facts, Transfer::Nats], &bridges);
    Figure {
        name: "contrast-bridge",
        title: "Which bridge goes with knowledge?".into(),
        caption: format!(
            "The contrast of facts{} at the end of training against the mean bridge of the masked words: to their own cognate \
             in the other language, or to any unmasked word. One mark per run that ended; *r* with its 95 % interval over seeds, \
             *p* over runs as if independent.",
            in_masked(study)
        ),
        choosers,
        variants,
        table,
    }
}
