//! The gallery: `index.html` in a folder, one page over several runs and studies, newest first.
//!
//! All it leads to lies in that folder, by relative links, so that the folder can be sent as it is. A run or study
//! inside has its report beside its results; one from elsewhere gets its report under `reports/`.

use crate::build::writing;
use crate::claims::{ClaimAnswers, headline};
use crate::data::{Factor, FactorWords, Study, setting_name};
use crate::draw::{DrawTarget, Width};
use crate::error::{Error, Result};
use crate::figures::{self, Figure};
use crate::names::{free_name, link};
use crate::own::sealed;
use crate::page;
use crate::page::gallery::GalleryEntry;
use crate::wording::{counted, listed};
use invitro_results::folder::{CONFIG, METRICS, METRICS_TABLE, REPORT, RUNS_TABLE, STATUS, STUDY};
use invitro_results::{FolderKind, column};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// What was written.
#[derive(Debug, Clone)]
pub struct Gallery {
    pub page: PathBuf,
    /// What it shows.
    pub studies: usize,
    pub runs: usize,
    /// Reports that were written for it, and those that were there and stay as they are.
    pub reports: usize,
    pub kept: usize,
    /// Why folders were left out, a sentence each.
    pub left_out: Vec<String>,
}

const INDEX: &str = "index.html";

/// Reports of what lies elsewhere.
const REPORTS: &str = "reports";

/// Folders within folders, so deep; links among them may lead in circles.
const DEPTH: usize = 8;

/// Writes the gallery of these folders into `place`; of all below it that hold results where none are named.
pub fn gallery(place: &Path, folders: &[PathBuf], force: bool) -> Result<Gallery> {
    let page = place.join(INDEX);
    if page.exists() {
        if !force {
            return Err(Error::Exists { path: page });
        }
        if !std::fs::read_to_string(&page).is_ok_and(|text| text.contains(page::gallery::MARK)) {
            return Err(Error::Foreign { path: page });
        }
    }
    let found = if folders.is_empty() { below(place) } else { folders.to_vec() };
    if found.is_empty() {
        return Err(Error::NoneBelow { path: place.to_owned() });
    }
    let (shown, left_out) = with_results(&found);
    if shown.is_empty() {
        return Err(Error::NoneShown { path: place.to_owned(), why: left_out.join("; ") });
    }
    std::fs::create_dir_all(place).map_err(writing(place))?;
    let inside = place.canonicalize().map_err(writing(place))?;
    let (mut taken, mut entries, mut reports) = (BTreeSet::new(), Vec::new(), 0);
    for (folder, whole, study) in &shown {
        let own = whole.strip_prefix(&inside).ok().map(|way| way.join(REPORT));
        let is_own = own.is_some();
        let way = own.unwrap_or_else(|| Path::new(REPORTS).join(free_name(&study.name, &mut taken)));
        let report = place.join(&way);
        if report.exists() && !is_own && !force {
            return Err(Error::Exists { path: report });
        }
        let answers = ClaimAnswers::new(study);
        let figures = figures::all(study, &answers);
        if force || !report.exists() {
            let above = report.parent().unwrap_or(place);
            std::fs::create_dir_all(above).map_err(writing(above))?;
            let html = sealed(&page::page(study, &answers, &figures, None), None);
            invitro_base::files::write(&report, html.as_bytes()).map_err(writing(&report))?;
            reports += 1;
        }
        entries.push(entry(folder, study, &answers, &figures, &way));
    }
    entries.sort_by(|a, b| b.when.cmp(&a.when).then_with(|| a.name.cmp(&b.name)));
    let name = inside.file_name().map_or("gallery".into(), |name| name.to_string_lossy().into_owned());
    invitro_base::files::write(&page, page::gallery::page(&name, &entries).as_bytes()).map_err(writing(&page))?;
    let studies = entries.iter().filter(|entry| entry.kind == FolderKind::Study).count();
    let kept = entries.len() - reports;
    Ok(Gallery { page, studies, runs: entries.len() - studies, reports, kept, left_out })
}

/// The folders whose results can be shown, with their whole paths, and a sentence on each of the others.
fn with_results(folders: &[PathBuf]) -> (Vec<(&PathBuf, PathBuf, Study)>, Vec<String>) {
    let (mut seen, mut shown, mut left_out) = (BTreeSet::new(), Vec::new(), Vec::new());
    for folder in folders {
        // A folder that is named twice, or that links lead to, is one.
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        if !seen.insert(whole.clone()) {
            continue;
        }
        match Study::open(folder) {
            Ok(study) if study.runs.iter().any(|run| run.begun()) => shown.push((folder, whole, study)),
            Ok(_) => left_out
                .push(format!("`{}` has no run that has begun: it is left out of the gallery", folder.display())),
            Err(error) => left_out.push(format!("{error}: it is left out of the gallery")),
        }
    }
    (shown, left_out)
}

/// The folders below `place` that hold results, in order of name. What lies inside of results is part of them.
fn below(place: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if is_shown(place) {
        found.push(place.to_owned());
    } else {
        find_results(place, DEPTH, &mut found);
    }
    found
}

/// Whether a folder has a card of its own. Run folders side by side have one each, unless they were reported on together.
fn is_shown(folder: &Path) -> bool {
    let has = |file: &&str| folder.join(file).exists();
    let is_own = [STUDY, RUNS_TABLE, CONFIG, STATUS, REPORT].iter().any(has);
    is_own && invitro_results::kind(folder).is_ok()
}

fn find_results(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let mut inner: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    inner.retain(|path| path.is_dir() && !is_hidden(path));
    inner.sort();
    for path in inner {
        if is_shown(&path) {
            found.push(path);
        } else if depth > 0 {
            find_results(&path, depth - 1, found);
        }
    }
}

fn entry(folder: &Path, study: &Study, answers: &ClaimAnswers, figures: &[Figure], report: &Path) -> GalleryEntry {
    let shown = figures.iter().find(|figure| !figure.is_empty());
    let draw = |figure: &Figure| {
        figure.variants[figure.first()].drawing.render(Width::Column, DrawTarget::Page, &figure.title)
    };
    GalleryEntry {
        name: study.name.clone(),
        kind: study.kind,
        report: link(report),
        when: written(folder, study),
        runs: runs(study),
        varied: varied(study),
        finding: headline(study, answers).into_iter().next().unwrap_or_default(),
        notes: study.notes.clone(),
        picture: shown.map(|figure| (figure.title.clone(), draw(figure))),
    }
}

/// `24 of 64 runs ended`.
fn runs(study: &Study) -> String {
    if study.kind == FolderKind::Run {
        return study.runs.first().map_or("not begun", |run| run.state()).to_owned();
    }
    let done = study.runs.iter().filter(|run| run.done()).count();
    match study.planned.unwrap_or(study.runs.len()) {
        all if all == done => counted(done, "run"),
        all => format!("{done} of {} ended", counted(all, "run")),
    }
}

/// What a study varies; of a run, its place among what studies vary. In markup.
fn varied(study: &Study) -> Vec<String> {
    let symbol = |key: &str| Factor::PAPER.into_iter().find(|factor| factor.key() == key).map(|factor| factor.symbol());
    if study.kind == FolderKind::Run {
        let level = |factor: Factor| {
            let levels = study.levels(factor);
            (!levels.is_empty()).then(|| format!("{} {}", factor.symbol(), levels.join(", ")))
        };
        return study.paper_factors().into_iter().filter_map(level).collect();
    }
    let varied = |(key, values): &(String, Vec<String>)| match key.as_str() {
        column::DATA_SEED => counted(values.len(), "data seed"),
        column::MODEL_SEED => counted(values.len(), "model seed"),
        key => format!("{} {}", symbol(key).unwrap_or_else(|| setting_name(key)), listed(values)),
    };
    study.varied().iter().map(varied).collect()
}

/// When results were last written, in seconds since 1970: as the runs say, or else as their files do.
fn written(folder: &Path, study: &Study) -> u64 {
    let updated = study.runs.iter().filter_map(|run| run.number("updated")).fold(0.0, f64::max) as u64;
    if updated > 0 {
        return updated;
    }
    let files = [RUNS_TABLE, METRICS_TABLE, METRICS, STATUS, STUDY].iter();
    let modified = files.filter_map(|file| std::fs::metadata(folder.join(file)).ok()?.modified().ok());
    let since = modified.filter_map(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map(|since| since.as_secs()).max().unwrap_or(0)
}
