//! The contract between those who run experiments and those who read results.
//!
//! - [`Condition`], [`Measure`], [`Quantity`]: what is measured, with its name on disk
//! - [`Row`], [`metrics`], [`training`], [`summary`], [`words`], [`folder`]: what a run writes; [`table`]: Parquet;
//!   [`compact`]: tables made small
//! - [`Plan`]: what a study sets out to run; [`mod@identity`]: the run that a config describes
//! - [`read()`]: a run's or a study's folder as [`Results`]; [`Study`]: its [`Run`]s placed among seeds and levels
//! - [`Curve`]: peak, end, decline and emergence
//! - [`claims`]: what a study expects, estimated and tested
//! - [`Comparison`]: groups of runs side by side
//!
//! `lab` writes through this crate, `report` and the command line read through it. No name of a metric, condition or
//! column is spelled anywhere else.
#![warn(missing_docs)]

pub mod claims;
mod error;
mod run;
mod schema;
mod study;
mod tables;

pub use error::{At, Error, Result, UnknownName};
pub use run::commit::{commit, set_commit};
pub use run::curve::{Crossing, Curve, CurvePoint, Emergence, Moment};
pub use run::family::{FamilyNode, FamilyTree, From as DistanceFrom};
pub use run::folder::{Seconds, Status};
pub use run::identity::{SCHEMA, compatible, identity, identity_under, outdated};
pub use run::seal::{Seal, Sealer};
pub use run::sorted_map::SortedMap;
pub use run::{Run, State, Value, column};
pub use schema::condition::Condition;
pub use schema::inside::{
    Donor, InsideMetric, PatchPlace, PatchPosition, PatchedForm, Patching, PieceKind, PieceMatrix, PieceRows,
    RowStatistic,
};
pub use schema::measure::{
    Bridge, Form, LanguageMetric, Loss, Measure, Similarity, TaskMetric, TokenizerMetric, Words,
};
pub use schema::quantity::Quantity;
pub use schema::reach::{Fraction, Reach, Scorer, Statistic, Targets};
pub use study::chosen::chosen;
pub use study::compare::{COMPARED, ComparedMeasure, Comparison};
pub use study::differing::{Differing, differing};
pub use study::filter::Filter;
pub use study::grouping::RunGroup;
pub use study::known::Known;
pub use study::plan::{Plan, PlannedRun, Varied};
pub use study::{BALANCED, Factor, Levels, Study, Trajectory, Withheld, before_decline};
pub use tables::find::{FoundRun, find_runs, is_run_folder};
pub use tables::metrics::{Row, Rows};
pub use tables::read::{FolderKind, ReadCache, Results, fingerprint, kind, read, read_cached, read_ends, read_run};

pub use run::{folder, identity, training};
pub use study::known;
pub use tables::{compact, metrics, summary, table, words};

pub use invitro_language::Task;
