//! The table as a page of its own, for light and dark.

use super::pair::{SentenceRow, Use, legend};
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

/// What more than two languages need: a lighter colour for what several share, one for each, and rows that belong together.
const STACKED: &str = "
:root { --t: #FAEDB9; --l0: #8BB9E5; --l1: #ED979E; --l2: #B9CC6B; --l3: #F0B67A; --l4: #8FD3AE }
@media (prefers-color-scheme: dark) { :root { --t: #4d4318; --l0: #1f4f7d; --l1: #83323f; --l2: #4c5a10; --l3: #7a4713; --l4: #1f6040 } }
.t { background: var(--t) } .l0 { background: var(--l0) } .l1 { background: var(--l1) } .l2 { background: var(--l2) }
.l3 { background: var(--l3) } .l4 { background: var(--l4) }
table { table-layout: auto } th[scope=row] { width: 1% } tr:not(:last-child) > * { border-bottom: 0; padding-bottom: 0 }
th, td, td + td, th + td { border-left: 0 }
@media (max-width: 40rem) { tr { display: table-row } th[scope=row], td { display: table-cell } table { display: table } tbody { display: table-row-group } }
";

/// Languages with colours of their own; past them colours begin again.
const COLOURS: usize = 5;

fn piece(of: usize, used: Use, text: &str) -> String {
    let class = match (used, of) {
        (Use::All, _) => "s".to_owned(),
        (Use::Some, _) => "t".to_owned(),
        (Use::Own(0), 2) => "a".to_owned(),
        (Use::Own(_), 2) => "b".to_owned(),
        (Use::Own(place), _) => format!("l{}", place % COLOURS),
    };
    format!("<i class=\"{class}\">{}</i>", escape(text))
}

pub fn render(names: &[String], pairs: &[SentenceRow], caption: &str) -> String {
    let abreast = names.len() == 2;
    let legend: String = legend(names).iter().map(|(used, label)| piece(names.len(), *used, label)).collect();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>Paired sentences</title>\n<style>{STYLE}{}</style></head><body>\n<p>{}</p>\n\
         <p class=\"legend\">{legend}</p>\n<table>",
        if abreast { "" } else { STACKED },
        escape(caption),
    );
    if abreast {
        let heads: String = names.iter().map(|name| format!("<th>{}</th>", escape(name))).collect();
        writeln!(out, "<thead><tr>{heads}</tr></thead><tbody>").expect("writing to a string");
    }
    for SentenceRow(sides) in pairs {
        let cells = sides.iter().map(|side| {
            let word = |word: &Vec<(String, Use)>| {
                let pieces: String = word.iter().map(|(text, used)| piece(sides.len(), *used, text)).collect();
                format!("<span>{pieces}<u>␣</u></span><wbr>")
            };
            format!("<td>{}</td>", side.iter().map(word).collect::<String>())
        });
        if abreast {
            writeln!(out, "<tr>{}</tr>", cells.collect::<String>()).expect("writing to a string");
        } else {
            let row =
                |(name, cell): (&String, String)| format!("<tr><th scope=\"row\">{}</th>{cell}</tr>\n", escape(name));
            let rows: String = names.iter().zip(cells).map(row).collect();
            writeln!(out, "<tbody>\n{rows}</tbody>").expect("writing to a string");
        }
    }
    out.push_str(if abreast { "</tbody></table>\n</body></html>\n" } else { "</table>\n</body></html>\n" });
    out
}
