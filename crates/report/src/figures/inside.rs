//! What is measured inside the models: where the languages meet layer by layer, what patches carry, and a map of words.

use super::captions::{self, BANDS, Runs};
use super::engine::{Facet, Plot, Spec, X, Y, cross, levels, named, ticks, variants};
use super::figure::{Chooser, Figure};
use super::parts::{conditions, is_masked, styles};
use super::progress::ProgressAxis;
use super::style::{self, Style};
use super::table::FigureTable;
use crate::data::Study;
use crate::draw::{Axis, Colour, FigureLayout, LegendEntry, MarkerShape, PanelMark, PlotPanel, PlotPoint};
use invitro_results::words::WordMap;
use invitro_results::{Donor, InsideMetric, Measure, PatchPlace, PatchPosition, PatchedForm, Patching, Quantity};

/// What is shown by layer: its name, its measure, what it is compared with, and what it is.
type LayerMeasure = (&'static str, InsideMetric, &'static [(InsideMetric, &'static str)], &'static str);

const BY_LAYER: [LayerMeasure; 7] = {
    use InsideMetric::*;
    [
        (
            "word translation P@1",
            TranslationBack,
            &[(TranslationPieces, "pieces alone"), (TranslationChance, "chance")],
            "Share of words whose nearest neighbour by cosine, among the descriptors of their class in the first language, is their \
             translation; states less the mean of their language.",
        ),
        (
            "sentence retrieval",
            Retrieval,
            &[(RetrievalPieces, "pieces alone"), (RetrievalChance, "chance")],
            "Share of sentences nearer to their translation than to any other, and the translation to them, among sentences of one template and length.",
        ),
        (
            "CKA",
            Cka,
            &[(CkaPieces, "pieces alone")],
            "Debiased linear CKA of the states of the same words in both languages; 0 is expected of unrelated states.",
        ),
        (
            "lens: own pieces",
            LensOwn,
            &[],
            "Probability that the last norm and the unembedding, applied to a layer where a descriptor is predicted, give to pieces of \
             this language alone.",
        ),
        ("lens: the other's pieces", LensOther, &[], "The same of pieces of the other language alone."),
        ("lens: shared pieces", LensShared, &[], "The same of pieces that both languages have."),
        (
            "gradient cosine",
            Gradient,
            &[(GradientFloor, "other sentences"), (GradientCeiling, "two texts of the first language")],
            "Cosine of the gradients of parallel text in both languages, by the parameters of each layer. Broken lines are over all layers.",
        ),
    ]
};

/// How alike the languages are in each layer, over training. `None` where the inside was not measured.
pub fn by_layer(study: &Study) -> Option<Figure> {
    let layers = layers(study)?;
    let (by, progress) = (study.varying(), ProgressAxis::all(study));
    let measured = |metric: InsideMetric| study.runs.iter().flat_map(|run| run.curves.keys()).any(|q| is_of(q, metric));
    let shown: Vec<LayerMeasure> = BY_LAYER.into_iter().filter(|it| measured(it.1)).collect();
    let figure = Spec {
        name: "inside",
        title: "Where the languages meet, layer by layer".into(),
        caption: String::new(),
        choosers: vec![Chooser::new("measure", "measure", shown.iter().map(|it| it.0)), Chooser::by(&by)],
        runs: Runs::Measured,
        columns: &["measure", "by", "level", "condition", "layer", "step"],
    }
    .draw(study, |choice| {
        let (_, metric, references, meaning) = shown[choice.options[0]];
        let factor = choice.by(study, &by, 1);
        let layer = |layer: u32| {
            let style = Style::line(layer_name(layer), Colour::Level(layer as usize, layers as usize + 1));
            Facet::of_measure("layer", &layer.to_string(), Measure::Inside(metric, Some(layer)), style)
        };
        let reference = |(place, &(metric, name)): (usize, &(InsideMetric, &str))| {
            let style = Style { dash: ["4 1.6", "1 1.5"][place % 2], ..Style::line(name, Colour::Null) };
            Facet::of_measure("layer", name, Measure::Inside(metric, None), style)
        };
        let lines: Vec<Facet> = (0..=layers).map(layer).chain(references.iter().enumerate().map(reference)).collect();
        let rows = conditions(study).into_iter().map(|it| Facet {
            row: it.title.clone(),
            title: String::new(),
            style: None,
            ..it
        });
        let levels = levels(study, factor, "level");
        let wide = levels.len();
        let panels = cross(&rows.collect::<Vec<_>>(), &levels);
        let only = panels.len() == conditions(study).len();
        let named =
            |facet: Facet| if only { Facet { title: facet.row.clone(), row: String::new(), ..facet } } else { facet };
        Plot {
            across: Some([2, if only { 3 } else { wide.clamp(1, 4) }]),
            panels: panels.into_iter().map(named).map(|facet| Facet { style: None, ..facet }).collect(),
            legend: Some(style::lines(&styles(&lines))),
            lines,
            ratio: 0.8,
            caption: Some(format!("{meaning} Layer 0 is the embedding. {BANDS}{}", captions::pooled(study, &[factor]))),
            ..Plot::new(X::Training(&progress[0]), Y::Around(shown[choice.options[0]].0.into(), vec![0.0]))
        }
    });
    Some(figure)
}

/// Whether this is what is measured, in a layer.
fn is_of(quantity: &Quantity, metric: InsideMetric) -> bool {
    matches!(quantity.measure, Measure::Inside(own, Some(_)) if own == metric)
}

/// The last layer that was measured.
fn layers(study: &Study) -> Option<u32> {
    let of = |quantity: &Quantity| match quantity.measure {
        Measure::Inside(InsideMetric::TranslationBack | InsideMetric::LensOwn, layer) => layer,
        _ => None,
    };
    study.runs.iter().flat_map(|run| run.curves.keys()).filter_map(of).max()
}

fn layer_name(layer: u32) -> String {
    if layer == 0 { "embedding".into() } else { format!("layer {layer}") }
}

/// What a state of the first language does in the place of another, by layer and position, with its control. `None` where nothing was
/// patched.
pub fn patching(study: &Study) -> Option<Figure> {
    let patches = || {
        study.runs.iter().flat_map(|run| run.curves.keys()).filter_map(|quantity| match quantity.measure {
            Measure::Patch(Patching { patch: Some(place), .. }) => Some(place),
            _ => None,
        })
    };
    let last = patches().map(|place| place.layer).max()?;
    let positions: Vec<PatchPosition> =
        PatchPosition::ALL.into_iter().filter(|position| patches().any(|place| place.position == *position)).collect();
    let varying = study.varying();
    let factors = [varying.first().copied(), varying.get(1).copied(), varying.get(2).copied()];
    let masked: Vec<Facet> = conditions(study).into_iter().filter(is_masked).collect();
    let mut choosers: Vec<Chooser> = factors.iter().map(|factor| Chooser::levels_or_all(study, *factor)).collect();
    choosers.push(Chooser::new("condition", "in", masked.iter().map(|facet| facet.title.clone())));
    let position = |position: &PatchPosition| {
        let (title, label) = match position {
            PatchPosition::SubjectBoundary => ("the boundary after the subject", "_"),
            PatchPosition::CopulaBoundary => ("the boundary after the copula", "_"),
            other => (other.name(), other.name()),
        };
        let cells = vec![("position", position.name().into())];
        Facet { title: title.into(), label: label.into(), cells, ..Facet::default() }
    };
    let source = conditions(study).first().map_or(String::new(), |facet| facet.title.clone());
    let receiver = masked.first().and_then(|facet| facet.condition.as_ref());
    let receiver = receiver.map_or(String::new(), |condition| condition.language.to_string());
    let layer = |layer: u32| Facet {
        title: layer_name(layer),
        label: layer.to_string(),
        cells: vec![("layer", layer.to_string())],
        ..Facet::default()
    };
    let across = ticks("position of the patch", positions.iter().map(position).collect());
    let up = ticks("after layer", (0..=last).map(layer).collect());
    let panels = [PatchedForm::Own, PatchedForm::Source].map(|form| {
        [(Donor::Same, "same subject"), (Donor::Other, "another subject (control)")].map(|(donor, name)| {
            let language = if form == PatchedForm::Own { &receiver } else { &source };
            Facet {
                title: format!("{language}'s form, {name}"),
                cells: vec![("form", form.name().into()), ("donor", donor.name().into())],
                ..Facet::default()
            }
        })
    });
    let panels = panels.concat();
    let figure = Spec {
        name: "patching",
        title: format!("What a state of {source} carries into the prompt of {receiver}"),
        caption: format!(
            "Change of the contrast of facts of masked words, in nats, where one state of the prompt in {receiver} is replaced by that of \
             the same prompt in {source} (left), or of a prompt in {source} with a third subject (right), which can carry no fact. Layers above \
             work on as before. Blue cells are gains, red ones losses. Words are scored in {receiver}'s form, never seen in training, and in {source}'s. _ is the boundary after a \
             word. Means over seeds at the end of training; hover for intervals."
        ),
        choosers,
        runs: Runs::Ended,
        columns: &[named(factors[0]), named(factors[1]), named(factors[2]), "condition", "form", "donor", "position", "layer"],
    }
    .draw(study, |choice| {
        let chosen = factors.iter().flatten().zip(&choice.options);
        let level = chosen.filter_map(|(factor, option)| Some((*factor, option.checked_sub(1)?)));
        let level: Vec<_> = level.collect();
        choice.cell.extend(level);
        let condition = masked.get(choice.options[3]).and_then(|facet| facet.condition.clone());
        let read = |facet: &Facet| {
            let place = PatchPlace {
                donor: facet.cell("donor").parse().ok()?,
                position: facet.cell("position").parse().ok()?,
                layer: facet.cell("layer").parse().ok()?,
            };
            let patching = Patching { form: facet.cell("form").parse().ok()?, patch: Some(place) };
            Facet { measure: Some(Measure::Patch(patching)), ..facet.clone() }.estimate(study)
        };
        Plot {
            all: Facet { condition, ..Facet::default() },
            panels: panels.clone(),
            read: Some(Box::new(move |facet| read(facet).into())),
            across: Some([2, 2]),
            ratio: 0.55,
            scale: Some("nats".into()),
            ..Plot::new(X::Map(across.clone(), up.clone()), Y::Own)
        }
    });
    Some(figure)
}

/// The words of one property in two languages, on the plane of their states, evaluation by evaluation. `None` where no map was
/// recorded.
pub fn map(study: &Study) -> Option<Figure> {
    let (_, first) = study.maps.first()?;
    let languages: Vec<String> = first.places.keys().cloned().collect();
    let [source, target] = &languages[..] else { return None };
    let chooser = Chooser::new("step", "step", study.maps.iter().map(|(step, _)| step.to_string())).sliding();
    let mut table = FigureTable::new(["step", "word", "masked", "language", "x", "y"]);
    let mut before: Option<Vec<[f64; 2]>> = None;
    let drawn: Vec<PlotPanel> = study
        .maps
        .iter()
        .map(|(step, map)| {
            let places = turned_to(before.as_deref(), &scaled(map, [source, target]));
            let panel = map_panel(map, &places, [source, target], *step, &mut table);
            before = Some(places);
            panel
        })
        .collect();
    let choosers = vec![chooser];
    let variants = variants(study, &choosers, Runs::Measured, |choice| {
        let mut layout = FigureLayout::new(vec![drawn[choice.options[0]].clone()], [1, 1]);
        let entry =
            |label: &str, colour, shape| LegendEntry { label: label.into(), colour, line: None, shape: Some(shape) };
        layout.ratio = 0.7;
        layout.legend = vec![
            entry(source, Colour::Language(0), MarkerShape::Circle),
            entry(target, Colour::Language(1), MarkerShape::Square),
            entry(&format!("{target}, masked there"), Colour::Masked(0), MarkerShape::Triangle),
        ];
        layout
    });
    Some(Figure {
        name: "word-map",
        title: format!("The words of one property in {source} and {target}"),
        caption: format!(
            "States of the values of one property after layer {}, on the plane of their two principal components, scaled to one size and turned to the evaluation before. A line \
             joins a word and its translation. Only two of many dimensions are shown: words that are apart here are apart, words that meet here need not.",
            first.layer
        ),
        choosers,
        variants,
        table,
    })
}

/// The places of the words in both languages, with a root mean square of 1.
fn scaled(map: &WordMap, languages: [&String; 2]) -> Vec<[f64; 2]> {
    let places: Vec<[f64; 2]> = languages.into_iter().flat_map(|language| &map.places[language]).copied().collect();
    let square = places.iter().map(|[x, y]| x * x + y * y).sum::<f64>() / places.len().max(1) as f64;
    let size = if square > 0.0 { square.sqrt() } else { 1.0 };
    places.into_iter().map(|place| place.map(|value| value / size)).collect()
}

/// Places turned, and mirrored if that helps, so that they are as near as can be to those before.
fn turned_to(before: Option<&[[f64; 2]]>, places: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let Some(before) = before else { return places.to_vec() };
    let turn = |mirrored: bool| {
        let places: Vec<[f64; 2]> = places.iter().map(|[x, y]| [*x, if mirrored { -y } else { *y }]).collect();
        let pairs = || places.iter().zip(before);
        let along: f64 = pairs().map(|(a, b)| a[0] * b[0] + a[1] * b[1]).sum();
        let cross: f64 = pairs().map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum();
        let length = along.hypot(cross);
        let [cos, sin] = if length > 0.0 { [along / length, cross / length] } else { [1.0, 0.0] };
        (length, places.iter().map(|[x, y]| [cos * x - sin * y, sin * x + cos * y]).collect::<Vec<_>>())
    };
    let (plain, mirrored) = (turn(false), turn(true));
    if mirrored.0 > plain.0 { mirrored.1 } else { plain.1 }
}

fn map_panel(
    map: &WordMap,
    places: &[[f64; 2]],
    languages: [&String; 2],
    step: u64,
    table: &mut FigureTable,
) -> PlotPanel {
    let axis = || Axis { ticks: Vec::new(), ..Axis::linear("", -2.6, 2.6) };
    let mut panel = PlotPanel::new(format!("step {step}"), axis(), axis());
    let count = map.words.len();
    for word in 0..count {
        let [from, to] = [places[word], places[count + word]].map(|[x, y]| (x, y));
        panel.marks.push(PanelMark::Segment { from, to, colour: Colour::Grid, dash: "" });
    }
    for (side, language) in languages.into_iter().enumerate() {
        for word in 0..count {
            let (masked, [x, y]) = (side == 1 && map.masked[word], places[side * count + word]);
            let (colour, shape) = match (side, masked) {
                (0, _) => (Colour::Language(0), MarkerShape::Circle),
                (_, false) => (Colour::Language(1), MarkerShape::Square),
                (_, true) => (Colour::Masked(0), MarkerShape::Triangle),
            };
            let tip = format!("{}, {language}{}", map.words[word], if masked { ", masked" } else { "" });
            panel.marks.push(PanelMark::Point { point: PlotPoint { x, y, interval: None, tip }, colour, shape });
            let cells = [step.to_string(), map.words[word].clone(), masked.to_string(), language.clone()];
            table.row(cells.into_iter().chain([x, y].map(|value| format!("{value:.3}"))));
        }
    }
    panel
}
