//! The SM83 processor behind a bus on which one access is one M-cycle.

mod access;
mod arithmetic;
mod exec;
mod flags;
mod idle;
mod plan;
mod sequences;

pub(crate) use access::{Access, At};
pub use flags::Flags;
pub(crate) use plan::{plan, Plan, BANK, UNPLANNED};
use sequences::PLANS;

use crate::state::{Malformed, Reader, State, Writer};
use exec::Table;

/// What the processor is connected to. Every method but the two of the interrupt lines takes one
/// M-cycle (4 T-cycles), which the bus lets pass *before* the access takes effect.
pub trait Bus {
    /// Reads a byte.
    fn read(&mut self, addr: u16) -> u8;
    /// A further byte of the instruction, at `pc`; a bus that knows the program already finds it in
    /// the lowest byte of `code`.
    fn operand(&mut self, code: u64, pc: u16) -> u8 {
        let _ = code;
        self.read(pc)
    }
    /// An opcode was fetched. Takes no M-cycle where that was a `read`.
    fn fetched(&mut self) {}
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

/// Two registers that make a pair, kept as its two addends.
///
/// So a pair is read as two numbers and an `or`, whichever was written last. A processor that was
/// to read 16 bits at once, of which it has just written 8, would have to wait for the memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    /// The high register times 256.
    high: u16,
    low: u16,
}

impl Pair {
    /// The pair that reads as `v`.
    #[inline(always)]
    pub fn new(v: u16) -> Self {
        Self { high: v & 0xFF00, low: v & 0xFF }
    }
    /// Both registers.
    #[inline(always)]
    pub fn get(self) -> u16 {
        self.high | self.low
    }
    /// The first register (B, D, H).
    #[inline(always)]
    pub fn high(self) -> u8 {
        (self.high >> 8) as u8
    }
    /// The second register (C, E, L).
    #[inline(always)]
    pub fn low(self) -> u8 {
        self.low as u8
    }
    #[inline(always)]
    fn set_high(&mut self, v: u8) {
        self.high = u16::from(v) << 8;
    }
    #[inline(always)]
    fn set_low(&mut self, v: u8) {
        self.low = u16::from(v);
    }
}

/// The processor's registers and latches.
#[derive(Clone, Debug, Default)]
pub struct Cpu {
    /// A.
    pub a: u8,
    /// F, in parts.
    pub flags: Flags,
    /// BC.
    pub bc: Pair,
    /// DE.
    pub de: Pair,
    /// HL.
    pub hl: Pair,
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
    /// Fetches and executes one instruction; interrupts are the caller's business.
    #[inline(always)]
    pub fn step<B: Bus>(&mut self, bus: &mut B) {
        self.step_at(bus, self.pc);
    }

    /// As [`step`](Self::step), for the one instruction after the halt bug was triggered, behind
    /// whose opcode PC does not move.
    pub fn step_after_halt_bug<B: Bus>(&mut self, bus: &mut B) {
        self.halt_bug = false;
        self.step_at(bus, self.pc.wrapping_sub(1));
    }

    #[inline(always)]
    fn step_at<B: Bus>(&mut self, bus: &mut B, pc: u16) {
        let opcode = bus.read(self.pc);
        self.pc = self.execute(bus, u64::from(opcode), At::new(pc, 0)).pc();
    }

    /// Executes the instruction whose opcode is the lowest byte of `code`.
    #[inline(always)]
    pub(crate) fn execute<A: Access>(&mut self, bus: &mut A, code: u64, at: At) -> At {
        Table::<A>::FIRST[usize::from(code as u8)](self, bus, code, at)
    }

    /// Executes what is planned for a place of the program, whose bytes are `code`.
    #[inline(always)]
    pub(crate) fn execute_planned<A: Access>(
        &mut self,
        bus: &mut A,
        planned: u16,
        code: u64,
        at: At,
    ) -> At {
        Table::<A>::PLANNED[usize::from(planned) % PLANS](self, bus, code, at)
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
        bus.idle_at(self.sp);
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

impl State for Pair {
    fn save(&self, w: &mut Writer) {
        self.get().save(w);
    }
    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        let mut v = 0u16;
        v.load(r)?;
        *self = Self::new(v);
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

crate::state_fields!(Cpu { a, flags, bc, de, hl, sp, pc, ime, ei_pending, halt_bug, mode });
