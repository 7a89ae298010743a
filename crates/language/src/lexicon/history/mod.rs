//! Changes of words along a branch: stems (edits or sound laws), affixes, script.

pub(crate) mod affixes;
pub(crate) mod drift;
pub(crate) mod laws;
pub(crate) mod morphology;
pub(crate) mod script;
