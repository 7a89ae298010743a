//! Runs and studies.

mod common;
mod evaluation;
mod executor;
mod experiment;
mod folders;
mod keys;
mod own;
mod probes;
mod reach;
mod run;
mod study_common;
mod study_leases;
mod study_plan;
mod study_size;
mod study_work;
mod transfer;
