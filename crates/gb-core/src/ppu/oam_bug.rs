//! The OAM corruption bug of the DMG: while the PPU scans OAM, whatever puts an address of
//! FE00–FEFF on the bus disturbs the row (eight bytes) that is being read.
//!
//! The bit functions were found on real machines; the first and the last row have their own.
//!
//! Source: Pan Docs "OAM Corruption Bug"; the bit functions are those that `DocBoy` (MIT) publishes
//! as measured on a DMG, and its tests `oam_bug` check them.

use super::{Phase, Ppu};

/// The offset of OAM's last row.
const LAST_ROW: u8 = 0x98;

/// End of the last M-cycle in which an entry is read.
const LAST_DOT: u64 = 80;

/// What the processor does with the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It increments or decrements a register that holds it.
    Count,
}

/// The four words of a row; the byte at the even address is the upper one.
type Row = [u16; 4];

/// Each bit as most of the three have it.
fn majority(a: u16, b: u16, c: u16) -> u16 {
    a & (b | c) | b & c
}

impl Ppu {
    /// The processor puts FE00 + `offset` on the bus in the M-cycle that ends at `clock`, before
    /// what it writes arrives; call after [`sync`](Self::sync).
    pub fn disturb_oam(&mut self, offset: u8, access: Access, clock: u64) {
        if self.reference.on {
            return;
        }
        if !self.scanning() {
            return;
        }
        let dot = clock - self.line_start;
        if dot > LAST_DOT {
            return;
        }
        // Two entries of four bytes are read in each M-cycle, the first one a little before.
        let row = 2 * dot as u8;
        let target = offset & 0xF8;
        match access {
            Access::Read if row <= LAST_ROW && row % 16 == 0 => self.disturb_three_rows(row),
            Access::Read if row <= LAST_ROW => {
                let before = self.row(row - 8);
                let first = before[0] | before[2] & self.row(row)[0];
                self.set_row(row - 8, [first, before[1], before[2], before[3]]);
                self.set_row(row, [first, before[1], before[2], before[3]]);
            }
            Access::Write | Access::Count if row <= LAST_ROW => {
                let before = self.row(row - 8);
                let first = majority(self.row(row)[0], before[0], before[2]);
                self.set_row(row, [first, before[1], before[2], before[3]]);
            }
            _ if target > LAST_ROW => {}
            Access::Read => self.read_with_last_row(target, offset / 2 % 4),
            Access::Write => self.write_with_last_row(target, offset / 2 % 4),
            Access::Count => {}
        }
        self.table.invalidate();
    }

    /// The processor has accessed FE00 + `offset` in the M-cycle in which the first entry is read;
    /// `replaced` is the byte that it has overwritten.
    pub fn disturb_first_row(&mut self, offset: u8, replaced: Option<u8>) {
        let target = offset & 0xF8;
        if self.phase != Phase::OamScan || self.reference.on || target > LAST_ROW {
            return;
        }
        let (z, t) = (self.row(0), self.row(target));
        let mut row = t;
        let word = usize::from(offset / 2 % 4);
        if let (Some(replaced), 1..) = (replaced, word) {
            row[0] = majority(z[0], t[0], t[word]);
            row[word] = match offset & 7 {
                4 => {
                    let keep =
                        t[0] | z[2] | u16::from(replaced) << 8 | (z[1] ^ t[1]) | (z[3] ^ t[3]);
                    t[2] & (keep | 0x00FF)
                }
                6 => t[3] | t[0] & z[3] & 0xFF00,
                7 => t[3] | z[3] & 0x00FF,
                _ => t[word],
            };
        }
        self.set_row(0, row);
        self.table.invalidate();
    }

    fn disturb_three_rows(&mut self, row: u8) {
        let (two_before, before) = (self.row(row - 16), self.row(row - 8));
        let (p, q, r) = (two_before[0], before, self.row(row)[0]);
        let first = q[0] & (p | q[2] | r) | p & q[2] & r;
        let new = [first, q[1], q[2], q[3]];
        for at in [row - 16, row - 8, row] {
            self.set_row(at, new);
        }
        if row % 32 == 0 {
            self.set_row(row - 32, new);
        }
        if row % 64 == 0 {
            self.set_row(0, new);
        }
    }

    fn read_with_last_row(&mut self, target: u8, word: u8) {
        let (mut n, t) = (self.row(LAST_ROW), self.row(target));
        match word {
            1 => n[1] = majority(t[1], n[1], n[2]),
            3 => n[3] |= t[0] & n[2],
            _ => n[0] = majority(t[0], n[0], n[2]),
        }
        self.set_row(LAST_ROW, n);
        self.set_row(target, n);
    }

    fn write_with_last_row(&mut self, target: u8, word: u8) {
        let (mut n, t) = (self.row(LAST_ROW), self.row(target));
        match word {
            0 => n[0] = majority(t[0], n[0], n[2]),
            1 => n[1] &= n[2],
            2 => {}
            _ => (n[2], n[3]) = (n[2] & (t[2] | n[3]), majority(n[2], t[3], n[3])),
        }
        self.set_row(target, n);
    }

    fn row(&self, at: u8) -> Row {
        let at = usize::from(at.min(LAST_ROW));
        std::array::from_fn(|i| {
            u16::from_be_bytes([self.oam[at + 2 * i], self.oam[at + 2 * i + 1]])
        })
    }

    fn set_row(&mut self, at: u8, row: Row) {
        let at = usize::from(at.min(LAST_ROW));
        for (bytes, word) in self.oam[at..].chunks_exact_mut(2).zip(row) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
    }
}
