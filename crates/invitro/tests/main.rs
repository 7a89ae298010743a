//! The command line, as users call it.

mod bad_input;
mod check;
mod common;
mod config;
mod corpus;
mod dependencies;
mod docs;
mod force;
mod language;
mod own_text;
mod packages;
mod results;
mod run;
mod run_faults;
mod slurm_cluster;
mod study_cli;
mod study_common;
mod study_kills;
mod study_slurm;
mod tensorboard;
mod terminal;
mod tokenizer;
