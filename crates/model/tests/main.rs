//! The training engine.

mod checkpoint;
mod common;
mod export;
mod gradients;
mod inference;
mod kernels;
mod levels;
mod operations;
mod population;
mod reference;
mod settings;
