//! Folders of results that were never measured, for tests: plausible curves from formulas, written as `lab` writes.
//!
//! `Plan::paper()` has the paper's 864 runs. Nothing here is part of the product.
#![allow(dead_code)] // Each test file uses its own part.

pub mod curves;
pub mod words;

use curves::Config;
use invitro_base::dotted::leaves;
use invitro_base::dotted::set;
use invitro_report::data::Factor;
use invitro_results::BALANCED;
use invitro_results::folder::{
    CONFIG, CONTRASTS, METRICS, METRICS_TABLE, PAIRS, RUNS, RUNS_TABLE, SAMPLES, STUDY, SUMMARY, WORDS, write_json,
};
use invitro_results::summary;
use invitro_results::table::Columns;
use invitro_results::{Condition, Row, SCHEMA, State, Status, column, identity, metrics, table};
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What a synthetic study asks.
const CLAIMS: &str = r#"
    question = "Is what was made up found?"
    claims_from = ["paper", "standard"]
    primary = ["H1", "H2", "H3", "H4"]
"#;

const SHARE: &str = "tokenizer.share";
const SHARE_P: &str = "tokenizer.share_p";

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
    /// The first has no masked words.
    pub languages: Vec<&'static str>,
    /// So many of the others have.
    pub masked: usize,
    /// Which pieces are shared, and the share where that is random; none where no run says.
    pub arms: Vec<(&'static str, f64)>,
    /// Whether words are asked in other forms.
    pub forms: bool,
    /// Whether the inside of the models is measured.
    pub inside: bool,
    /// The threshold that the experiments set.
    pub emergence: f64,
    pub schema: u32,
}

impl Plan {
    pub fn paper() -> Self {
        Self {
            vocabs: vec![2048, 4096, 8192],
            regimes: vec!["vanilla", BALANCED],
            lambdas: vec![0.05, 0.1, 0.25, 0.5],
            distances: vec![0.0, 0.25, 0.5, 0.75],
            data_seeds: 3,
            model_seeds: 3,
            steps: 10_000,
            evaluations: 30,
            words: 400,
            languages: vec!["A", "B"],
            masked: usize::MAX,
            arms: Vec::new(),
            forms: false,
            inside: false,
            emergence: 0.02,
            schema: SCHEMA,
        }
    }

    /// 64 runs, for tests that must be quick.
    pub fn small() -> Self {
        Self {
            vocabs: vec![2048, 8192],
            lambdas: vec![0.05, 0.5],
            distances: vec![0.0, 0.5],
            data_seeds: 2,
            model_seeds: 2,
            steps: 1000,
            evaluations: 10,
            words: 40,
            ..Self::paper()
        }
    }

    /// 5,000 runs: five levels of each factor but two regimes, twenty seeds.
    pub fn large() -> Self {
        Self {
            vocabs: vec![1024, 2048, 4096, 8192, 16384],
            lambdas: vec![0.05, 0.1, 0.25, 0.4, 0.5],
            distances: vec![0.0, 0.25, 0.5, 0.75, 1.0],
            data_seeds: 5,
            model_seeds: 4,
            ..Self::paper()
        }
    }

    /// 120 runs: five arms at two |V| and three d, four data seeds, words in other forms.
    pub fn arms() -> Self {
        Self {
            vocabs: vec![256, 512],
            regimes: vec!["vanilla"],
            lambdas: vec![0.5],
            distances: vec![0.0, 0.1, 0.25],
            data_seeds: 4,
            model_seeds: 1,
            words: 120,
            arms: vec![("all", 0.5), ("none", 0.5), ("cognate", 0.5), ("other", 0.5), ("random", 0.25)],
            forms: true,
            ..Self::small()
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

    pub fn conditions(&self) -> Vec<Condition> {
        let masked = self.languages[1..].iter().take(self.masked).map(|language| Condition::new(language, true));
        self.languages.iter().map(|language| Condition::new(language, false)).chain(masked).collect()
    }

    pub fn is_first(&self, condition: &Condition) -> bool {
        *condition.language == *self.languages[0]
    }

    /// What every experiment of the plan has.
    fn base(&self) -> Table {
        let mut base = Table::new();
        set(&mut base, "train.steps", Value::Integer(self.steps.into()));
        set(&mut base, column::EMERGENCE, Value::Float(self.emergence));
        base
    }

    fn factors(&self) -> [(Factor, Vec<Value>); 4] {
        let numbers = |levels: &[f64]| levels.iter().map(|level| Value::Float(*level)).collect();
        [
            (Factor::VOCAB, self.vocabs.iter().map(|vocab| Value::Integer((*vocab).into())).collect()),
            (Factor::REGIME, self.regimes.iter().map(|regime| Value::String((*regime).into())).collect()),
            (Factor::LAMBDA, numbers(&self.lambdas)),
            (Factor::DISTANCE, numbers(&self.distances)),
        ]
    }

    fn plan(&self) -> invitro_results::Plan {
        let factor =
            |(factor, levels): (Factor, Vec<Value>)| invitro_results::Varied { key: factor.key().into(), levels };
        let of_arms = |arms: Vec<&(&str, f64)>| {
            let shares = arms.iter().map(|(share, _)| Value::String((*share).into())).collect();
            let parts = arms.iter().map(|(_, p)| Value::Float(*p)).collect::<Vec<_>>();
            let levels = [(SHARE, shares), (SHARE_P, parts[..1].to_vec())];
            let arms = levels.map(|(key, levels)| invitro_results::Varied { key: key.into(), levels });
            self.factors().map(factor).into_iter().chain(arms).collect()
        };
        let mut grids = vec![self.factors().map(factor).into()];
        if !self.arms.is_empty() {
            let (random, fixed): (Vec<_>, Vec<_>) = self.arms.iter().partition(|(share, _)| *share == "random");
            grids = std::iter::once(fixed).chain(random.into_iter().map(|arm| vec![arm])).map(of_arms).collect();
        }
        invitro_results::Plan {
            name: "synthetic".into(),
            base: self.base(),
            grids,
            data_seeds: (0..self.data_seeds.into()).collect(),
            model_seeds: (0..self.model_seeds.into()).collect(),
            filter: Default::default(),
            claims: CLAIMS.parse().unwrap(),
            until: None,
        }
    }

    /// The whole experiment of a run.
    pub fn experiment(&self, config: &Config) -> Table {
        let mut table = self.base();
        let levels = [
            (Factor::VOCAB, Value::Integer(config.vocab.into())),
            (Factor::REGIME, Value::String(config.regime.into())),
            (Factor::LAMBDA, Value::Float(config.lambda)),
            (Factor::DISTANCE, Value::Float(config.distance)),
        ];
        levels.into_iter().for_each(|(factor, level)| set(&mut table, factor.key(), level));
        if let Some((share, p)) = config.arm {
            set(&mut table, SHARE, Value::String(share.into()));
            set(&mut table, SHARE_P, Value::Float(p));
        }
        set(&mut table, column::DATA_SEED, Value::Integer(config.data.into()));
        set(&mut table, column::MODEL_SEED, Value::Integer(config.model.into()));
        table
    }

    pub fn configs(&self) -> Vec<Config> {
        let mut configs = Vec::new();
        let arms: Vec<Option<(&str, f64)>> =
            if self.arms.is_empty() { vec![None] } else { self.arms.iter().copied().map(Some).collect() };
        for &vocab in &self.vocabs {
            for &regime in &self.regimes {
                for &lambda in &self.lambdas {
                    for &distance in &self.distances {
                        for seed in 0..self.data_seeds * self.model_seeds {
                            let (data, model) = (seed / self.model_seeds, seed % self.model_seeds);
                            for &arm in &arms {
                                let id = String::new();
                                let mut config = Config { id, vocab, regime, lambda, distance, data, model, arm };
                                config.id = identity(&self.experiment(&config));
                                configs.push(config);
                            }
                        }
                    }
                }
            }
        }
        configs
    }

    pub fn evaluated(&self) -> impl Iterator<Item = u32> + use<> {
        let (steps, evaluations) = (self.steps, self.evaluations);
        (0..=evaluations).map(move |place| steps * place / evaluations)
    }
}

fn status(config: &Config, plan: &Plan, state: State, step: u32) -> Status {
    let mut status = Status::new(config.id.clone(), plan.steps.into());
    status.seconds.train = 61.0;
    Status { state, step: step.into(), device: "cpu".into(), schema: plan.schema, ..status }
}

/// A run as one row; of one that has not run, the config alone.
fn summary(config: &Config, plan: &Plan, ran: bool) -> Columns {
    let settings = leaves(&plan.experiment(config));
    if !ran {
        return summary::describe(&config.id, State::Waiting, None, &settings);
    }
    let status = status(config, plan, State::Done, plan.steps);
    let mut row = summary::describe(&config.id, State::Done, Some(&status), &settings);
    summary::add_measures(&mut row, &config.measures(plan));
    summary::add_results(&mut row, &status, &[], plan.emergence);
    row
}

/// A study after `study collect`.
pub fn collected(folder: &Path, plan: &Plan) {
    collected_where(folder, plan, |_| true);
}

/// The same where only some runs have been made; the others wait.
pub fn collected_where(folder: &Path, plan: &Plan, ran: impl Fn(&Config) -> bool) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(STUDY), plan.plan().to_toml()).unwrap();
    let configs = plan.configs();
    let rows: Vec<Columns> = configs.iter().map(|config| summary(config, plan, ran(config))).collect();
    table::write(&folder.join(RUNS_TABLE), &summary::columns(&rows)).unwrap();
    let made: Vec<&Config> = configs.iter().filter(|config| ran(config)).collect();
    collect(&folder.join(METRICS_TABLE), &made, |config, path| {
        let rows: Vec<Row> = plan.evaluated().flat_map(|step| config.rows(plan, step)).collect();
        metrics::write(path, &config.id, &rows).unwrap();
    });
    collect(&folder.join(WORDS), &made, |config, path| {
        invitro_results::words::write(path, &config.id, &words::words(config, plan)).unwrap();
    });
}

/// One table out of a part for each run; an empty one where there is none.
fn collect(path: &Path, configs: &[&Config], write: impl Fn(&Config, &Path)) {
    let parts = tempfile::tempdir().unwrap();
    let part = |config: &&Config| {
        let path = parts.path().join(&config.id);
        write(config, &path);
        path
    };
    let parts: Vec<PathBuf> = configs.iter().map(part).collect();
    if parts.is_empty() {
        metrics::write(path, "", &[]).unwrap();
    } else {
        table::join(&parts, path).unwrap();
    }
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
    fs::create_dir_all(folder.join(RUNS)).unwrap();
    fs::write(folder.join(STUDY), plan.plan().to_toml()).unwrap();
    for (place, config) in plan.configs().iter().enumerate() {
        if progress(place) != Progress::Planned {
            run_folder(&folder.join(RUNS).join(&config.id), config, plan, progress(place));
        }
    }
}

pub fn run_folder(folder: &Path, config: &Config, plan: &Plan, progress: Progress) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(CONFIG), plan.experiment(config).to_string()).unwrap();
    let (evaluations, state) = match progress {
        Progress::Planned => (0, State::Waiting),
        Progress::Running(evaluations) => (evaluations as usize, State::Running),
        Progress::Done => (usize::MAX, State::Done),
    };
    let steps: Vec<u32> = plan.evaluated().take(evaluations).collect();
    let last = steps.last().copied().unwrap_or(0);
    status(config, plan, state, last).write(folder).unwrap();
    let lines: String = steps.iter().map(|step| metric_lines(config, plan, *step)).collect();
    fs::write(folder.join(METRICS), lines).unwrap();
    let mut measures = Columns::new();
    summary::add_measures(&mut measures, &config.measures(plan));
    write_json(&folder.join(SUMMARY), &measures).unwrap();
    invitro_results::words::write(&folder.join(WORDS), &config.id, &words::words(config, plan)).unwrap();
    fs::write(folder.join(SAMPLES), json_lines(&words::samples(plan, last))).unwrap();
    fs::write(folder.join(PAIRS), json_lines(&words::pairs(plan))).unwrap();
    if plan.inside {
        fs::write(folder.join(CONTRASTS), json_lines(&words::maps(plan, &steps))).unwrap();
    }
}

/// The lines of one evaluation, as a running run appends them.
pub fn metric_lines(config: &Config, plan: &Plan, step: u32) -> String {
    json_lines(&metrics::to_lines(&config.id, &config.rows(plan, step)))
}

fn json_lines(values: &[impl serde::Serialize]) -> String {
    values.iter().map(|value| serde_json::to_string(value).unwrap() + "\n").collect()
}
