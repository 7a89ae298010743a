//! The ground floor: what every other crate uses and what knows nothing of languages or models.
//!
//! - [`files`]: files and folders that are written completely or not at all; [`sealed`]: files with a checksum
//! - [`named_files`]: files that a config refers to, identified by their content; [`limits`]: how large inputs may be
//! - [`random`]: named, counter-keyed random streams
//! - [`names`]: enums whose values have one name in files, arguments and messages
//! - [`mod@settings`]: every setting of an experiment, a table per section; [`dotted`]: settings under dotted keys
//! - [`catch_panic`]: errors from libraries that panic on damaged files

pub mod dotted;
pub mod files;
pub mod limits;
pub mod named_files;
pub mod names;
mod panics;
pub mod random;
pub mod sealed;
pub mod settings;

pub use panics::catch_panic;
