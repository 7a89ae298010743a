//! The figures, one file per figure, named after what it shows.
//!
//! A figure is a set of variants (one per choice of |V|, regime, metric, …), each a drawing, with one caption and one
//! table of all the numbers drawn. The page shows one variant at a time; the figures folder has a file for each.

mod bridge;
mod cascade;
mod common;
mod contrast;
mod dynamics;
mod effects;
mod emergence;
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
mod table;

pub use common::{bounded, conditions, digits, spoken};
pub use contrast::places_of_contrast;
pub use table::Table;

use crate::data::{Kind, Study};
use crate::draw::{Plate, Target, Width};
use crate::findings::Findings;

/// Something that can be drawn at either width, for a file or for the page.
pub trait Drawing {
    fn render(&self, width: Width, target: Target, description: &str) -> String;
    /// Nothing was measured that it could show.
    fn is_empty(&self) -> bool;
}

impl Drawing for Plate {
    fn render(&self, width: Width, target: Target, description: &str) -> String {
        Plate::render(self, width, target, description)
    }

    fn is_empty(&self) -> bool {
        Plate::is_empty(self)
    }
}

/// A control of the page: what it is called and what can be chosen.
#[derive(Debug, Clone)]
pub struct Chooser {
    pub name: &'static str,
    pub label: String,
    pub options: Vec<String>,
}

pub struct Variant {
    /// The option chosen at each chooser.
    pub choice: Vec<usize>,
    pub drawing: Box<dyn Drawing>,
    /// How many runs it shows, in words.
    pub runs: String,
}

pub struct Figure {
    /// Its file name without ending.
    pub name: &'static str,
    pub title: String,
    pub caption: String,
    pub choosers: Vec<Chooser>,
    pub variants: Vec<Variant>,
    pub table: Table,
}

impl Figure {
    /// The first variant that shows something, or the first.
    pub fn first(&self) -> usize {
        self.variants.iter().position(|variant| !variant.drawing.is_empty()).unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.variants.iter().all(|variant| variant.drawing.is_empty())
    }

    /// The file stem of a variant: `maxima-types-2048-vanilla`.
    pub fn stem(&self, variant: &Variant) -> String {
        let mut stem = self.name.to_owned();
        for (chooser, option) in self.choosers.iter().zip(&variant.choice) {
            if chooser.options.len() > 1 {
                stem.push('-');
                stem.push_str(&slug(&chooser.options[*option]));
            }
        }
        stem
    }
}

/// Letters and digits of a label, for a file name: `B†` becomes `Bm`, and what stands in brackets is left out.
fn slug(label: &str) -> String {
    let label = label.split(" (").next().unwrap_or(label);
    let spelled = label.replace('†', "m").replace('λ', "lambda").replace('β', "beta").replace('Γ', "Gamma");
    let mut slug = String::new();
    for letter in spelled.chars().map(|letter| if letter == ' ' { '-' } else { letter }) {
        if letter.is_ascii_alphanumeric() || letter == '.' || (letter == '-' && !slug.ends_with('-')) {
            slug.push(letter);
        }
    }
    slug
}

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

#[cfg(test)]
mod tests {
    #[test]
    fn file_names_are_plain() {
        assert_eq!(super::slug("B†"), "Bm");
        assert_eq!(super::slug("by λ"), "by-lambda");
        assert_eq!(super::slug("any target (the paper's)"), "any-target");
    }
}
