//! Folders of results that were never measured, for tests: plausible curves from formulas, in the real schema.
//!
//! `Plan::paper()` has the paper's 864 runs. Nothing here is part of the product.
#![allow(dead_code)] // Each test file uses its own part.

pub mod curves;
pub mod rows;
pub mod tables;

use curves::Config;
use rows::{METRIC_COLUMNS, RUN_COLUMNS, WORD_COLUMNS, metric_cells, run_columns, word_cells};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tables::{Cells, Sheet};

#[derive(Clone)]
pub struct Plan {
    pub vocabs: Vec<u32>,
    pub regimes: Vec<&'static str>,
    pub lambdas: Vec<f64>,
    pub distances: Vec<f64>,
    pub data_seeds: u32,
    pub model_seeds: u32,
    pub steps: u32,
    pub evaluations: u32,
    pub words: usize,
}

impl Plan {
    pub fn paper() -> Self {
        Self {
            vocabs: vec![2048, 4096, 8192],
            regimes: vec!["vanilla", "balanced"],
            lambdas: vec![0.05, 0.1, 0.25, 0.5],
            distances: vec![0.0, 0.25, 0.5, 0.75],
            data_seeds: 3,
            model_seeds: 3,
            steps: 10_000,
            evaluations: 30,
            words: 400,
        }
    }

    /// 64 runs, for tests that must be quick.
    pub fn small() -> Self {
        Self {
            vocabs: vec![2048, 8192],
            regimes: vec!["vanilla", "balanced"],
            lambdas: vec![0.05, 0.5],
            distances: vec![0.0, 0.5],
            data_seeds: 2,
            model_seeds: 2,
            steps: 1000,
            evaluations: 10,
            words: 40,
        }
    }

    /// One configuration, one seed.
    pub fn one() -> Self {
        Self {
            vocabs: vec![2048],
            regimes: vec!["vanilla"],
            lambdas: vec![0.25],
            distances: vec![0.25],
            data_seeds: 1,
            model_seeds: 1,
            ..Self::small()
        }
    }

    pub fn configs(&self) -> Vec<Config> {
        let mut configs = Vec::new();
        for &vocab in &self.vocabs {
            for &regime in &self.regimes {
                for &lambda in &self.lambdas {
                    for &distance in &self.distances {
                        for data in 0..self.data_seeds {
                            for model in 0..self.model_seeds {
                                configs.push(Config { vocab, regime, lambda, distance, data, model });
                            }
                        }
                    }
                }
            }
        }
        configs
    }

    fn study_toml(&self) -> String {
        let list = |seeds: u32| (0..seeds).collect::<Vec<_>>();
        format!(
            "name = \"synthetic\"\n\n[[grids]]\n\"tokenizer.vocab\" = {:?}\n\"tokenizer.regime\" = {:?}\n\"mixture.lambda\" = {:?}\n\
             \"language.distance\" = {:?}\n\n[seeds]\ndata = {:?}\nmodel = {:?}\n",
            self.vocabs,
            self.regimes,
            self.lambdas,
            self.distances,
            list(self.data_seeds),
            list(self.model_seeds)
        )
    }

    pub fn evaluated(&self) -> impl Iterator<Item = u32> {
        let (steps, evaluations) = (self.steps, self.evaluations);
        (0..=evaluations).map(move |place| steps * place / evaluations)
    }
}

/// A study after `study collect`.
pub fn collected(folder: &Path, plan: &Plan) {
    collected_where(folder, plan, |_| true);
}

/// The same where only some runs have been made; the others wait.
pub fn collected_where(folder: &Path, plan: &Plan, ran: impl Fn(&Config) -> bool) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("study.toml"), plan.study_toml()).unwrap();
    let mut configs = plan.configs();
    let mut runs = Sheet::create(&folder.join("runs.parquet"), RUN_COLUMNS);
    runs.group(&run_columns(&configs, plan, &ran));
    runs.finish();
    configs.retain(ran);
    let mut metrics = Sheet::create(&folder.join("metrics.parquet"), METRIC_COLUMNS);
    for some in configs.chunks(48) {
        let mut cells = Cells::new(METRIC_COLUMNS.len());
        for config in some {
            let id = config.id();
            for step in plan.evaluated() {
                curves::rows(config, step, plan.steps, |row| metric_cells(&mut cells, &id, step, row));
            }
        }
        metrics.group(&cells);
    }
    metrics.finish();
    let mut words = Sheet::create(&folder.join("words.parquet"), WORD_COLUMNS);
    for some in configs.chunks(48) {
        let mut cells = Cells::new(WORD_COLUMNS.len());
        for config in some {
            word_cells(&mut cells, config, plan);
        }
        words.group(&cells);
    }
    words.finish();
}

/// How far a run of a scattered study has come.
#[derive(Clone, Copy, PartialEq)]
pub enum Progress {
    Planned,
    /// Evaluated this often.
    Running(u32),
    Done,
}

/// A study that is still running: a folder per run.
pub fn scattered(folder: &Path, plan: &Plan, progress: impl Fn(usize) -> Progress) {
    fs::create_dir_all(folder.join("runs")).unwrap();
    fs::write(folder.join("study.toml"), plan.study_toml()).unwrap();
    for (place, config) in plan.configs().iter().enumerate() {
        if progress(place) != Progress::Planned {
            run_folder(&folder.join("runs").join(config.id()), config, plan, progress(place));
        }
    }
}

pub fn run_folder(folder: &Path, config: &Config, plan: &Plan, progress: Progress) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("config.toml"), config_toml(config, plan)).unwrap();
    let evaluations = match progress {
        Progress::Planned => 0,
        Progress::Running(evaluations) => evaluations as usize,
        Progress::Done => usize::MAX,
    };
    let state = if progress == Progress::Done { "done" } else { "running" };
    let mut lines = String::new();
    let mut last = 0;
    for step in plan.evaluated().take(evaluations) {
        last = step;
        lines.push_str(&metric_lines(config, step, plan.steps));
    }
    fs::write(folder.join("status.json"), format!("{{\"state\": \"{state}\", \"step\": {last}}}")).unwrap();
    fs::write(folder.join("metrics.jsonl"), lines).unwrap();
    let summary: Vec<String> = config.measures().iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    fs::write(folder.join("summary.json"), format!("{{{}}}", summary.join(", "))).unwrap();
    let mut words = Sheet::create(&folder.join("words.parquet"), WORD_COLUMNS);
    let mut cells = Cells::new(WORD_COLUMNS.len());
    word_cells(&mut cells, config, plan);
    words.group(&cells);
    words.finish();
    let sample = |kind: &str, written: &str| {
        format!(
            "{{\"step\": {last}, \"condition\": \"B_masked\", \"failure\": \"{kind}\", \"expected\": \"Labzvae foc xucbop\", \"written\": \"{written}\"}}\n"
        )
    };
    fs::write(
        folder.join("samples.jsonl"),
        sample("word", "Labzvae foc <xuc>") + &sample("order", "foc Labzvae xucbop"),
    )
    .unwrap();
    fs::write(
        folder.join("pairs.jsonl"),
        "{\"A\": [[\"Labzvae\"], [\"fekoc\"], [\"x\", \"uc\", \"bo\", \"p\", \"z\", \"h\", \"by\", \"iw\"]], \"B\": [[\"Labzvae\"], [\"foc\"], [\"enux\", \"x\", \"uc\", \"bo\", \"p\", \"z\", \"hi\", \"v\", \"iw\", \"big\"]]}\n\
         {\"A\": [[\"Ditlethdehi\"], [\"fekoc\"], [\"ik\", \"ad\", \"ci\", \"z\", \"m\", \"oh\", \"bbgi\"]], \"B\": [[\"Ditlethdehi\"], [\"foc\"], [\"ik\", \"ad\", \"ce\", \"z\", \"m\", \"oh\", \"b\"]]}\n",
    )
    .unwrap();
}

/// The lines of one evaluation, as a running run appends them.
pub fn metric_lines(config: &Config, step: u32, steps: u32) -> String {
    let mut lines = String::new();
    curves::rows(config, step, steps, |row| {
        let bounds = row.interval.map_or(String::new(), |(low, high)| format!(", \"low\": {low}, \"high\": {high}"));
        writeln!(
            lines,
            "{{\"step\": {step}, \"condition\": \"{}\", \"task\": \"{}\", \"metric\": \"{}\", \"value\": {}{bounds}}}",
            row.condition, row.task, row.metric, row.value
        )
        .unwrap();
    });
    lines
}

fn config_toml(config: &Config, plan: &Plan) -> String {
    format!(
        "[language]\ndistance = {:?}\n\n[mixture]\nlambda = {:?}\n\n[tokenizer]\nkind = \"bpe\"\nregime = \"{}\"\nvocab = {}\n\n\
         [train]\nsteps = {}\n\n[seeds]\ndata = {}\nmodel = {}\n",
        config.distance, config.lambda, config.regime, config.vocab, plan.steps, config.data, config.model
    )
}
