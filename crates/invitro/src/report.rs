//! `invitro report`: the page and the figures of a run or a study, or one page over many.

use crate::terminal;
use anyhow::{Result, bail};
use invitro_report::{Built, ImageFormat, Live, ReportOptions, build, build_comparison, gallery};
use invitro_results::{Comparison, Filter};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Report on a run, a study or several of them: one self-contained page, figures, and the numbers behind them as CSV
#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run or of a study. Several are compared on one page, as by `invitro compare`; with --gallery each has its
    /// own [default: all below the gallery]
    #[arg(value_name = "DIR", required_unless_present = "gallery")]
    dirs: Vec<PathBuf>,
    /// Where to write report.html and figures/ [default: into DIR, where there is one]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["live", "gallery"])]
    out: Option<PathBuf>,
    /// Replace a report also where it was changed since it was written
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
    let built = match args.dirs.as_slice() {
        [dir] if args.live => {
            let live = Live::bind(dir, args.port)?;
            say!("http://{}/ shows {} as it fills; Ctrl-C ends it", live.address()?, dir.display());
            live.serve()?;
            return Ok(ExitCode::SUCCESS);
        }
        [dir] => build(dir, &options(&args))?,
        dirs => report_on_several(dirs, &args)?,
    };
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

fn options(args: &Args) -> ReportOptions {
    let mut formats = args.formats.clone();
    formats.sort();
    formats.dedup();
    let Args { out, force, page_only, claims, all_figures, .. } = args;
    ReportOptions {
        out: out.clone(),
        force: *force,
        page_only: *page_only,
        formats,
        claims: claims.clone(),
        all_figures: *all_figures,
    }
}

/// One page on several folders.
fn report_on_several(dirs: &[PathBuf], args: &Args) -> Result<Built> {
    let count = dirs.len();
    if args.live {
        bail!("--live shows one folder, and {count} were given");
    }
    if args.claims.is_some() {
        bail!("--claims is about the runs of one folder, and {count} were given");
    }
    let Some(out) = &args.out else {
        bail!(
            "{count} folders are compared on one page: name a folder for it with --out DIR, or use --gallery GALLERY for a page each"
        );
    };
    let comparison = Comparison::read(dirs, &Filter::default())?;
    Ok(build_comparison(&comparison, out, &options(args))?)
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
    shown.left_out.iter().for_each(|why| terminal::warn(why));
    if args.json {
        let line = json!({
            "page": shown.page.display().to_string(),
            "studies": shown.studies,
            "runs": shown.runs,
            "reports": shown.reports,
            "kept": shown.kept,
            "left_out": shown.left_out,
        });
        emit!("{line}");
    } else {
        let counted = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let held = [(shown.studies, "study", "studies"), (shown.runs, "run", "runs")].into_iter();
        let held = held.filter(|(count, ..)| *count > 0).map(|(count, one, many)| counted(count, one, many));
        let (held, reports) = (held.collect::<Vec<_>>().join(" and "), counted(shown.reports, "report", "reports"));
        let kept = match shown.kept {
            0 => String::new(),
            kept => {
                format!(", {kept} that {} there kept (--force writes all anew)", if kept == 1 { "was" } else { "were" })
            }
        };
        say!("{}: {held}; {reports} written{kept}", shown.page.display());
    }
    Ok(ExitCode::SUCCESS)
}
