//! The instruction set: every bus access and idle M-cycle in the order the hardware has it.
//!
//! Source: Gekkio, "Game Boy: Complete Technical Reference"; checked by the `sm83` vectors.

use super::{Bus, Cpu, Flags, Mode};

/// A condition of `JR`, `JP`, `CALL` and `RET`.
#[derive(Clone, Copy)]
enum Cond {
    NotZero,
    Zero,
    NotCarry,
    Carry,
}

impl Cpu {
    #[inline(always)]
    fn imm8<B: Bus>(&mut self, bus: &mut B) -> u8 {
        let v = bus.read(self.pc);
        self.pc = self.pc.wrapping_add(1);
        v
    }

    #[inline(always)]
    fn imm16<B: Bus>(&mut self, bus: &mut B) -> u16 {
        let lo = self.imm8(bus);
        let hi = self.imm8(bus);
        u16::from_be_bytes([hi, lo])
    }

    #[inline(always)]
    fn push<B: Bus>(&mut self, bus: &mut B, v: u16) {
        let [hi, lo] = v.to_be_bytes();
        self.push_byte(bus, hi);
        self.push_byte(bus, lo);
    }

    #[inline(always)]
    fn pop<B: Bus>(&mut self, bus: &mut B) -> u16 {
        let lo = bus.read(self.sp);
        self.sp = self.sp.wrapping_add(1);
        let hi = bus.read(self.sp);
        self.sp = self.sp.wrapping_add(1);
        u16::from_be_bytes([hi, lo])
    }

    #[inline(always)]
    fn test(&self, cond: Cond) -> bool {
        match cond {
            Cond::NotZero => self.flags.zero != 0,
            Cond::Zero => self.flags.zero == 0,
            Cond::NotCarry => !self.flags.carry,
            Cond::Carry => self.flags.carry,
        }
    }

    #[inline(always)]
    fn jr<B: Bus>(&mut self, bus: &mut B, taken: bool) {
        let e = self.imm8(bus) as i8;
        if taken {
            bus.idle();
            self.pc = self.pc.wrapping_add(e as u16);
        }
    }

    #[inline(always)]
    fn jp<B: Bus>(&mut self, bus: &mut B, taken: bool) {
        let target = self.imm16(bus);
        if taken {
            bus.idle();
            self.pc = target;
        }
    }

    #[inline(always)]
    fn call<B: Bus>(&mut self, bus: &mut B, taken: bool) {
        let target = self.imm16(bus);
        if taken {
            self.rst(bus, target);
        }
    }

    #[inline(always)]
    fn rst<B: Bus>(&mut self, bus: &mut B, target: u16) {
        bus.idle_at(self.sp);
        self.push(bus, self.pc);
        self.pc = target;
    }

    #[inline(always)]
    fn ret<B: Bus>(&mut self, bus: &mut B) {
        self.pc = self.pop(bus);
        bus.idle();
    }

    #[inline(always)]
    fn ret_if<B: Bus>(&mut self, bus: &mut B, taken: bool) {
        bus.idle();
        if taken {
            self.ret(bus);
        }
    }

    #[inline(always)]
    fn add(&mut self, v: u8, carry: bool) {
        let sum = u16::from(self.a) + u16::from(v) + u16::from(carry);
        let r = sum as u8;
        self.flags = Flags { zero: r, subtract: false, half: self.a ^ v ^ r, carry: sum > 0xFF };
        self.a = r;
    }

    #[inline(always)]
    fn sub(&mut self, v: u8, carry: bool) {
        self.a = self.compare(v, carry);
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

    #[inline(always)]
    fn inc(&mut self, v: u8) -> u8 {
        let r = v.wrapping_add(1);
        self.flags = Flags { zero: r, subtract: false, half: v ^ r, carry: self.flags.carry };
        // 0x1F -> 0x20 toggles bit 4 as the carry out of bit 3; `v ^ r` has it exactly then.
        r
    }

    #[inline(always)]
    fn dec(&mut self, v: u8) -> u8 {
        let r = v.wrapping_sub(1);
        self.flags = Flags { zero: r, subtract: true, half: v ^ r, carry: self.flags.carry };
        r
    }

    #[inline(always)]
    fn add_hl<B: Bus>(&mut self, bus: &mut B, v: u16) {
        bus.idle();
        let hl = self.hl();
        let r = hl.wrapping_add(v);
        self.flags.subtract = false;
        self.flags.half = ((hl ^ v ^ r) >> 8) as u8;
        self.flags.carry = r < hl;
        self.set_hl(r);
    }

    /// SP plus a signed immediate, with its flags.
    #[inline(always)]
    fn sp_plus<B: Bus>(&mut self, bus: &mut B) -> u16 {
        let e = self.imm8(bus);
        let lo = self.sp as u8;
        let (sum, carry) = lo.overflowing_add(e);
        self.flags = Flags { zero: 1, subtract: false, half: lo ^ e ^ sum, carry };
        self.sp.wrapping_add(e as i8 as u16)
    }

    #[inline(always)]
    fn daa(&mut self) {
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

    #[inline(always)]
    fn shifted(&mut self, r: u8, carry: bool) -> u8 {
        self.flags = Flags { zero: r, subtract: false, half: 0, carry };
        r
    }

    #[inline(always)]
    fn rlc(&mut self, v: u8) -> u8 {
        self.shifted(v.rotate_left(1), v & 0x80 != 0)
    }
    #[inline(always)]
    fn rrc(&mut self, v: u8) -> u8 {
        self.shifted(v.rotate_right(1), v & 1 != 0)
    }
    #[inline(always)]
    fn rl(&mut self, v: u8) -> u8 {
        let c = u8::from(self.flags.carry);
        self.shifted(v << 1 | c, v & 0x80 != 0)
    }
    #[inline(always)]
    fn rr(&mut self, v: u8) -> u8 {
        let c = u8::from(self.flags.carry);
        self.shifted(v >> 1 | c << 7, v & 1 != 0)
    }

    #[inline(always)]
    fn halt<B: Bus>(&mut self, bus: &mut B) {
        if bus.pending() == 0 || !bus.has_halt_bug() {
            self.mode = Mode::Halted;
        } else if self.ime {
            // Only `EI; HALT` with a request already up comes here: the handler returns to HALT.
            self.pc = self.pc.wrapping_sub(1);
        } else {
            self.halt_bug = true;
        }
        bus.attention();
    }

    /// Executes one opcode whose fetch has already happened.
    #[inline(always)]
    #[allow(clippy::match_same_arms)] // in the order of the opcode table
    pub(super) fn execute<B: Bus>(&mut self, bus: &mut B, op: u8) {
        macro_rules! ld {
            ($d:ident, $s:ident) => {
                self.$d = self.$s
            };
        }
        macro_rules! ld_from_hl {
            ($d:ident) => {
                self.$d = bus.read(self.hl())
            };
        }
        macro_rules! ld_to_hl {
            ($s:ident) => {
                bus.write(self.hl(), self.$s)
            };
        }
        macro_rules! alu_row {
            ($s:expr, $which:expr) => {{
                let v = $s;
                match $which {
                    0 => self.add(v, false),
                    1 => self.add(v, self.flags.carry),
                    2 => self.sub(v, false),
                    3 => self.sub(v, self.flags.carry),
                    4 => self.logic(self.a & v, 0x10),
                    5 => self.logic(self.a ^ v, 0),
                    6 => self.logic(self.a | v, 0),
                    _ => {
                        self.compare(v, false);
                    }
                }
            }};
        }
        macro_rules! inc16 {
            ($get:ident, $set:ident, $delta:expr) => {{
                let v = self.$get();
                bus.idle_at(v);
                self.$set(v.wrapping_add($delta));
            }};
        }
        match op {
            0x00 => {}
            0x10 => {
                self.imm8(bus);
                if bus.stop() {
                    self.mode = Mode::Stopped;
                }
                bus.attention();
            }
            0x20 => {
                let back = self.pc.wrapping_sub(1);
                let taken = self.test(Cond::NotZero);
                self.jr(bus, taken);
                if taken {
                    self.skip_idle_loop(bus, back.wrapping_sub(self.pc));
                }
            }
            0x30 => self.jr(bus, self.test(Cond::NotCarry)),
            0x18 => self.jr(bus, true),
            0x28 => self.jr(bus, self.test(Cond::Zero)),
            0x38 => self.jr(bus, self.test(Cond::Carry)),

            0x01 => {
                let v = self.imm16(bus);
                self.set_bc(v);
            }
            0x11 => {
                let v = self.imm16(bus);
                self.set_de(v);
            }
            0x21 => {
                let v = self.imm16(bus);
                self.set_hl(v);
            }
            0x31 => self.sp = self.imm16(bus),

            0x02 => bus.write(self.bc(), self.a),
            0x12 => bus.write(self.de(), self.a),
            0x22 => {
                let hl = self.hl();
                self.set_hl(hl.wrapping_add(1));
                bus.write(hl, self.a);
            }
            0x32 => {
                let hl = self.hl();
                self.set_hl(hl.wrapping_sub(1));
                bus.write(hl, self.a);
            }
            0x0A => self.a = bus.read(self.bc()),
            0x1A => self.a = bus.read(self.de()),
            0x2A => {
                let hl = self.hl();
                self.set_hl(hl.wrapping_add(1));
                self.a = bus.read(hl);
            }
            0x3A => {
                let hl = self.hl();
                self.set_hl(hl.wrapping_sub(1));
                self.a = bus.read(hl);
            }

            0x03 => inc16!(bc, set_bc, 1),
            0x13 => inc16!(de, set_de, 1),
            0x23 => inc16!(hl, set_hl, 1),
            0x33 => {
                bus.idle_at(self.sp);
                self.sp = self.sp.wrapping_add(1);
            }
            0x0B => inc16!(bc, set_bc, 0xFFFF),
            0x1B => inc16!(de, set_de, 0xFFFF),
            0x2B => inc16!(hl, set_hl, 0xFFFF),
            0x3B => {
                bus.idle_at(self.sp);
                self.sp = self.sp.wrapping_sub(1);
            }

            0x04 => self.b = self.inc(self.b),
            0x0C => self.c = self.inc(self.c),
            0x14 => self.d = self.inc(self.d),
            0x1C => self.e = self.inc(self.e),
            0x24 => self.h = self.inc(self.h),
            0x2C => self.l = self.inc(self.l),
            0x3C => self.a = self.inc(self.a),
            0x34 => {
                let v = bus.read(self.hl());
                let r = self.inc(v);
                bus.write(self.hl(), r);
            }
            0x05 => self.b = self.dec(self.b),
            0x0D => self.c = self.dec(self.c),
            0x15 => self.d = self.dec(self.d),
            0x1D => self.e = self.dec(self.e),
            0x25 => self.h = self.dec(self.h),
            0x2D => self.l = self.dec(self.l),
            0x3D => self.a = self.dec(self.a),
            0x35 => {
                let v = bus.read(self.hl());
                let r = self.dec(v);
                bus.write(self.hl(), r);
            }

            0x06 => self.b = self.imm8(bus),
            0x0E => self.c = self.imm8(bus),
            0x16 => self.d = self.imm8(bus),
            0x1E => self.e = self.imm8(bus),
            0x26 => self.h = self.imm8(bus),
            0x2E => self.l = self.imm8(bus),
            0x3E => self.a = self.imm8(bus),
            0x36 => {
                let v = self.imm8(bus);
                bus.write(self.hl(), v);
            }

            0x07 => {
                self.a = self.rlc(self.a);
                self.flags.zero = 1;
            }
            0x0F => {
                self.a = self.rrc(self.a);
                self.flags.zero = 1;
            }
            0x17 => {
                self.a = self.rl(self.a);
                self.flags.zero = 1;
            }
            0x1F => {
                self.a = self.rr(self.a);
                self.flags.zero = 1;
            }
            0x27 => self.daa(),
            0x2F => {
                self.a = !self.a;
                self.flags.subtract = true;
                self.flags.half = 0x10;
            }
            0x37 => {
                self.flags.subtract = false;
                self.flags.half = 0;
                self.flags.carry = true;
            }
            0x3F => {
                self.flags.subtract = false;
                self.flags.half = 0;
                self.flags.carry = !self.flags.carry;
            }

            0x08 => {
                let addr = self.imm16(bus);
                let [hi, lo] = self.sp.to_be_bytes();
                bus.write(addr, lo);
                bus.write(addr.wrapping_add(1), hi);
            }
            0x09 => self.add_hl(bus, self.bc()),
            0x19 => self.add_hl(bus, self.de()),
            0x29 => self.add_hl(bus, self.hl()),
            0x39 => self.add_hl(bus, self.sp),

            0x40 => {}
            0x41 => ld!(b, c),
            0x42 => ld!(b, d),
            0x43 => ld!(b, e),
            0x44 => ld!(b, h),
            0x45 => ld!(b, l),
            0x46 => ld_from_hl!(b),
            0x47 => ld!(b, a),
            0x48 => ld!(c, b),
            0x49 => {}
            0x4A => ld!(c, d),
            0x4B => ld!(c, e),
            0x4C => ld!(c, h),
            0x4D => ld!(c, l),
            0x4E => ld_from_hl!(c),
            0x4F => ld!(c, a),
            0x50 => ld!(d, b),
            0x51 => ld!(d, c),
            0x52 => {}
            0x53 => ld!(d, e),
            0x54 => ld!(d, h),
            0x55 => ld!(d, l),
            0x56 => ld_from_hl!(d),
            0x57 => ld!(d, a),
            0x58 => ld!(e, b),
            0x59 => ld!(e, c),
            0x5A => ld!(e, d),
            0x5B => {}
            0x5C => ld!(e, h),
            0x5D => ld!(e, l),
            0x5E => ld_from_hl!(e),
            0x5F => ld!(e, a),
            0x60 => ld!(h, b),
            0x61 => ld!(h, c),
            0x62 => ld!(h, d),
            0x63 => ld!(h, e),
            0x64 => {}
            0x65 => ld!(h, l),
            0x66 => ld_from_hl!(h),
            0x67 => ld!(h, a),
            0x68 => ld!(l, b),
            0x69 => ld!(l, c),
            0x6A => ld!(l, d),
            0x6B => ld!(l, e),
            0x6C => ld!(l, h),
            0x6D => {}
            0x6E => ld_from_hl!(l),
            0x6F => ld!(l, a),
            0x70 => ld_to_hl!(b),
            0x71 => ld_to_hl!(c),
            0x72 => ld_to_hl!(d),
            0x73 => ld_to_hl!(e),
            0x74 => ld_to_hl!(h),
            0x75 => ld_to_hl!(l),
            0x76 => self.halt(bus),
            0x77 => ld_to_hl!(a),
            0x78 => ld!(a, b),
            0x79 => ld!(a, c),
            0x7A => ld!(a, d),
            0x7B => ld!(a, e),
            0x7C => ld!(a, h),
            0x7D => ld!(a, l),
            0x7E => ld_from_hl!(a),
            0x7F => {}

            0x80 => alu_row!(self.b, 0),
            0x81 => alu_row!(self.c, 0),
            0x82 => alu_row!(self.d, 0),
            0x83 => alu_row!(self.e, 0),
            0x84 => alu_row!(self.h, 0),
            0x85 => alu_row!(self.l, 0),
            0x86 => alu_row!(bus.read(self.hl()), 0),
            0x87 => alu_row!(self.a, 0),
            0x88 => alu_row!(self.b, 1),
            0x89 => alu_row!(self.c, 1),
            0x8A => alu_row!(self.d, 1),
            0x8B => alu_row!(self.e, 1),
            0x8C => alu_row!(self.h, 1),
            0x8D => alu_row!(self.l, 1),
            0x8E => alu_row!(bus.read(self.hl()), 1),
            0x8F => alu_row!(self.a, 1),
            0x90 => alu_row!(self.b, 2),
            0x91 => alu_row!(self.c, 2),
            0x92 => alu_row!(self.d, 2),
            0x93 => alu_row!(self.e, 2),
            0x94 => alu_row!(self.h, 2),
            0x95 => alu_row!(self.l, 2),
            0x96 => alu_row!(bus.read(self.hl()), 2),
            0x97 => alu_row!(self.a, 2),
            0x98 => alu_row!(self.b, 3),
            0x99 => alu_row!(self.c, 3),
            0x9A => alu_row!(self.d, 3),
            0x9B => alu_row!(self.e, 3),
            0x9C => alu_row!(self.h, 3),
            0x9D => alu_row!(self.l, 3),
            0x9E => alu_row!(bus.read(self.hl()), 3),
            0x9F => alu_row!(self.a, 3),
            0xA0 => alu_row!(self.b, 4),
            0xA1 => alu_row!(self.c, 4),
            0xA2 => alu_row!(self.d, 4),
            0xA3 => alu_row!(self.e, 4),
            0xA4 => alu_row!(self.h, 4),
            0xA5 => alu_row!(self.l, 4),
            0xA6 => alu_row!(bus.read(self.hl()), 4),
            0xA7 => alu_row!(self.a, 4),
            0xA8 => alu_row!(self.b, 5),
            0xA9 => alu_row!(self.c, 5),
            0xAA => alu_row!(self.d, 5),
            0xAB => alu_row!(self.e, 5),
            0xAC => alu_row!(self.h, 5),
            0xAD => alu_row!(self.l, 5),
            0xAE => alu_row!(bus.read(self.hl()), 5),
            0xAF => alu_row!(self.a, 5),
            0xB0 => alu_row!(self.b, 6),
            0xB1 => alu_row!(self.c, 6),
            0xB2 => alu_row!(self.d, 6),
            0xB3 => alu_row!(self.e, 6),
            0xB4 => alu_row!(self.h, 6),
            0xB5 => alu_row!(self.l, 6),
            0xB6 => alu_row!(bus.read(self.hl()), 6),
            0xB7 => alu_row!(self.a, 6),
            0xB8 => alu_row!(self.b, 7),
            0xB9 => alu_row!(self.c, 7),
            0xBA => alu_row!(self.d, 7),
            0xBB => alu_row!(self.e, 7),
            0xBC => alu_row!(self.h, 7),
            0xBD => alu_row!(self.l, 7),
            0xBE => alu_row!(bus.read(self.hl()), 7),
            0xBF => alu_row!(self.a, 7),
            0xC6 => alu_row!(self.imm8(bus), 0),
            0xCE => alu_row!(self.imm8(bus), 1),
            0xD6 => alu_row!(self.imm8(bus), 2),
            0xDE => alu_row!(self.imm8(bus), 3),
            0xE6 => alu_row!(self.imm8(bus), 4),
            0xEE => alu_row!(self.imm8(bus), 5),
            0xF6 => alu_row!(self.imm8(bus), 6),
            0xFE => alu_row!(self.imm8(bus), 7),

            0xC0 => self.ret_if(bus, self.test(Cond::NotZero)),
            0xC8 => self.ret_if(bus, self.test(Cond::Zero)),
            0xD0 => self.ret_if(bus, self.test(Cond::NotCarry)),
            0xD8 => self.ret_if(bus, self.test(Cond::Carry)),
            0xC9 => self.ret(bus),
            0xD9 => {
                self.ret(bus);
                self.ime = true;
                bus.attention();
            }

            0xC1 => {
                let v = self.pop(bus);
                self.set_bc(v);
            }
            0xD1 => {
                let v = self.pop(bus);
                self.set_de(v);
            }
            0xE1 => {
                let v = self.pop(bus);
                self.set_hl(v);
            }
            0xF1 => {
                let [a, f] = self.pop(bus).to_be_bytes();
                self.a = a;
                self.flags = Flags::from_byte(f);
            }
            0xC5 => {
                bus.idle_at(self.sp);
                self.push(bus, self.bc());
            }
            0xD5 => {
                bus.idle_at(self.sp);
                self.push(bus, self.de());
            }
            0xE5 => {
                bus.idle_at(self.sp);
                self.push(bus, self.hl());
            }
            0xF5 => {
                bus.idle_at(self.sp);
                let af = u16::from_be_bytes([self.a, self.flags.byte()]);
                self.push(bus, af);
            }

            0xC2 => self.jp(bus, self.test(Cond::NotZero)),
            0xCA => self.jp(bus, self.test(Cond::Zero)),
            0xD2 => self.jp(bus, self.test(Cond::NotCarry)),
            0xDA => self.jp(bus, self.test(Cond::Carry)),
            0xC3 => self.jp(bus, true),
            0xE9 => self.pc = self.hl(),
            0xC4 => self.call(bus, self.test(Cond::NotZero)),
            0xCC => self.call(bus, self.test(Cond::Zero)),
            0xD4 => self.call(bus, self.test(Cond::NotCarry)),
            0xDC => self.call(bus, self.test(Cond::Carry)),
            0xCD => self.call(bus, true),
            0xC7 | 0xCF | 0xD7 | 0xDF | 0xE7 | 0xEF | 0xF7 | 0xFF => {
                self.rst(bus, u16::from(op & 0x38));
            }

            0xE0 => {
                let lo = self.imm8(bus);
                bus.write(0xFF00 | u16::from(lo), self.a);
            }
            0xF0 => {
                let lo = self.imm8(bus);
                self.a = bus.read(0xFF00 | u16::from(lo));
            }
            0xE2 => bus.write(0xFF00 | u16::from(self.c), self.a),
            0xF2 => self.a = bus.read(0xFF00 | u16::from(self.c)),
            0xEA => {
                let addr = self.imm16(bus);
                bus.write(addr, self.a);
            }
            0xFA => {
                let addr = self.imm16(bus);
                self.a = bus.read(addr);
            }
            0xE8 => {
                let v = self.sp_plus(bus);
                bus.idle();
                bus.idle();
                self.sp = v;
            }
            0xF8 => {
                let v = self.sp_plus(bus);
                bus.idle();
                self.set_hl(v);
            }
            0xF9 => {
                bus.idle_at(self.hl());
                self.sp = self.hl();
            }
            0xF3 => {
                self.ime = false;
                self.ei_pending = false;
            }
            0xFB => {
                if !self.ime {
                    self.ei_pending = true;
                    bus.attention();
                }
            }
            0xCB => {
                let cb = self.imm8(bus);
                self.execute_cb(bus, cb);
            }
            0xD3 | 0xDB | 0xDD | 0xE3 | 0xE4 | 0xEB | 0xEC | 0xED | 0xF4 | 0xFC | 0xFD => {
                self.mode = Mode::Locked;
                bus.attention();
            }
        }
    }

    #[inline(always)]
    fn execute_cb<B: Bus>(&mut self, bus: &mut B, op: u8) {
        let v = match op & 7 {
            0 => self.b,
            1 => self.c,
            2 => self.d,
            3 => self.e,
            4 => self.h,
            5 => self.l,
            6 => bus.read(self.hl()),
            _ => self.a,
        };
        let bit = op >> 3 & 7;
        let r = match op >> 6 {
            0 => match bit {
                0 => self.rlc(v),
                1 => self.rrc(v),
                2 => self.rl(v),
                3 => self.rr(v),
                4 => self.shifted(v << 1, v & 0x80 != 0),
                5 => self.shifted((v as i8 >> 1) as u8, v & 1 != 0),
                6 => self.shifted(v.rotate_left(4), false),
                _ => self.shifted(v >> 1, v & 1 != 0),
            },
            1 => {
                self.flags.zero = v & 1 << bit;
                self.flags.subtract = false;
                self.flags.half = 0x10;
                return;
            }
            2 => v & !(1 << bit),
            _ => v | 1 << bit,
        };
        match op & 7 {
            0 => self.b = r,
            1 => self.c = r,
            2 => self.d = r,
            3 => self.e = r,
            4 => self.h = r,
            5 => self.l = r,
            6 => bus.write(self.hl(), r),
            _ => self.a = r,
        }
    }
}
