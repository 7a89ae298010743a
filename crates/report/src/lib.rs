//! Reports from runs and studies: statistics, every figure of the paper with its intervals, the four hypotheses
//! answered by stated rules, and one self-contained page.
//!
//! ```no_run
//! use invitro_report::{Options, build};
//! let built = build("studies/paper".as_ref(), &Options::default())?;
//! println!("{} runs in {}", built.runs, built.page.display());
//! # Ok::<(), invitro_report::Error>(())
//! ```
//!
//! [`Live`] serves the same page on 127.0.0.1 while a study runs. `data` places runs, `stats` computes, `findings`
//! decides, `figures` say what to draw, `draw` draws, `page` puts it together.

mod build;
mod compare;
pub mod data;
pub mod draw;
pub mod error;
mod family;
pub mod figures;
pub mod findings;
mod gallery;
mod http;
mod live;
mod names;
mod page;
pub mod sentences;
mod wording;

pub use build::{Built, Options, build};
pub use compare::{page as comparison_page, verdicts};
pub use draw::Format;
pub use error::{Error, Result};
pub use family::FamilyPicture;
pub use gallery::{Gallery, gallery};
pub use live::Live;
