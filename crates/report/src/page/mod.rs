//! The page: one self-contained HTML file, overview first, that needs no network and no other file.
//!
//! Figures are the same SVG as in the figures folder, with colours as CSS variables so that light, dark and print are
//! matters of style. Variants not on show wait in `<template>` elements, which cost the browser nothing until chosen.

mod figures;
mod html;
mod overview;
mod run;
mod tables;
mod words;

use crate::data::Study;
use crate::draw::{PALETTE, escape};
use crate::figures::Figure;
use crate::findings::Findings;
use invitro_results::Kind;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole page. `live` adds the part that asks the server whether anything changed.
pub fn page(study: &Study, findings: &Findings, drawn: &[Figure], live: bool) -> String {
    let name = escape(&study.name);
    let mut body = String::new();
    let mut links = vec![("overview", "Overview"), ("figures", "Figures")];
    body.push_str(&match study.kind {
        Kind::Study => overview::section(study, findings),
        Kind::Run => run::section(study),
    });
    body.push_str(&figures::section(drawn));
    if !study.words.is_empty() {
        links.push(("words", "Words"));
        body.push_str(&words::section(study));
    }
    if study.kind == Kind::Study {
        links.push(("tables", "Tables"));
        body.push_str(&tables::section(study, findings));
    }
    links.push(("configs", "Config and versions"));
    body.push_str(&tables::configs(study));
    let links: String = links.iter().map(|(id, label)| format!("<a href=\"#{id}\">{label}</a>")).collect();
    let badge = if live { "<span class=\"live\" id=\"live\">live</span>" } else { "" };
    let kind = if study.kind == Kind::Study { "study" } else { "run" };
    format!(
        "<!doctype html>\n<html lang=\"en\"{}>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{name} · invitro {kind}</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n\
         <header><div class=\"bar\"><b>{name}</b>{badge}<nav>{links}</nav>\
         <button id=\"theme\" type=\"button\" title=\"Light or dark\">◐</button></div></header>\n\
         <main>\n{body}</main>\n<div id=\"tip\" hidden></div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        if live { " data-live" } else { "" },
        variables(),
    )
}

/// The palette as CSS variables: the system's choice, the reader's choice, and light on paper.
fn variables() -> String {
    let list = |dark: bool| -> String {
        PALETTE
            .iter()
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
