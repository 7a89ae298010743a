//! `invitro tokenizer table`: paired sentences with their pieces coloured, as the paper prints them.

use super::Subject;
use crate::output::StagedFile;
use anyhow::Result;
use invitro_tokenizer::table::Table;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// The paper's table of paired sentences: pieces that A and B share, and those they do not
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// How many sentences
    #[arg(short, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=2000))]
    n: u16,
    /// The file to write: .svg, .html or .tex
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The sentences with the most shared pieces among a hundred times as many, as in the paper
    #[arg(long)]
    most_shared: bool,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    Table::check(&args.out)?;
    let staged = StagedFile::new(&args.out, args.force)?;
    let loaded = args.subject.load()?;
    let table = Table::new(&loaded.segmentation, &loaded.languages, args.n.into(), args.most_shared)?;
    staged.file()?.write_all(table.render(&args.out)?.as_bytes())?;
    staged.finish()?;
    eprintln!("wrote {} sentences to {}", table.rows.len(), args.out.display());
    Ok(ExitCode::SUCCESS)
}
