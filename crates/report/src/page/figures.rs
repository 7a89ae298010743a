//! The figures on the page, by topic: choosers, the drawing on show, its caption, what can be saved, and the numbers behind it.
//!
//! The first figure of a topic is drawn; the others are folded, and packed until they are opened. What is on show first has
//! a drawing of its own for narrow screens, packed too. Other variants have one drawing, which scrolls there.

use super::pack::pack;
use crate::draw::{DrawTarget, Width, escape, plain_text, to_html};
use crate::figures::{BANDS, BARS, Chooser, Figure, TOPICS, Variant};
use crate::wording::listed;
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use std::collections::HashSet;

/// Choosers that set every figure at once, where at least two figures have them.
const SHARED: [&str; 2] = ["vocab", "regime"];

/// What phones show.
const NARROW: Width = Width::Phone;

/// Sentences of captions that the page has said. It says none twice.
pub struct SaidSentences(HashSet<String>);

impl SaidSentences {
    /// On a page that says what bands and bars are before its figures.
    pub fn new() -> SaidSentences {
        let mut sentences = SaidSentences(HashSet::new());
        for known in [BANDS, BARS, "Bars are 95 % intervals over seeds."] {
            sentences.once(known);
        }
        sentences
    }

    /// A caption without what was said before.
    pub fn once(&mut self, caption: &str) -> String {
        let new = |sentence: &&str| self.0.insert(sentence.trim_end_matches('.').to_owned());
        let mut left = caption.split_inclusive(". ").filter(new).collect::<String>();
        left.truncate(left.trim_end().len());
        left
    }
}

/// The topics that have a figure: anchor, heading, figures.
pub fn topics(figures: &[Figure]) -> Vec<(&'static str, &'static str, Vec<&Figure>)> {
    let of_topic = |(id, heading, names): &(&'static str, &'static str, &[&str])| {
        let drawn = names.iter().filter_map(|name| figures.iter().find(|it| it.name == *name && !it.is_empty()));
        (*id, *heading, drawn.collect::<Vec<_>>())
    };
    TOPICS.iter().map(of_topic).filter(|(.., figures)| !figures.is_empty()).collect()
}

pub fn section(figures: &[Figure], sentences: &mut SaidSentences) -> String {
    let mut html = format!("<section id=\"figures\"><p class=\"note\">{}</p>\n", to_html(BANDS));
    let mut shared = String::new();
    for name in SHARED {
        let with: Vec<_> = figures.iter().flat_map(|figure| &figure.choosers).filter(|it| it.name == name).collect();
        if let Some(chooser) = with.first().filter(|chooser| with.len() > 1 && chooser.options.len() > 1) {
            shared.push_str(&select("all", "data-all", chooser, 0));
        }
    }
    if !shared.is_empty() {
        html.push_str(&format!("<p class=\"choosers all\"><span>In every figure:</span>{shared}</p>\n"));
    }
    let topics = topics(figures);
    let mut all: Vec<(&Figure, Vec<String>, Stands)> = Vec::new();
    for (_, _, figures) in &topics {
        for (place, figure) in figures.iter().enumerate() {
            let stands = if place == 0 { Stands::Shown } else { Stands::Folded };
            all.push((figure, captions(figure, sentences), stands));
        }
    }
    let mut all: Vec<String> =
        all.par_iter().map(|(figure, captions, stands)| one(figure, captions, *stands)).collect();
    for (id, heading, figures) in topics {
        html.push_str(&format!("<section class=\"topic\" id=\"{id}\"><h2>{heading}</h2>\n"));
        let drawn: Vec<String> = all.drain(..figures.len()).collect();
        html.push_str(&drawn[0]);
        if let [_, further @ ..] = &figures[..]
            && !further.is_empty()
        {
            let titles: Vec<String> = further.iter().map(|figure| to_html(&figure.title)).collect();
            html.push_str(&format!(
                "<details class=\"further\"><summary>More: {}</summary>\n{}</details>\n",
                titles.join("; "),
                drawn[1..].concat()
            ));
        }
        html.push_str("</section>\n");
    }
    html.push_str(&left_out(figures));
    html.push_str("</section>\n");
    html
}

/// All figures one after another, for a page that has few.
pub fn unfolded(figures: &[Figure]) -> String {
    let mut sentences = SaidSentences(HashSet::new());
    let drawn = figures.iter().filter(|figure| !figure.is_empty());
    let drawn: String = drawn.map(|figure| one(figure, &captions(figure, &mut sentences), Stands::Shown)).collect();
    format!("<section id=\"figures\"><h2>Figures</h2>\n{drawn}{}</section>\n", left_out(figures))
}

/// One line in place of boxes with nothing in them.
fn left_out(figures: &[Figure]) -> String {
    let titles: Vec<String> =
        figures.iter().filter(|figure| figure.is_empty()).map(|figure| to_html(&figure.title)).collect();
    if titles.is_empty() {
        return String::new();
    }
    format!(
        "<p class=\"note\" id=\"left-out\">Left out, since no run has measured what they show: {}.</p>\n",
        listed(&titles)
    )
}

/// The caption of each variant, without sentences that the page has said.
pub fn captions(figure: &Figure, sentences: &mut SaidSentences) -> Vec<String> {
    let mut known = HashSet::new();
    let caption = |variant: &Variant| {
        let mut own_sentences = SaidSentences(sentences.0.clone());
        let own = own_sentences.once(figure.caption(variant));
        known.extend(own_sentences.0);
        to_html(&own)
    };
    let captions = figure.variants.iter().map(caption).collect();
    sentences.0 = known;
    captions
}

/// Where a figure stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// Under the heading of the page.
    First,
    /// Under the heading of a topic.
    Shown,
    /// The same, and drawn when it is opened.
    Folded,
}

/// A figure with all its controls.
pub fn one(figure: &Figure, captions: &[String], stands: Stands) -> String {
    let Figure { name, title, table, .. } = figure;
    let shown = &figure.variants[figure.first()];
    let is_folded = stands == Stands::Folded;
    let heading = if stands == Stands::First { "h2" } else { "h3" };
    let (drawing, attribute) = match is_folded {
        true => ("<p class=\"none\">Drawn by the page's script.</p>".into(), " data-folded"),
        false => (draw(figure, shown, false), ""),
    };
    let choosers: String = figure
        .choosers
        .iter()
        .zip(&shown.choice)
        .filter(|(chooser, _)| chooser.options.len() > 1)
        .map(|(chooser, option)| select(name, "data-name", chooser, *option))
        .collect();
    let choosers = if choosers.is_empty() { choosers } else { format!("<p class=\"choosers\">{choosers}</p>") };
    let [csv, numbers] = if table.is_empty() {
        ["", ""]
    } else {
        [
            "<button type=\"button\" data-save=\"csv\">CSV</button>",
            "<details class=\"numbers\"><summary>Numbers</summary><div></div></details>",
        ]
    };
    let plain_title = escape(&plain_text(title));
    format!(
        "<figure id=\"fig-{name}\"{attribute}><{heading} class=\"title\">{}</{heading}>{choosers}<div class=\"drawing\">{drawing}</div>\
         <figcaption><span class=\"caption\">{}</span> <span class=\"runs\">{}</span>.</figcaption>\
         <div class=\"tools\">{numbers}<p class=\"save\" role=\"group\" aria-label=\"Save {plain_title}\"><span>Save</span>{csv}<button type=\"button\" data-save=\"svg\">SVG</button>\
         <button type=\"button\" data-save=\"png\">PNG</button></p></div>{}</figure>\n",
        to_html(title),
        captions[figure.first()],
        escape(&shown.runs),
        pack("class=\"pack\"", &packed(figure, captions, is_folded).to_string()),
    )
}

/// All that the page can show of a figure, or save: the table as CSV, the column of each chooser in it, and for every
/// variant its key, its file name, its runs, its drawing where it is not the one on show, and its caption.
fn packed(figure: &Figure, captions: &[String], is_folded: bool) -> Json {
    let first = figure.first();
    let variant = |(place, variant): (usize, &Variant)| {
        let drawing = match place == first {
            true if !is_folded => String::new(),
            true => draw(figure, variant, true),
            false => draw_once(figure, variant),
        };
        json!([key(figure, variant), figure.stem(variant), variant.runs, drawing, captions[place]])
    };
    let variants: Vec<Json> = figure.variants.par_iter().enumerate().map(variant).collect();
    let options = |chooser: &Chooser| {
        let options: Vec<String> = chooser.options.iter().map(|option| plain_text(option)).collect();
        json!([chooser.name, options])
    };
    let choosers: Vec<Json> = figure.choosers.iter().filter(|it| it.options.len() > 1).map(options).collect();
    let shown = &figure.variants[first];
    let narrow = if is_folded || shown.drawing.is_empty() { String::new() } else { draw_narrow(figure, shown) };
    json!({ "csv": figure.table.to_short_csv(), "choosers": choosers, "variants": variants, "narrow": narrow })
}

const NOTHING: &str = "<p class=\"none\">Nothing to show for this choice: no run has measured it.</p>";

/// The drawing for wide screens, and that for narrow screens unless it is drawn later.
fn draw(figure: &Figure, variant: &Variant, with_narrow: bool) -> String {
    if variant.drawing.is_empty() {
        return NOTHING.into();
    }
    let wide = variant.drawing.render(Width::Page, DrawTarget::Page, &figure.alt(variant));
    let narrow = if with_narrow { draw_narrow(figure, variant) } else { String::new() };
    format!("<div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div>")
}

fn draw_narrow(figure: &Figure, variant: &Variant) -> String {
    variant.drawing.render(NARROW, DrawTarget::Page, &figure.alt(variant))
}

/// The drawing for all screens.
fn draw_once(figure: &Figure, variant: &Variant) -> String {
    if variant.drawing.is_empty() {
        return NOTHING.into();
    }
    let drawing = variant.drawing.render(Width::Page, DrawTarget::Page, &figure.alt(variant));
    format!("<div class=\"any\">{drawing}</div>")
}

/// The choice as the page's script spells it: `metric=1;vocab=0`.
fn key(figure: &Figure, variant: &Variant) -> String {
    let pairs = figure.choosers.iter().zip(&variant.choice).filter(|(chooser, _)| chooser.options.len() > 1);
    pairs.map(|(chooser, option)| format!("{}={option}", chooser.name)).collect::<Vec<_>>().join(";")
}

fn select(figure: &str, attribute: &str, chooser: &Chooser, chosen: usize) -> String {
    let options: String = chooser
        .options
        .iter()
        .enumerate()
        .map(|(place, label)| {
            let selected = if place == chosen { " selected" } else { "" };
            format!("<option value=\"{place}\"{selected}>{}</option>", escape(label))
        })
        .collect();
    let (name, label) = (chooser.name, to_html(&chooser.label));
    let slider = match chooser.slides {
        true => format!(
            " <input type=\"range\" data-slides=\"{figure}-{name}\" min=\"0\" max=\"{}\" value=\"{chosen}\" aria-label=\"{}\">",
            chooser.options.len() - 1,
            escape(&chooser.label)
        ),
        false => String::new(),
    };
    format!(
        "<span class=\"chooser\"><label for=\"{figure}-{name}\">{label}</label> <select id=\"{figure}-{name}\" {attribute}=\"{name}\">{options}</select>{slider}</span>"
    )
}
