//! Files that settings refer to. Their content is part of the experiment, so a path is replaced by a name that identifies
//! the content.

use super::Experiment;
use crate::error::{Error, Result};
use invitro_base::dotted::{assign, leaves};
use invitro_base::named_files;
use invitro_base::settings::names_file;
use std::path::Path;
use toml::{Table, Value};

/// A setting, a path in it, which may be relative to `base`, replaced by the name of its content.
pub(crate) fn keep(key: &str, value: Value, base: &Path) -> Result<Value> {
    let Some(given) = value.as_str().filter(|_| names_file(key, &value)) else { return Ok(value) };
    let path = base.join(given);
    let name = named_files::keep(&path).map_err(|error| Error::NamedFile {
        key: key.to_owned(),
        path,
        why: error.to_string(),
    })?;
    Ok(Value::String(name))
}

/// The same for every setting of a table.
pub(crate) fn keep_all(table: &mut Table, base: &Path) -> Result<()> {
    for (key, value) in leaves(table).into_iter().filter(|(key, value)| names_file(key, value)) {
        assign(table, &key, keep(&key, value, base)?).expect("a key that was found");
    }
    Ok(())
}

impl Experiment {
    /// The files that it names, as [`invitro_base::named_files`] does.
    pub fn files(&self) -> Vec<String> {
        let named = self.flatten().into_iter().filter(|(key, value)| names_file(key, value));
        named.filter_map(|(_, value)| value.as_str().map(str::to_owned)).collect()
    }

    /// The experiment as a file with a comment at every key; read back, it is the same. Files are named by their paths
    /// again: it lies in no folder of a run.
    pub fn commented(&self) -> String {
        let mut table = self.to_table();
        for (key, value) in leaves(&table).into_iter().filter(|(key, value)| names_file(key, value)) {
            let path = value.as_str().and_then(named_files::path);
            if let Some(path) = path.and_then(|path| std::path::absolute(path).ok()) {
                assign(&mut table, &key, Value::String(path.display().to_string())).expect("a key that was found");
            }
        }
        invitro_base::settings::commented(&table)
    }
}
