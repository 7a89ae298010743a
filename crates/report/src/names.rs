//! Names of files, and links to them.

use std::collections::BTreeSet;
use std::path::Path;

/// Letters and digits of a label, for a file name: `B†` becomes `Bm`, and text in brackets is left out.
pub fn slug(label: &str) -> String {
    let label = label.split(" (").next().unwrap_or(label);
    let spelled = label.replace('†', "m").replace('λ', "lambda").replace('β', "beta").replace('Γ', "Gamma");
    let mut slug = String::new();
    for letter in spelled.chars().map(|letter| if letter == ' ' { '-' } else { letter }) {
        if letter.is_ascii_alphanumeric() || letter == '.' || (letter == '-' && !slug.ends_with('-')) {
            slug.push(letter);
        }
    }
    slug
}

/// A file name for a report: `paper.html`, and `paper-2.html` where that is taken.
pub fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = |number: usize| if number == 1 { format!("{name}.html") } else { format!("{name}-{number}.html") };
    let free = (1..).map(numbered).find(|file| !taken.contains(file)).expect("some number is free");
    taken.insert(free.clone());
    free
}

/// A relative path as a link.
pub fn link(path: &Path) -> String {
    let part = |part: std::path::Component| {
        let text = part.as_os_str().to_string_lossy().into_owned();
        let byte = |byte: u8| {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        };
        text.bytes().map(byte).collect::<String>()
    };
    path.components().map(part).collect::<Vec<_>>().join("/")
}
