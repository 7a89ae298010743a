//! What is measured, and its name on disk.

pub(crate) mod condition;
pub(crate) mod inside;
pub(crate) mod measure;
mod names;
pub(crate) mod quantity;
pub(crate) mod reach;
