//! Batches of Game Boys: `n` machines stepped together by a work-stealing pool of threads.
//!
//! [`Batch`] owns the machines and a [`Pool`]; one machine's whole step (its frames, the picture of
//! the last one, the reward) is one task of the pool, so slow and fast machines balance out and no
//! result depends on the number of threads. A panic stays inside its machine. Results are written
//! into [`Buffer`]s that are handed out and never touched again.
//!
//! With the feature `python` the crate is also the extension module `hybridenv._native`.
#![deny(unsafe_code)]

mod batch;
mod buffers;
mod env;
mod error;
mod export;
mod pool;
mod seed;
mod single;
mod start;
mod states;
mod task;
pub mod trace;

#[cfg(feature = "python")]
mod python;

pub use batch::{Batch, Config, Step};
pub use buffers::{Buffer, BufferPool, Memory};
pub use error::BatchError;
pub use export::{Format, Observation, Palette, DEFAULT_PALETTE};
pub use pool::{never, Pool, GRACE, POLL};
pub use seed::SplitMix64;
pub use states::States;
pub use task::{
    Encoding, Field, Op, Outcome, Program, Term, Test, MAX_FIELD_BYTES, MAX_RANDOM_BYTES,
};
