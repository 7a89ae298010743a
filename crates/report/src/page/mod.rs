//! The page: one self-contained HTML file, overview first, that needs no network and no other file.
//!
//! Figures are the same SVG as in the figures folder, with colours as CSS variables so that light, dark and print are
//! matters of style. Variants not on show, the numbers behind figures and the words are packed, and cost the browser
//! nothing until they are asked for.

mod claims;
pub(crate) mod compare;
mod figures;
pub(crate) mod gallery;
mod glossary;
mod html;
mod notes;
mod overview;
mod pack;
mod run;
mod tables;
mod words;

use crate::claims::ClaimAnswers;
use crate::data::Study;
use crate::draw::{PALETTE, escape};
use crate::figures::Figure;
use invitro_results::FolderKind;
use notes::notes;

const STYLE: &str = include_str!("style.css");
/// In the order in which they run, all in one scope.
const SCRIPTS: [&str; 6] = [
    include_str!("script/base.js"),
    include_str!("script/figures.js"),
    include_str!("script/tables.js"),
    include_str!("script/words.js"),
    include_str!("script/glossary.js"),
    include_str!("script/live.js"),
];

/// The whole page. `live` adds the part that asks the server whether anything changed, and is the nonce that the server's
/// policy lets its script and style by with.
pub fn page(study: &Study, answers: &ClaimAnswers, drawn: &[Figure], live: Option<&str>) -> String {
    let mut body = String::new();
    let mut links = vec![("overview", "Overview")];
    let mut sentences = figures::SaidSentences::new();
    // The figure that shows the finding stands next to it.
    let (first, rest) = match drawn {
        [first, rest @ ..] if !first.is_empty() => {
            (figures::one(first, &figures::captions(first, &mut sentences), figures::Stands::First), rest)
        }
        all => (String::new(), all),
    };
    let overview = || match study.kind {
        FolderKind::Study => (overview::section(study, answers, &first), claims::section(study, answers)),
        FolderKind::Run => (run::section(study, answers, &first), String::new()),
    };
    let words = || if study.words.is_empty() { String::new() } else { words::section(study) };
    let ((overview, claims), (figures, words)) =
        rayon::join(overview, || rayon::join(|| figures::section(rest, &mut sentences), words));
    body.push_str(&overview);
    links.extend((!claims.is_empty()).then_some(("claims", "Other claims")));
    body.push_str(&claims);
    links.extend(figures::topics(rest).iter().map(|(id, heading, _)| (*id, *heading)));
    body.push_str(&figures);
    links.extend((!words.is_empty()).then_some(("words", "Words")));
    body.push_str(&words);
    if study.kind == FolderKind::Study {
        links.push(("tables", "Runs"));
        body.push_str(&tables::section(study));
    }
    links.push(("configs", "Config and versions"));
    body.push_str(&tables::configs(study));
    links.push(("glossary", "Glossary"));
    body.push_str(&glossary::section(study.conditions()));
    let kind = if study.kind == FolderKind::Study { "study" } else { "run" };
    shell(&study.name, kind, &links, &body, live)
}

/// The page around its body.
fn shell(name: &str, kind: &str, links: &[(&str, &str)], body: &str, live: Option<&str>) -> String {
    shell_with("", "", name, kind, links, body, live)
}

/// The same with lines of the head and style of its own.
fn shell_with(
    head: &str,
    style: &str,
    name: &str,
    kind: &str,
    links: &[(&str, &str)],
    body: &str,
    live: Option<&str>,
) -> String {
    let name = escape(name);
    let links: String = links.iter().map(|(id, label)| format!("<a href=\"#{id}\">{label}</a>")).collect();
    let nav = if links.is_empty() { links } else { format!("<nav aria-label=\"Sections\">{links}</nav>") };
    let nonce = live.map_or(String::new(), |nonce| format!(" nonce=\"{nonce}\""));
    let badge = if live.is_some() { "<span class=\"live\" id=\"live\" role=\"status\">live</span>" } else { "" };
    format!(
        "<!doctype html>\n<html lang=\"en\"{}>\n<head>\n<meta charset=\"utf-8\">\n{head}\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{name} · invitro {kind}</title>\n<style{nonce}>\n{}{STYLE}{style}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the findings</a>\n\
         <header><div class=\"bar\"><b>{name}</b>{badge}{nav}\
         <button id=\"theme\" type=\"button\" aria-label=\"Light or dark\" title=\"Light or dark\">◐</button></div></header>\n\
         <main id=\"main\" tabindex=\"-1\">\n{body}</main>\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n\
         <script{nonce}>\n{}</script>\n</body>\n</html>\n",
        if live.is_some() { " data-live" } else { "" },
        variables(),
        script(),
    )
}

/// The script, which knows the colours of light paper for what it saves.
fn script() -> String {
    let colours: serde_json::Map<String, serde_json::Value> =
        PALETTE.iter().map(|(name, on_light, _)| ((*name).to_owned(), (*on_light).into())).collect();
    let palette = serde_json::Value::Object(colours);
    format!("\"use strict\";\n(() => {{\nconst PALETTE = {palette};\n{}}})();\n", SCRIPTS.concat())
}

/// Colours of the page beside those of drawings: name, on light, on dark. Text in them has a contrast of at least 4.5.
const OWN: [(&str, &str, &str); 3] =
    [("link", "#1d669f", "#6db3ec"), ("no", "#b8234b", "#f58aa4"), ("edge", "#1b1f2466", "#e8eaed4d")];

/// The palette as CSS variables: the system's choice, the reader's choice, and light on paper.
fn variables() -> String {
    let list = |dark: bool| -> String {
        PALETTE
            .iter()
            .chain(&OWN)
            .map(|(name, on_light, on_dark)| format!("--{name}:{};", if dark { on_dark } else { on_light }))
            .collect()
    };
    let (light, dark) = (list(false), list(true));
    format!(
        ":root{{color-scheme:light;{light}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n\
         :root[data-theme=dark]{{color-scheme:dark;{dark}}}\n\
         @media print{{:root,:root:not([data-theme=light]),:root[data-theme=dark]{{color-scheme:light;{light}}}}}\n"
    )
}
