//! DIV, TIMA, TMA and TAC, computed from the clock when somebody looks.
//!
//! DIV is the upper byte of a 16-bit counter that runs at the T-cycle clock; TIMA counts falling
//! edges of one of its bits. Both follow from `clock - div_base`, so nothing ticks.
//!
//! Source: Pan Docs "Timer Obscure Behaviour"; mooneye `acceptance/timer`.

use crate::NEVER;

/// The timer block.
#[derive(Clone, Debug)]
pub struct Timer {
    /// The clock at which the 16-bit counter was zero.
    pub div_base: u64,
    tima: u8,
    tma: u8,
    tac: u8,
    /// TIMA is right as of this clock.
    synced: u64,
    /// When a TIMA that overflowed takes TMA and requests the interrupt, one M-cycle later.
    reload_at: u64,
    /// The M-cycle of the last reload; writes in it behave differently.
    reloaded_at: u64,
}
crate::state_fields!(Timer { div_base, tima, tma, tac, synced, reload_at, reloaded_at });

impl Timer {
    /// A stopped timer whose 16-bit counter holds `counter` at `clock`.
    pub fn new(clock: u64, counter: u16) -> Self {
        Self {
            div_base: clock - u64::from(counter),
            tima: 0,
            tma: 0,
            tac: 0,
            synced: clock,
            reload_at: NEVER,
            reloaded_at: NEVER,
        }
    }

    /// The 16-bit counter.
    #[inline]
    pub fn counter(&self, clock: u64) -> u16 {
        (clock - self.div_base) as u16
    }

    fn enabled(&self) -> bool {
        self.tac & 4 != 0
    }

    /// T-cycles from one count of TIMA to the next, as a power of two.
    fn shift(&self) -> u32 {
        match self.tac & 3 {
            0 => 10,
            1 => 4,
            2 => 6,
            _ => 8,
        }
    }

    /// The input of TIMA's edge detector.
    fn signal(&self, clock: u64) -> bool {
        self.enabled() && (clock - self.div_base) >> (self.shift() - 1) & 1 != 0
    }

    fn count(&mut self, at: u64) {
        self.tima = self.tima.wrapping_add(1);
        if self.tima == 0 {
            self.reload_at = at + 4;
        }
    }

    /// Catches up; returns whether the interrupt was requested on the way.
    pub fn sync(&mut self, clock: u64) -> bool {
        if clock < self.synced {
            return false;
        }
        let mut requested = false;
        loop {
            if self.reload_at <= clock {
                // The reload comes before the next count: counts are at least 16 T-cycles apart.
                self.tima = self.tma;
                self.reloaded_at = self.reload_at;
                self.synced = self.synced.max(self.reload_at);
                self.reload_at = NEVER;
                requested = true;
            }
            if !self.enabled() {
                break;
            }
            let shift = self.shift();
            let done = (self.synced - self.div_base) >> shift;
            let due = (clock - self.div_base) >> shift;
            let to_overflow = 256 - u64::from(self.tima);
            if due - done < to_overflow {
                self.tima = self.tima.wrapping_add((due - done) as u8);
                break;
            }
            let at = self.div_base + ((done + to_overflow) << shift);
            self.tima = 0;
            self.synced = at;
            self.reload_at = at + 4;
            if self.reload_at > clock {
                break;
            }
        }
        self.synced = clock;
        requested
    }

    /// The clock of the next interrupt request if nothing is written; call after [`sync`](Self::sync).
    pub fn next_event(&self) -> u64 {
        if self.reload_at != NEVER {
            return self.reload_at;
        }
        if !self.enabled() {
            return NEVER;
        }
        let shift = self.shift();
        let done = (self.synced - self.div_base) >> shift;
        self.div_base + ((done + 256 - u64::from(self.tima)) << shift) + 4
    }

    /// FF04–FF07; call after [`sync`](Self::sync).
    pub fn read(&self, addr: u16, clock: u64) -> u8 {
        match addr {
            0xFF04 => (self.counter(clock) >> 8) as u8,
            0xFF05 => self.tima,
            0xFF06 => self.tma,
            _ => 0xF8 | self.tac,
        }
    }

    /// Writes FF05–FF07; call after [`sync`](Self::sync).
    pub fn write(&mut self, addr: u16, v: u8, clock: u64) {
        match addr {
            0xFF05 => {
                if self.reloaded_at != clock {
                    self.tima = v;
                    self.reload_at = NEVER;
                }
            }
            0xFF06 => {
                self.tma = v;
                if self.reloaded_at == clock {
                    self.tima = v;
                }
            }
            _ => {
                let before = self.signal(clock);
                self.tac = v & 7;
                if before && !self.signal(clock) {
                    self.count(clock);
                }
            }
        }
    }

    /// A write to DIV: the counter becomes zero, which can be a falling edge.
    pub fn reset_div(&mut self, clock: u64) {
        let before = self.signal(clock);
        self.div_base = clock;
        if before {
            self.count(clock);
        }
    }

    /// Sets the 16-bit counter without any edge, as a power-on would.
    pub fn set_counter(&mut self, clock: u64, counter: u16) {
        self.div_base = clock - u64::from(counter);
    }

    /// Whether hostile state bytes left every value where catching up is short and safe.
    pub fn valid(&self, clock: u64) -> bool {
        self.div_base <= self.synced
            && self.synced <= clock + crate::LOOK_AHEAD
            && clock.saturating_sub(self.synced) <= crate::MAX_LAG
            && self.tac <= 7
            && (self.reload_at == NEVER
                || (self.reload_at > clock && self.reload_at - clock <= 4 + crate::LOOK_AHEAD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_reloads_one_m_cycle_later() {
        let mut t = Timer::new(0x1_0000, 0);
        t.write(0xFF06, 0xF0, 0x1_0000);
        t.write(0xFF05, 0xFF, 0x1_0000);
        t.write(0xFF07, 5, 0x1_0000);
        assert_eq!(t.next_event(), 0x1_0000 + 20);
        assert!(!t.sync(0x1_0000 + 16));
        assert_eq!(t.read(0xFF05, 0x1_0000 + 16), 0);
        assert!(t.sync(0x1_0000 + 20));
        assert_eq!(t.read(0xFF05, 0x1_0000 + 20), 0xF0);
    }

    #[test]
    fn one_long_sync_equals_many_short_ones() {
        for tac in 4..8 {
            let mut a = Timer::new(0x1_0000, 0x1234);
            a.write(0xFF05, 0xF0, 0x1_0000);
            a.write(0xFF06, 0xFE, 0x1_0000);
            a.write(0xFF07, tac, 0x1_0000);
            let mut b = a.clone();
            let mut requests = 0;
            for c in (0x1_0000..0x3_0000u64).step_by(4) {
                requests += u32::from(a.sync(c));
            }
            assert!(requests > 0);
            assert!(b.sync(0x3_0000 - 4), "TAC {tac}");
            assert_eq!(a.read(0xFF05, 0x3_0000), b.read(0xFF05, 0x3_0000));
            assert_eq!(a.next_event(), b.next_event());
        }
    }

    #[test]
    fn div_reset_is_a_falling_edge_when_the_bit_was_set() {
        let mut t = Timer::new(0x1_0000, 0);
        t.write(0xFF07, 5, 0x1_0000);
        t.sync(0x1_0000 + 8);
        t.reset_div(0x1_0000 + 8);
        assert_eq!(t.read(0xFF05, 0x1_0000 + 8), 1);
    }
}
