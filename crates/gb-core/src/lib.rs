//! A cycle-accurate Game Boy in pure Rust: plain data, no threads, no clock, no files.
#![forbid(unsafe_code)]

pub mod apu;
pub mod cart;
pub mod state;
