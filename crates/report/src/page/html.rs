//! Tables as HTML.

use crate::draw::{escape, plain_text, to_html};

/// `<tr>` of cells that are HTML already.
fn row(tag: &str, cells: impl IntoIterator<Item = String>) -> String {
    let cells: String = cells.into_iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
    format!("<tr>{cells}</tr>")
}

/// A table of HTML cells, in a box that scrolls where the table is larger. The heads of a `sortable` one are buttons.
pub fn table(class: &str, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let sortable = class.split(' ').any(|name| name == "sortable");
    let head = |name: &&str| {
        let name = to_html(name);
        if sortable && !name.is_empty() {
            format!("<th scope=\"col\" aria-sort=\"none\"><button type=\"button\">{name}</button></th>")
        } else if name.is_empty() {
            "<td></td>".into()
        } else {
            format!("<th scope=\"col\">{name}</th>")
        }
    };
    let heads: String = header.iter().map(head).collect();
    let rows: String = rows.into_iter().map(|cells| row("td", cells) + "\n").collect();
    let names: Vec<String> = header.iter().filter(|name| !name.is_empty()).map(|name| plain_text(name)).collect();
    scrolling(
        &format!("Table of {}", names.join(", ")),
        &format!("<table class=\"{class}\"><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table>"),
    )
}

/// A box that scrolls, shows at its edges that it does, and can be scrolled by keyboard.
pub fn scrolling(label: &str, content: &str) -> String {
    let label = escape(label);
    format!(
        "<div class=\"more\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">{content}</div></div>\n"
    )
}
