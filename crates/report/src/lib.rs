//! Reports from runs and studies: the claims of a study answered in words, every figure of the paper with its intervals, and
//! one self-contained page.
//!
//! ```no_run
//! use invitro_report::{ReportOptions, build};
//! let built = build("studies/paper".as_ref(), &ReportOptions::default())?;
//! println!("{} runs in {}", built.runs, built.page.display());
//! # Ok::<(), invitro_report::Error>(())
//! ```
//!
//! [`Live`] serves the same page on 127.0.0.1 while a study runs. `claims` writes what `results` estimated and
//! tested, `figures` say what to draw, `draw` draws, `page` puts it together.

mod build;
pub mod claims;
mod compare;
pub mod data;
pub mod draw;
pub mod error;
mod family;
pub mod figures;
mod gallery;
mod http;
mod live;
mod names;
mod own;
mod page;
pub mod sentences;
mod wording;

pub use build::{Built, ReportOptions, build, build_comparison};
pub use compare::{findings as comparison_findings, page as comparison_page, reading as comparison_reading};
pub use draw::ImageFormat;
pub use error::{Error, Result};
pub use family::FamilyPicture;
pub use gallery::{Gallery, gallery};
pub use live::Live;
