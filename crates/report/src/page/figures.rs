//! The figures on the page: choosers, the drawing on show, its caption, what can be saved, and the numbers behind it.
//!
//! Each drawing is in the page twice, for wide and for narrow screens; style shows one of them. The variants that are not
//! on show and the table of numbers are packed.

use super::pack::pack;
use crate::draw::{DrawTarget, Width, escape, plain_text, to_html};
use crate::figures::{Chooser, Figure, Variant};
use crate::wording::listed;
use rayon::prelude::*;
use serde_json::{Value as Json, json};

/// Choosers that set every figure at once, where at least two figures have them.
const SHARED: [&str; 2] = ["vocab", "regime"];

/// What phones show.
const NARROW: Width = Width::Phone;

pub fn section(figures: &[Figure]) -> String {
    let mut html = String::from("<section id=\"figures\"><h2>Figures</h2>\n");
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
    let drawn: Vec<String> = figures.par_iter().filter(|figure| !figure.is_empty()).map(one).collect();
    html.push_str(&drawn.concat());
    html.push_str(&left_out(figures));
    html.push_str("</section>\n");
    html
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

/// A figure with all its controls.
pub fn one(figure: &Figure) -> String {
    let Figure { name, title, caption, table, .. } = figure;
    let shown = &figure.variants[figure.first()];
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
            "<details class=\"numbers\"><summary>The numbers of this figure</summary><div></div></details>",
        ]
    };
    let plain_title = escape(&plain_text(title));
    format!(
        "<figure id=\"fig-{name}\"><h3>{}</h3>{choosers}<div class=\"drawing\">{}</div>\
         <figcaption>{} <span class=\"runs\">{}</span>.</figcaption>\
         <p class=\"save\" role=\"group\" aria-label=\"Save {plain_title}\"><span>Save</span>{csv}<button type=\"button\" data-save=\"svg\">SVG</button>\
         <button type=\"button\" data-save=\"png\">PNG</button></p>{numbers}{}</figure>\n",
        to_html(title),
        draw(figure, shown),
        to_html(caption),
        escape(&shown.runs),
        pack("class=\"pack\"", &packed(figure).to_string()),
    )
}

/// All that the page can show of a figure, or save: the table as CSV, the column of each chooser in it, and for every
/// variant its key, its file name, its runs, and its drawing where it is not the one on show.
fn packed(figure: &Figure) -> Json {
    let first = figure.first();
    let variant = |(place, variant): (usize, &Variant)| {
        let drawing = if place == first { String::new() } else { draw(figure, variant) };
        json!([key(figure, variant), figure.stem(variant), variant.runs, drawing])
    };
    let variants: Vec<Json> = figure.variants.iter().enumerate().map(variant).collect();
    let options = |chooser: &Chooser| {
        let options: Vec<String> = chooser.options.iter().map(|option| plain_text(option)).collect();
        json!([chooser.name, options])
    };
    let choosers: Vec<Json> = figure.choosers.iter().filter(|it| it.options.len() > 1).map(options).collect();
    json!({ "csv": figure.table.to_csv(), "choosers": choosers, "variants": variants })
}

/// The drawing for wide and for narrow screens.
fn draw(figure: &Figure, variant: &Variant) -> String {
    if variant.drawing.is_empty() {
        return "<p class=\"none\">Nothing to show for this choice: no run has measured it.</p>".into();
    }
    let alt = figure.alt(variant);
    let draw = |width: Width| variant.drawing.render(width, DrawTarget::Page, &alt);
    format!("<div class=\"wide\">{}</div><div class=\"narrow\">{}</div>", draw(Width::Page), draw(NARROW))
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
    let name = chooser.name;
    format!(
        "<span class=\"chooser\"><label for=\"{figure}-{name}\">{}</label> <select id=\"{figure}-{name}\" {attribute}=\"{name}\">{options}</select></span>",
        to_html(&chooser.label)
    )
}
