//! From a folder of results to `report.html` and a folder of figures.

use crate::data::{self, Study};
use crate::draw::{Target, Width, plain};
use crate::error::{Error, Result};
use crate::figures::{self, Figure};
use crate::findings::Findings;
use crate::page;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where to write; the folder of results itself where not given.
    pub out: Option<PathBuf>,
    /// Replace a report that is there.
    pub force: bool,
    /// The page alone, without the folder of figures.
    pub page_only: bool,
}

/// What was written.
#[derive(Debug, Clone)]
pub struct Built {
    pub page: PathBuf,
    pub figures: Option<PathBuf>,
    /// Runs of the study, and those of them that are finished.
    pub runs: usize,
    pub done: usize,
    pub files: usize,
    pub bytes: usize,
}

/// The file every figures folder of ours holds; a folder without it is not ours to replace.
const CAPTIONS: &str = "captions.md";

/// Reads the study or run in `folder` and writes its report.
pub fn build(folder: &Path, options: &Options) -> Result<Built> {
    let out = options.out.as_deref().unwrap_or(folder);
    let (page_path, figures_path) = (out.join(invitro_results::folder::REPORT), out.join("figures"));
    for path in [&page_path, &figures_path] {
        let wanted = path == &page_path || !options.page_only;
        if wanted && path.exists() && !options.force {
            return Err(Error::Exists { path: path.clone() });
        }
    }
    let study = data::read(folder)?;
    let (page, figures) = render(&study, None);
    let writing = |path: &Path| {
        let path = path.to_owned();
        |why| Error::Write { path, why }
    };
    std::fs::create_dir_all(out).map_err(writing(out))?;
    let mut files = 1;
    if !options.page_only {
        if figures_path.exists() && !figures_path.join(CAPTIONS).exists() {
            return Err(Error::Exists { path: figures_path });
        }
        let written = invitro_files::replace_folder(&figures_path, |place| write_figures(place, &figures));
        files += written.map_err(writing(&figures_path))?;
    }
    invitro_files::write(&page_path, page.as_bytes()).map_err(writing(&page_path))?;
    let figures = (!options.page_only).then_some(figures_path);
    let done = study.runs.iter().filter(|run| run.done()).count();
    Ok(Built { page: page_path, figures, runs: study.runs.len(), done, files, bytes: page.len() })
}

/// The page and the figures on it; for the live page, with the nonce of its scripts and styles.
pub(crate) fn render(study: &Study, live: Option<&str>) -> (String, Vec<Figure>) {
    let findings = Findings::of(study);
    let figures = figures::all(study, &findings);
    (page::page(study, &findings, &figures, live), figures)
}

/// Every variant that shows something at both widths, the numbers behind each figure, and the captions.
fn write_figures(place: &Path, figures: &[Figure]) -> io::Result<usize> {
    let mut captions = String::from(
        "# Captions\n\nFigures at column width (77 mm) and page width (160 mm), text at 7 pt: include them at 100 %.\n",
    );
    let mut files = 1;
    for figure in figures {
        write!(captions, "\n## {}\n\n{}\n\n", plain(&figure.title), plain(&figure.caption))
            .expect("writing to a string");
        if !figure.table.is_empty() {
            std::fs::write(place.join(format!("{}.csv", figure.name)), figure.table.to_csv())?;
            files += 1;
        }
        for variant in &figure.variants {
            if variant.drawing.is_empty() {
                continue;
            }
            let stem = figure.stem(variant);
            for width in [Width::Column, Width::Page] {
                let svg = variant.drawing.render(width, Target::File, &figure.title);
                std::fs::write(place.join(format!("{stem}.{}.svg", width.name())), svg)?;
                files += 1;
            }
            writeln!(captions, "- `{stem}`: {}", variant.runs).expect("writing to a string");
        }
    }
    std::fs::write(place.join(CAPTIONS), captions)?;
    Ok(files)
}
