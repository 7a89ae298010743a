//! The figures on the page: choosers, the drawing on show, its caption, and the table behind it.

use crate::draw::{Target, Width, escape, to_html};
use crate::figures::{Figure, Variant};
use std::fmt::Write;

/// Choosers that set every figure at once, where at least two figures have them.
const SHARED: [&str; 2] = ["vocab", "regime"];

pub fn section(figures: &[Figure]) -> String {
    let mut html = String::from("<section id=\"figures\"><h2>Figures</h2>\n");
    let mut shared = String::new();
    for name in SHARED {
        let with: Vec<_> = figures.iter().flat_map(|figure| &figure.choosers).filter(|it| it.name == name).collect();
        if let Some(chooser) = with.first().filter(|chooser| with.len() > 1 && chooser.options.len() > 1) {
            shared.push_str(&select("data-all", chooser, 0));
        }
    }
    if !shared.is_empty() {
        writeln!(html, "<p class=\"choosers all\"><span>In every figure:</span>{shared}</p>")
            .expect("writing to a string");
    }
    for figure in figures {
        html.push_str(&one(figure));
    }
    html.push_str("</section>\n");
    html
}

fn one(figure: &Figure) -> String {
    let name = figure.name;
    let caption = to_html(&figure.caption);
    let title = to_html(&figure.title);
    if figure.is_empty() {
        return format!(
            "<figure id=\"fig-{name}\" class=\"empty\"><h3>{title}</h3><p class=\"none\">Nothing to show yet: no run has measured this.</p>\
             <figcaption>{caption}</figcaption></figure>\n"
        );
    }
    let first = figure.first();
    let choosers: String = figure
        .choosers
        .iter()
        .zip(&figure.variants[first].choice)
        .filter(|(chooser, _)| chooser.options.len() > 1)
        .map(|(chooser, option)| select("data-name", chooser, *option))
        .collect();
    let mut html = format!("<figure id=\"fig-{name}\"><h3>{title}</h3>");
    if !choosers.is_empty() {
        write!(html, "<p class=\"choosers\">{choosers}</p>").expect("writing to a string");
    }
    let shown = &figure.variants[first];
    write!(html, "<div class=\"drawing\">{}</div>", draw(figure, shown)).expect("writing to a string");
    write!(html, "<figcaption>{caption} <span class=\"runs\">{}</span>. ", escape(&shown.runs))
        .expect("writing to a string");
    if !figure.table.is_empty() {
        write!(html, "<a class=\"csv\" href=\"figures/{name}.csv\">Data</a>").expect("writing to a string");
    }
    html.push_str("</figcaption>");
    for (place, variant) in figure.variants.iter().enumerate() {
        let key = key(figure, variant);
        let runs = escape(&variant.runs);
        let drawing = if place == first { String::new() } else { draw(figure, variant) };
        write!(html, "<template data-key=\"{key}\" data-runs=\"{runs}\">{drawing}</template>")
            .expect("writing to a string");
    }
    html.push_str("</figure>\n");
    html
}

fn draw(figure: &Figure, variant: &Variant) -> String {
    if variant.drawing.is_empty() {
        return "<p class=\"none\">Nothing to show for this choice: no run has measured it.</p>".into();
    }
    variant.drawing.render(Width::Page, Target::Page, &figure.title)
}

/// The choice as the page's script spells it: `metric=1;vocab=0`.
fn key(figure: &Figure, variant: &Variant) -> String {
    let pairs = figure.choosers.iter().zip(&variant.choice).filter(|(chooser, _)| chooser.options.len() > 1);
    pairs.map(|(chooser, option)| format!("{}={option}", chooser.name)).collect::<Vec<_>>().join(";")
}

fn select(attribute: &str, chooser: &crate::figures::Chooser, chosen: usize) -> String {
    let options: String = chooser
        .options
        .iter()
        .enumerate()
        .map(|(place, label)| {
            let selected = if place == chosen { " selected" } else { "" };
            format!("<option value=\"{place}\"{selected}>{}</option>", escape(label))
        })
        .collect();
    format!("<label>{} <select {attribute}=\"{}\">{options}</select></label>", to_html(&chooser.label), chooser.name)
}
