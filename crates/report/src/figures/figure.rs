//! A figure: variants to choose from, each a drawing, with one caption and one table of all the numbers drawn.

use super::reading;
use super::table::FigureTable;
use crate::data::{Factor, FactorWords, Levels, Study};
use crate::draw::{DrawTarget, FigureLayout, Width, plain_text};
use crate::names::slug;

/// Something that can be drawn at any width, for a file or for the page.
pub trait Drawing: Send + Sync {
    fn render(&self, width: Width, target: DrawTarget, description: &str) -> String;
    /// Nothing was measured that it could show.
    fn is_empty(&self) -> bool;
    /// Whether what it shows varies.
    fn varies(&self) -> bool {
        !self.is_empty()
    }
    /// The values it shows, in a sentence.
    fn finding(&self) -> String {
        String::new()
    }
}

impl Drawing for FigureLayout {
    fn render(&self, width: Width, target: DrawTarget, description: &str) -> String {
        FigureLayout::render(self, width, target, description)
    }

    fn is_empty(&self) -> bool {
        FigureLayout::is_empty(self)
    }

    fn varies(&self) -> bool {
        !FigureLayout::is_empty(self) && reading::varies(self)
    }

    fn finding(&self) -> String {
        reading::finding(self)
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
    /// Whether the page has a slider beside its list.
    pub slides: bool,
}

impl Chooser {
    pub fn new<S: Into<String>>(name: &'static str, label: &str, options: impl IntoIterator<Item = S>) -> Chooser {
        let options = options.into_iter().map(Into::into).collect();
        Chooser { name, label: label.into(), options, factor: None, slides: false }
    }

    /// Of the levels of a factor; without options where it does not vary.
    pub fn levels(study: &Study, factor: impl Into<Option<Factor>>) -> Chooser {
        let Some(factor) = factor.into() else { return Chooser::new("", "", [""; 0]) };
        let options = Some(study.levels(factor)).filter(|levels| levels.len() > 1).unwrap_or_default();
        Chooser { factor: Some(factor), ..Chooser::new(factor.name(), &factor.symbol(), options.iter().cloned()) }
    }

    /// The same, after all of them together.
    pub fn levels_or_all(study: &Study, factor: impl Into<Option<Factor>>) -> Chooser {
        let mut chooser = Chooser { factor: None, ..Chooser::levels(study, factor) };
        if !chooser.options.is_empty() {
            chooser.options.insert(0, "all".into());
        }
        chooser
    }

    /// The same with a slider, for options that follow each other.
    pub fn sliding(self) -> Chooser {
        Chooser { slides: true, ..self }
    }

    /// Of factors to compare by.
    pub fn by(factors: &[Factor]) -> Chooser {
        Chooser::new("by", "by", factors.iter().map(|factor| plain_text(&factor.symbol())))
    }
}

/// One combination of options.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The option at each chooser.
    pub options: Vec<usize>,
    /// The levels among them.
    pub cell: Levels,
}

impl Choice {
    /// Holds the levels of other factors where runs that differ in them could not be compared.
    pub fn hold(&mut self, study: &Study, shown: &[Option<Factor>]) {
        self.cell.extend(study.comparable(shown));
    }

    /// The factor that is compared by, at this chooser; others are held.
    pub fn by(&mut self, study: &Study, factors: &[Factor], chooser: usize) -> Option<Factor> {
        let factor = factors.get(self.options[chooser]).copied();
        self.hold(study, &[factor]);
        factor
    }
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
    /// What it shows, where the options change that; else the figure's caption says it.
    pub caption: Option<String>,
}

pub struct Figure {
    /// Its file name without ending.
    pub name: &'static str,
    pub title: String,
    pub caption: String,
    pub choosers: Vec<Chooser>,
    pub variants: Vec<Variant>,
    pub table: FigureTable,
}

impl Figure {
    /// The first variant in which something varies, or else that shows something, or the first.
    pub fn first(&self) -> usize {
        let varying = self.variants.iter().position(|variant| variant.drawing.varies());
        varying.or_else(|| self.variants.iter().position(|variant| !variant.drawing.is_empty())).unwrap_or(0)
    }

    /// The description for readers who cannot see it: its title and its values.
    pub fn alt(&self, variant: &Variant) -> String {
        let (title, finding) = (plain_text(&self.title), variant.drawing.finding());
        let stop = if title.ends_with('?') { "" } else { "." };
        if finding.is_empty() { title } else { format!("{title}{stop} {finding}.") }
    }

    /// What is said under a variant, without its runs.
    pub fn caption<'a>(&'a self, variant: &'a Variant) -> &'a str {
        variant.caption.as_ref().unwrap_or(&self.caption)
    }

    /// Without options for which there is nothing to show.
    pub fn trimmed(mut self) -> Figure {
        for place in 0..self.choosers.len() {
            let shows = |option: usize| {
                let mut chosen = self.variants.iter().filter(|variant| variant.choice[place] == option);
                chosen.any(|variant| !variant.drawing.is_empty())
            };
            let shown: Vec<usize> = (0..self.choosers[place].options.len()).filter(|option| shows(*option)).collect();
            if shown.is_empty() {
                continue;
            }
            self.variants.retain_mut(|variant| match shown.binary_search(&variant.choice[place]) {
                Ok(option) => {
                    variant.choice[place] = option;
                    true
                }
                Err(_) => false,
            });
            self.choosers[place].options =
                shown.iter().map(|option| self.choosers[place].options[*option].clone()).collect();
        }
        self
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
