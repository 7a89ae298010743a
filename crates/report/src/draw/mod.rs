//! The drawing layer: layouts of small multiples, written as plain SVG.
//!
//! A figure says what to show ([`Layout`], [`Panel`], [`Mark`]); this layer decides where it goes. A layout is drawn at
//! column width or page width, for a file (colours written out, physical size) or for the page (colours as CSS
//! variables, so that light and dark are the page's matter, and targets to hover over).

mod axis;
mod canvas;
mod convert;
mod layout;
mod ordered;
mod palette;
mod panel;
mod text;

pub use axis::{Axis, Scale};
pub use canvas::{Canvas, Shape, Target};
pub use convert::Format;
pub use layout::{Layout, LegendEntry, Width, frame};
pub use palette::{Colour, DARK_CELL, LANGUAGE_COLOURS, MASKED_COLOURS, PALETTE, heat_class};
pub use panel::{LABEL, Mark, Panel, Point, TICK};
pub(crate) use text::escape;
pub use text::{plain, to_html, width_of};
