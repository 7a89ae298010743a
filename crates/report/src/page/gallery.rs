//! The gallery's page: a card for each run and study, whole alone but for the reports it leads to.

use super::shell_with;
use crate::draw::{escape, to_html};
use crate::wording::{counted, date};
use invitro_results::FolderKind;

/// Only a page that says so is ours to replace.
pub const MARK: &str = "<meta name=\"generator\" content=\"invitro gallery\">";

const GALLERY_STYLE: &str = include_str!("gallery.css");

pub struct GalleryEntry {
    pub name: String,
    pub kind: FolderKind,
    /// The report, as a link from the gallery.
    pub report: String,
    /// When results were last written, in seconds since 1970.
    pub when: u64,
    pub runs: String,
    /// What was varied, in markup.
    pub varied: Vec<String>,
    /// The first finding, in markup.
    pub finding: String,
    /// What to know about the data.
    pub notes: Vec<String>,
    /// The title of its first figure, in markup, and the figure as SVG.
    pub picture: Option<(String, String)>,
}

/// The whole page.
pub fn page(name: &str, entries: &[GalleryEntry]) -> String {
    let cards: String = entries.iter().map(card).collect();
    let studies = entries.iter().filter(|entry| entry.kind == FolderKind::Study).count();
    let studies_said = if studies == 1 { "1 study".to_owned() } else { format!("{studies} studies") };
    let runs = entries.len() - studies;
    let held = match (studies, runs) {
        (_, 0) => studies_said,
        (0, _) => counted(runs, "run"),
        _ => format!("{studies_said} and {}", counted(runs, "run")),
    };
    let body = format!(
        "<h1>{}</h1>\n<p class=\"lead\">{held}, newest first.</p>\n<div class=\"gallery\">\n{cards}</div>\n",
        escape(name)
    );
    shell_with(&format!("{MARK}\n"), GALLERY_STYLE, name, "gallery", &[], &body, None)
}

fn card(entry: &GalleryEntry) -> String {
    let GalleryEntry { name, kind, report, when, runs, varied, finding, notes, picture } = entry;
    let kind = if *kind == FolderKind::Study { "Study" } else { "Run" };
    let finding =
        if finding.is_empty() { String::new() } else { format!("<p class=\"said\">{}</p>\n", to_html(finding)) };
    let notes: String = notes.iter().map(|note| folded(note)).collect();
    let varied = match varied.as_slice() {
        [] => String::new(),
        varied => {
            let factors: Vec<String> = varied.iter().map(|factors| to_html(factors)).collect();
            format!("<p class=\"varied\">{}</p>\n", factors.join("; "))
        }
    };
    let picture = picture.as_ref().map_or(String::new(), |(title, svg)| {
        let cropped = if is_tall(svg) { " cropped" } else { "" };
        format!("<figure><h3>{}</h3><div class=\"drawing{cropped}\">{svg}</div></figure>\n", to_html(title))
    });
    format!(
        "<article class=\"card\"><div>\n<h2><a href=\"{}\">{}</a></h2>\n\
         <p class=\"note\">{kind} · {} · <time>{}</time></p>\n{notes}{finding}{varied}</div>\n{picture}</article>\n",
        escape(report),
        escape(name),
        escape(runs),
        date(*when)
    )
}

/// A note that shows its first clause, and the rest on demand.
fn folded(note: &str) -> String {
    match note.split_once("; ") {
        Some((first, rest)) => {
            format!("<details class=\"note\"><summary>{}</summary>{}</details>\n", escape(first), escape(rest))
        }
        None => format!("<p class=\"note\">{}</p>\n", escape(note)),
    }
}

/// Whether a drawing is so much taller than wide that a card shows only how it begins.
fn is_tall(svg: &str) -> bool {
    let sides = svg.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split('"').next()?.split_once(' '));
    sides
        .and_then(|(width, height)| Some((width.parse::<f64>().ok()?, height.parse::<f64>().ok()?)))
        .is_some_and(|(width, height)| height > 1.15 * width)
}
