//! One run: its folder, its columns, its curves, and its identity.

pub(crate) mod commit;
pub(crate) mod curve;
pub(crate) mod family;
pub mod folder;
pub mod identity;
#[allow(clippy::module_inception, reason = "the run itself")]
mod run;
pub(crate) mod seal;
pub(crate) mod sorted_map;
pub mod training;

pub(crate) use run::shared;
pub use run::{Run, State, Value, column};
