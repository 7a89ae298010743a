//! From a folder of results to `report.html` and a folder of figures.

use crate::claims::{ClaimAnswers, read_claims};
use crate::data::Study;
use crate::draw::{DrawTarget, ImageFormat, Width, plain_text};
use crate::error::{Error, Result};
use crate::figures::{self, Figure, Variant};
use crate::own::{OwnReport, folder_hash, sealed};
use crate::page;
use invitro_base::files::{PartialFile, PartialFolder};
use invitro_results::Comparison;
use rayon::prelude::*;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct ReportOptions {
    /// Where to write; the folder of results itself where not given.
    pub out: Option<PathBuf>,
    /// Replace a report that is there, also one that was changed since it was written.
    pub force: bool,
    /// The page alone, without the folder of figures.
    pub page_only: bool,
    /// What figures are written as.
    pub formats: Vec<ImageFormat>,
    /// A file of claims to answer instead of the study's own.
    pub claims: Option<PathBuf>,
    /// Every variant of every figure at both widths, instead of what the page shows first.
    pub all_figures: bool,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            out: None,
            force: false,
            page_only: false,
            formats: vec![ImageFormat::Svg],
            claims: None,
            all_figures: false,
        }
    }
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
    /// What the reader should know about the data.
    pub notes: Vec<String>,
}

/// The file every figures folder of ours holds; a folder without it is not ours to replace.
const CAPTIONS: &str = "captions.md";

/// Where the numbers behind figures lie, in the folder of figures.
const DATA: &str = "data";

/// Reads the study or run in `folder` and writes its report.
pub fn build(folder: &Path, options: &ReportOptions) -> Result<Built> {
    let place = Place::new(options.out.as_deref().unwrap_or(folder), options)?;
    let claims = options.claims.as_deref().map(read_claims).transpose()?;
    let study = Study::open(folder)?;
    if !study.runs.iter().any(|run| run.begun()) {
        let why = study.notes.iter().map(|note| format!(". {}", note.trim_end_matches('.'))).collect();
        return Err(Error::NoRuns { path: folder.to_owned(), why });
    }
    let answers = claims.map_or_else(|| ClaimAnswers::new(&study), |claims| ClaimAnswers::of_claims(&study, claims));
    let (page, figures) = render(&study, &answers, None);
    place.write(&study, &study.notes, &page, &figures, options)
}

/// Writes one page on the groups of runs that differ in their seeds alone, of all these folders.
pub fn build_comparison(comparison: &Comparison, out: &Path, options: &ReportOptions) -> Result<Built> {
    let place = Place::new(out, options)?;
    let (page, figures) = crate::compare::page(comparison);
    place.write(&comparison.study, &comparison.notes, &page, &figures, options)
}

/// Where a report goes.
struct Place {
    out: PathBuf,
    page: PathBuf,
    figures: PathBuf,
    /// The hash of figures that are there and stay.
    kept: Option<String>,
}

impl Place {
    /// A folder that nothing of anybody else lies in, where the report goes; a report of ours that is as it was written may be
    /// replaced.
    fn new(out: &Path, options: &ReportOptions) -> Result<Place> {
        let (page, figures) = (out.join(invitro_results::folder::REPORT), out.join("figures"));
        let own = OwnReport::read(&page, &figures);
        for (path, is_own) in [(&page, own.page), (&figures, own.figures || options.page_only)] {
            if !is_own && !options.force {
                return Err(Error::Changed { path: path.clone() });
            }
        }
        if !options.page_only && figures.exists() && !figures.join(CAPTIONS).exists() {
            return Err(Error::Foreign { path: figures });
        }
        if page.is_dir() {
            return Err(Error::Foreign { path: page });
        }
        Ok(Place { out: out.to_owned(), page, figures, kept: own.hash })
    }

    /// Writes page and figures, both or neither: the figures wait for the page.
    fn write(
        self,
        study: &Study,
        notes: &[String],
        page: &str,
        drawn: &[Figure],
        options: &ReportOptions,
    ) -> Result<Built> {
        let Place { out, page: page_path, figures: figures_path, kept } = self;
        std::fs::create_dir_all(&out).map_err(writing(&out))?;
        let mut files = 1;
        let mut hash = kept;
        let mut folder = None;
        if !options.page_only {
            let staged = PartialFolder::new(&figures_path).map_err(writing(&figures_path))?;
            files += write_figures(staged.path(), drawn, options).map_err(writing(&figures_path))?;
            hash = Some(folder_hash(staged.path()).map_err(writing(&figures_path))?);
            folder = Some(staged);
        }
        let page = sealed(page, hash.as_deref());
        let mut staged = PartialFile::new(&page_path).map_err(writing(&page_path))?;
        let file = staged.writer();
        let written =
            file.write_all(page.as_bytes()).and_then(|()| file.flush()).and_then(|()| file.get_ref().sync_all());
        written.map_err(writing(&page_path))?;
        if let Some(folder) = folder {
            folder.finish().map_err(writing(&figures_path))?;
        }
        staged.finish().map_err(writing(&page_path))?;
        Ok(Built {
            page: page_path,
            figures: (!options.page_only).then_some(figures_path),
            runs: study.runs.len(),
            done: study.runs.iter().filter(|run| run.done()).count(),
            files,
            bytes: page.len(),
            notes: notes.to_vec(),
        })
    }
}

pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    |why| Error::Write { path, why }
}

/// The page and the figures on it; for the live page, with the nonce of its scripts and styles.
pub(crate) fn render(study: &Study, answers: &ClaimAnswers, live: Option<&str>) -> (String, Vec<Figure>) {
    let figures = figures::all(study, answers);
    (page::page(study, answers, &figures, live), figures)
}

/// A drawing that becomes a file in each format.
struct Drawn<'a> {
    figure: &'a Figure,
    variant: &'a Variant,
    width: Width,
    stem: String,
}

/// The figures, the numbers behind them, and the captions; how many files that is.
fn write_figures(place: &Path, figures: &[Figure], options: &ReportOptions) -> io::Result<usize> {
    let shown: Vec<&Figure> = figures.iter().filter(|figure| !figure.is_empty()).collect();
    let drawn: Vec<Drawn> = shown.iter().flat_map(|figure| drawings(figure, options.all_figures)).collect();
    let files = drawn.par_iter().map(|drawn| {
        let svg = drawn.variant.drawing.render(drawn.width, DrawTarget::File, &drawn.figure.alt(drawn.variant));
        for format in &options.formats {
            let file = format!("{}.{}", drawn.stem, format.name());
            let bytes = format.convert(svg.clone()).map_err(|why| io::Error::other(format!("{file}: {why}")))?;
            std::fs::write(place.join(file), bytes)?;
        }
        Ok(options.formats.len())
    });
    let mut files = files.sum::<io::Result<usize>>()?;
    let tables: Vec<&Figure> = figures.iter().filter(|figure| !figure.table.is_empty()).collect();
    if !tables.is_empty() {
        std::fs::create_dir(place.join(DATA))?;
    }
    tables.par_iter().try_for_each(|figure| {
        std::fs::write(place.join(DATA).join(format!("{}.csv", figure.name)), figure.table.to_csv())
    })?;
    files += tables.len();
    std::fs::write(place.join(CAPTIONS), captions(&shown, options))?;
    Ok(files + 1)
}

/// What is drawn of a figure: the variant that the page shows first at the width of a page, or all that show something
/// at both widths.
fn drawings(figure: &Figure, all: bool) -> Vec<Drawn<'_>> {
    if !all {
        let variant = &figure.variants[figure.first()];
        return vec![Drawn { figure, variant, width: Width::Page, stem: figure.name.to_owned() }];
    }
    let variants = figure.variants.iter().filter(|variant| !variant.drawing.is_empty());
    let widths = |variant| {
        let named = |width: Width| format!("{}.{}", figure.stem(variant), width.name());
        [Width::Column, Width::Page].map(|width| Drawn { figure, variant, width, stem: named(width) })
    };
    variants.flat_map(widths).collect()
}

fn captions(figures: &[&Figure], options: &ReportOptions) -> String {
    let sizes = if options.all_figures { "at column width (77 mm) and page width (160 mm)" } else { "160 mm wide" };
    let mut captions = format!("# Captions\n\nFigures {sizes}, text at 7 pt: include them at 100 %.\n");
    for figure in figures {
        write!(
            captions,
            "\n## {}\n\n{}\n\n",
            plain_text(&figure.title),
            plain_text(figure.caption(&figure.variants[figure.first()]))
        )
        .expect("writing to a string");
        let shown = figure.first();
        for (place, variant) in figure.variants.iter().enumerate() {
            let wanted = if options.all_figures { !variant.drawing.is_empty() } else { place == shown };
            if wanted {
                let stem = if options.all_figures { figure.stem(variant) } else { figure.name.to_owned() };
                writeln!(captions, "- `{stem}`: {}{}", chosen(figure, variant), variant.runs)
                    .expect("writing to a string");
            }
        }
    }
    captions
}

/// What the page's controls say of a variant, where there is something to choose: `|V| 2048, regime vanilla: `.
fn chosen(figure: &Figure, variant: &Variant) -> String {
    let choices = figure.choosers.iter().zip(&variant.choice).filter(|(chooser, _)| chooser.options.len() > 1);
    let choices: Vec<String> = choices
        .map(|(chooser, option)| format!("{} {}", plain_text(&chooser.label), plain_text(&chooser.options[*option])))
        .collect();
    if choices.is_empty() { String::new() } else { choices.join(", ") + ": " }
}
