//! Loops that only wait are passed by whole iterations, to exactly where they would have come.
//!
//! Two shapes, which games spend much of their waking time in: `dec r; jr nz` (the wait for OAM DMA)
//! and `ldh a,(STAT or LY); and/cp n; jr nz`. Neither stores anything, and what the second reads
//! changes only with the PPU's next phase. A bus that has to look up after every instruction leaves
//! no room to skip, so strict frames run every iteration; both must end in the same state.

use super::{Bus, Cpu, Flags};

/// T-cycles of `dec r; jr nz` and of `ldh a,(n); and n; jr nz`, taken.
const COUNTDOWN: u64 = 4 + 12;
const POLL: u64 = 12 + 8 + 12;
/// T-cycles from the start of an iteration of the second to its read.
const POLL_READS: u64 = 12;

impl Cpu {
    /// A `jr nz` was just taken that stands `length` bytes behind its target.
    #[inline(always)]
    pub(super) fn skip_idle_loop<B: Bus>(&mut self, bus: &mut B, length: u16) {
        match length {
            1 => self.skip_countdown(bus),
            4 => self.skip_poll(bus),
            _ => {}
        }
    }

    #[inline(always)]
    fn skip_countdown<B: Bus>(&mut self, bus: &mut B) {
        let op = match bus.glance(self.pc) {
            Some(op) if op & 0xC7 == 0x05 && op != 0x35 => op,
            _ => return,
        };
        let counter = match op >> 3 & 7 {
            0 => &mut self.b,
            1 => &mut self.c,
            2 => &mut self.d,
            3 => &mut self.e,
            4 => &mut self.h,
            5 => &mut self.l,
            _ => &mut self.a,
        };
        // The last iteration, whose jump is not taken, stays.
        let n = (bus.room().saturating_sub(1) / COUNTDOWN).min(u64::from(counter.wrapping_sub(1)));
        if n > 0 {
            *counter = counter.wrapping_sub(n as u8);
            let r = *counter;
            let half = r ^ r.wrapping_add(1);
            self.flags = Flags { zero: r, subtract: true, half, carry: self.flags.carry };
            bus.skip(n * COUNTDOWN);
        }
    }

    #[inline(always)]
    fn skip_poll<B: Bus>(&mut self, bus: &mut B) {
        let byte = |i: u16| bus.glance(self.pc.wrapping_add(i)).unwrap_or(0);
        let (op, register, test, n) = (byte(0), byte(1), byte(2), byte(3));
        if op != 0xF0 || !matches!(register, 0x41 | 0x44) || !matches!(test, 0xE6 | 0xFE) {
            return;
        }
        let (value, steady) = bus.steady_line(register);
        let reads = (steady + POLL - POLL_READS - 1) / POLL;
        let n_skipped = reads.min(bus.room().saturating_sub(1) / POLL);
        let goes_on = if test == 0xE6 { value & n != 0 } else { value != n };
        if n_skipped > 0 && goes_on {
            self.a = value;
            if test == 0xE6 {
                self.logic(value & n, 0x10);
            } else {
                self.compare(n, false);
            }
            bus.skip(POLL * n_skipped);
        }
    }
}
