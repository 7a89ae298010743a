//! A PDF with its objects in an order that follows from what it shows: `svg2pdf` keeps fonts and graphics states in hash
//! maps, and would write the same figure in other bytes each time.
//!
//! Objects are numbered as they are met, from the root on, and the entries of a dictionary of resources are sorted.

use std::collections::{BTreeMap, VecDeque};

/// The same document, or `None` where it is not written as `pdf-writer` does.
pub fn ordered(pdf: &[u8]) -> Option<Vec<u8>> {
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
    let table = rfind(pdf, b"\nxref\n")? + 1;
    let ending = text(&pdf[table..])?;
    let mut offsets = BTreeMap::new();
    for (number, line) in ending.lines().skip(2).take_while(|line| !line.starts_with("trailer")).enumerate() {
        if line.trim_end().ends_with('n') {
            offsets.insert(line.get(..10)?.parse::<usize>().ok()?, number);
        }
    }
    let first = *offsets.keys().next()?;
    let ends = offsets.keys().copied().skip(1).chain([table]);
    let mut objects = BTreeMap::new();
    for ((&begin, &number), end) in offsets.iter().zip(ends) {
        let whole = pdf.get(begin..end)?;
        let at = whole.windows(8).position(|part| part == b"\nstream\n").unwrap_or(whole.len());
        let head = text(&whole[..at])?;
        let head = head.split_once(" 0 obj\n")?.1;
        objects.insert(number, (sorted(head), &whole[at..]));
    }
    let trailer = ending.split_once("trailer\n")?.1.split_once("startxref")?.0;
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut order = Vec::new();
    let mut waiting: VecDeque<usize> = references(trailer).map(|(_, number)| number).collect();
    while let Some(number) = waiting.pop_front() {
        if places.contains_key(&number) {
            continue;
        }
        order.push(number);
        places.insert(number, order.len());
        waiting.extend(references(&objects.get(&number)?.0).map(|(_, number)| number));
    }
    let mut out = pdf[..first].to_vec();
    let mut list = format!("xref\n0 {}\n0000000000 65535 f\r\n", order.len() + 1);
    for number in &order {
        let (head, rest) = &objects[number];
        list.push_str(&format!("{:010} 00000 n\r\n", out.len()));
        out.extend_from_slice(format!("{} 0 obj\n{}", places[number], renumbered(head, &places)).as_bytes());
        out.extend_from_slice(rest);
    }
    let begin = out.len();
    let size = |line: &str| match line.trim_start().strip_prefix("/Size ") {
        Some(_) => format!("  /Size {}\n", order.len() + 1),
        None => format!("{line}\n"),
    };
    let trailer: String = renumbered(trailer, &places).lines().map(size).collect();
    out.extend_from_slice(format!("{list}trailer\n{trailer}startxref\n{begin}\n%%EOF").as_bytes());
    Some(out)
}

fn rfind(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).rposition(|part| part == wanted)
}

/// Where `12 0 R` stands, and what it refers to.
fn references(head: &str) -> impl Iterator<Item = (std::ops::Range<usize>, usize)> {
    head.match_indices(" 0 R").filter_map(|(end, _)| {
        let digits = head[..end].bytes().rev().take_while(u8::is_ascii_digit).count();
        Some((end - digits..end, head[end - digits..end].parse().ok()?))
    })
}

fn renumbered(head: &str, places: &BTreeMap<usize, usize>) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for (range, number) in references(head) {
        out.push_str(&head[from..range.start]);
        out.push_str(&places.get(&number).copied().unwrap_or(0).to_string());
        from = range.end;
    }
    out + &head[from..]
}

/// With neighbouring lines that name a resource each in the order of their names: `/fo0 1 0 R`, `/fo1 2 0 R`.
fn sorted(head: &str) -> String {
    let key = |line: &str| {
        let name = line.trim_start().strip_prefix('/')?.strip_suffix(" 0 R")?.split_once(' ')?.0;
        let is_resource = name.ends_with(|last: char| last.is_ascii_digit());
        is_resource.then(|| (name.len(), name.to_owned()))
    };
    let mut lines: Vec<&str> = head.split('\n').collect();
    for named in lines.chunk_by_mut(|a, b| key(a).is_some() && key(b).is_some()) {
        named.sort_by_key(|line| key(line));
    }
    lines.join("\n")
}
