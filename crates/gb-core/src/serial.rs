//! The serial port without a cable: a transfer on the internal clock shifts ones in.
//!
//! The clock is bit 7 of the counter behind DIV: every second falling edge of it shifts a bit, so
//! the first bit of a transfer takes between one and two periods.
//!
//! Source: `DocBoy`'s tests `serial`; mooneye `acceptance/serial`.

use crate::NEVER;

/// T-cycles from one falling edge of bit 7 of the counter to the next.
const EDGE: u64 = 256;
/// T-cycles from one bit to the next at 8,192 Hz.
const BIT: u64 = 2 * EDGE;
/// The bit of the counter that clocks the port.
const CLOCK_BIT: u16 = 0x80;
/// SC: a transfer runs.
const RUNS: u8 = 0x80;
/// SC: on the internal clock.
const INTERNAL: u8 = 0x01;

/// SB and SC.
#[derive(Clone, Debug)]
pub struct Serial {
    sb: u8,
    sc: u8,
    bits_left: u8,
    /// The first of the two edges of a bit has passed.
    half: bool,
    /// When the next edge comes; of the reference, when the next bit is shifted.
    next_edge: u64,
    /// As the reference emulator has it: SB cannot be written, a transfer takes 1,024 T-cycles.
    reference: bool,
}
crate::state_fields!(Serial { sb, sc, bits_left, half, next_edge } skip { reference });

impl Serial {
    /// An idle port.
    pub fn new(reference: bool) -> Self {
        let sb = if reference { 0xFF } else { 0 };
        Self { sb, sc: 0, bits_left: 0, half: false, next_edge: NEVER, reference }
    }

    /// Catches up; returns whether a transfer completed, which requests the interrupt.
    pub fn sync(&mut self, clock: u64) -> bool {
        while self.next_edge <= clock {
            self.next_edge += if self.reference { BIT } else { EDGE };
            if self.edge() {
                return true;
            }
        }
        false
    }

    /// An edge of the clock; returns whether it completes the transfer.
    fn edge(&mut self) -> bool {
        if !self.reference {
            self.half = !self.half;
            if self.half {
                return false;
            }
        }
        self.shift();
        self.bits_left -= 1;
        if self.bits_left == 0 {
            self.sc &= !RUNS;
            self.next_edge = NEVER;
        }
        self.bits_left == 0
    }

    fn shift(&mut self) {
        self.sb = self.sb << 1 | 1;
    }

    /// The clock at which a running transfer completes; call after [`sync`](Self::sync).
    pub fn next_event(&self) -> u64 {
        if self.bits_left == 0 {
            return NEVER;
        }
        let bits = BIT * (u64::from(self.bits_left) - 1);
        let rest = if self.reference || self.half { 0 } else { EDGE };
        self.next_edge + rest + bits
    }

    /// SB (FF01).
    pub fn sb(&self) -> u8 {
        self.sb
    }

    /// SC (FF02) with its unused bits set.
    pub fn sc(&self) -> u8 {
        self.sc | 0x7E
    }

    /// Writes SB.
    pub fn write_sb(&mut self, v: u8) {
        if !self.reference {
            self.sb = v;
        }
    }

    /// Writes SC, where the counter behind DIV has been zero at `div_base`. That ends a running
    /// transfer; a bit whose first edge has passed is shifted.
    pub fn write_sc(&mut self, v: u8, clock: u64, div_base: u64) {
        self.sc = v & (RUNS | INTERNAL);
        if self.half {
            self.shift();
        }
        self.half = false;
        (self.bits_left, self.next_edge) = if self.reference && v & INTERNAL != 0 {
            (2, clock + BIT)
        } else if self.sc == RUNS | INTERNAL {
            (8, clock - (clock - div_base) % EDGE + EDGE)
        } else {
            (0, NEVER)
        };
    }

    /// A write to DIV when its counter held `counter`, which can be a falling edge; returns whether
    /// that completes a transfer.
    pub fn reset_div(&mut self, clock: u64, counter: u16) -> bool {
        if self.bits_left == 0 {
            return false;
        }
        self.next_edge = clock + if self.reference { BIT } else { EDGE };
        !self.reference && counter & CLOCK_BIT != 0 && self.edge()
    }

    /// Whether hostile state bytes left every value in its domain.
    pub fn valid(&self, clock: u64) -> bool {
        if self.bits_left == 0 {
            self.next_edge == NEVER && !self.half
        } else {
            self.bits_left <= 8
                && self.sc & INTERNAL != 0
                && self.next_edge > clock
                && self.next_edge - clock <= BIT + crate::LOOK_AHEAD
        }
    }
}
