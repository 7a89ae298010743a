//! How fast training rows are made: as symbols, and as tokens.

use super::batches::tokens;
use super::{BenchLine, Report};
use anyhow::Result;
use invitro_lab::Experiment;
use invitro_lab::inputs::InputCache;
use invitro_lab::training::data_loader::DataLoader;
use invitro_language::{Languages, Source};
use std::time::Instant;

const ROWS: u64 = 200_000;
const STEPS: usize = 400;

pub fn measure(paper: &Experiment, report: &Report) -> Result<()> {
    let start = Instant::now();
    let languages = Languages::new(&paper.language, 0)?;
    let seconds = start.elapsed().as_secs_f64();
    report.row(BenchLine {
        what: "paper's languages".into(),
        members: None,
        vocab: None,
        figures: vec![("s", seconds)],
    })?;

    let mut source = Source::training(&languages, &paper.mixture, ROWS, 1);
    let start = Instant::now();
    let mut symbols = 0;
    for row in 0..ROWS {
        symbols += source.draw(0, row)?.sentence.symbols.len();
    }
    let seconds = start.elapsed().as_secs_f64();
    let figures =
        vec![("sequences/s on one core", ROWS as f64 / seconds), ("words/sentence", symbols as f64 / ROWS as f64)];
    report.row(BenchLine { what: "task sequences".into(), members: None, vocab: None, figures })?;

    let inputs = InputCache::default().get(paper)?;
    let mut loader = DataLoader::start(vec![(paper.clone(), inputs)], 0, rayon::current_num_threads());
    let start = Instant::now();
    let mut made = 0;
    for _ in 0..STEPS {
        made += tokens(&loader.take()?);
    }
    let figures = vec![("tokens/s on all cores", made as f64 / start.elapsed().as_secs_f64())];
    report.row(BenchLine {
        what: "training batches".into(),
        members: None,
        vocab: Some(paper.tokenizer.vocab),
        figures,
    })
}
