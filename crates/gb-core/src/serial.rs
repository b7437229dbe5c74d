//! The serial port without a cable: a transfer on the internal clock shifts ones in.
//!
//! The clock is bit 7 of the counter behind DIV (bit 2 with SC bit 1 on the Color): every second falling edge of it shifts a bit, so
//! the first bit of a transfer takes between one and two periods.
//!
//! Source: `DocBoy`'s tests `serial`; mooneye `acceptance/serial`.

use crate::NEVER;

/// Processor cycles from one falling edge of bit 7 of the counter to the next.
const EDGE: u64 = 256;
/// The same with SC bit 1 on the Color.
const FAST_EDGE: u64 = 8;
/// SC: a transfer runs.
const RUNS: u8 = 0x80;
/// SC: at 262,144 Hz, on the Color.
const FAST: u8 = 0x02;
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
    /// A game for the Color runs: SC bit 1 exists.
    color: bool,
}
crate::state_fields!(Serial { sb, sc, bits_left, half, next_edge } skip { reference, color });

impl Serial {
    /// An idle port.
    pub fn new(reference: bool, color: bool) -> Self {
        let sb = if reference { 0xFF } else { 0 };
        Self { sb, sc: 0, bits_left: 0, half: false, next_edge: NEVER, reference, color }
    }

    /// Catches up; returns whether a transfer completed, which requests the interrupt.
    pub fn sync(&mut self, clock: u64) -> bool {
        while self.next_edge <= clock {
            self.next_edge += self.step();
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
        let bits = 2 * self.edge_length() * (u64::from(self.bits_left) - 1);
        let rest = if self.reference || self.half { 0 } else { self.edge_length() };
        self.next_edge + rest + bits
    }

    /// Processor cycles from one edge of the port's clock to the next.
    fn edge_length(&self) -> u64 {
        if self.sc & FAST == 0 || self.reference {
            EDGE
        } else {
            FAST_EDGE
        }
    }

    /// Processor cycles between the moments that are planned: edges, of the reference bits.
    fn step(&self) -> u64 {
        if self.reference {
            2 * EDGE
        } else {
            self.edge_length()
        }
    }

    /// SB (FF01).
    pub fn sb(&self) -> u8 {
        self.sb
    }

    /// SC (FF02) with its unused bits set.
    pub fn sc(&self) -> u8 {
        self.sc | if self.color { 0x7C } else { 0x7E }
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
        self.sc = v & if self.color { RUNS | FAST | INTERNAL } else { RUNS | INTERNAL };
        if self.half {
            self.shift();
        }
        self.half = false;
        (self.bits_left, self.next_edge) = if self.reference && v & INTERNAL != 0 {
            (2, clock + self.step())
        } else if self.sc & (RUNS | INTERNAL) == RUNS | INTERNAL {
            let edge = self.edge_length();
            (8, clock - (clock - div_base) % edge + edge)
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
        self.next_edge = clock + self.step();
        // The bit of the counter that clocks the port falls once in an edge's length.
        let high = u64::from(counter) & self.edge_length() / 2 != 0;
        !self.reference && high && self.edge()
    }

    /// Whether hostile state bytes left every value in its domain.
    pub fn valid(&self, clock: u64) -> bool {
        if self.bits_left == 0 {
            self.next_edge == NEVER && !self.half
        } else {
            self.bits_left <= 8
                && self.sc & INTERNAL != 0
                && self.next_edge > clock
                && self.next_edge - clock <= self.step() + crate::LOOK_AHEAD
        }
    }
}
