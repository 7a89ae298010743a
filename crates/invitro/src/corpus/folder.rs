//! A corpus as a folder that Python's `datasets` loads: a file for every split, the experiment, and a data card.

use super::writer::{CorpusFormat, CorpusTarget};
use super::{Args, elapsed};
use crate::output::StagedDir;
use crate::progress::thousands;
use crate::study::format::count;
use anyhow::{Context, Result, bail};
use invitro_lab::Experiment;
use invitro_lab::card::{Published, SplitFile, data_card};
use invitro_lab::corpus::CorpusSplit;
use invitro_language::Languages;
use std::fs::File;
use std::time::Instant;

const CONTENTS: [&str; 6] = ["experiment.toml", "README.md", "*.parquet", "*.jsonl", "*.csv", "*.txt"];

pub fn write(args: &Args, experiment: &Experiment, languages: &Languages, splits: &[CorpusSplit]) -> Result<()> {
    let names: Vec<String> = splits.iter().map(|&split| split.name()).collect();
    if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        bail!("--split names {twice} twice");
    }
    let format = args.format.unwrap_or(CorpusFormat::Parquet);
    let staged = StagedDir::new(&args.out, args.force, &CONTENTS)?;
    let started = Instant::now();
    let mut files = Vec::new();
    for (&split, name) in splits.iter().zip(&names) {
        let file = format!("{name}.{}", format.ending());
        let path = staged.path().join(&file);
        let out =
            File::create(&path).with_context(|| format!("`{}` cannot be written", args.out.join(&file).display()))?;
        let example = args.write(experiment, languages, split, CorpusTarget::uncompressed(format), Box::new(out))?;
        files.push(SplitFile { split, pool: args.pool(split), file, rows: args.n, example });
    }
    let name = args.out.file_name().unwrap_or_default().to_string_lossy();
    let published = Published { name: &name, licence: args.license.as_deref() };
    staged.write("experiment.toml", experiment.to_toml())?;
    staged.write("README.md", data_card(experiment, languages, &files, published))?;
    staged.finish()?;
    let rows = args.n * files.len() as u64;
    let rate = thousands(rows as f64 / elapsed(started));
    note!(
        "wrote {} in {} to {} ({rate} rows/s); in Python: load_dataset(\"{}\")",
        count(rows as usize, "row"),
        count(files.len(), "split"),
        args.out.display(),
        args.out.display()
    );
    Ok(())
}
