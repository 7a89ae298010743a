//! The palette. Languages take their colours by place: the first is blue and the second red, as in the paper. Masked
//! conditions are far darker (on dark, far lighter) than all languages; the first is violet.
//!
//! `tests/vision.rs` simulates protan, deutan and tritan sight: no two of the first three languages and the first two masked
//! conditions, and no neighbours on the ramp, come closer than an OKLab difference of 0.1; further ones are told apart by
//! their marker too. Lines and marks have a contrast of at least 3 to 1 against the background. Ordered levels (λ, d,
//! |V|) take a ramp of monotone lightness.

/// A colour by its meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Colour {
    /// A language, by its place.
    Language(usize),
    /// A masked condition, by its place among them.
    Masked(usize),
    /// A level of an ordered factor: its place, and how many there are.
    Level(usize, usize),
    /// The cell of a heat map, from 0 to 1, and down to −1 where values may be negative.
    Heat(f64),
    Text,
    Muted,
    Grid,
    Background,
    /// A reference beside the network: an n-gram model, an entropy floor.
    Null,
}

/// Name, colour on light, colour on dark.
pub const PALETTE: &[(&str, &str, &str)] = &[
    ("l0", "#287ab8", "#4c9bdb"),
    ("l1", "#da4167", "#f0708f"),
    ("l2", "#617209", "#a9c719"),
    ("l3", "#b35c00", "#f0a04b"),
    ("l4", "#2e8b57", "#5fc98a"),
    ("m0", "#4b2a6b", "#ebd9ff"),
    ("m1", "#0a2a16", "#82f59e"),
    ("m2", "#5e2d00", "#ffdcb8"),
    ("m3", "#3f3a00", "#f3eda6"),
    ("text", "#1b1f24", "#e8eaed"),
    ("muted", "#5d6671", "#a3abb5"),
    ("grid", "#e3e6ea", "#2c323a"),
    ("background", "#ffffff", "#14171c"),
    ("null", "#6b7480", "#9aa4b0"),
    ("s0", "#330d31", "#905399"),
    ("s1", "#3a2e68", "#7d7ee4"),
    ("s2", "#255d74", "#66b5e2"),
    ("s3", "#178770", "#a3d9c2"),
    ("s4", "#a89408", "#f0f575"),
    ("h0", "#f2f5fa", "#1d232c"),
    ("h1", "#dbe6f2", "#213449"),
    ("h2", "#c0d6ea", "#244563"),
    ("h3", "#9fc2df", "#27577d"),
    ("h4", "#79abd2", "#2d6b99"),
    ("h5", "#2f77b0", "#4388ba"),
    ("h6", "#22659c", "#62a0cb"),
    ("h7", "#174f80", "#8dbcdd"),
    ("h8", "#0d3a63", "#bfdaee"),
    ("n1", "#f7e3e3", "#402529"),
    ("n2", "#f1cdcc", "#5a2c32"),
    ("n3", "#e8b0af", "#77343c"),
    ("n4", "#dc8d8d", "#963d47"),
    ("n5", "#bb4a50", "#c0606a"),
    ("n6", "#9f353e", "#d18189"),
    ("n7", "#83242f", "#e0a3a8"),
    ("n8", "#651722", "#efc7c9"),
];

/// How many colours there are for languages, and for masked conditions.
pub const LANGUAGE_COLOURS: usize = 5;
pub const MASKED_COLOURS: usize = 4;

/// The steps of the heat map's ramp.
const HEATS: usize = 9;

/// From this step of it on, numbers are written in the colour of the background.
pub const DARK_CELL: usize = 5;

/// Which step of the ramp a share falls on, whatever its sign.
pub fn heat_class(share: f64) -> usize {
    ((share.abs() * HEATS as f64) as usize).min(HEATS - 1)
}

impl Colour {
    /// Its name in the palette, and as a CSS variable.
    pub fn name(self) -> &'static str {
        match self {
            // Past the end the colours begin again, and the markers differ.
            Colour::Language(place) => ["l0", "l1", "l2", "l3", "l4"][place % LANGUAGE_COLOURS],
            Colour::Masked(place) => ["m0", "m1", "m2", "m3"][place % MASKED_COLOURS],
            Colour::Level(place, of) => {
                const RAMPS: [&[usize]; 5] = [&[1], &[0, 3], &[0, 2, 4], &[0, 1, 3, 4], &[0, 1, 2, 3, 4]];
                let ramp = RAMPS[of.clamp(1, 5) - 1];
                // Past five levels neighbours share a step, in order.
                let step = if of > 5 { place * 5 / of } else { place };
                ["s0", "s1", "s2", "s3", "s4"][ramp[step.min(ramp.len() - 1)]]
            }
            Colour::Heat(share) if share < 0.0 => {
                ["h0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"][heat_class(share)]
            }
            Colour::Heat(share) => ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"][heat_class(share)],
            Colour::Text => "text",
            Colour::Muted => "muted",
            Colour::Grid => "grid",
            Colour::Background => "background",
            Colour::Null => "null",
        }
    }

    pub(super) fn on_light(self) -> &'static str {
        let name = self.name();
        PALETTE.iter().find(|entry| entry.0 == name).map_or("#000000", |entry| entry.1)
    }
}
