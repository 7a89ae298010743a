//! The figures, one file per figure, named after what it shows.
//!
//! A [`Figure`] is a set of variants (one per choice of |V|, regime, metric, …). `facets` draws small multiples: a panel
//! per level or condition, a line per level or condition, estimates into the table. The page shows one variant at a time;
//! the figures folder has a file for each.

mod bridge;
mod captions;
mod cascade;
pub(crate) mod compare;
mod contrast;
mod dynamics;
mod effects;
mod emergence;
mod facets;
mod figure;
mod fragmentation;
mod loss;
mod maxima;
mod nulls;
mod overlap;
mod reachability;
mod run_contrast;
mod run_curves;
mod run_reach;
mod sentences;
mod settings;
mod style;
mod table;

pub use figure::{Chooser, Drawing, Figure, Variant};
pub use table::Table;

use crate::data::Study;
use crate::findings::Findings;
use invitro_results::Kind;

/// Every figure of the report, in the order of the page. A figure that has nothing to show says so.
pub fn all(study: &Study, findings: &Findings) -> Vec<Figure> {
    if study.kind == Kind::Run {
        return vec![
            run_curves::figure(study),
            cascade::figure(study),
            run_reach::figure(study),
            run_contrast::figure(study),
            loss::figure(study),
            sentences::figure(study),
        ];
    }
    let mut figures = vec![
        effects::figure(study, findings),
        reachability::figure(study),
        nulls::figure(study),
        contrast::by_distance(study),
        contrast::against_bridges(study),
        bridge::figure(study),
        maxima::figure(study),
        emergence::by_language(study),
        emergence::by_vocabulary(study),
        cascade::figure(study),
        dynamics::figure(study),
        fragmentation::fertility(study),
        fragmentation::continuation(study),
        overlap::figure(study),
        loss::figure(study),
        sentences::figure(study),
    ];
    figures.extend(settings::figure(study));
    figures
}
