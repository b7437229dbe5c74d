//! The SM83 processor behind a bus on which one access is one M-cycle.

mod exec;
mod flags;
mod idle;

pub use flags::Flags;

use crate::state::{Malformed, Reader, State, Writer};

/// What the processor is connected to. Every method but the two of the interrupt lines takes one
/// M-cycle (4 T-cycles), which the bus lets pass *before* the access takes effect.
pub trait Bus {
    /// Reads a byte.
    fn read(&mut self, addr: u16) -> u8;
    /// Writes a byte.
    fn write(&mut self, addr: u16, value: u8);
    /// Lets an M-cycle without access pass.
    fn idle(&mut self);
    /// An M-cycle without access while `addr` stands on the address bus (16-bit increments).
    fn idle_at(&mut self, addr: u16) {
        let _ = addr;
        self.idle();
    }
    /// Interrupts that are requested and enabled now: `IE & IF & 0x1F`.
    fn pending(&mut self) -> u8;
    /// Whether `HALT` with an interrupt already pending does anything but end at once.
    fn has_halt_bug(&self) -> bool {
        true
    }
    /// Clears one request bit in IF.
    fn acknowledge(&mut self, bit: u8);
    /// The processor changed something (IME, HALT) that decides whether it may run on undisturbed.
    fn attention(&mut self);
    /// T-cycles that have passed.
    fn clock(&self) -> u64 {
        0
    }
    /// T-cycles that may pass before the processor has to look up; zero where nothing is skipped.
    fn room(&self) -> u64 {
        0
    }
    /// Lets time pass in which nothing happens.
    fn skip(&mut self, cycles: u64) {
        let _ = cycles;
    }
    /// A byte of the program, without taking an M-cycle, where that is easily had.
    fn glance(&self, addr: u16) -> Option<u8> {
        let _ = addr;
        None
    }
    /// What the PPU register FF00 + `low` (STAT or LY) reads now, and for how many T-cycles it will.
    fn steady_line(&self, low: u8) -> (u8, u64) {
        let _ = low;
        (0, 0)
    }
    /// Whether the caller of [`Cpu::run`] has to look before the next instruction.
    fn wants_attention(&self) -> bool {
        true
    }
    /// `STOP` was executed: returns whether the processor stays stopped.
    fn stop(&mut self) -> bool;
}

/// Whether the processor executes instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// It does.
    #[default]
    Running,
    /// `HALT`: until an interrupt is pending.
    Halted,
    /// `STOP`: until a selected button is pressed.
    Stopped,
    /// An undefined opcode: until power-off.
    Locked,
}

/// The processor's registers and latches.
#[derive(Clone, Debug, Default)]
pub struct Cpu {
    /// A.
    pub a: u8,
    /// F, in parts.
    pub flags: Flags,
    /// B.
    pub b: u8,
    /// C.
    pub c: u8,
    /// D.
    pub d: u8,
    /// E.
    pub e: u8,
    /// H.
    pub h: u8,
    /// L.
    pub l: u8,
    /// Stack pointer.
    pub sp: u16,
    /// Program counter.
    pub pc: u16,
    /// Interrupt master enable.
    pub ime: bool,
    /// `EI` was executed and takes effect after the next instruction.
    pub ei_pending: bool,
    /// The next opcode fetch does not advance PC (`HALT` with an interrupt pending and IME off).
    pub halt_bug: bool,
    /// Running, halted, stopped or locked.
    pub mode: Mode,
}

impl Cpu {
    /// BC.
    #[inline(always)]
    pub fn bc(&self) -> u16 {
        u16::from_be_bytes([self.b, self.c])
    }
    /// DE.
    #[inline(always)]
    pub fn de(&self) -> u16 {
        u16::from_be_bytes([self.d, self.e])
    }
    /// HL.
    #[inline(always)]
    pub fn hl(&self) -> u16 {
        u16::from_be_bytes([self.h, self.l])
    }
    /// Sets BC.
    #[inline(always)]
    pub fn set_bc(&mut self, v: u16) {
        [self.b, self.c] = v.to_be_bytes();
    }
    /// Sets DE.
    #[inline(always)]
    pub fn set_de(&mut self, v: u16) {
        [self.d, self.e] = v.to_be_bytes();
    }
    /// Sets HL.
    #[inline(always)]
    pub fn set_hl(&mut self, v: u16) {
        [self.h, self.l] = v.to_be_bytes();
    }

    /// Executes instructions until the bus asks for attention, at least one; returns the clock of
    /// the bus.
    ///
    /// The bus is made in here and the registers are copied, so that both are local values which
    /// the compiler can keep in registers.
    #[inline(never)]
    pub fn run<B: Bus>(&mut self, make_bus: impl FnOnce() -> B) -> u64 {
        let mut bus = make_bus();
        let mut cpu = self.clone();
        loop {
            cpu.step(&mut bus);
            if bus.wants_attention() {
                break;
            }
        }
        *self = cpu;
        bus.clock()
    }

    /// Fetches and executes one instruction; interrupts are the caller's business.
    #[inline(always)]
    pub fn step<B: Bus>(&mut self, bus: &mut B) {
        let op = bus.read(self.pc);
        self.pc = self.pc.wrapping_add(1);
        self.execute(bus, op);
    }

    /// As [`step`](Self::step), for the one instruction after the halt bug was triggered.
    pub fn step_after_halt_bug<B: Bus>(&mut self, bus: &mut B) {
        self.halt_bug = false;
        let op = bus.read(self.pc);
        self.execute(bus, op);
    }

    /// Enters the handler of the most urgent pending interrupt: five M-cycles.
    ///
    /// The vector is chosen after the high byte of PC has been pushed, so a push onto IE can cancel
    /// the dispatch, which then jumps to 0000.
    ///
    /// Source: mooneye `acceptance/interrupts/ie_push`, Pan Docs "Interrupt Handling".
    pub fn dispatch<B: Bus>(&mut self, bus: &mut B) {
        self.ime = false;
        self.mode = Mode::Running;
        bus.idle();
        bus.idle();
        bus.idle();
        let [hi, lo] = self.pc.to_be_bytes();
        self.push_byte(bus, hi);
        let pending = bus.pending();
        self.push_byte(bus, lo);
        if pending == 0 {
            self.pc = 0;
        } else {
            let bit = pending.trailing_zeros() as u8;
            bus.acknowledge(bit);
            self.pc = 0x40 + 8 * u16::from(bit);
        }
    }

    #[inline(always)]
    fn push_byte<B: Bus>(&mut self, bus: &mut B, v: u8) {
        self.sp = self.sp.wrapping_sub(1);
        bus.write(self.sp, v);
    }
}

impl State for Mode {
    fn save(&self, w: &mut Writer) {
        (*self as u8).save(w);
    }
    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        let mut v = 0u8;
        v.load(r)?;
        *self = match v {
            0 => Mode::Running,
            1 => Mode::Halted,
            2 => Mode::Stopped,
            3 => Mode::Locked,
            _ => return Err(Malformed),
        };
        Ok(())
    }
}

impl State for Flags {
    fn save(&self, w: &mut Writer) {
        self.byte().save(w);
    }
    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        let mut f = 0u8;
        f.load(r)?;
        *self = Self::from_byte(f);
        Ok(())
    }
}

crate::state_fields!(Cpu { a, flags, b, c, d, e, h, l, sp, pc, ime, ei_pending, halt_bug, mode });
