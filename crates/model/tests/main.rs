//! The training engine; below, a part that is tested alone.

mod checkpoint;
mod common;
mod export;
mod gradients;
mod gradients_without_update;
mod hidden;
mod history;
mod inference;
mod kernels;
mod levels;
mod operations;
mod population;
mod reference;
mod settings;

#[path = "../src/history.rs"]
mod ring;
