//! Looking into one environment.

use std::ops::Range;

use gb_core::{GameBoy, RtcTime};

use crate::batch::{check, Batch};
use crate::error::BatchError;

/// The addresses of the CPU's bus.
const BUS: usize = 0x1_0000;

impl Batch {
    /// The machine of environment `i`.
    ///
    /// # Errors
    /// [`BatchError::Index`]; [`BatchError::Crashed`].
    pub fn machine(&self, i: usize) -> Result<&GameBoy, BatchError> {
        self.check_index(i)?;
        self.check_crashed(|k| k == i)?;
        Ok(&self.envs[i].machine)
    }

    /// The machine of environment `i`, to be changed.
    ///
    /// # Errors
    /// [`BatchError::Index`]; [`BatchError::Crashed`].
    pub fn machine_mut(&mut self, i: usize) -> Result<&mut GameBoy, BatchError> {
        self.machine(i)?;
        Ok(&mut self.envs[i].machine)
    }

    /// The bytes of a range of addresses of environment `i`.
    ///
    /// # Errors
    /// [`BatchError::Index`]; [`BatchError::Crashed`]; [`BatchError::Argument`] when the range leaves
    /// the 64 KiB of the bus.
    pub fn read_range(&self, i: usize, range: Range<usize>) -> Result<Vec<u8>, BatchError> {
        let machine = self.machine(i)?;
        check_range(&range)?;
        Ok(range.map(|address| machine.peek(address as u16)).collect())
    }

    /// Writes `values` from `start` on into environment `i`, as the CPU would.
    ///
    /// # Errors
    /// [`BatchError::Index`]; [`BatchError::Crashed`]; [`BatchError::Argument`] when the range leaves
    /// the 64 KiB of the bus.
    pub fn write_range(&mut self, i: usize, start: usize, values: &[u8]) -> Result<(), BatchError> {
        let machine = self.machine_mut(i)?;
        let range = start..start.saturating_add(values.len());
        check_range(&range)?;
        for (address, &value) in range.zip(values) {
            machine.poke(address as u16, value);
        }
        Ok(())
    }

    /// Replaces the cartridge RAM of environment `i`.
    ///
    /// # Errors
    /// [`BatchError::Index`]; [`BatchError::Crashed`]; [`BatchError::CartRam`].
    pub fn load_cart_ram(&mut self, i: usize, bytes: &[u8]) -> Result<(), BatchError> {
        let loaded = self.machine_mut(i)?.load_cart_ram(bytes);
        loaded.map_err(|source| BatchError::CartRam { env: i, source })
    }

    /// Sets the cartridge clock of environment `i`.
    ///
    /// # Errors
    /// [`BatchError::Index`]; [`BatchError::Crashed`]; [`BatchError::Argument`] for a cartridge
    /// without a clock.
    pub fn set_rtc(&mut self, i: usize, time: RtcTime) -> Result<(), BatchError> {
        let found = self.machine_mut(i)?.set_rtc(time);
        check(found, || no_clock(i))
    }

    /// Stops or restarts the cartridge clock of environment `i`.
    ///
    /// # Errors
    /// As [`Batch::set_rtc`].
    pub fn freeze_rtc(&mut self, i: usize, frozen: bool) -> Result<(), BatchError> {
        let found = self.machine_mut(i)?.freeze_rtc(frozen);
        check(found, || no_clock(i))
    }

    /// Turns the sound of every environment on, at so many samples a second, or off.
    pub fn set_audio(&mut self, sample_rate: Option<u32>) {
        for env in &mut self.envs {
            env.audio = sample_rate;
            env.machine.set_audio(sample_rate);
        }
    }
}

fn no_clock(i: usize) -> String {
    format!("rtc: the cartridge of env {i} has no clock, expected an MBC3 with one")
}

fn check_range(range: &Range<usize>) -> Result<(), BatchError> {
    check(range.start <= range.end && range.end <= BUS, || {
        format!(
            "memory: got addresses {:#06x}..{:#06x}, expected 0 <= start <= stop <= {BUS:#x}",
            range.start, range.end
        )
    })
}
