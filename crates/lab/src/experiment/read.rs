//! Presets, files and overrides: how an experiment is put together, and what is wrong where it cannot be.

use super::Experiment;
use super::named_files::{keep, keep_all};
use super::wording::in_words;
use crate::error::{Error, Result};
use invitro_base::dotted::{self, LIST, NAME, assign, leaves, lookup};
use invitro_base::settings::{LanguageEntry, Section, wrong_choice};
use std::path::Path;
use toml::{Table, Value};

/// The experiment of `invitro run` where none is named.
pub const FIRST: &str = "first";

/// The built-in experiments, each laid over the defaults; the first is the one used if none is named.
pub const PRESETS: [(&str, &str); 4] = [
    ("quick", include_str!("../presets/quick.toml")),
    (FIRST, include_str!("../presets/first.toml")),
    ("paper", "name = \"paper\""),
    ("converged", include_str!("../presets/converged.toml")),
];

impl Experiment {
    /// A preset, `quick` unless named, with a file laid over it, and `key=value` overrides over both.
    pub fn load(preset: Option<&str>, file: Option<&Path>, overrides: &[String]) -> Result<Experiment> {
        let mut table = preset_table(preset.unwrap_or(PRESETS[0].0))?;
        if let Some(path) = file {
            let text = invitro_base::limits::read_text_file(path)
                .map_err(|e| Error::NoExperiment { path: path.to_owned(), why: e.to_string() })?;
            let origin = format!("the experiment file `{}`", path.display());
            let mut own = parse(&text, &origin)?;
            keep_all(&mut own, path.parent().unwrap_or(Path::new("")))?;
            lay_over(&mut table, own, &origin)?;
            // Checked before the overrides, so that an error names the file where it is the file's.
            experiment(&table, &origin)?;
        }
        for given in overrides {
            let (key, value) = parse_override(given)?;
            let value = keep(&key, value, Path::new(""))?;
            override_with(&mut table, &key, value, given)?;
            experiment(&table, &format!("the override `{given}`"))?;
        }
        let experiment = experiment(&table, "the preset")?;
        experiment.validate()?;
        for given in overrides {
            experiment.check_used(&parse_override(given)?.0)?;
        }
        Ok(experiment)
    }

    /// A built-in experiment as it is.
    pub fn preset(name: &str) -> Result<Experiment> {
        Experiment::load(Some(name), None, &[])
    }
}

pub(super) fn preset_table(name: &str) -> Result<Table> {
    let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) else {
        let [known @ .., last] = PRESETS.map(|(known, _)| known);
        let known = format!("{} and {last}", known.join(", "));
        return Err(Error::Preset { given: name.into(), known });
    };
    let mut table = Experiment::default().to_table();
    let origin = format!("the preset `{name}`");
    lay_over(&mut table, parse(text, &origin)?, &origin)?;
    Ok(table)
}

pub(super) fn parse(text: &str, origin: &str) -> Result<Table> {
    text.parse::<Table>().map_err(|e| Error::Parse { origin: origin.into(), why: in_words(&e.to_string()) })
}

const WITHHOLD: &str = "mixture.withhold";

/// The experiment of a table. The error for an unknown key names the nearest known one.
pub(super) fn experiment(table: &Table, origin: &str) -> Result<Experiment> {
    let wrong = |why: String| Error::Parse { origin: origin.into(), why };
    check_list(table).map_err(wrong)?;
    let mut current = table.clone();
    // Older files have true and false for words and nothing.
    if let Some(withhold) = lookup(table, WITHHOLD).and_then(Value::as_bool) {
        dotted::set(&mut current, WITHHOLD, if withhold { "words" } else { "nothing" }.into());
    }
    current.try_into().map_err(|error: toml::de::Error| {
        let mut known: Vec<String> = Experiment::default().flatten().into_iter().map(|(key, _)| key).collect();
        for name in dotted::names(table) {
            known.extend(LanguageEntry::settings().iter().map(|setting| format!("{LIST}.{name}.{}", setting.name())));
        }
        let sections: Vec<&str> = known.iter().filter_map(|key| key.split_once('.')).map(|(s, _)| s).collect();
        let unknown = leaves(table).into_iter().map(|(key, _)| key).find(|key| {
            // A section's own name is known, even if what it holds is of the wrong kind.
            !known.contains(key) && !sections.contains(&key.as_str())
        });
        match unknown {
            Some(key) => Error::UnknownKey { origin: origin.into(), nearest: nearest(&key, &known), key },
            None if let Some(fault) = wrong_choice(table) => wrong(fault.to_string()),
            None => wrong(list_fault(table).unwrap_or_else(|| in_words(&error.to_string()))),
        }
    })
}

/// A list of languages is a list of tables, and each has a name.
fn check_list(table: &Table) -> std::result::Result<(), String> {
    if table.get("language").is_some_and(Value::is_array) {
        return Err(format!("`language` is a list, but must be a section: a family of languages is `[[{LIST}]]`"));
    }
    let Some(list) = table.get(LIST) else { return Ok(()) };
    let wanted = format!("must be a list of tables, `[[{LIST}]]`, each with a `{NAME}`");
    let entries = list.as_array().ok_or_else(|| format!("`{LIST}` is {}, but {wanted}", kind(list)))?;
    for (number, entry) in (1..).zip(entries) {
        let entry = entry
            .as_table()
            .ok_or_else(|| format!("number {number} of `{LIST}` is {entry}, but must be a table with a `{NAME}`"))?;
        match entry.get(NAME) {
            Some(Value::String(_)) => {}
            Some(other) => {
                return Err(format!("the `{NAME}` of number {number} of `{LIST}` is {other}, but must be a text"));
            }
            None => return Err(format!("number {number} of `{LIST}` has no `{NAME}`")),
        }
    }
    Ok(())
}

fn kind(value: &Value) -> String {
    if value.is_table() { "a table".into() } else { value.to_string() }
}

/// The error in an entry of the list, by its dotted key.
fn list_fault(table: &Table) -> Option<String> {
    dotted::names(table).iter().zip(table.get(LIST)?.as_array()?).find_map(|(name, entry)| {
        let fault = entry.clone().try_into::<LanguageEntry>().err()?.to_string();
        Some(in_words(&fault.replace("in `", &format!("in `{LIST}.{name}."))))
    })
}

/// The known key with the fewest edits, if these are few; a key without its section is compared with the keys' last
/// parts too.
fn nearest(key: &str, known: &[String]) -> Option<String> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let distance = |other: &String| {
        let whole = strsim::damerau_levenshtein(key, other);
        let ends = strsim::damerau_levenshtein(&last(key), &last(other));
        (whole.min(ends + 1), ends)
    };
    let is_near = |other: &&String| {
        let (whole, ends) = distance(other);
        whole <= 2.max(key.len() / 5) || ends <= last(key).len().div_ceil(4)
    };
    known.iter().min_by_key(|other| distance(other)).filter(is_near).cloned()
}

/// Values of `top` replace those of `table`, section by section; a list is replaced whole. Tables where `table` has a list
/// of languages are laid over those of their names.
pub(crate) fn lay_over(table: &mut Table, top: Table, origin: &str) -> Result<()> {
    for (key, value) in top {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => lay_over(inner, over, origin)?,
            (Some(Value::Array(_)), Value::Table(over)) if key == LIST => {
                for (below, value) in leaves(&over) {
                    let assigned = assign(table, &format!("{key}.{below}"), value);
                    assigned.map_err(|why| Error::Address { origin: origin.into(), why })?;
                }
            }
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
    Ok(())
}

/// A value of the override `given` under its key.
pub(crate) fn override_with(table: &mut Table, key: &str, value: Value, given: &str) -> Result<()> {
    assign(table, key, value).map_err(|why| Error::Address { origin: format!("the override `{given}`"), why })
}

/// `key=value`, the value in TOML's notation; a bare word is a string, and `0,1,2` a list.
pub(crate) fn parse_override(given: &str) -> Result<(String, Value)> {
    let fault = || Error::Override { given: given.into() };
    let (key, value) = given.split_once('=').ok_or_else(fault)?;
    let key = key.trim().to_owned();
    // No key has so many parts, and a table of any depth would not be walked.
    if key.split('.').any(str::is_empty) || key.split('.').nth(8).is_some() {
        return Err(fault());
    }
    let value = value.trim();
    let as_toml = |text: &str| format!("v = {text}").parse::<Table>().ok().and_then(|mut t| t.remove("v"));
    let value = as_toml(value)
        .or_else(|| value.contains(',').then(|| as_toml(&format!("[{value}]"))).flatten())
        .unwrap_or_else(|| Value::String(value.into()));
    Ok((key, value))
}
