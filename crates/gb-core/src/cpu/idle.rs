//! Loops that only wait are passed by whole iterations, to exactly where they would have come.
//!
//! Two shapes, which games spend much of their waking time in: `dec r; jr nz` (the wait for OAM DMA)
//! and `ldh a,(STAT or LY); and/cp n; jr nz`. Neither stores anything, and what the second reads
//! changes only with the PPU's next phase. A bus that has to look up after every instruction leaves
//! no room to skip, so strict frames run every iteration; both must end in the same state.

use super::{access::Access, exec::Turn};

/// T-cycles of `dec r; jr nz` and of `ldh a,(n); and n; jr nz`, taken.
const COUNTDOWN: u64 = 4 + 12;
const POLL: u64 = 12 + 8 + 12;
/// T-cycles from the start of an iteration of the second to its read.
const POLL_READS: u64 = 12;

impl<A: Access> Turn<'_, A> {
    /// A `jr nz` was just taken, `e` bytes far.
    #[inline(always)]
    pub(super) fn skip_idle_loop(&mut self, e: i8) {
        match e {
            -3 => self.skip_countdown(),
            -6 => self.skip_poll(),
            _ => {}
        }
    }

    fn skip_countdown(&mut self) {
        let op = match self.bus.glance(self.at.pc()) {
            Some(op) if op & 0xC7 == 0x05 && op != 0x35 => op,
            _ => return,
        };
        let counter = self.register(op >> 3);
        // The last iteration, whose jump is not taken, stays.
        let room = self.bus.room(self.at).saturating_sub(1);
        let n = (room / COUNTDOWN).min(u64::from(counter.wrapping_sub(1)));
        if n > 0 {
            let r = counter.wrapping_sub(n as u8);
            self.set_register(op >> 3, r);
            self.cpu.flag_dec(r.wrapping_add(1));
            self.bus.skip(&mut self.at, n * COUNTDOWN);
        }
    }

    fn skip_poll(&mut self) {
        let byte = |i: u16| self.bus.glance(self.at.pc().wrapping_add(i)).unwrap_or(0);
        let (op, register, test, n) = (byte(0), byte(1), byte(2), byte(3));
        if op != 0xF0 || !matches!(register, 0x41 | 0x44) || !matches!(test, 0xE6 | 0xFE) {
            return;
        }
        let (value, steady) = self.bus.steady_line(self.at, register);
        let reads = (steady + POLL - POLL_READS - 1) / POLL;
        let n_skipped = reads.min(self.bus.room(self.at).saturating_sub(1) / POLL);
        let goes_on = if test == 0xE6 { value & n != 0 } else { value != n };
        if n_skipped > 0 && goes_on {
            self.cpu.a = value;
            if test == 0xE6 {
                self.cpu.logic(value & n, 0x10);
            } else {
                self.cpu.compare(n, false);
            }
            self.bus.skip(&mut self.at, POLL * n_skipped);
        }
    }
}
