//! Statistics, figures and pages; below, parts that are tested alone.

mod browser;
mod contract;
mod drawing;
mod evidence;
mod families;
mod figures;
mod findings;
mod inside;
mod names;
mod outputs;
mod pdf;
mod report;
mod sentences;
mod speed;
mod synthetic;
mod variation;
mod vision;

#[path = "../src/names.rs"]
mod file_names;
#[allow(dead_code)]
#[path = "../src/page/pack.rs"]
mod pack;
#[allow(dead_code)]
#[path = "../src/wording.rs"]
mod wording;
