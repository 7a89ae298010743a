//! Folders of results that were never measured, for tests: plausible curves from formulas, in the real schema.
//!
//! `Plan::paper()` has the paper's 864 runs. Nothing here is part of the product.
#![allow(dead_code)] // Each test file uses its own part.

pub mod curves;
pub mod tables;

use curves::{Config, Row};
use invitro_report::stats::stream::{below, stream};
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
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("study.toml"), plan.study_toml()).unwrap();
    let configs = plan.configs();
    let mut runs = Sheet::create(&folder.join("runs.parquet"), RUN_COLUMNS);
    runs.group(&run_columns(&configs, plan));
    runs.finish();
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

/// (name, kind) with t text, n number, i integer.
const RUN_COLUMNS: &[(&str, char)] = &[
    ("run", 't'),
    ("study", 't'),
    ("state", 't'),
    ("steps", 'i'),
    ("language.distance", 'n'),
    ("mixture.lambda", 'n'),
    ("tokenizer.vocab", 'i'),
    ("tokenizer.regime", 't'),
    ("tokenizer.kind", 't'),
    ("seeds.data", 'i'),
    ("seeds.model", 'i'),
    ("fertility.A", 'n'),
    ("fertility.B", 'n'),
    ("fertility.B_masked", 'n'),
    ("continuation.A", 'n'),
    ("continuation.B", 'n'),
    ("continuation.B_masked", 'n'),
    ("overlap", 'n'),
    ("bridge.jaccard", 'n'),
    ("bridge.dice", 'n'),
    ("bridge.containment", 'n'),
    ("cognate_bridge.jaccard", 'n'),
    ("seconds.train", 'n'),
    ("device", 't'),
    ("version", 't'),
];

const METRIC_COLUMNS: &[(&str, char)] = &[
    ("run", 't'),
    ("step", 'i'),
    ("condition", 't'),
    ("task", 't'),
    ("metric", 't'),
    ("value", 'n'),
    ("low", 'n'),
    ("high", 'n'),
    ("n", 'i'),
];

const WORD_COLUMNS: &[(&str, char)] = &[
    ("run", 't'),
    ("symbol", 't'),
    ("form_A", 't'),
    ("form_B", 't'),
    ("pieces_A", 't'),
    ("pieces_B", 't'),
    ("bridge", 'n'),
    ("bridge_form", 't'),
    ("bridge_language", 't'),
    ("cognate_bridge", 'n'),
    ("reachable_from", 'i'),
];

fn run_columns(configs: &[Config], plan: &Plan) -> Cells {
    let mut cells = Cells::new(RUN_COLUMNS.len());
    for config in configs {
        let measures = config.measures();
        for (column, (name, _)) in RUN_COLUMNS.iter().enumerate() {
            match *name {
                "run" => cells.text(column, Some(&config.id())),
                "study" => cells.text(column, Some("synthetic")),
                "state" => cells.text(column, Some("done")),
                "steps" => cells.number(column, Some(f64::from(plan.steps))),
                "language.distance" => cells.number(column, Some(config.distance)),
                "mixture.lambda" => cells.number(column, Some(config.lambda)),
                "tokenizer.vocab" => cells.number(column, Some(f64::from(config.vocab))),
                "tokenizer.regime" => cells.text(column, Some(config.regime)),
                "tokenizer.kind" => cells.text(column, Some("bpe")),
                "seeds.data" => cells.number(column, Some(f64::from(config.data))),
                "seeds.model" => cells.number(column, Some(f64::from(config.model))),
                "seconds.train" => cells.number(column, Some(61.0)),
                "device" => cells.text(column, Some("cpu")),
                "version" => cells.text(column, Some("0.1.0")),
                name => cells.number(column, measures.iter().find(|it| it.0 == name).map(|it| it.1)),
            }
        }
    }
    cells
}

fn metric_cells(cells: &mut Cells, run: &str, step: u32, row: &Row) {
    cells.text(0, Some(run));
    cells.number(1, Some(f64::from(step)));
    cells.text(2, Some(row.condition));
    cells.text(3, Some(row.task));
    cells.text(4, Some(row.metric));
    cells.number(5, Some(row.value));
    cells.number(6, row.interval.map(|it| it.0));
    cells.number(7, row.interval.map(|it| it.1));
    cells.number(8, Some(200.0));
}

const SYLLABLES: [&str; 16] =
    ["xuc", "bo", "pz", "iw", "ka", "le", "mo", "ru", "hed", "qui", "va", "sor", "ti", "gne", "ul", "fa"];

/// The forms depend on the data seed and the symbol; d changes some syllables in B; |V| joins some pieces.
fn word_cells(cells: &mut Cells, config: &Config, plan: &Plan) {
    for symbol in 0..plan.words {
        let mut rng = stream(&format!("word {} {symbol}", config.data));
        let a: Vec<&str> = (0..4).map(|_| SYLLABLES[below(&mut rng, 16)]).collect();
        let b: Vec<&str> = a
            .iter()
            .map(|piece| {
                if (below(&mut rng, 100) as f64) < config.distance * 100.0 {
                    SYLLABLES[below(&mut rng, 16)]
                } else {
                    piece
                }
            })
            .collect();
        let joined = |pieces: &[&str]| {
            if config.vocab > 4096 {
                format!("{} {}", pieces[..2].concat(), pieces[2..].concat())
            } else {
                pieces.join(" ")
            }
        };
        cells.text(0, Some(&config.id()));
        cells.text(1, Some(&format!("value:{}:{symbol}", symbol % 40)));
        cells.text(2, Some(&a.concat()));
        cells.text(3, Some(&b.concat()));
        cells.text(4, Some(&joined(&a)));
        cells.text(5, Some(&joined(&b)));
        cells.number(6, Some(config.bridge()));
        cells.text(7, Some(&a.concat()));
        cells.text(8, Some("A"));
        cells.number(9, Some(config.cognate()));
        let reached = below(&mut rng, 3) > 0;
        cells.number(10, reached.then(|| f64::from(plan.steps / 2 + 100 * config.model)));
    }
}
