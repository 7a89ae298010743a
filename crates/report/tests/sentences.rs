//! Sentences side by side, as a page, a drawing and LaTeX.

use invitro_report::draw::{DrawTarget, Width};
use invitro_report::sentences::{PairedSentences, SentenceRow, Side};

fn words(words: &[&[&str]]) -> Side {
    words.iter().map(|word| word.iter().map(|piece| (*piece).to_owned()).collect()).collect()
}

#[test]
fn the_three_formats_say_the_same() {
    let pair = SentenceRow::new([words(&[&["Lab"], &["fe", "koc"]]), words(&[&["Lab"], &["koc"]])]);
    assert_eq!(pair.shared_share(), 4.0 / 5.0);
    assert_eq!(pair.text(), ["Lab fe·koc", "Lab koc"]);
    let table = PairedSentences { names: ["A", "B"].map(str::to_owned).into(), colours: vec![0, 1], pairs: vec![pair] };
    let tex = table.latex("Caption.");
    assert!(tex.contains(r"\tokbox{tokAOnly}{fe}\tokbox{tokShared}{koc}\wordend"), "{tex}");
    let html = table.html("Caption.");
    assert!(html.contains("<i class=\"a\">fe</i><i class=\"s\">koc</i>"), "{html}");
    let svg = table.svg(Width::Page, DrawTarget::File, "Description.");
    assert_eq!(svg.matches(">koc<").count(), 2, "{svg}");
    let boxes = svg.matches("height=\"9\"").count();
    assert_eq!(boxes, 5, "four shared pieces, and the legend");
}

#[test]
fn more_languages_stand_one_under_another() {
    let sides = [words(&[&["Lab"], &["fe", "koc"]]), words(&[&["Lab"], &["koc"]]), words(&[&["Lab"], &["жи"]])];
    let pair = SentenceRow::new(sides);
    assert_eq!(pair.shared_share(), 5.0 / 7.0);
    let table = PairedSentences {
        names: ["A", "B", "North"].map(str::to_owned).into(),
        colours: vec![0, 1, 2],
        pairs: vec![pair],
    };
    let svg = table.svg(Width::Page, DrawTarget::File, "Description.");
    assert_eq!(svg.matches("height=\"9\"").count(), 5 + 2, "five shared pieces, and two kinds in the legend");
    assert!(svg.contains(">North only<") && svg.contains(">in all<") && svg.contains(">in several<"), "{svg}");
    let html = table.html("Caption.");
    assert!(html.contains("<i class=\"l0\">fe</i><i class=\"t\">koc</i>"), "{html}");
    assert!(html.contains("<i class=\"l2\">жи</i>") && html.contains("<th scope=\"row\">North</th>"), "{html}");
    let tex = table.latex("Caption.");
    assert!(tex.contains(r"\tokbox{tokOnlyA}{fe}\tokbox{tokSome}{koc}\wordend"), "{tex}");
    assert!(tex.contains(r"\tokbox{tokOnlyC}{жи}") && tex.contains("fontspec"), "{tex}");
}
