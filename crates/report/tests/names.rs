//! Names of files, links, days and symbols; data inside pages.

use crate::file_names::{free_name, link, slug};
use crate::pack::base64;
use crate::wording::{date, gloss};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn file_names_are_plain() {
    assert_eq!(slug("B†"), "Bm");
    assert_eq!(slug("by λ"), "by-lambda");
    assert_eq!(slug("any target (the paper's)"), "any-target");
}

#[test]
fn links_survive_odd_names() {
    assert_eq!(link(Path::new("a b/100 %#1/report.html")), "a%20b/100%20%25%231/report.html");
    let mut taken = BTreeSet::new();
    let names: Vec<_> = (0..3).map(|_| free_name("paper", &mut taken)).collect();
    assert_eq!(names, ["paper.html", "paper-2.html", "paper-3.html"]);
}

#[test]
fn days_have_their_dates() {
    for (seconds, day) in [
        (0, "1970-01-01"),
        (951_782_400, "2000-02-29"),
        (951_868_800, "2000-03-01"),
        (1_767_225_599, "2025-12-31"),
        (1_767_225_600, "2026-01-01"),
        (4_107_542_400, "2100-03-01"),
    ] {
        assert_eq!(date(seconds), day);
    }
}

#[test]
fn symbols_are_told_in_words() {
    assert_eq!(gloss("desc.4.22"), "descriptor: property 4, value 22");
    assert_eq!(gloss("rel.7"), "relation 7");
    assert_eq!(gloss("value:3:9"), "value 3 9");
}

#[test]
fn base64_pads_to_four() {
    let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"), ("\u{ff}?", "w78/")];
    for (text, expected) in cases {
        assert_eq!(base64(text.as_bytes()), expected);
    }
}
