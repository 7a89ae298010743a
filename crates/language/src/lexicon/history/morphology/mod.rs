//! Kinds of words beside prefix, stem and suffix: each file makes a word of a stem by one of them.

pub(crate) mod fusional;
pub(crate) mod harmony;
pub(crate) mod reduplicating;
pub(crate) mod templatic;
