//! Double speed (KEY1): the processor's own time beside the machine's.
//!
//! The machine's clock counts dots of 4 MHz at either speed. The processor, timer, serial port
//! and OAM DMA live in processor cycles, four of which are an M-cycle; at double speed two of them
//! pass in a dot.

use crate::NEVER;

/// How long a switch stops the processor, in dots.
///
/// Source: Pan Docs, "CGB Registers", KEY1: 2,050 M-cycles.
pub(crate) const SWITCH_DOTS: u64 = 8_200;

/// The speed, and the line that maps one time to the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speed {
    double: bool,
    /// KEY1 as written: with bit 0 set, the next `STOP` switches.
    key1: u8,
    /// Processor cycles are `(dots << double) - offset`, wrapping.
    offset: u64,
}
crate::state_fields!(Speed { double, key1, offset });

impl Speed {
    /// Dots of an M-cycle.
    #[inline]
    pub(crate) fn step(&self) -> u64 {
        if self.double {
            2
        } else {
            4
        }
    }

    pub(crate) fn double(&self) -> bool {
        self.double
    }

    pub(crate) fn armed(&self) -> bool {
        self.key1 & 1 != 0
    }

    /// Processor cycles at a clock of the machine.
    #[inline]
    pub(crate) fn cycles(&self, clock: u64) -> u64 {
        (clock << u32::from(self.double)).wrapping_sub(self.offset)
    }

    /// The machine's clock at a number of processor cycles; [`NEVER`] stays what it is.
    #[inline]
    pub(crate) fn clock(&self, cycles: u64) -> u64 {
        if cycles == NEVER {
            NEVER
        } else {
            cycles.wrapping_add(self.offset) >> u32::from(self.double)
        }
    }

    /// KEY1 with its unused bits set.
    pub(crate) fn read(&self) -> u8 {
        0x7E | u8::from(self.double) << 7 | self.key1 & 1
    }

    /// KEY1 in the reference, which keeps the byte that was written.
    pub(crate) fn read_reference(&self) -> u8 {
        self.key1
    }

    /// Writes KEY1.
    pub(crate) fn write(&mut self, v: u8) {
        self.key1 = v;
    }

    /// Switches at `clock`; processor cycles count on without a gap.
    pub(crate) fn switch(&mut self, clock: u64) {
        let cycles = self.cycles(clock);
        self.double = !self.double;
        self.key1 ^= 0x81;
        self.offset = (clock << u32::from(self.double)).wrapping_sub(cycles);
    }

    /// Whether hostile state bytes left a line on which a machine at `clock` can be.
    pub(crate) fn valid(&self, clock: u64) -> bool {
        (0x1_0000..1 << 62).contains(&self.cycles(clock))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_through_switches() {
        let mut speed = Speed::default();
        assert_eq!(speed.cycles(100), 100);
        speed.write(1);
        assert_eq!(speed.read(), 0x7F);
        speed.switch(100);
        assert_eq!((speed.cycles(100), speed.cycles(110), speed.clock(120)), (100, 120, 110));
        assert_eq!((speed.read(), speed.step()), (0xFE, 2));
        speed.switch(110);
        assert_eq!((speed.cycles(110), speed.cycles(114), speed.clock(124)), (120, 124, 114));
        assert_eq!(speed.clock(NEVER), NEVER);
    }
}
