//! How a word changes along a branch: edits of its stem, affixes, and the script it is written in.

pub(crate) mod affixes;
pub(crate) mod drift;
pub(crate) mod script;
