//! The figures. An ordinary one is a spec that `engine` draws: those over training are in `training`, those over the levels of
//! factors in `levels`, those of estimates side by side in `markers`. The others have a file each.
//!
//! A [`Figure`] is a set of variants (one per choice of |V|, regime, metric, …). The page shows one variant at a time; the
//! figures folder has a file for each.

mod answers;
mod bridge;
pub(crate) mod captions;
mod effects;
mod engine;
mod family;
mod figure;
mod inside;
mod levels;
mod markers;
mod methods;
mod outcomes;
mod parts;
mod progress;
mod reading;
mod sentences;
mod spec;
mod specifications;
mod style;
mod table;
mod training;
mod word_bridge;

pub use captions::{BANDS, BARS};
pub use figure::{Choice, Chooser, Drawing, Figure, Variant, choices};
pub use outcomes::{BRIDGE, COGNATE, TRANSFERS, Transfer, bridge_of, in_masked};
pub use style::colour_and_shape;
pub use table::FigureTable;
pub(crate) use training::compare;

use crate::claims::ClaimAnswers;
use crate::data::Study;
use invitro_results::FolderKind;
use rayon::prelude::*;

/// What figures are about: an anchor, a heading, and the figures in their order. The first that was drawn is shown; the others are folded.
pub const TOPICS: [(&str, &str, &[&str]); 8] = [
    (
        "training",
        "Over training",
        &[
            "trajectory",
            "curves",
            "dynamics",
            "cascade",
            "emergence-by-language",
            "emergence-by-level",
            "maxima",
            "loss",
        ],
    ),
    ("knowledge", "What is known", &["methods", "arms", "contrast", "forms", "translation"]),
    ("inside", "Inside the model", &["patching", "inside", "word-alignment", "word-map"]),
    ("reach", "What can be reached", &["reachability", "reach", "nulls"]),
    ("settings", "What decides it", &["effects", "settings", "specifications"]),
    ("bridges", "Shared pieces", &["word-bridge", "contrast-bridge", "bridge"]),
    ("tokenizers", "How words are cut", &["fertility", "continuation", "overlap"]),
    ("languages", "The languages", &["family", "sentences"]),
];

/// Every figure of the report, in the order of the page. One that is empty could be drawn, but nothing was measured yet
/// that it would show; one that would compare what does not vary is not there.
pub fn all(study: &Study, answers: &ClaimAnswers) -> Vec<Figure> {
    let of_run: &[&(dyn Fn() -> Option<Figure> + Sync)] = &[
        &|| Some(training::trajectory(study)),
        &|| family::figure(study),
        &|| Some(training::capabilities(study)),
        &|| Some(markers::stages(study)),
        &|| Some(training::reach(study)),
        &|| Some(training::contrast(study)),
        &|| markers::forms(study),
        &|| training::translation(study),
        &|| inside::by_layer(study),
        &|| inside::patching(study),
        &|| word_bridge::alignment(study),
        &|| inside::map(study),
        &|| Some(training::loss(study)),
        &|| Some(sentences::figure(study)),
    ];
    let of_study: &[&(dyn Fn() -> Option<Figure> + Sync)] = &[
        &|| answers::figure(study, answers),
        &|| methods::figure(study, answers),
        &|| Some(training::trajectory(study)),
        &|| family::figure(study),
        &|| markers::contrast_by_arm(study),
        &|| effects::figure(study),
        &|| specifications::figure(study, answers),
        &|| Some(training::reachability(study)),
        &|| Some(markers::nulls(study)),
        &|| levels::contrast(study),
        &|| bridge::against_knowledge(study),
        &|| word_bridge::bridge(study),
        &|| inside::by_layer(study),
        &|| inside::patching(study),
        &|| word_bridge::alignment(study),
        &|| markers::forms(study),
        &|| training::translation(study),
        &|| bridge::figure(study),
        &|| levels::maxima(study),
        &|| Some(markers::emergence_by_language(study)),
        &|| markers::emergence_by_level(study),
        &|| Some(markers::stages(study)),
        &|| Some(training::dynamics(study)),
        &|| levels::fertility(study),
        &|| levels::continuation(study),
        &|| levels::overlap(study),
        &|| Some(training::loss(study)),
        &|| Some(sentences::figure(study)),
        &|| markers::settings(study),
    ];
    let figures = if study.kind == FolderKind::Run { of_run } else { of_study };
    figures.par_iter().filter_map(|figure| figure()).map(Figure::trimmed).collect()
}
