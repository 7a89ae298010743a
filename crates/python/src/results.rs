//! What runs and studies leave in their folders.

use crate::errors::{catch, detached, py_error};
use invitro_base::files::PartialFolder;
use invitro_lab::card::Published;
use invitro_lab::{Status, Trained};
use invitro_results::table::TableReader;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A run's status as JSON; none where there is none.
#[pyfunction]
pub fn status(folder: PathBuf) -> PyResult<Option<String>> {
    let status = Status::read(&folder).map_err(py_error)?;
    status.map(|status| serde_json::to_string(&status).map_err(py_error)).transpose()
}

/// An error if a file of a run's folder is not as it was written.
#[pyfunction]
pub fn check_file(folder: PathBuf, name: &str) -> PyResult<()> {
    let status = Status::read(&folder).map_err(py_error)?;
    status.map_or(Ok(()), |status| status.check(&folder, name)).map_err(py_error)
}

/// The same of a table, which carries its own checksum.
#[pyfunction]
pub fn check_table(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    detached(py, || TableReader::open(&path).map(drop))
}

/// Writes a run's model, its tokenizer and a model card as a new folder that `transformers` loads; returns the step.
#[pyfunction]
pub fn export(py: Python<'_>, run: PathBuf, out: PathBuf, step: Option<u64>, license: Option<String>) -> PyResult<u64> {
    py.detach(|| {
        if out.exists() {
            return Err(py_error(format!("`{}` is there already: choose another folder", out.display())));
        }
        let trained = catch(|| Trained::load(&run, step))?;
        let unwritten = |why: std::io::Error| py_error(format!("`{}` cannot be written: {why}", out.display()));
        let folder = PartialFolder::new(&out).map_err(unwritten)?;
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        let published = Published { name: &name, licence: license.as_deref() };
        catch(|| trained.export(&run, folder.path(), published))?;
        folder.finish().map_err(unwritten)?;
        Ok(trained.checkpoint.step)
    })
}
