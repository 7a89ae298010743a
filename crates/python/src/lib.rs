//! The extension module under the Python package `invitro`: a thin layer over `invitro-lab`.
//!
//! Structured results go over as JSON, arrays as bytes; `python/invitro/` makes them into Python's own objects, and is
//! what people see.

mod command;
mod errors;
mod experiment;
mod language_model;
mod results;
mod running;
mod threads;

#[pyo3::pymodule]
mod _invitro {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::errors::Error;
    #[pymodule_export]
    use crate::experiment::PyExperiment;
    #[pymodule_export]
    use crate::language_model::evaluate;
    #[pymodule_export]
    use crate::results::{check_file, check_table, export, status};
    #[pymodule_export]
    use crate::running::train;

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::threads::remember_process();
        Ok(())
    }

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
