//! Tables and p-values as HTML.

use crate::draw::to_html;
use invitro_results::digits;

/// `<tr>` of cells that are HTML already.
fn row(tag: &str, cells: impl IntoIterator<Item = String>) -> String {
    let cells: String = cells.into_iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
    format!("<tr>{cells}</tr>")
}

/// A table of HTML cells.
pub fn table(class: &str, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head = row("th", header.iter().map(|name| to_html(name)));
    let rows: String = rows.into_iter().map(|cells| row("td", cells) + "\n").collect();
    format!(
        "<div class=\"scroll\"><table class=\"{class}\"><thead>{head}</thead><tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// A p-value.
pub fn p_value(p: f64) -> String {
    if p < 0.0001 { "&lt; 0.0001".into() } else { digits(p) }
}
