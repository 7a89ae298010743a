//! The page: one self-contained HTML file, overview first, that needs no network and no other file.
//!
//! Figures are the same SVG as in the figures folder, with colours as CSS variables so that light, dark and print are
//! matters of style. Variants not on show wait in `<template>` elements, which cost the browser nothing until chosen.

pub(crate) mod compare;
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

/// The whole page. `live` adds the part that asks the server whether anything changed, and is the nonce that the server's
/// policy lets its script and style by with.
pub fn page(study: &Study, findings: &Findings, drawn: &[Figure], live: Option<&str>) -> String {
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
    let kind = if study.kind == Kind::Study { "study" } else { "run" };
    shell(&study.name, kind, &links, &body, live)
}

/// The page around its body.
fn shell(name: &str, kind: &str, links: &[(&str, &str)], body: &str, live: Option<&str>) -> String {
    let name = escape(name);
    let links: String = links.iter().map(|(id, label)| format!("<a href=\"#{id}\">{label}</a>")).collect();
    let nonce = live.map_or(String::new(), |nonce| format!(" nonce=\"{nonce}\""));
    let badge = if live.is_some() { "<span class=\"live\" id=\"live\">live</span>" } else { "" };
    format!(
        "<!doctype html>\n<html lang=\"en\"{}>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{name} · invitro {kind}</title>\n<style{nonce}>\n{}{STYLE}</style>\n</head>\n<body>\n\
         <header><div class=\"bar\"><b>{name}</b>{badge}<nav>{links}</nav>\
         <button id=\"theme\" type=\"button\" title=\"Light or dark\">◐</button></div></header>\n\
         <main>\n{body}</main>\n<div id=\"tip\" hidden></div>\n<script{nonce}>\n{SCRIPT}</script>\n</body>\n</html>\n",
        if live.is_some() { " data-live" } else { "" },
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
