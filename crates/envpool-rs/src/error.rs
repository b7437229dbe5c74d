//! What can go wrong with a batch.

use gb_core::{CartRamError, RomError, StateError};

/// Why a call on a [`Batch`](crate::Batch) failed. Unless a variant says otherwise, no machine changed.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The bytes of a cartridge are not usable.
    #[error("env {env}: {source}")]
    Rom {
        /// The first environment that was to run it.
        env: usize,
        /// What is wrong with it.
        source: RomError,
    },
    /// A save state does not fit the machine.
    #[error("env {env}: {source}")]
    State {
        /// The environment.
        env: usize,
        /// What is wrong with it.
        source: StateError,
    },
    /// The bytes do not fit the cartridge's RAM.
    #[error("env {env}: {source}")]
    CartRam {
        /// The environment.
        env: usize,
        /// What is wrong with them.
        source: CartRamError,
    },
    /// An argument is outside its domain.
    #[error("{0}")]
    Argument(String),
    /// There is no such environment.
    #[error("env index: got {env}, expected 0 <= index < {n}")]
    Index {
        /// The index given.
        env: usize,
        /// The size of the batch.
        n: usize,
    },
    /// Environments were stepped that have not started.
    #[error("step: env {env} ({count} of {n} envs) was never reset, expected reset() or a loaded state first")]
    NotReset {
        /// The first of them.
        env: usize,
        /// How many there are.
        count: usize,
        /// The size of the batch.
        n: usize,
    },
    /// Environments crashed: the others finished the call.
    #[error(
        "env {env} crashed ({count} of {n} envs did): {payload}; reset it or load a state into it"
    )]
    Crashed {
        /// The first of them.
        env: usize,
        /// How many there are.
        count: usize,
        /// The size of the batch.
        n: usize,
        /// What the first one's panic said.
        payload: String,
    },
    /// The caller interrupted the call; [`GRACE`](crate::GRACE) tells how far it went.
    #[error("interrupted")]
    Interrupted,
    /// The system gave no memory.
    #[error("{what}: got no memory for {bytes} bytes, expected fewer machines or more memory")]
    Memory {
        /// What it was for.
        what: &'static str,
        /// How much was asked for.
        bytes: usize,
    },
    /// The system gave no threads.
    #[error("num_threads: cannot start {count} threads: {source}")]
    Threads {
        /// How many were asked for.
        count: usize,
        /// Why not.
        source: rayon::ThreadPoolBuildError,
    },
}
