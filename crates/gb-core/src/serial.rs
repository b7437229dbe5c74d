//! The serial port without a cable: a transfer on the internal clock shifts ones in.

use crate::NEVER;

/// T-cycles from one bit to the next at 8,192 Hz.
const BIT: u64 = 512;
/// The same with SC bit 1 on the Color.
const FAST_BIT: u64 = 16;

/// SB and SC.
#[derive(Clone, Debug)]
pub struct Serial {
    sb: u8,
    sc: u8,
    bits_left: u8,
    /// When the next bit is shifted.
    next_bit: u64,
    /// As the reference emulator has it: SB cannot be written, a transfer takes 1,024 T-cycles.
    reference: bool,
    /// A game for the Color runs: SC bit 1 exists.
    color: bool,
}
crate::state_fields!(Serial { sb, sc, bits_left, next_bit } skip { reference, color });

impl Serial {
    /// An idle port.
    pub fn new(reference: bool, color: bool) -> Self {
        let sb = if reference { 0xFF } else { 0 };
        Self { sb, sc: 0, bits_left: 0, next_bit: NEVER, reference, color }
    }

    /// Catches up; returns whether a transfer completed, which requests the interrupt.
    pub fn sync(&mut self, clock: u64) -> bool {
        while self.bits_left > 0 && self.next_bit <= clock {
            self.sb = self.sb << 1 | 1;
            self.bits_left -= 1;
            self.next_bit += self.bit();
            if self.bits_left == 0 {
                self.sc &= 0x7F;
                self.next_bit = NEVER;
                return true;
            }
        }
        false
    }

    /// The clock at which a running transfer completes; call after [`sync`](Self::sync).
    pub fn next_event(&self) -> u64 {
        if self.bits_left == 0 {
            NEVER
        } else {
            self.next_bit + self.bit() * (u64::from(self.bits_left) - 1)
        }
    }

    /// Processor cycles from one bit to the next.
    fn bit(&self) -> u64 {
        if self.sc & 2 != 0 && !self.reference {
            FAST_BIT
        } else {
            BIT
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

    /// Writes SC. The bit clock is a divider of the same counter as DIV (`div_base`), so the first
    /// bit comes at the next point of that grid.
    pub fn write_sc(&mut self, v: u8, clock: u64, div_base: u64) {
        self.sc = v & if self.color { 0x83 } else { 0x81 };
        if self.reference && v & 1 != 0 {
            self.bits_left = 2;
            self.next_bit = clock + BIT;
        } else if self.sc & 0x81 == 0x81 {
            let into = (clock - div_base + 4) % self.bit();
            self.bits_left = 8;
            self.next_bit = clock - into + self.bit();
        } else {
            self.bits_left = 0;
            self.next_bit = NEVER;
        }
    }

    /// A write to DIV moves the grid of a running transfer.
    pub fn reset_div(&mut self, clock: u64) {
        if self.bits_left > 0 {
            self.next_bit = clock + self.bit();
        }
    }

    /// Whether hostile state bytes left every value in its domain.
    pub fn valid(&self, clock: u64) -> bool {
        if self.bits_left == 0 {
            self.next_bit == NEVER
        } else {
            self.bits_left <= 8
                && self.sc & 1 != 0
                && self.next_bit > clock
                && self.next_bit - clock <= BIT
        }
    }
}
