//! Cartridges: the immutable image ([`Rom`]), its header ([`Header`]) and the part that changes
//! while a game runs ([`Cart`]: mapper registers, cartridge RAM, clock).
//!
//! | Mapper | ROM | RAM | Extras |
//! |---|---|---|---|
//! | none | 32 KiB | up to 8 KiB, always on | |
//! | MBC1 | 2 MiB | 32 KiB | multicarts, found by the second logo at bank 0x10 |
//! | MBC2 | 256 KiB | 512 half-bytes, built in | |
//! | MBC3 | 2 MiB (MBC30: 4 MiB) | 32 KiB (MBC30: 64 KiB) | real-time clock on emulated time |
//! | MBC5 | 8 MiB | 128 KiB | the rumble bit is not part of the RAM bank |
//!
//! RAM exists only where the cartridge type *and* the RAM size of the header name it; elsewhere
//! A000–BFFF is an open bus that reads FF. It starts as zeros. Nothing is ever read from or written
//! to a file.
//!
//! # Source
//! gb-ctr (Gekkio, "Game Boy: Complete Technical Reference") and Pan Docs, chapters on MBC1, MBC2,
//! MBC3 and MBC5.

mod header;
mod mapper;
mod rom;
mod rtc;

pub use header::{CgbSupport, Header, Kind, Mapper};
pub use mapper::{Cart, CartRamError};
pub use rom::{Rom, RomError};
pub use rtc::{RtcTime, CYCLES_PER_SECOND};

#[cfg(test)]
mod tests;
