//! Formats and names of what runs leave.

mod claim_files;
mod claims;
mod compact;
mod foreign_tables;
mod formats;
mod kinds;
mod metrics;
mod names;
mod parts;
mod plan;
mod planning;
mod sorted_map;
mod verdicts;

// Tested alone.
#[path = "../src/study/diagonal.rs"]
mod diagonal;
