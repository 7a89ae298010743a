//! Changes of words along a branch: stems, affixes, script.

pub(crate) mod affixes;
pub(crate) mod drift;
pub(crate) mod script;
