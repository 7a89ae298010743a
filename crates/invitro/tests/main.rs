//! The command line, as users call it; and, below, parts of the program that are tested alone.

mod bad_input;
mod check;
mod common;
mod completions;
mod config;
mod corpus;
mod dependencies;
mod docs;
mod export;
mod force;
mod groups;
mod inside;
mod language;
mod numbers;
mod on_terminal;
mod own_text;
mod packages;
mod pairs;
mod results;
mod run;
mod run_faults;
mod slurm_cluster;
mod study_cli;
mod study_common;
mod study_damage;
mod study_kills;
mod study_slurm;
mod tokenizer;
mod told;

#[allow(dead_code)]
#[path = "../src/bar.rs"]
mod bar;
#[allow(dead_code)]
#[path = "../src/columns.rs"]
mod columns;
#[allow(dead_code)]
#[path = "../src/comments.rs"]
mod comments;
#[allow(dead_code)]
#[path = "../src/study/format.rs"]
mod format;
#[allow(dead_code)]
#[path = "../src/pace.rs"]
mod pace;
#[allow(dead_code)]
#[path = "../src/table.rs"]
mod table;
#[allow(dead_code)]
#[path = "../src/terminal.rs"]
mod terminal;
