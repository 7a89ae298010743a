//! The drawing layer: plates of small multiples, written as plain SVG.
//!
//! A figure says what to show ([`Plate`], [`Panel`], [`Mark`]); this layer decides where it goes. One plate is drawn
//! at column width or page width, for a file (colours written out, physical size) or for the page (colours as CSS
//! variables, so that light and dark are the page's matter, and targets to hover over).

mod axis;
mod canvas;
mod ink;
mod panel;
mod plate;
mod text;

pub use axis::{Axis, Scale};
pub use canvas::{Canvas, Shape, Target};
pub use ink::{Ink, PALETTE, heat_class};
pub use panel::{At, Mark, Panel};
pub use plate::{Entry, Plate, Width, frame};
pub(crate) use text::escape;
pub use text::{plain, to_html, width_of};
