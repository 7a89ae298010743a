//! The contract between those who run experiments and those who read results.
//!
//! - [`Condition`], [`Measure`], [`Quantity`]: what is measured, with its name on disk
//! - [`Row`], [`metrics`], [`training`], [`summary`], [`words`], [`folder`]: what a run writes; [`table`]: Parquet;
//!   [`compact`]: tables made small
//! - [`Plan`]: what a study sets out to run; [`mod@identity`]: which run a config stands for
//! - [`read()`]: a run's or a study's folder as [`Results`]; [`Study`]: its [`Run`]s placed among seeds and levels
//! - [`Curve`]: peak, end, decline and emergence
//! - [`claims`]: what a study expects, estimated and tested
//! - [`Comparison`]: runs side by side
//!
//! `lab` writes through this crate, `report` and the command line read through it. No name of a metric, condition or
//! column is spelled anywhere else.
#![warn(missing_docs)]

pub mod claims;
mod commit;
pub mod compact;
mod compare;
mod condition;
mod curve;
mod diagonal;
mod error;
mod family;
mod filter;
pub mod folder;
pub mod identity;
pub mod known;
mod measure;
pub mod metrics;
mod names;
mod plan;
mod quantity;
mod reach;
mod read;
mod run;
mod seal;
mod study;
pub mod summary;
pub mod table;
pub mod training;
pub mod words;

pub use commit::{commit, set_commit};
pub use compare::{COMPARED, Compared, Comparison};
pub use condition::Condition;
pub use curve::{Crossing, Curve, Emergence, Moment, Point};
pub use error::{At, Error, Result, UnknownName};
pub use family::{FamilyNode, FamilyTree, From as DistanceFrom};
pub use filter::Filter;
pub use folder::{Seconds, Status};
pub use identity::{SCHEMA, compatible, identity, identity_under, outdated};
pub use known::Known;
pub use measure::{
    Bridge, Form, InsideMetric, LanguageMetric, Loss, Measure, Similarity, TaskMetric, TokenizerMetric, Words,
};
pub use metrics::{Row, Rows};
pub use plan::{Plan, PlannedRun, Varied};
pub use quantity::Quantity;
pub use reach::{Fraction, Reach, Scorer, Statistic, Targets};
pub use read::{Cache, Kind, Results, fingerprint, kind, read, read_cached};
pub use run::{Run, State, Value, column};
pub use seal::{Seal, Sealer};
pub use study::{BALANCED, Factor, Levels, Study, Trajectory, Withheld, declines};

pub use invitro_language::Task;
