//! Errors and panics as exceptions of Python.

use crate::threads;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

pyo3::create_exception!(invitro, Error, PyValueError, "What was given, and what is allowed, in a sentence.");

/// Works while other Python threads run.
pub fn detached<T: Send, E: Display + Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, E> + Send) -> PyResult<T> {
    py.detach(|| catch(work))
}

/// An error becomes [`Error`], a panic a `RuntimeError`: Python's own exception for it could not be caught by
/// `except Exception`.
pub fn catch<T: Send, E: Display + Send>(work: impl FnOnce() -> Result<T, E> + Send) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(|| threads::of_this_process(work))) {
        Ok(Ok(result)) => result.map_err(py_error),
        Ok(Err(error)) => Err(PyRuntimeError::new_err(format!("threads cannot be started: {error}"))),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Err(PyRuntimeError::new_err(format!("a fault in invitro itself: {text}")))
        }
    }
}

pub fn py_error(error: impl Display) -> PyErr {
    Error::new_err(error.to_string())
}
