//! The table as a page of its own, for light and dark.

use super::pair::{Pair, Use, legend};
use crate::draw::escape;
use std::fmt::Write;

const STYLE: &str = "
:root { color-scheme: light dark; --text: #1c2530; --paper: #fff; --line: #d8dee6; --s: #F4D35E; --a: #8BB9E5; --b: #ED979E }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6ebf1; --paper: #14171c; --line: #333b46; --s: #7a6512; --a: #1f4f7d; --b: #83323f }
}
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif;
  color: var(--text); background: var(--paper) }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; border-bottom: 1px solid var(--line) }
td + td, th + th { border-left: 1px solid var(--line) }
td, .legend { font: 13px/1.9 ui-monospace, Menlo, Consolas, monospace }
i { font-style: normal; padding: .12em .1em; margin-right: 1px; border-radius: 2px }
.s { background: var(--s) } .a { background: var(--a) } .b { background: var(--b) }
span { white-space: nowrap } u { text-decoration: none; opacity: .45; margin-right: .35em }
.legend i { margin-right: .8em; padding: .12em .4em }
@media (max-width: 40rem) { table, tbody, tr, td { display: block } th { display: none } td + td { border-left: 0 } }
";

fn piece(used: Use, text: &str) -> String {
    let class = match used {
        Use::Shared => "s",
        Use::First => "a",
        Use::Second => "b",
    };
    format!("<i class=\"{class}\">{}</i>", escape(text))
}

pub fn render(names: &[String; 2], pairs: &[Pair], caption: &str) -> String {
    let legend = legend(names).map(|(used, label)| piece(used, &label));
    let [first, second] = names.each_ref().map(|name| escape(name));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>Paired sentences</title>\n<style>{STYLE}</style></head><body>\n<p>{}</p>\n\
         <p class=\"legend\">{}</p>\n<table><thead><tr><th>{first}</th><th>{second}</th></tr></thead><tbody>\n",
        escape(caption),
        legend.concat()
    );
    for Pair(sides) in pairs {
        out.push_str("<tr>");
        for side in sides {
            out.push_str("<td>");
            for word in side {
                let pieces: String = word.iter().map(|(text, used)| piece(*used, text)).collect();
                write!(out, "<span>{pieces}<u>␣</u></span><wbr>").expect("writing to a string");
            }
            out.push_str("</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n</body></html>\n");
    out
}
