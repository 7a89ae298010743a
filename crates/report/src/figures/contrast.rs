//! The contrast, allowed minus forbidden: what "knowledge crossed" means here. By d × |V|, and against bridges.

use super::bridge;
use super::captions::{self, BARS, Runs};
use super::contrasts::{Place, SETS, STATISTICS, places};
use super::facets::{Facets, dodge, label_in, level_axis, pick, split, variants};
use super::figure::{Chooser, Figure};
use super::groups::{self, groups};
use super::outcomes::{BRIDGE, COGNATE, KNOWLEDGE, in_masked};
use super::style;
use super::table::Table;
use crate::data::{Factor, FactorWords, Study};
use crate::draw::{Axis, Colour, Layout, Mark};
use invitro_results::{Moment, Statistic};

/// How contrasts are counted, log-probability first: shares end at 1.
pub(super) fn statistics() -> Vec<(Statistic, &'static str, &'static str)> {
    let mut all = STATISTICS.to_vec();
    all.sort_by_key(|(statistic, ..)| *statistic != Statistic::LogProb);
    all
}

/// Which contrast, and counted how.
pub(super) fn choosers() -> Vec<Chooser> {
    vec![
        Chooser::new("contrast", "contrast", SETS.map(|(_, name)| name)),
        Chooser::new("in", "in", statistics().into_iter().map(|(_, name, _)| name)),
    ]
}

/// A line at 0 across every panel.
pub(super) fn zero(layout: &mut Layout, from: f64, to: f64) {
    for panel in &mut layout.panels {
        let line = Mark::Segment { from: (from, 0.0), to: (to, 0.0), colour: Colour::Muted, dash: "2 2" };
        panel.marks.insert(0, line);
    }
}

/// Over *d* where it varies, with a line for each |V|; else over the factors that do. `None` where none does.
pub fn by_level(study: &Study) -> Option<Figure> {
    let over = pick(study, &[Factor::DISTANCE], &[])?;
    let line = pick(study, &[Factor::VOCAB], &[Some(over)]);
    let other = pick(study, &[Factor::LAMBDA], &[Some(over), line]);
    let (shown, others) = ([Some(over), line], split(study, other));
    let groups = groups(study);
    let mut choosers = choosers();
    let all = other.map(|_| "all".to_owned());
    let levels = other.map_or(&[][..], |other| study.levels(other)).iter().cloned();
    let (name, symbol) = other.map_or(("", String::new()), |other| (other.name(), other.symbol()));
    choosers.push(Chooser::new(name, &symbol, all.into_iter().chain(levels)));
    choosers.push(groups::chooser(&groups));
    let [line_name, other_name] = [line, other].map(|factor| factor.map_or("", Factor::name));
    let mut table = Table::of_estimates(["contrast", "in", other_name, "condition", line_name, over.name()]);
    let lines = style::levels(study, line);
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let [set, statistic, level, group] = choice.options[..] else { unreachable!("four choosers") };
        let (targets, set) = SETS[set];
        let (statistic, name, axis) = statistics()[statistic];
        choice.cell.extend(study.comparable(&shown));
        if let Some(level) = level.checked_sub(1) {
            choice.cell.extend_from_slice(&others[level].1);
        }
        let level = label_in(study, &choice.cell, other);
        let mut facets = Facets::new(study, &mut table, Axis::share(axis)).fitted(&[0.0]);
        let is_shown = |place: &Place| groups[group].has(&place.condition);
        let places: Vec<Place> = places(study).into_iter().filter(is_shown).collect();
        for place in &places {
            let quantity = place.quantity(targets, statistic);
            facets.panel(&place.title, level_axis(study, over));
            for (at, (style, (_, cell))) in lines.iter().zip(split(study, line)).enumerate() {
                let before = [set, name, level, &place.title, label_in(study, &cell, line)];
                facets.levels((&before, &[]), style, over, dodge(at, lines.len(), 0.1), |level| {
                    let cell = [choice.cell.as_slice(), &cell, level].concat();
                    study.read(study.ended(&cell), &quantity, Moment::End)
                });
            }
        }
        let mut layout = facets.layout([2, places.len().clamp(1, 4)]);
        zero(&mut layout, -0.5, study.levels(over).len() as f64 - 0.5);
        layout.ratio = 0.9;
        layout.legend = style::lines(&lines);
        layout
    });
    Some(Figure {
        name: "contrast",
        title: format!("Knowledge: the contrast{}", captions::by(&shown)),
        caption: format!(
            "At the end of training, the descriptors Γ allows the subject against an equal set it forbids (facts: of the \
             subject's own class; types: of other classes), in log-probability or in the share reachable. Zero means the subject made \
             no difference. {BARS}{}",
            captions::pooled(study, &shown)
        ),
        choosers,
        variants,
        table,
    })
}

pub fn against_bridges(study: &Study) -> Option<Figure> {
    let bridges =
        [(COGNATE, "the word's own cognate", "mean cognate bridge"), (BRIDGE, "any unmasked word", "mean bridge *β̂*")];
    let (choosers, variants, table) = bridge::scatter(study, &[KNOWLEDGE], &bridges)?;
    Some(Figure {
        name: "contrast-bridge",
        title: "Which bridge correlates with knowledge?".into(),
        caption: format!(
            "The contrast of facts{} at the end of training against the mean bridge of the masked words: to their own cognate \
             in {}, or to any unmasked word. One mark per run that ended; *r* with its 95 % interval over seeds, \
             *p* over runs as if independent.",
            in_masked(study),
            if study.conditions().iter().filter(|it| !it.masked).count() > 2 {
                "the other language that has the most similar one"
            } else {
                "the other language"
            }
        ),
        choosers,
        variants,
        table,
    })
}
