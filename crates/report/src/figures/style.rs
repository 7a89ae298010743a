//! How a line or a marker looks: by level of a factor, by condition, or by metric of sentences.

use crate::claims::metric_label;
use crate::data::Study;
use crate::draw::{Colour, LANGUAGE_COLOURS, LegendEntry, MASKED_COLOURS, MarkerShape};
use invitro_results::{Condition, Measure, Scorer, Statistic, Targets, TaskMetric};

/// A line and its markers.
#[derive(Debug, Clone)]
pub struct Style {
    /// Its meaning, in the legend and in tooltips.
    pub name: String,
    pub colour: Colour,
    /// A broken line is a reference that does not train: a null model, an entropy floor.
    pub dash: &'static str,
    pub shape: MarkerShape,
    /// Whether the points of a line are marked.
    pub marked: bool,
}

impl Style {
    pub fn line(name: impl Into<String>, colour: Colour) -> Style {
        Style { name: name.into(), colour, dash: "", shape: MarkerShape::Circle, marked: false }
    }

    pub fn marked(name: impl Into<String>, colour: Colour, shape: MarkerShape) -> Style {
        Style { shape, marked: true, ..Style::line(name, colour) }
    }
}

/// A legend of lines.
pub fn lines<'a>(styles: impl IntoIterator<Item = &'a Style>) -> Vec<LegendEntry> {
    legend(styles, |style| (Some(style.dash), None))
}

/// A legend of markers.
pub fn markers<'a>(styles: impl IntoIterator<Item = &'a Style>) -> Vec<LegendEntry> {
    legend(styles, |style| (None, Some(style.shape)))
}

/// A legend of lines with markers.
pub fn marked_lines<'a>(styles: impl IntoIterator<Item = &'a Style>) -> Vec<LegendEntry> {
    legend(styles, |style| (Some(style.dash), Some(style.shape)))
}

fn legend<'a>(
    styles: impl IntoIterator<Item = &'a Style>,
    parts: impl Fn(&Style) -> (Option<&'static str>, Option<MarkerShape>),
) -> Vec<LegendEntry> {
    let entry = |style: &Style| {
        let (line, shape) = parts(style);
        LegendEntry { label: style.name.clone(), colour: style.colour, line, shape }
    };
    // Where there is one of everything it needs no name.
    styles.into_iter().filter(|style| !style.name.is_empty()).map(entry).collect()
}

/// The stages of learning, and what they are called.
pub const STAGES: [(Measure, &str); 6] = [
    (Measure::unscrambling(TaskMetric::Validity), "validity"),
    (Measure::unscrambling(TaskMetric::Grammaticality), "grammaticality"),
    (Measure::unscrambling(TaskMetric::Types), "type constraints"),
    (Measure::unscrambling(TaskMetric::Facts), "Γ"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share), "reachable, above unigram"),
    (Measure::KNOWLEDGE, "allowed above forbidden"),
];

/// The conditions, each with a colour and a marker by its place.
pub fn conditions(study: &Study) -> Vec<(Condition, Style)> {
    let (mut languages, mut masked) = (0.., 0..);
    let style = |condition: &Condition| {
        let place = if condition.masked { masked.next() } else { languages.next() }.unwrap_or(0);
        let (colour, shape) = colour_and_shape(condition.masked, place);
        // Lines have no marker: where colours begin again they are broken.
        const DASHES: [&str; 3] = ["", "5 2", "2 2"];
        let colours = if condition.masked { MASKED_COLOURS } else { LANGUAGE_COLOURS };
        let dash = DASHES[(place / colours) % DASHES.len()];
        (condition.clone(), Style { dash, ..Style::marked(condition.label(), colour, shape) })
    };
    study.conditions().iter().map(style).collect()
}

/// Colours and markers begin again after different numbers of conditions, so that not both are the same.
pub fn colour_and_shape(masked: bool, place: usize) -> (Colour, MarkerShape) {
    const LANGUAGES: [MarkerShape; 3] = [MarkerShape::Circle, MarkerShape::Square, MarkerShape::Diamond];
    const MASKED: [MarkerShape; 3] = [MarkerShape::Triangle, MarkerShape::Down, MarkerShape::Cross];
    if masked {
        (Colour::Masked(place), MASKED[place % MASKED.len()])
    } else {
        (Colour::Language(place), LANGUAGES[place % LANGUAGES.len()])
    }
}

/// The nested checks of sentences, along the ordered ramp.
pub fn cascade() -> [(TaskMetric, Style); 4] {
    let mut place = 0..;
    TaskMetric::CASCADE.map(|metric| {
        let colour = Colour::Level(place.next().unwrap_or(0), TaskMetric::CASCADE.len());
        (metric, Style::line(metric_label(metric), colour))
    })
}
