//! Which runs are compared, and the groups of those that differ in their seeds alone.

use super::chosen::chosen;
use super::differing::{Differing, differing, settings};
use crate::error::{Error, Result};
use crate::{Filter, Run, Value, find_runs, is_run_folder, read_run};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Runs that differ in their seeds alone.
#[derive(Debug, Clone)]
pub struct RunGroup {
    /// The settings in which it differs from others, or its folder where there are none.
    pub name: String,
    /// The places of its runs.
    pub runs: Vec<usize>,
}

/// A run with where it comes from.
pub(super) struct GivenRun {
    pub run: Run,
    pub path: PathBuf,
    /// Which of the folders that were named it was found in.
    given: usize,
}

/// The runs at or below these folders, each once, and what there is to know about those that were left out. Results of
/// different schemas are not put beside each other.
pub(super) fn given_runs(folders: &[PathBuf], filter: &Filter) -> Result<(Vec<GivenRun>, Vec<String>)> {
    let (mut given, mut notes) = (Vec::new(), Vec::new());
    for (place, folder) in folders.iter().enumerate() {
        given.extend(runs_of(place, folder, &mut notes)?);
    }
    let unfit = |why: String| Error::Filter { why };
    let kept: BTreeSet<usize> = chosen(given.iter().map(|one| &one.run), filter).map_err(unfit)?.into_iter().collect();
    if kept.is_empty() {
        return Err(unfit(format!("`where` holds for none of {} runs", given.len())));
    }
    let given: Vec<GivenRun> =
        given.into_iter().enumerate().filter(|(place, _)| kept.contains(place)).map(|(_, one)| one).collect();
    let with_schema = || given.iter().filter_map(|one: &GivenRun| Some((one, one.run.schema()?)));
    if let Some((first, schema)) = with_schema().next()
        && let Some((other, own)) = with_schema().find(|(_, own)| *own != schema)
    {
        let why = format!(
            "it has schema {own}, `{}` has {schema}: their results cannot be put beside each other",
            first.path.display()
        );
        return Err(Error::Read { path: other.path.clone(), why });
    }
    Ok((each_once(given, &mut notes), notes))
}

/// The groups in the order of the folders, and of their settings in each; and the settings that differ between them.
pub(super) fn groups(given: &[GivenRun], folders: &[PathBuf]) -> (Vec<RunGroup>, Vec<Differing>) {
    let mut groups = grouped(given);
    let differing_of = |groups: &[RunGroup]| {
        let mut all = differing(groups.iter().map(|group| &given[group.runs[0]].run));
        all.retain(|setting| !setting.key.starts_with("seeds."));
        all
    };
    let unordered = differing_of(&groups);
    let folder = |group: &RunGroup| given[group.runs[0]].given;
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|&a, &b| {
        let values = unordered.iter().map(|setting| match (&setting.values[a], &setting.values[b]) {
            (Some(a), Some(b)) => a.order(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        });
        folder(&groups[a]).cmp(&folder(&groups[b])).then(values.fold(Ordering::Equal, Ordering::then))
    });
    groups = order.into_iter().map(|place| groups[place].clone()).collect();
    let differing = differing_of(&groups);
    let folder_names = folder_names(folders);
    let settings = |place: usize| {
        let value = |value: &Option<Value>| value.as_ref().map_or("–".into(), ToString::to_string);
        let setting = |it: &Differing| format!("{} {}", it.short, value(&it.values[place]));
        differing.iter().map(setting).collect::<Vec<String>>().join(", ")
    };
    let names: Vec<String> = (0..groups.len()).map(settings).collect();
    for (group, name) in groups.iter_mut().zip(&names) {
        let is_own = !name.is_empty() && names.iter().filter(|other| *other == name).count() == 1;
        let folder = &folder_names[folder(group)];
        // The same settings in different folders: the folder tells them apart.
        group.name = match name.as_str() {
            _ if is_own => name.clone(),
            "" => folder.clone(),
            name => format!("{name}, {folder}"),
        };
    }
    (groups, differing)
}

/// The runs of one of the folders that were named.
fn runs_of(given: usize, folder: &Path, notes: &mut Vec<String>) -> Result<Vec<GivenRun>> {
    let itself = is_run_folder(folder);
    let (mut runs, mut unfinished) = (Vec::new(), 0);
    for found in find_runs(folder, read_run)? {
        match found.run {
            Ok(run) if itself || run.done() => runs.push(GivenRun { run, path: found.path, given }),
            Ok(_) => unfinished += 1,
            Err(error) if itself => return Err(error),
            Err(error) => notes.push(format!("{error}: it is left out.")),
        }
    }
    if runs.is_empty() {
        let why = "none of its runs is done; a run whose own folder is named is compared as it stands".into();
        return Err(Error::Read { path: folder.to_owned(), why });
    }
    if unfinished > 0 {
        let counted = if unfinished == 1 { "1 run that is".into() } else { format!("{unfinished} runs that are") };
        notes.push(format!(
            "{counted} not done in `{}` {} left out.",
            folder.display(),
            if unfinished == 1 { "is" } else { "are" }
        ));
    }
    Ok(runs)
}

/// A folder that was reached twice counts once, and so does a run that one folder has twice.
fn each_once(given: Vec<GivenRun>, notes: &mut Vec<String>) -> Vec<GivenRun> {
    let place = |one: &GivenRun| (one.path.canonicalize().unwrap_or_else(|_| one.path.clone()), one.run.id.clone());
    let mut places = BTreeSet::new();
    let mut ids: HashMap<(usize, String), PathBuf> = HashMap::new();
    let mut once = Vec::new();
    for one in given {
        if !places.insert(place(&one)) {
            continue;
        }
        if let Some(first) = ids.get(&(one.given, one.run.id.clone())) {
            notes.push(format!("`{}` is the same run as `{}` and is left out.", one.path.display(), first.display()));
            continue;
        }
        ids.insert((one.given, one.run.id.clone()), one.path.clone());
        once.push(one);
    }
    once
}

/// Runs by their settings, seeds aside. Where two of the folders that were named hold the same run, each is a group of its own.
fn grouped(given: &[GivenRun]) -> Vec<RunGroup> {
    let key = |one: &GivenRun| {
        let own = settings(&one.run).into_iter().filter(|(key, _)| !key.starts_with("seeds."));
        own.map(|(key, value)| format!("{key} = {value}")).collect::<Vec<String>>()
    };
    let mut groups: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    for (place, one) in given.iter().enumerate() {
        let key = key(one);
        match groups.iter_mut().find(|(own, _)| *own == key) {
            Some((_, runs)) => runs.push(place),
            None => groups.push((key, vec![place])),
        }
    }
    let split = |runs: Vec<usize>| {
        let ids: BTreeSet<&str> = runs.iter().map(|place| given[*place].run.id.as_str()).collect();
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &place in &runs {
            parts.entry(if ids.len() < runs.len() { given[place].given } else { 0 }).or_default().push(place);
        }
        parts.into_values().map(|runs| RunGroup { name: String::new(), runs }).collect::<Vec<_>>()
    };
    groups.into_iter().flat_map(|(_, runs)| split(runs)).collect()
}

/// What to call each folder: its name, or the whole path where two have the same.
fn folder_names(folders: &[PathBuf]) -> Vec<String> {
    let last = |path: &PathBuf| {
        let known = path.canonicalize().unwrap_or_else(|_| path.clone());
        known.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
    };
    let short: Vec<String> = folders.iter().map(last).collect();
    let is_one = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
    let name = |(folder, name): (&PathBuf, &String)| {
        if is_one(name) { name.clone() } else { folder.display().to_string() }
    };
    folders.iter().zip(&short).map(name).collect()
}
