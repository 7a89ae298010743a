//! Formats and names of what runs leave.

mod formats;
mod names;
mod parts;
mod verdicts;
