//! The figures, one file per figure, named after what it shows.
//!
//! A [`Figure`] is a set of variants (one per choice of |V|, regime, metric, …). `facets` draws small multiples: a panel
//! per level or condition, a line per level or condition, estimates into the table. The page shows one variant at a time;
//! the figures folder has a file for each.

mod arms;
mod bridge;
mod captions;
mod cascade;
pub(crate) mod compare;
mod contrast;
mod contrasts;
mod dynamics;
mod effects;
mod emergence;
mod facets;
mod family;
mod figure;
mod forms;
mod fragmentation;
mod groups;
mod loss;
mod maxima;
mod nulls;
mod outcomes;
mod overlap;
mod progress;
mod reachability;
mod reading;
mod run_contrast;
mod run_curves;
mod run_reach;
mod sentences;
mod settings;
mod specifications;
mod style;
mod table;
mod trajectory;
mod translation;
mod word_bridge;

pub use figure::{Choice, Chooser, Drawing, Figure, Variant, choices};
pub use outcomes::{BRIDGE, COGNATE, TRANSFERS, Transfer, bridge_of, in_masked};
pub use style::{look, metric_label};
pub use table::Table;

use crate::claims::Answers;
use crate::data::Study;
use invitro_results::Kind;
use rayon::prelude::*;

/// Every figure of the report, in the order of the page. One that is empty could be drawn, but nothing was measured yet
/// that it would show; one that would compare what does not vary is not there.
pub fn all(study: &Study, answers: &Answers) -> Vec<Figure> {
    let of_run: &[&(dyn Fn() -> Option<Figure> + Sync)] = &[
        &|| Some(trajectory::figure(study)),
        &|| family::figure(study),
        &|| Some(run_curves::figure(study)),
        &|| Some(cascade::figure(study)),
        &|| Some(run_reach::figure(study)),
        &|| Some(run_contrast::figure(study)),
        &|| forms::figure(study),
        &|| translation::figure(study),
        &|| Some(loss::figure(study)),
        &|| Some(sentences::figure(study)),
    ];
    let of_study: &[&(dyn Fn() -> Option<Figure> + Sync)] = &[
        &|| Some(trajectory::figure(study)),
        &|| family::figure(study),
        &|| arms::figure(study),
        &|| effects::figure(study),
        &|| specifications::figure(study, answers),
        &|| Some(reachability::figure(study)),
        &|| Some(nulls::figure(study)),
        &|| contrast::by_level(study),
        &|| contrast::against_bridges(study),
        &|| word_bridge::figure(study),
        &|| forms::figure(study),
        &|| translation::figure(study),
        &|| bridge::figure(study),
        &|| maxima::figure(study),
        &|| Some(emergence::by_language(study)),
        &|| emergence::by_level(study),
        &|| Some(cascade::figure(study)),
        &|| Some(dynamics::figure(study)),
        &|| fragmentation::fertility(study),
        &|| fragmentation::continuation(study),
        &|| overlap::figure(study),
        &|| Some(loss::figure(study)),
        &|| Some(sentences::figure(study)),
        &|| settings::figure(study),
    ];
    let figures = if study.kind == Kind::Run { of_run } else { of_study };
    figures.par_iter().filter_map(|figure| figure()).map(Figure::trimmed).collect()
}
