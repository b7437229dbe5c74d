//! The instruction set: every bus access and idle M-cycle in the order the hardware has it.
//!
//! One small function per opcode, which [`Table`] lists. An access may miss (see [`Access`]), and
//! then the whole instruction is executed anew on another bus. Hence the one rule in here: no
//! register changes before the last access that can miss. Bytes that were written before a miss are
//! written again, with the same values.
//!
//! Source: Gekkio, "Game Boy: Complete Technical Reference"; checked by the `sm83` vectors.

use std::marker::PhantomData;

use super::{
    access::{Access, At},
    Bus, Cpu, Flags, Mode, Pair,
};

/// A condition of `JR`, `JP`, `CALL` and `RET`, as bits 3 and 4 of the opcode number it.
#[inline(always)]
fn holds(flags: Flags, op: u8) -> bool {
    match op >> 3 & 3 {
        0 => flags.zero != 0,
        1 => flags.zero == 0,
        2 => !flags.carry,
        _ => flags.carry,
    }
}

/// An instruction, or a sequence of them: from its bytes (the opcode lowest) and where it is to where
/// it ends.
pub(super) type Handler<A> = fn(&mut Cpu, &mut A, code: u64, at: At) -> At;

/// The instructions for one kind of bus, by opcode.
pub(super) struct Table<A>(PhantomData<A>);

macro_rules! table {
    ($op:ident: $($high:literal)*) => {
        [$(
            $op::<A, { $high << 4 }>, $op::<A, { $high << 4 | 1 }>, $op::<A, { $high << 4 | 2 }>,
            $op::<A, { $high << 4 | 3 }>, $op::<A, { $high << 4 | 4 }>, $op::<A, { $high << 4 | 5 }>,
            $op::<A, { $high << 4 | 6 }>, $op::<A, { $high << 4 | 7 }>, $op::<A, { $high << 4 | 8 }>,
            $op::<A, { $high << 4 | 9 }>, $op::<A, { $high << 4 | 10 }>,
            $op::<A, { $high << 4 | 11 }>, $op::<A, { $high << 4 | 12 }>,
            $op::<A, { $high << 4 | 13 }>, $op::<A, { $high << 4 | 14 }>,
            $op::<A, { $high << 4 | 15 }>,
        )*]
    };
}

impl<A: Access> Table<A> {
    /// By first byte.
    pub(super) const FIRST: [Handler<A>; 256] =
        table!(first: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    /// By the byte after `CB`.
    const SECOND: [Handler<A>; 256] = table!(second: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}

/// One instruction's execution.
pub(super) struct Turn<'a, A: Access> {
    pub(super) cpu: &'a mut Cpu,
    pub(super) bus: &'a mut A,
    pub(super) code: u64,
    pub(super) at: At,
}

/// An operand by its number in the opcode.
const AT_HL: u8 = 6;

impl<A: Access> Turn<'_, A> {
    /// The opcode was fetched.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.at.pass(A::DOTS);
        self.at.advance(1);
        self.bus.fetched();
    }

    #[inline(always)]
    fn read(&mut self, addr: u16) -> Result<u8, A::Miss> {
        self.at.pass(A::DOTS);
        self.bus.read(addr)
    }

    #[inline(always)]
    fn write(&mut self, addr: u16, v: u8) -> Result<(), A::Miss> {
        self.at.pass(A::DOTS);
        self.bus.write(addr, v)
    }

    #[inline(always)]
    fn idle(&mut self) {
        self.at.pass(A::DOTS);
        self.bus.idle();
    }

    #[inline(always)]
    fn idle_at(&mut self, addr: u16) -> Result<(), A::Miss> {
        self.at.pass(A::DOTS);
        self.bus.idle_at(addr)
    }

    #[inline(always)]
    fn imm8(&mut self) -> u8 {
        self.at.pass(A::DOTS);
        self.code >>= 8;
        let v = self.bus.operand(self.code, self.at.pc());
        self.at.advance(1);
        v
    }

    #[inline(always)]
    fn imm16(&mut self) -> u16 {
        let lo = self.imm8();
        let hi = self.imm8();
        u16::from_le_bytes([lo, hi])
    }

    /// The register with that number: B, C, D, E, H, L, none, A.
    #[inline(always)]
    pub(super) fn register(&self, r: u8) -> u8 {
        match r & 7 {
            0 => self.cpu.bc.high(),
            1 => self.cpu.bc.low(),
            2 => self.cpu.de.high(),
            3 => self.cpu.de.low(),
            4 => self.cpu.hl.high(),
            5 => self.cpu.hl.low(),
            _ => self.cpu.a,
        }
    }

    #[inline(always)]
    pub(super) fn set_register(&mut self, r: u8, v: u8) {
        match r & 7 {
            0 => self.cpu.bc.set_high(v),
            1 => self.cpu.bc.set_low(v),
            2 => self.cpu.de.set_high(v),
            3 => self.cpu.de.set_low(v),
            4 => self.cpu.hl.set_high(v),
            5 => self.cpu.hl.set_low(v),
            _ => self.cpu.a = v,
        }
    }

    /// The operand with that number, which is a register or (HL).
    #[inline(always)]
    fn get(&mut self, r: u8) -> Result<u8, A::Miss> {
        if r & 7 == AT_HL {
            self.read(self.cpu.hl.get())
        } else {
            Ok(self.register(r))
        }
    }

    #[inline(always)]
    fn set(&mut self, r: u8, v: u8) -> Result<(), A::Miss> {
        if r & 7 == AT_HL {
            self.write(self.cpu.hl.get(), v)?;
        } else {
            self.set_register(r, v);
        }
        Ok(())
    }

    /// The pair that bits 4 and 5 of the opcode number: BC, DE, HL, SP.
    #[inline(always)]
    fn pair(&self, op: u8) -> u16 {
        match op >> 4 & 3 {
            0 => self.cpu.bc.get(),
            1 => self.cpu.de.get(),
            2 => self.cpu.hl.get(),
            _ => self.cpu.sp,
        }
    }

    #[inline(always)]
    fn set_pair(&mut self, op: u8, v: u16) {
        match op >> 4 & 3 {
            0 => self.cpu.bc = Pair::new(v),
            1 => self.cpu.de = Pair::new(v),
            2 => self.cpu.hl = Pair::new(v),
            _ => self.cpu.sp = v,
        }
    }

    /// The address of `LD (rr),A` and `LD A,(rr)`: BC, DE, HL+, HL-. The second is HL afterwards.
    #[inline(always)]
    fn pointer(&self, op: u8) -> (u16, u16) {
        let hl = self.cpu.hl.get();
        match op >> 4 & 3 {
            0 => (self.cpu.bc.get(), hl),
            1 => (self.cpu.de.get(), hl),
            2 => (hl, hl.wrapping_add(1)),
            _ => (hl, hl.wrapping_sub(1)),
        }
    }

    #[inline(always)]
    fn push(&mut self, v: u16) -> Result<(), A::Miss> {
        let [hi, lo] = v.to_be_bytes();
        let sp = self.cpu.sp;
        self.write(sp.wrapping_sub(1), hi)?;
        self.write(sp.wrapping_sub(2), lo)?;
        self.cpu.sp = sp.wrapping_sub(2);
        Ok(())
    }

    #[inline(always)]
    fn pop(&mut self) -> Result<u16, A::Miss> {
        let sp = self.cpu.sp;
        let lo = self.read(sp)?;
        let hi = self.read(sp.wrapping_add(1))?;
        self.cpu.sp = sp.wrapping_add(2);
        Ok(u16::from_le_bytes([lo, hi]))
    }

    /// Returns whether the jump was taken, and how far.
    #[inline(always)]
    fn jr(&mut self, taken: bool) -> Option<i8> {
        let e = self.imm8() as i8;
        if !taken {
            return None;
        }
        self.idle();
        self.at.jump(self.at.pc().wrapping_add(e as u16));
        Some(e)
    }

    #[inline(always)]
    fn jp(&mut self, taken: bool) {
        let target = self.imm16();
        if taken {
            self.idle();
            self.at.jump(target);
        }
    }

    #[inline(always)]
    fn call(&mut self, taken: bool) -> Result<(), A::Miss> {
        let target = self.imm16();
        if taken {
            self.rst(target)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn rst(&mut self, target: u16) -> Result<(), A::Miss> {
        self.idle_at(self.cpu.sp)?;
        self.push(self.at.pc())?;
        self.at.jump(target);
        Ok(())
    }

    #[inline(always)]
    fn ret(&mut self) -> Result<(), A::Miss> {
        let target = self.pop()?;
        self.at.jump(target);
        self.idle();
        Ok(())
    }

    /// SP plus a signed immediate, with its flags.
    #[inline(always)]
    fn sp_plus(&mut self) -> u16 {
        let e = self.imm8();
        let lo = self.cpu.sp as u8;
        let (sum, carry) = lo.overflowing_add(e);
        self.cpu.flags = Flags { zero: 1, subtract: false, half: lo ^ e ^ sum, carry };
        self.cpu.sp.wrapping_add(e as i8 as u16)
    }

    #[inline(always)]
    fn halt(&mut self) -> Result<(), A::Miss> {
        let bus = self.bus.whole()?;
        let pending = bus.pending() != 0;
        if !pending || !bus.has_halt_bug() {
            self.cpu.mode = Mode::Halted;
        } else if self.cpu.ime {
            // Only `EI; HALT` with a request already up comes here: the handler returns to HALT.
            self.at.jump(self.at.pc().wrapping_sub(1));
        } else {
            self.cpu.halt_bug = true;
        }
        bus.attention();
        Ok(())
    }

    #[inline(always)]
    fn stop(&mut self) -> Result<(), A::Miss> {
        self.imm8();
        let bus = self.bus.whole()?;
        if bus.stop() {
            self.cpu.mode = Mode::Stopped;
        }
        bus.attention();
        Ok(())
    }

    #[inline(always)]
    #[allow(clippy::match_same_arms)] // in the order of the opcode table
    pub(super) fn first<const OP: u8>(&mut self) -> Result<(), A::Miss> {
        match OP {
            0x00 => {}
            0x10 => self.stop()?,
            0x20 => {
                let taken = holds(self.cpu.flags, OP);
                if let Some(e) = self.jr(taken) {
                    self.skip_idle_loop(e);
                }
            }
            0x18 => {
                self.jr(true);
            }
            0x28 | 0x30 | 0x38 => {
                self.jr(holds(self.cpu.flags, OP));
            }

            0x01 | 0x11 | 0x21 | 0x31 => {
                let v = self.imm16();
                self.set_pair(OP, v);
            }
            0x02 | 0x12 | 0x22 | 0x32 => {
                let (at, hl) = self.pointer(OP);
                self.write(at, self.cpu.a)?;
                if OP >= 0x22 {
                    self.cpu.hl = Pair::new(hl);
                }
            }
            0x0A | 0x1A | 0x2A | 0x3A => {
                let (at, hl) = self.pointer(OP);
                self.cpu.a = self.read(at)?;
                if OP >= 0x2A {
                    self.cpu.hl = Pair::new(hl);
                }
            }
            0x03 | 0x13 | 0x23 | 0x33 => {
                let v = self.pair(OP);
                self.idle_at(v)?;
                self.set_pair(OP, v.wrapping_add(1));
            }
            0x0B | 0x1B | 0x2B | 0x3B => {
                let v = self.pair(OP);
                self.idle_at(v)?;
                self.set_pair(OP, v.wrapping_sub(1));
            }
            0x09 | 0x19 | 0x29 | 0x39 => {
                self.idle();
                let v = self.pair(OP);
                self.cpu.add_hl(v);
            }
            0x08 => {
                let addr = self.imm16();
                let [hi, lo] = self.cpu.sp.to_be_bytes();
                self.write(addr, lo)?;
                self.write(addr.wrapping_add(1), hi)?;
            }

            0x04 | 0x0C | 0x14 | 0x1C | 0x24 | 0x2C | 0x34 | 0x3C => {
                let v = self.get(OP >> 3)?;
                self.set(OP >> 3, v.wrapping_add(1))?;
                self.cpu.flag_inc(v);
            }
            0x05 | 0x0D | 0x15 | 0x1D | 0x25 | 0x2D | 0x35 | 0x3D => {
                let v = self.get(OP >> 3)?;
                self.set(OP >> 3, v.wrapping_sub(1))?;
                self.cpu.flag_dec(v);
            }
            0x06 | 0x0E | 0x16 | 0x1E | 0x26 | 0x2E | 0x36 | 0x3E => {
                let v = self.imm8();
                self.set(OP >> 3, v)?;
            }

            0x07 | 0x0F | 0x17 | 0x1F => {
                let (r, carry) = shift(OP >> 3, self.cpu.a, self.cpu.flags.carry);
                self.cpu.a = r;
                self.cpu.flags = Flags { zero: 1, subtract: false, half: 0, carry };
            }
            0x27 => self.cpu.daa(),
            0x2F => {
                self.cpu.a = !self.cpu.a;
                self.cpu.flags.subtract = true;
                self.cpu.flags.half = 0x10;
            }
            0x37 | 0x3F => {
                let carry = OP == 0x37 || !self.cpu.flags.carry;
                self.cpu.flags = Flags { subtract: false, half: 0, carry, ..self.cpu.flags };
            }

            0x76 => self.halt()?,
            0x40..=0x7F => {
                let v = self.get(OP)?;
                self.set(OP >> 3, v)?;
            }
            0x80..=0xBF => {
                let v = self.get(OP)?;
                self.cpu.arithmetic(OP >> 3, v);
            }
            0xC6 | 0xCE | 0xD6 | 0xDE | 0xE6 | 0xEE | 0xF6 | 0xFE => {
                let v = self.imm8();
                self.cpu.arithmetic(OP >> 3, v);
            }

            0xC0 | 0xC8 | 0xD0 | 0xD8 => {
                self.idle();
                if holds(self.cpu.flags, OP) {
                    self.ret()?;
                }
            }
            0xC9 => self.ret()?,
            0xD9 => {
                self.bus.whole()?.attention();
                self.ret()?;
                self.cpu.ime = true;
            }
            0xC1 | 0xD1 | 0xE1 => {
                let v = self.pop()?;
                self.set_pair(OP, v);
            }
            0xF1 => {
                let [a, f] = self.pop()?.to_be_bytes();
                self.cpu.a = a;
                self.cpu.flags = Flags::from_byte(f);
            }
            0xC5 | 0xD5 | 0xE5 | 0xF5 => {
                self.idle_at(self.cpu.sp)?;
                let v = match OP {
                    0xF5 => u16::from_be_bytes([self.cpu.a, self.cpu.flags.byte()]),
                    _ => self.pair(OP),
                };
                self.push(v)?;
            }

            0xC2 | 0xCA | 0xD2 | 0xDA => self.jp(holds(self.cpu.flags, OP)),
            0xC3 => self.jp(true),
            0xE9 => self.at.jump(self.cpu.hl.get()),
            0xC4 | 0xCC | 0xD4 | 0xDC => self.call(holds(self.cpu.flags, OP))?,
            0xCD => self.call(true)?,
            0xC7 | 0xCF | 0xD7 | 0xDF | 0xE7 | 0xEF | 0xF7 | 0xFF => {
                self.rst(u16::from(OP & 0x38))?;
            }

            0xE0 => {
                let lo = self.imm8();
                self.write(0xFF00 | u16::from(lo), self.cpu.a)?;
            }
            0xF0 => {
                let lo = self.imm8();
                self.cpu.a = self.read(0xFF00 | u16::from(lo))?;
            }
            0xE2 => self.write(0xFF00 | u16::from(self.cpu.bc.low()), self.cpu.a)?,
            0xF2 => self.cpu.a = self.read(0xFF00 | u16::from(self.cpu.bc.low()))?,
            0xEA => {
                let addr = self.imm16();
                self.write(addr, self.cpu.a)?;
            }
            0xFA => {
                let addr = self.imm16();
                self.cpu.a = self.read(addr)?;
            }
            0xE8 => {
                let v = self.sp_plus();
                self.idle();
                self.idle();
                self.cpu.sp = v;
            }
            0xF8 => {
                let v = self.sp_plus();
                self.idle();
                self.cpu.hl = Pair::new(v);
            }
            0xF9 => {
                self.idle_at(self.cpu.hl.get())?;
                self.cpu.sp = self.cpu.hl.get();
            }
            0xF3 => {
                self.cpu.ime = false;
                self.cpu.ei_pending = false;
            }
            0xFB => {
                if !self.cpu.ime {
                    self.bus.whole()?.attention();
                    self.cpu.ei_pending = true;
                }
            }
            0xCB => {} // `second`
            0xD3 | 0xDB | 0xDD | 0xE3 | 0xE4 | 0xEB | 0xEC | 0xED | 0xF4 | 0xFC | 0xFD => {
                self.bus.whole()?.attention();
                self.cpu.mode = Mode::Locked;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn second<const OP: u8>(&mut self) -> Result<(), A::Miss> {
        let v = self.get(OP)?;
        let bit = 1 << (OP >> 3 & 7);
        match OP >> 6 {
            0 => {
                let (r, carry) = shift(OP >> 3, v, self.cpu.flags.carry);
                self.set(OP, r)?;
                self.cpu.flags = Flags { zero: r, subtract: false, half: 0, carry };
            }
            1 => {
                let carry = self.cpu.flags.carry;
                self.cpu.flags = Flags { zero: v & bit, subtract: false, half: 0x10, carry };
            }
            2 => self.set(OP, v & !bit)?,
            _ => self.set(OP, v | bit)?,
        }
        Ok(())
    }
}

/// Shifts and rotations by their number in the opcode, with the carry out.
#[inline(always)]
fn shift(kind: u8, v: u8, carry: bool) -> (u8, bool) {
    let c = u8::from(carry);
    match kind & 7 {
        0 => (v.rotate_left(1), v & 0x80 != 0),
        1 => (v.rotate_right(1), v & 1 != 0),
        2 => (v << 1 | c, v & 0x80 != 0),
        3 => (v >> 1 | c << 7, v & 1 != 0),
        4 => (v << 1, v & 0x80 != 0),
        5 => ((v as i8 >> 1) as u8, v & 1 != 0),
        6 => (v.rotate_left(4), false),
        _ => (v >> 1, v & 1 != 0),
    }
}

pub(super) fn first<A: Access, const OP: u8>(cpu: &mut Cpu, bus: &mut A, code: u64, at: At) -> At {
    let mut turn = Turn { cpu: &mut *cpu, bus: &mut *bus, code, at };
    turn.begin();
    if OP == 0xCB {
        let second = turn.imm8();
        return Table::<A>::SECOND[usize::from(second)](cpu, bus, code, at);
    }
    match turn.first::<OP>() {
        Ok(()) => turn.at,
        Err(miss) => A::elsewhere(cpu, bus, miss, code, at),
    }
}

/// Both bytes have been fetched; `at` is before them.
fn second<A: Access, const OP: u8>(cpu: &mut Cpu, bus: &mut A, code: u64, at: At) -> At {
    let mut turn = Turn { cpu: &mut *cpu, bus: &mut *bus, code, at };
    turn.at.pass(2 * A::DOTS);
    turn.at.advance(2);
    match turn.second::<OP>() {
        Ok(()) => turn.at,
        Err(miss) => A::elsewhere(cpu, bus, miss, code, at),
    }
}
