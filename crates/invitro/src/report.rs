//! `invitro report`: the page and the figures of a run or a study, or one page over many.

use crate::terminal;
use anyhow::{Result, bail};
use invitro_report::{Built, ImageFormat, Live, ReportOptions, build, gallery};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Report on a run or a study: one self-contained page, figures, and the numbers behind them as CSV
#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run or of a study; with --gallery any number of them [default: all below the gallery]
    #[arg(value_name = "DIR", required_unless_present = "gallery")]
    dirs: Vec<PathBuf>,
    /// Where to write report.html and figures/ [default: into DIR]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["live", "gallery"])]
    out: Option<PathBuf>,
    /// Replace a report that is there
    #[arg(long)]
    force: bool,
    /// Write the page alone, without the folder of figures
    #[arg(long, conflicts_with_all = ["live", "gallery"])]
    page_only: bool,
    /// Write figures as svg, pdf or png, or as several of them
    #[arg(
        long,
        value_name = "FORMATS",
        value_delimiter = ',',
        default_value = "svg",
        conflicts_with_all = ["live", "page_only", "gallery"]
    )]
    formats: Vec<ImageFormat>,
    /// Answer the claims of a file instead of the study's own
    #[arg(long, value_name = "FILE", conflicts_with_all = ["live", "gallery"])]
    claims: Option<PathBuf>,
    /// Write every variant of every figure, at column width and page width, not only what the page shows first
    #[arg(long, conflicts_with_all = ["live", "page_only", "gallery"])]
    all_figures: bool,
    /// Write GALLERY/index.html instead: one page over many runs and studies, newest first, with their reports
    #[arg(long, value_name = "GALLERY", conflicts_with = "live")]
    gallery: Option<PathBuf>,
    /// Serve the page on 127.0.0.1 instead, and keep it up to date while runs train
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
    if let Some(place) = &args.gallery {
        return show_gallery(place, &args);
    }
    let [dir] = args.dirs.as_slice() else {
        bail!(
            "{} folders were given: one has one report; --gallery GALLERY shows several on one page",
            args.dirs.len()
        );
    };
    if args.live {
        let live = Live::bind(dir, args.port)?;
        say!("http://{}/ shows {} as it fills; Ctrl-C ends it", live.address()?, dir.display());
        live.serve()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut formats = args.formats;
    formats.sort();
    formats.dedup();
    let Args { out, force, page_only, claims, all_figures, .. } = args;
    let built = build(dir, &ReportOptions { out, force, page_only, formats, claims, all_figures })?;
    if args.json {
        let line = json!({
            "page": built.page.display().to_string(),
            "figures": built.figures.as_ref().map(|path| path.display().to_string()),
            "runs": built.runs,
            "done": built.done,
            "files": built.files,
            "bytes": built.bytes,
            "notes": built.notes,
        });
        emit!("{line}");
    } else {
        built.notes.iter().for_each(|text| terminal::warn(text));
        print(&built)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(built: &Built) -> Result<()> {
    let runs = match (built.done, built.runs) {
        (1, 1) => "1 run".to_owned(),
        (done, all) if done == all => format!("{all} runs"),
        (done, all) => format!("{done} of {all} runs"),
    };
    say!("{}: {runs}, {:.1} MB", built.page.display(), built.bytes as f64 / 1e6);
    if let Some(figures) = &built.figures {
        say!("{}: {} files", figures.display(), built.files - 1);
    }
    Ok(())
}

fn show_gallery(place: &std::path::Path, args: &Args) -> Result<ExitCode> {
    let shown = gallery(place, &args.dirs, args.force)?;
    for why in &shown.left_out {
        note!("{why}");
    }
    if args.json {
        let line = json!({
            "page": shown.page.display().to_string(),
            "studies": shown.studies,
            "runs": shown.runs,
            "reports": shown.reports,
            "left_out": shown.left_out,
        });
        emit!("{line}");
    } else {
        let counted = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let held = [(shown.studies, "study", "studies"), (shown.runs, "run", "runs")].into_iter();
        let held = held.filter(|(count, ..)| *count > 0).map(|(count, one, many)| counted(count, one, many));
        let (held, reports) = (held.collect::<Vec<_>>().join(" and "), counted(shown.reports, "report", "reports"));
        say!("{}: {held}; {reports} written", shown.page.display());
    }
    Ok(ExitCode::SUCCESS)
}
