//! The serial port without a cable: a transfer on the internal clock shifts ones in.

use crate::NEVER;

/// T-cycles from one bit to the next at 8,192 Hz.
const BIT: u64 = 512;

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
}
crate::state_fields!(Serial { sb, sc, bits_left, next_bit } skip { reference });

impl Serial {
    /// An idle port.
    pub fn new(reference: bool) -> Self {
        let sb = if reference { 0xFF } else { 0 };
        Self { sb, sc: 0, bits_left: 0, next_bit: NEVER, reference }
    }

    /// Catches up; returns whether a transfer completed, which requests the interrupt.
    pub fn sync(&mut self, clock: u64) -> bool {
        while self.bits_left > 0 && self.next_bit <= clock {
            self.sb = self.sb << 1 | 1;
            self.bits_left -= 1;
            self.next_bit += BIT;
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
            self.next_bit + BIT * (u64::from(self.bits_left) - 1)
        }
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

    /// Writes SC. The bit clock is a divider of the same counter as DIV (`div_base`), so the first
    /// bit comes at the next point of that grid.
    pub fn write_sc(&mut self, v: u8, clock: u64, div_base: u64) {
        self.sc = v & 0x81;
        if self.reference && v & 1 != 0 {
            self.bits_left = 2;
            self.next_bit = clock + BIT;
        } else if self.sc == 0x81 {
            let into = (clock - div_base + 4) % BIT;
            self.bits_left = 8;
            self.next_bit = clock - into + BIT;
        } else {
            self.bits_left = 0;
            self.next_bit = NEVER;
        }
    }

    /// A write to DIV moves the grid of a running transfer.
    pub fn reset_div(&mut self, clock: u64) {
        if self.bits_left > 0 {
            self.next_bit = clock + BIT;
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
