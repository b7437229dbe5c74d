//! Loops that only wait are passed by whole iterations, to exactly where they would have come.
//!
//! Two shapes, which games spend much of their waking time in: `dec r; jr nz` (the wait for OAM DMA)
//! and `ldh a,(STAT or LY)`, a test of A, `jr` under any condition. Neither stores anything, and what
//! the second reads changes only with the PPU's next phase. A bus that has to look up after every
//! instruction leaves no room to skip, so strict frames run every iteration; both must end in the same
//! state.

use super::{access::Access, exec::holds, exec::Turn};

/// T-cycles of `dec r; jr nz`, taken.
const COUNTDOWN: u64 = 4 + 12;
/// T-cycles of `ldh a,(n)` and a `jr` that is taken, without the test between.
const POLL: u64 = 12 + 12;
/// T-cycles from the start of an iteration to the read.
const POLL_READS: u64 = 12;

impl<A: Access> Turn<'_, A> {
    /// The `jr` of that opcode was just taken, `e` bytes far.
    #[inline(always)]
    pub(super) fn skip_idle_loop(&mut self, jr: u8, e: i8) {
        match e {
            -3 if jr == 0x20 => self.skip_countdown(),
            -6 => self.skip_poll(jr, 2),
            -5 => self.skip_poll(jr, 1),
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

    /// `length`: bytes of the test.
    fn skip_poll(&mut self, jr: u8, length: u16) {
        let byte = |i: u16| self.bus.glance(self.at.pc().wrapping_add(i)).unwrap_or(0);
        let (op, register, test, operand) = (byte(0), byte(1), byte(2), byte(3));
        if op != 0xF0 || !matches!(register, 0x41 | 0x44) {
            return;
        }
        let (value, steady) = self.bus.steady_line(self.at, register);
        let operand = match (test, length) {
            (0xE6 | 0xFE, 2) => operand,
            (0xA7 | 0xB7 | 0xBF, 1) => value,
            (0xA0..=0xA5 | 0xB0..=0xB5 | 0xB8..=0xBD, 1) => self.register(test),
            _ => return,
        };
        let iteration = POLL + 4 * u64::from(length);
        let reads = (steady + iteration - POLL_READS - 1) / iteration;
        let skipped = reads.min(self.bus.room(self.at).saturating_sub(1) / iteration);
        let before = (self.cpu.a, self.cpu.flags);
        self.cpu.a = value;
        self.cpu.arithmetic(test >> 3, operand);
        if skipped > 0 && holds(self.cpu.flags, jr) {
            self.bus.skip(&mut self.at, skipped * iteration);
        } else {
            (self.cpu.a, self.cpu.flags) = before;
        }
    }
}
