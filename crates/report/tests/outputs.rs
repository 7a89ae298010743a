//! Figures as PDF and PNG: what the SVG shows, with all its words, in letters that the font has.

use crate::pdf;
use crate::report::force;
use crate::synthetic::{self, Plan};
use invitro_report::{ImageFormat, ReportOptions, build};
use std::fs;

/// The pixels of a PNG, and how many there are in a row.
fn pixels(png: &[u8]) -> (Vec<[u8; 3]>, usize) {
    let mut reader = png::Decoder::new(png).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size()];
    let shown = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((shown.color_type, shown.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    assert_eq!(reader.info().pixel_dims.unwrap().xppu, 11811, "300 to the inch");
    (bytes.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(), shown.width as usize)
}

/// The SVG without its texts.
fn wordless(svg: &str) -> String {
    let mut parts = svg.split("<text ");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |so_far, part| so_far + part.split_once("</text>").unwrap().1)
}

fn attribute(element: &str, name: &str) -> f64 {
    element.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
}

/// What a text of the SVG says.
fn said(element: &str) -> String {
    let inner = element.split_once('>').unwrap().1.split("</text>").next().unwrap();
    let letters = inner.split('<').enumerate().map(|(at, part)| match (at, part.split_once('>')) {
        (0, _) | (_, None) => part,
        (_, Some((_, after))) => after,
    });
    letters.collect::<String>().replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[test]
fn pdf_and_png_show_what_the_svg_does_with_all_its_words() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { data_seeds: 3, words: 10, ..Plan::small() });
    let built = build(folder.path(), &ReportOptions { formats: ImageFormat::ALL.into(), ..force() }).unwrap();
    let figures = folder.path().join("figures");
    let stems = ["bridge", "cascade", "effects", "maxima", "reachability", "sentences"];
    for stem in stems {
        let svg = fs::read_to_string(figures.join(format!("{stem}.svg"))).unwrap();
        let [pdf, png] = ["pdf", "png"].map(|ending| fs::read(figures.join(format!("{stem}.{ending}"))).unwrap());
        let read = pdf::text(&pdf);
        let (shown, across) = pixels(&png);
        assert_eq!(across, 1890, "160 mm at 300 dots to the inch");
        let (bare, _) = pixels(&ImageFormat::Png.convert(wordless(&svg)).unwrap());
        for element in svg.split("<text ").skip(1) {
            let words = said(element);
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            assert!(squeezed(&read).contains(&squeezed(&words)), "{stem}.pdf says {words:?}: {read}");
            // Letters begin, end or lie about where the text is put.
            let [x, y] = ["x", "y"].map(|name| attribute(element, name));
            let place = |at: f64, extent: usize| ((at * 300.0 / 72.0).max(0.0) as usize).min(extent);
            let (rows, columns) = (shown.len() / across, across);
            let ink = (place(y - 8.0, rows)..place(y + 5.0, rows)).any(|row| {
                let range = row * across + place(x - 8.0, columns)..row * across + place(x + 8.0, columns);
                shown[range.clone()] != bare[range]
            });
            assert!(ink || words.trim().is_empty(), "{stem}.png shows {words:?} at {x}, {y}");
        }
    }
    assert!(built.files > 3 * stems.len());
    // The same bytes again.
    let before = fs::read(figures.join("effects.pdf")).unwrap();
    build(folder.path(), &ReportOptions { formats: vec![ImageFormat::Pdf], ..force() }).unwrap();
    assert!(before == fs::read(figures.join("effects.pdf")).unwrap(), "the same PDF");
    assert!(!figures.join("effects.svg").exists(), "only what was asked for");
}

/// A letter that the font lacks would be drawn as a box.
#[test]
fn the_font_has_every_letter_that_figures_use() {
    let draw = |text: &str, style: &str| {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9mm\" height=\"9mm\" viewBox=\"0 0 25 25\" \
             font-family=\"Helvetica, Arial, sans-serif\"><text x=\"5\" y=\"18\" font-size=\"12\" {style}>{text}</text></svg>"
        );
        ImageFormat::Png.convert(svg).unwrap()
    };
    for style in ["", "font-weight=\"bold\"", "font-style=\"italic\"", "font-weight=\"bold\" font-style=\"italic\""] {
        let boxed = draw("\u{e000}", style);
        for letter in "aZ09éłЖαβλΓρσ†‡·…–−×±≤≥≈≠→₀₁₂²³°§%|".chars() {
            assert!(draw(&letter.to_string(), style) != boxed, "{letter} {style}");
        }
        assert!(draw("β̂", style) != draw("β", style), "the hat {style}");
    }
    assert!(draw("β̂", "") != draw("<tspan font-style=\"italic\">β̂</tspan>", ""), "faces differ");
    // The scripts of languages, whose words stand in letters of one width.
    let mono = "font-family=\"monospace\"";
    let boxed = draw("\u{e000}", mono);
    for script in ["яйз", "ϟϡς", "აზჟ", "աք", "ⴰⵣ", "ᎠᏎ", "ᚨᛪ", "አዘ"] {
        for letter in script.chars() {
            assert!(draw(&letter.to_string(), mono) != boxed, "{letter}");
        }
    }
}
