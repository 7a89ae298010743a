//! The drawing layer: layouts of small multiples, written as plain SVG.
//!
//! A figure says what to show ([`FigureLayout`], [`PlotPanel`], [`PanelMark`]); this layer decides where it goes. A layout is drawn at
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

pub use axis::{Axis, AxisScale};
pub use canvas::{Canvas, DrawTarget, MarkerShape};
pub use convert::ImageFormat;
pub use layout::{FigureLayout, LegendEntry, Width, frame};
pub use palette::{Colour, DARK_CELL, LANGUAGE_COLOURS, MASKED_COLOURS, PALETTE, heat_class};
pub use panel::{LABEL, PanelMark, PlotPanel, PlotPoint, TICK};
pub(crate) use text::escape;
pub use text::{plain_text, to_html, width_of};
