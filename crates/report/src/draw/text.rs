//! Labels in the paper's notation: `*` around what is italic, as in `|*V*|` or `Top-*K*`.

/// The label split into (italic?, text) parts: `"|*V*|"` gives `|`, italic `V`, `|`.
pub(super) fn parts(markup: &str) -> impl Iterator<Item = (bool, &str)> {
    markup.split('*').enumerate().map(|(place, part)| (place % 2 == 1, part)).filter(|(_, part)| !part.is_empty())
}

/// Without the marks.
pub fn plain_text(markup: &str) -> String {
    markup.replace('*', "")
}

/// As HTML, escaped.
pub fn to_html(markup: &str) -> String {
    parts(markup)
        .map(|(italic, part)| {
            let part = escape(part);
            if italic { format!("<i>{part}</i>") } else { part }
        })
        .collect()
}

/// Text for HTML, SVG and their attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(letter),
        }
    }
    out
}

/// The width of a label at size 1 in a Helvetica-like face, and a little more: pages are also shown in wider ones.
pub fn width_of(markup: &str) -> f64 {
    let letter = |letter: char| match letter {
        'i' | 'j' | 'l' | '|' | '.' | ',' | ':' | ';' | '\'' | '!' | ' ' | 'I' => 0.28,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.34,
        'm' | 'w' | 'M' | 'W' | '%' | '—' => 0.86,
        '\u{300}'..='\u{36f}' => 0.0,
        'A'..='Z' | '†' | '×' | '≥' | '−' => 0.66,
        '*' => 0.0,
        _ => 0.556,
    };
    1.1 * markup.chars().map(letter).sum::<f64>()
}
