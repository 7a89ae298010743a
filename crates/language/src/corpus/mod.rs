//! Sentences, tasks, conditions, the rows of a training mixture, and the checks of a text.

pub(crate) mod check;
pub(crate) mod condition;
pub(crate) mod exposure;
pub(crate) mod finite;
pub(crate) mod frequency;
pub(crate) mod held_out;
pub(crate) mod mixture;
pub(crate) mod process;
pub(crate) mod reorder;
pub(crate) mod sampler;
pub(crate) mod sentence;
pub(crate) mod source;
pub mod task;
