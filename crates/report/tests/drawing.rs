//! The drawing layer: axes, text, and colours that can be seen.

use invitro_report::draw::{Axis, DARK_CELL, PALETTE, plain_text, to_html, width_of};

#[test]
fn ticks_are_round_and_inside() {
    let labels = |axis: &Axis| axis.ticks.iter().map(|tick| tick.1.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!(labels(&Axis::share("")), "0 0.25 0.5 0.75 1");
    assert_eq!(labels(&Axis::steps(10_000)), "0 5k 10k");
    assert_eq!(labels(&Axis::log_progress("step", 250.0, 10_000.0, false)), "500 1k 2k 5k 10k");
    assert_eq!(labels(&Axis::progress("tokens seen", 6e6)), "0 2M 4M 6M");
    assert_eq!(labels(&Axis::around("", [-0.02, 0.09].into_iter())), "−0.025 0 0.025 0.05 0.075");
    assert_eq!(labels(&Axis::around("", [0.1, 0.9].into_iter())), "0 0.25 0.5 0.75");
    assert_eq!(labels(&Axis::tight("", [0.4, 0.9].into_iter())), "0.4 0.6 0.8");
    assert_eq!(labels(&Axis::around("", std::iter::empty())), "0 0.25 0.5 0.75 1");
}

#[test]
fn what_was_measured_before_training_has_its_place_on_a_log_axis() {
    let axis = Axis::log_progress("step", 250.0, 40_000.0, true);
    assert_eq!((axis.ticks[0].1.as_str(), axis.place(0.0), axis.place(40_000.0)), ("0", 0.0, 1.0));
    assert!(axis.place(250.0) > 0.05, "apart from the first step");
}

#[test]
fn one_value_still_has_room_around_it() {
    let axis = Axis::around("", [2.0].into_iter());
    let place = axis.place(2.0);
    assert!(place > 0.2 && place < 0.8, "{place}");
}

#[test]
fn italics_and_escapes() {
    assert_eq!(to_html("|*V*| < 3 & *λ*"), "|<i>V</i>| &lt; 3 &amp; <i>λ</i>");
    assert_eq!(plain_text("Top-*K*"), "Top-K");
    assert!(width_of("|*V*|") < width_of("2048"));
}

fn luminance(hex: &str) -> f64 {
    let part = |at: usize| {
        let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

#[test]
fn marks_and_text_stand_out_on_both_backgrounds() {
    let background = PALETTE.iter().find(|entry| entry.0 == "background").unwrap();
    for &(name, light, dark) in PALETTE {
        let least = match name {
            "text" | "muted" => 4.5,
            "null" => 3.0,
            name if name.starts_with(['l', 'm', 's']) => 3.0,
            _ => continue,
        };
        assert!(contrast(light, background.1) >= least, "{name} on light: {:.2}", contrast(light, background.1));
        assert!(contrast(dark, background.2) >= least, "{name} on dark: {:.2}", contrast(dark, background.2));
    }
}

#[test]
fn ramps_are_monotone_in_lightness() {
    for ramp in ["s", "h"] {
        let steps: Vec<_> = PALETTE.iter().filter(|entry| entry.0.len() == 2 && entry.0.starts_with(ramp)).collect();
        for pair in steps.windows(2) {
            let light = luminance(pair[1].1) - luminance(pair[0].1);
            assert!(if ramp == "s" { light > 0.0 } else { light < 0.0 }, "{}", pair[1].0);
            assert!(luminance(pair[1].2) > luminance(pair[0].2), "{}", pair[1].0);
        }
    }
}

#[test]
fn the_numbers_in_map_cells_can_be_read() {
    let text = PALETTE.iter().find(|entry| entry.0 == "text").unwrap();
    let background = PALETTE.iter().find(|entry| entry.0 == "background").unwrap();
    for (step, (name, light, dark)) in PALETTE.iter().filter(|e| e.0.len() == 2 && e.0.starts_with('h')).enumerate() {
        let written = if step >= DARK_CELL { background } else { text };
        assert!(contrast(light, written.1) >= 4.5, "{name} on light: {:.2}", contrast(light, written.1));
        assert!(contrast(dark, written.2) >= 4.5, "{name} on dark: {:.2}", contrast(dark, written.2));
    }
}
