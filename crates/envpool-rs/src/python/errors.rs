//! The one bridge from Rust errors to the classes of `hybridenv.errors`.

use pyo3::prelude::*;

use crate::error::BatchError;

/// The exception classes, which are defined in Python.
mod classes {
    use pyo3::import_exception;

    import_exception!(hybridenv.errors, ActionError);
    import_exception!(hybridenv.errors, ArgumentError);
    import_exception!(hybridenv.errors, BusyError);
    import_exception!(hybridenv.errors, CartRamError);
    import_exception!(hybridenv.errors, ClosedError);
    import_exception!(hybridenv.errors, EnvCrashedError);
    import_exception!(hybridenv.errors, EnvIndexError);
    import_exception!(hybridenv.errors, ForkError);
    import_exception!(hybridenv.errors, NotResetError);
    import_exception!(hybridenv.errors, OutOfMemoryError);
    import_exception!(hybridenv.errors, RomError);
    import_exception!(hybridenv.errors, StateError);
    import_exception!(hybridenv.errors, TaskError);
}
pub use classes::{ActionError, ArgumentError, RomError, TaskError};

/// Why a call into the module failed.
pub enum CallError {
    /// The batch refused or failed.
    Batch(BatchError),
    /// The batch is closed.
    Closed,
    /// Another thread is inside the batch.
    Busy,
    /// The process is a fork of the one that owns the batch's threads.
    Fork {
        /// The owner.
        owner: u32,
    },
}

impl From<BatchError> for CallError {
    fn from(error: BatchError) -> Self {
        Self::Batch(error)
    }
}

impl From<CallError> for PyErr {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Batch(error) => from_batch(error),
            CallError::Closed => classes::ClosedError::new_err(
                "batch: it is closed, expected an open one; build a new GameBoyBatch",
            ),
            CallError::Busy => classes::BusyError::new_err(
                "batch: another thread is inside a call on it, expected one thread at a time",
            ),
            CallError::Fork { owner } => classes::ForkError::new_err(format!(
                "batch: it belongs to process {owner}, got a call in process {}, which is a fork \
                 without the batch's threads; build the batch after the fork, or use the \
                 'spawn' start method",
                std::process::id()
            )),
        }
    }
}

fn from_batch(error: BatchError) -> PyErr {
    let message = error.to_string();
    match error {
        BatchError::Rom { .. } => RomError::new_err(message),
        BatchError::State { .. } => classes::StateError::new_err(message),
        BatchError::CartRam { .. } => classes::CartRamError::new_err(message),
        BatchError::Argument(_) | BatchError::Threads { .. } => ArgumentError::new_err(message),
        BatchError::Memory { .. } => classes::OutOfMemoryError::new_err(message),
        BatchError::Index { .. } => classes::EnvIndexError::new_err(message),
        BatchError::NotReset { .. } => classes::NotResetError::new_err(message),
        BatchError::Crashed { env, payload, .. } => {
            classes::EnvCrashedError::new_err((message, env, payload))
        }
        // Callers raise what the signal handler raised instead.
        BatchError::Interrupted => pyo3::exceptions::PyKeyboardInterrupt::new_err(message),
    }
}
