//! A figure: variants to choose from, each a drawing, with one caption and one table of all the numbers drawn.

use super::table::Table;
use crate::data::{Cell, Factor, Study};
use crate::draw::{Layout, Target, Width};

/// Something that can be drawn at either width, for a file or for the page.
pub trait Drawing {
    fn render(&self, width: Width, target: Target, description: &str) -> String;
    /// Nothing was measured that it could show.
    fn is_empty(&self) -> bool;
}

impl Drawing for Layout {
    fn render(&self, width: Width, target: Target, description: &str) -> String {
        Layout::render(self, width, target, description)
    }

    fn is_empty(&self) -> bool {
        Layout::is_empty(self)
    }
}

/// A control of the page: what it is called and what can be chosen.
#[derive(Debug, Clone)]
pub struct Chooser {
    pub name: &'static str,
    pub label: String,
    pub options: Vec<String>,
    /// The factor whose levels are the options.
    factor: Option<Factor>,
}

impl Chooser {
    pub fn new<S: Into<String>>(name: &'static str, label: &str, options: impl IntoIterator<Item = S>) -> Chooser {
        let options = options.into_iter().map(Into::into).collect();
        Chooser { name, label: label.into(), options, factor: None }
    }

    /// Of the levels of a factor; without options where the study does not record it.
    pub fn levels(study: &Study, factor: Factor) -> Chooser {
        let options = study.levels(factor).iter().cloned();
        Chooser { factor: Some(factor), ..Chooser::new(factor.name(), factor.symbol(), options) }
    }
}

/// One combination of options.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The option at each chooser.
    pub options: Vec<usize>,
    /// The levels among them.
    pub cell: Cell,
}

/// Every combination. A chooser without options leaves nothing to choose.
pub fn choices(choosers: &[Chooser]) -> Vec<Choice> {
    let mut all = vec![Choice::default()];
    for chooser in choosers {
        let extend = |choice: &Choice, option: usize| {
            let mut choice = choice.clone();
            choice.options.push(option);
            choice.cell.extend(chooser.factor.filter(|_| !chooser.options.is_empty()).map(|factor| (factor, option)));
            choice
        };
        let options = 0..chooser.options.len().max(1);
        all = all.iter().flat_map(|choice| options.clone().map(|option| extend(choice, option))).collect();
    }
    all
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain() {
        assert_eq!(slug("B†"), "Bm");
        assert_eq!(slug("by λ"), "by-lambda");
        assert_eq!(slug("any target (the paper's)"), "any-target");
    }

    #[test]
    fn every_combination_once() {
        let choosers =
            [Chooser::new("a", "", ["x", "y"]), Chooser::new("b", "", [""; 0]), Chooser::new("c", "", ["z"])];
        let options: Vec<_> = choices(&choosers).into_iter().map(|choice| choice.options).collect();
        assert_eq!(options, [[0, 0, 0], [1, 0, 0]]);
    }
}
