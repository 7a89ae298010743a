//! The tables of runs and studies: written, read, made small.

pub mod compact;
pub(crate) mod find;
pub mod metrics;
pub(crate) mod read;
pub mod summary;
pub mod table;
pub mod words;
