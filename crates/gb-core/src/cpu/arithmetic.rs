//! What instructions compute, and its flags.

use super::{Cpu, Flags, Pair};

impl Cpu {
    /// ADD, ADC, SUB, SBC, AND, XOR, OR and CP, as bits 0 to 2 of `kind` number them.
    #[inline(always)]
    pub(super) fn arithmetic(&mut self, kind: u8, v: u8) {
        match kind & 7 {
            0 => self.add(v, false),
            1 => self.add(v, self.flags.carry),
            2 => self.a = self.compare(v, false),
            3 => self.a = self.compare(v, self.flags.carry),
            4 => self.logic(self.a & v, 0x10),
            5 => self.logic(self.a ^ v, 0),
            6 => self.logic(self.a | v, 0),
            _ => {
                self.compare(v, false);
            }
        }
    }

    #[inline(always)]
    fn add(&mut self, v: u8, carry: bool) {
        let sum = u16::from(self.a) + u16::from(v) + u16::from(carry);
        let r = sum as u8;
        self.flags = Flags { zero: r, subtract: false, half: self.a ^ v ^ r, carry: sum > 0xFF };
        self.a = r;
    }

    /// Sets the flags of A − v − carry and returns the difference.
    #[inline(always)]
    pub(super) fn compare(&mut self, v: u8, carry: bool) -> u8 {
        let diff = u16::from(self.a).wrapping_sub(u16::from(v)).wrapping_sub(u16::from(carry));
        let r = diff as u8;
        self.flags = Flags { zero: r, subtract: true, half: self.a ^ v ^ r, carry: diff > 0xFF };
        r
    }

    #[inline(always)]
    pub(super) fn logic(&mut self, r: u8, half: u8) {
        self.flags = Flags { zero: r, subtract: false, half, carry: false };
        self.a = r;
    }

    /// The flags of `v` + 1. 1F + 1 toggles bit 4 as the carry out of bit 3 does.
    #[inline(always)]
    pub(super) fn flag_inc(&mut self, v: u8) {
        let r = v.wrapping_add(1);
        self.flags = Flags { zero: r, subtract: false, half: v ^ r, carry: self.flags.carry };
    }

    /// The flags of `v` − 1.
    #[inline(always)]
    pub(super) fn flag_dec(&mut self, v: u8) {
        let r = v.wrapping_sub(1);
        self.flags = Flags { zero: r, subtract: true, half: v ^ r, carry: self.flags.carry };
    }

    #[inline(always)]
    pub(super) fn add_hl(&mut self, v: u16) {
        let hl = self.hl.get();
        let r = hl.wrapping_add(v);
        self.flags.subtract = false;
        self.flags.half = ((hl ^ v ^ r) >> 8) as u8;
        self.flags.carry = r < hl;
        self.hl = Pair::new(r);
    }

    #[inline(always)]
    pub(super) fn daa(&mut self) {
        let Flags { subtract, carry, half, .. } = self.flags;
        let mut adjust = 0u8;
        let mut c = carry;
        if half & 0x10 != 0 || (!subtract && self.a & 0x0F > 9) {
            adjust |= 0x06;
        }
        if carry || (!subtract && self.a > 0x99) {
            adjust |= 0x60;
            c = true;
        }
        self.a = if subtract { self.a.wrapping_sub(adjust) } else { self.a.wrapping_add(adjust) };
        self.flags = Flags { zero: self.a, subtract, half: 0, carry: c };
    }
}
