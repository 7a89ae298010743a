//! `invitro report`: the page and the figures of a run or a study.

use anyhow::Result;
use invitro_report::{Live, Options, build};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Report on a run or a study: one self-contained page, figures as SVG, and the numbers behind them as CSV
#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run or of a study
    dir: PathBuf,
    /// Where to write report.html and figures/ [default: into DIR]
    #[arg(long, value_name = "DIR", conflicts_with = "live")]
    out: Option<PathBuf>,
    /// Replace a report that is there
    #[arg(long)]
    force: bool,
    /// Write the page alone, without the folder of figures
    #[arg(long, conflicts_with = "live")]
    page_only: bool,
    /// Serve the page on 127.0.0.1 instead, and keep it up to date while runs go on
    #[arg(long)]
    live: bool,
    /// The port to serve on; 0 takes any that is free
    #[arg(long, default_value_t = 8642, requires = "live")]
    port: u16,
    /// Tell what was written as one JSON object
    #[arg(long, conflicts_with = "live")]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    if args.live {
        let live = Live::bind(&args.dir, args.port)?;
        say!("http://{}/ shows {} as it fills; Ctrl-C ends it", live.address()?, args.dir.display());
        live.serve()?;
        return Ok(ExitCode::SUCCESS);
    }
    let built = build(&args.dir, &Options { out: args.out, force: args.force, page_only: args.page_only })?;
    if args.json {
        let told = json!({
            "page": built.page,
            "figures": built.figures,
            "runs": built.runs,
            "done": built.done,
            "files": built.files,
            "bytes": built.bytes,
        });
        emit!("{told}");
    } else {
        let runs = match (built.done, built.runs) {
            (1, 1) => "1 run".to_owned(),
            (done, all) if done == all => format!("{all} runs"),
            (done, all) => format!("{done} of {all} runs"),
        };
        say!("{}: {runs}, {:.1} MB", built.page.display(), built.bytes as f64 / 1e6);
        if let Some(figures) = &built.figures {
            say!("{}: {} files", figures.display(), built.files - 1);
        }
    }
    Ok(ExitCode::SUCCESS)
}
