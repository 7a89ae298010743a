//! As much of PDF as it takes to read back the text of a page: streams, fonts, and what their letters stand for.

use std::collections::HashMap;

/// The text of a file, letter by letter in the order of its content; a line feed where a text ends.
pub fn text(pdf: &[u8]) -> String {
    assert!(pdf.starts_with(b"%PDF-1.") && pdf.trim_ascii_end().ends_with(b"%%EOF"));
    let objects = objects(pdf);
    let page = objects.values().find(|it| it.head.contains("/Type /Page\n")).expect("a page");
    let fonts = page.head.split("/Font <<").nth(1).expect("fonts").split(">>").next().unwrap();
    let letters: HashMap<&str, HashMap<u16, String>> = fonts
        .lines()
        .filter_map(|line| line.trim().split_once(' '))
        .map(|(name, reference)| {
            let font = &objects[&number(reference)];
            assert!(font.head.contains("/Type /Font"));
            let cmap = &objects[&number(font.head.split("/ToUnicode ").nth(1).expect("a way back to text"))];
            (name, cmap_letters(&String::from_utf8_lossy(&cmap.stream)))
        })
        .collect();
    let content = &objects[&number(page.head.split("/Contents ").nth(1).expect("content"))];
    let content = String::from_utf8_lossy(&content.stream).into_owned();
    let (mut text, mut font) = (String::new(), "");
    for line in content.lines() {
        if line.ends_with(" Tf") {
            font = line.split(' ').next().unwrap();
        } else if let Some(shown) = line.strip_prefix('(').and_then(|line| line.strip_suffix(") Tj")) {
            let bytes = unescaped(shown);
            text.push_str(&letters[font][&u16::from_be_bytes([bytes[0], bytes[1]])]);
        } else if line.ends_with(" Tr") {
            text.push('\n');
        }
    }
    text
}

struct Object {
    head: String,
    /// Unpacked.
    stream: Vec<u8>,
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}

fn number(reference: &str) -> u32 {
    reference.split(' ').next().unwrap().parse().unwrap()
}

fn objects(pdf: &[u8]) -> HashMap<u32, Object> {
    let mut objects = HashMap::new();
    let mut rest = pdf;
    while let Some(begin) = find(rest, b" 0 obj\n") {
        let line = rest[..begin].rsplit(|byte| *byte == b'\n').next().unwrap();
        let number = std::str::from_utf8(line).unwrap().parse().unwrap();
        let body = &rest[begin..];
        let end = find(body, b"\nendobj").unwrap();
        let (head, stream) = match find(&body[..end], b"\nstream\n") {
            None => (&body[..end], Vec::new()),
            Some(at) => {
                let length = find(&body[at..end], b"\nendstream").unwrap();
                let packed = &body[at + 8..at + length];
                let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib(packed);
                (&body[..at], unpacked.unwrap_or_else(|_| packed.to_vec()))
            }
        };
        objects.insert(number, Object { head: String::from_utf8_lossy(head).into_owned(), stream });
        rest = &body[end..];
    }
    objects
}

/// `<0001> <03B20302>`, a line each.
fn cmap_letters(cmap: &str) -> HashMap<u16, String> {
    let letter = |line: &str| {
        let (glyph, text) = line.strip_prefix('<')?.strip_suffix('>')?.split_once("> <")?;
        let units = (0..text.len()).step_by(4).map(|at| u16::from_str_radix(&text[at..at + 4], 16).unwrap());
        Some((u16::from_str_radix(glyph, 16).ok()?, String::from_utf16(&units.collect::<Vec<_>>()).unwrap()))
    };
    cmap.split("beginbfchar").skip(1).flat_map(str::lines).filter_map(letter).collect()
}

fn unescaped(literal: &str) -> Vec<u8> {
    let (mut bytes, mut letters) = (Vec::new(), literal.bytes().peekable());
    while let Some(byte) = letters.next() {
        let escape = if byte == b'\\' { letters.next() } else { None };
        bytes.push(match escape {
            None => byte,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(first @ b'0'..=b'7') => {
                let mut next = || letters.next_if(|byte| (b'0'..=b'7').contains(byte)).map(|byte| byte - b'0');
                let mut value = first - b'0';
                for digit in [next(), next()].into_iter().flatten() {
                    value = value * 8 + digit;
                }
                value
            }
            Some(other) => other,
        });
    }
    bytes
}
