//! Statistics, figures and pages.

mod browser;
mod contract;
mod evidence;
mod pdf;
mod python;
mod report;
mod speed;
mod stats;
mod synthetic;
