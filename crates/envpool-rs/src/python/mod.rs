//! The extension module `hybridenv._native`: parse, detach, wrap. `hybridenv.batch` is its only user.

mod arrays;
mod batch;
mod errors;
mod task;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How this module was built.
#[pyfunction]
fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let info = PyDict::new(py);
    info.set_item("version", env!("CARGO_PKG_VERSION"))?;
    info.set_item("profile", env!("HYBRIDENV_PROFILE"))?;
    info.set_item("opt_level", env!("HYBRIDENV_OPT_LEVEL"))?;
    info.set_item("debug_assertions", cfg!(debug_assertions))?;
    info.set_item("target", env!("HYBRIDENV_TARGET"))?;
    info.set_item("target_features", env!("HYBRIDENV_TARGET_FEATURES"))?;
    info.set_item("rustc", env!("HYBRIDENV_RUSTC"))?;
    Ok(info)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<batch::PyBatch>()?;
    module.add_class::<batch::PyStates>()?;
    module.add_function(wrap_pyfunction!(build_info, module)?)?;
    Ok(())
}
