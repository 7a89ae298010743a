//! Settings under dotted keys: `language.distance`, and `languages.C.distance` of the entry C in a list of named tables.
//!
//! ```
//! use invitro_base::dotted::{assign, leaves, lookup};
//! let mut config: toml::Table = "languages = [{ name = \"A\" }, { name = \"C\", distance = 0.5 }]".parse().unwrap();
//! assign(&mut config, "languages.A.share", 1.into()).unwrap();
//! assert_eq!(lookup(&config, "languages.C.distance"), Some(&0.5.into()));
//! let keys: Vec<String> = leaves(&config).into_iter().map(|(key, _)| key).collect();
//! assert_eq!(keys, ["languages.A.share", "languages.C.distance"]);
//! let fault = assign(&mut config, "languages.B.share", 1.into()).unwrap_err();
//! assert_eq!(fault, "there is no language `B` in `languages`, which has A and C");
//! ```

use toml::{Table, Value};

/// The list of named tables.
pub const LIST: &str = "languages";
/// What an entry of it is called by.
pub const NAME: &str = "name";
/// Settings of an entry that are fractions: one that is left out does not show it.
const FRACTIONS: [&str; 5] = ["distance", "share", "mask_share", "loans", "false_friends"];

/// Every value of a table under its dotted key, sections in alphabetical order, entries of a list in its own.
pub fn leaves(table: &Table) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (key, value) in table {
        let below = |inner: &Table| {
            leaves(inner).into_iter().map(|(k, v)| (format!("{key}.{k}"), v)).collect::<Vec<(String, Value)>>()
        };
        match (value, entries(value)) {
            (Value::Table(inner), _) => all.extend(below(inner)),
            (_, Some(entries)) => {
                for (name, entry) in entries {
                    let mut entry = entry.clone();
                    entry.remove(NAME);
                    all.extend(below(&Table::from_iter([(name.to_owned(), Value::Table(entry))])));
                }
            }
            _ => all.push((key.clone(), value.clone())),
        }
    }
    all
}

/// The value under a dotted key.
pub fn lookup<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let Some((section, suffix)) = key.split_once('.') else { return table.get(key) };
    let inner = table.get(section)?;
    if let Some(entries) = entries(inner) {
        let (name, suffix) = suffix.split_once('.')?;
        return lookup(entries.into_iter().find(|(known, _)| *known == name)?.1, suffix);
    }
    lookup(inner.as_table()?, suffix)
}

/// Puts a value under a dotted key of sections. A whole number for a setting that holds a fraction becomes one.
pub fn set(table: &mut Table, key: &str, value: Value) {
    let Some((section, suffix)) = key.split_once('.') else {
        let is_fraction = matches!(table.get(key), Some(Value::Float(_)));
        table.insert(key.to_owned(), if is_fraction { fraction(value) } else { value });
        return;
    };
    let inner = table.entry(section.to_owned()).or_insert_with(|| Value::Table(Table::new()));
    if !inner.is_table() {
        *inner = Value::Table(Table::new());
    }
    if let Value::Table(inner) = inner {
        set(inner, suffix, value);
    }
}

/// The same for any key: an entry of the list must be there to be changed, or a sentence says which ones are.
pub fn assign(table: &mut Table, key: &str, value: Value) -> Result<(), String> {
    let suffix = key.strip_prefix(LIST).and_then(|suffix| suffix.strip_prefix('.'));
    // Tables by name are yet to be laid over a list.
    let Some(suffix) = suffix.filter(|_| !table.get(LIST).is_some_and(Value::is_table)) else {
        set(table, key, value);
        return Ok(());
    };
    let (name, suffix) = suffix.split_once('.').unwrap_or((suffix, ""));
    let Some(entry) = entry_mut(table, name) else { return Err(absent(table, name)) };
    match suffix {
        "" => return Err(format!("`{key}` is a language: set `{key}.KEY`, as in {key}.distance=0.5")),
        suffix => set(entry, suffix, if FRACTIONS.contains(&suffix) { fraction(value) } else { value }),
    }
    Ok(())
}

/// Why there is no value under a key.
pub fn missing(table: &Table, key: &str) -> String {
    let entry =
        key.strip_prefix(LIST).and_then(|suffix| suffix.strip_prefix('.')).and_then(|suffix| suffix.split_once('.'));
    match entry {
        Some((name, suffix)) if names(table).contains(&name) => format!("the language {name} leaves `{suffix}` out"),
        Some((name, _)) => absent(table, name),
        None => format!("there is no setting `{key}`"),
    }
}

/// The names in the list, if there is one.
pub fn names(table: &Table) -> Vec<&str> {
    let entries = table.get(LIST).and_then(entries).unwrap_or_default();
    entries.into_iter().map(|(name, _)| name).collect()
}

/// A value as people write it: `0.5`, `balanced`, `[0, 1]`.
pub fn show(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The tables of a list that all have names.
fn entries(value: &Value) -> Option<Vec<(&str, &Table)>> {
    let list = value.as_array().filter(|list| !list.is_empty())?;
    list.iter().map(|entry| entry.as_table().and_then(|table| Some((table.get(NAME)?.as_str()?, table)))).collect()
}

fn entry_mut<'a>(table: &'a mut Table, name: &str) -> Option<&'a mut Table> {
    let tables = table.get_mut(LIST)?.as_array_mut()?.iter_mut().filter_map(Value::as_table_mut);
    tables.into_iter().find(|entry| entry.get(NAME).and_then(Value::as_str) == Some(name))
}

fn absent(table: &Table, name: &str) -> String {
    match &names(table)[..] {
        [] => format!(
            "there is no language `{name}` to change, since there is no list `[[{LIST}]]`; without one there are A and B, by \
             the settings of `language`"
        ),
        [only] => format!("there is no language `{name}` in `{LIST}`, which has {only} alone"),
        [first @ .., last] => {
            format!("there is no language `{name}` in `{LIST}`, which has {} and {last}", first.join(", "))
        }
    }
}

fn fraction(value: Value) -> Value {
    value.as_integer().map_or(value, |whole| Value::Float(whole as f64))
}
