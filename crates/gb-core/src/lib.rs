//! A cycle-accurate Game Boy in pure Rust: plain data, no threads, no clock, no files.
//!
//! [`GameBoy`] is one machine. Its parts never tick: each is a small state plus the clock at which
//! that state was right, brought up to date when an access or an interrupt needs it.
#![forbid(unsafe_code)]

pub mod apu;
mod boot;
mod bus;
pub mod cart;
mod cgb;
mod color_io;
pub mod cpu;
mod dma;
mod gameboy;
mod hdma;
mod joypad;
mod machine;
mod palettes;
mod ppu;
mod revision;
pub mod screen;
mod serial;
mod snapshot;
mod speed;
#[cfg(test)]
#[path = "../tests/suite/split_mix.rs"]
mod split_mix;
pub mod state;
mod timer;

pub use cart::{CartRamError, Header, Rom, RomError, RtcTime};
pub use gameboy::{GameBoy, Model, Profile, Registers};
pub use revision::Revision;
pub use screen::{Colors, Palettes, Picture, Planes};
pub use snapshot::{seal, StateError, STATE_VERSION};

/// A time that does not come.
pub(crate) const NEVER: u64 = u64::MAX;

/// How far behind the clock a component of a machine at rest can be; bounds what a save state may
/// claim, so that catching up after a load takes no time worth mentioning.
pub(crate) const MAX_LAG: u64 = 1 << 20;

/// While the processor runs, everything else is this far ahead of it at most: an interrupt that is
/// requested during the fetch of an opcode comes before that instruction.
pub(crate) const LOOK_AHEAD: u64 = 4;
