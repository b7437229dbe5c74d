//! A bus that serves as many accesses as a test wants, and a whole one behind it.

use super::super::{Access, At, Bus, Cpu};

/// Memory in which every byte follows from its address until it is written.
#[derive(Clone, Default)]
pub struct Memory {
    written: Vec<(u16, u8)>,
}

impl Memory {
    pub fn get(&self, addr: u16) -> u8 {
        let last = self.written.iter().rev().find(|(at, _)| *at == addr);
        last.map_or((addr.wrapping_mul(0x9E37) >> 7) as u8, |&(_, v)| v)
    }

    pub fn set(&mut self, addr: u16, v: u8) {
        self.written.push((addr, v));
    }

    /// Whether all bytes are the same.
    pub fn equals(&self, other: &Self) -> bool {
        self.written
            .iter()
            .chain(&other.written)
            .all(|&(addr, _)| self.get(addr) == other.get(addr))
    }
}

/// The whole bus, for instructions whose bytes are at hand.
#[derive(Clone, Default)]
pub struct Whole {
    pub memory: Memory,
    pub clock: u64,
}

impl Bus for Whole {
    fn read(&mut self, addr: u16) -> u8 {
        self.clock += 4;
        self.memory.get(addr)
    }
    fn operand(&mut self, code: u64, _: u16) -> u8 {
        self.clock += 4;
        code as u8
    }
    fn fetched(&mut self) {
        self.clock += 4;
    }
    fn write(&mut self, addr: u16, v: u8) {
        self.clock += 4;
        self.memory.set(addr, v);
    }
    fn idle(&mut self) {
        self.clock += 4;
    }
    fn pending(&mut self) -> u8 {
        0
    }
    fn acknowledge(&mut self, bit: u8) {
        panic!("interrupt {bit} acknowledged although none is pending");
    }
    fn attention(&mut self) {}
    fn stop(&mut self) -> bool {
        true
    }
}

/// What a miss left to be executed elsewhere.
#[derive(Clone, PartialEq, Debug)]
pub struct Left {
    pub registers: Registers,
    pub code: u64,
    pub pc: u16,
    pub countdown: i64,
}

/// All of a processor that an instruction may change, but PC.
pub type Registers = (u8, [u8; 4], [u16; 4], [bool; 3], super::super::Mode);

/// The flags as they are kept, not only as they are read.
pub fn registers(cpu: &Cpu) -> Registers {
    let Cpu { a, flags, bc, de, hl, sp, pc: _, ime, ei_pending, halt_bug, mode } = cpu;
    let flags = [flags.zero, u8::from(flags.subtract), flags.half, u8::from(flags.carry)];
    (*a, flags, [bc.get(), de.get(), hl.get(), *sp], [*ime, *ei_pending, *halt_bug], *mode)
}

/// A bus that serves `served` accesses and misses the next; after that, all again.
#[derive(Clone)]
pub struct Picky {
    pub whole: Whole,
    pub served: usize,
    pub left: Option<Left>,
}

impl Picky {
    pub fn new(memory: Memory, served: usize) -> Self {
        Self { whole: Whole { memory, clock: 0 }, served, left: None }
    }

    fn access(&mut self) -> Result<(), ()> {
        self.served = self.served.checked_sub(1).ok_or(())?;
        Ok(())
    }
}

impl Access for Picky {
    type Miss = ();
    type Whole = Whole;
    const DOTS: u64 = 4;

    fn elsewhere(cpu: &mut Cpu, bus: &mut Self, (): (), code: u64, at: At) -> At {
        assert!(bus.left.is_none(), "went on after a miss");
        let (pc, countdown) = (at.pc(), at.countdown());
        bus.left = Some(Left { registers: registers(cpu), code, pc, countdown });
        bus.served = usize::MAX;
        let before = bus.whole.clock;
        let pc = cpu.execute(&mut bus.whole, code & 0x00FF_FFFF, at).pc();
        At::new(pc, countdown + (bus.whole.clock - before) as i64)
    }
    fn whole(&mut self) -> Result<&mut Whole, ()> {
        Err(())
    }
    fn fetched(&mut self) {}
    fn operand(&mut self, code: u64, _: u16) -> u8 {
        code as u8
    }
    fn read(&mut self, addr: u16) -> Result<u8, ()> {
        self.access()?;
        Ok(self.whole.memory.get(addr))
    }
    fn write(&mut self, addr: u16, v: u8) -> Result<(), ()> {
        self.access()?;
        self.whole.memory.set(addr, v);
        Ok(())
    }
    fn idle(&mut self) {}
    fn idle_at(&mut self, _: u16) -> Result<(), ()> {
        self.access()
    }
    fn room(&self, at: At) -> u64 {
        (-at.countdown()).max(0) as u64
    }
    fn skip(&mut self, at: &mut At, cycles: u64) {
        at.pass(cycles);
    }
    fn glance(&self, addr: u16) -> Option<u8> {
        Some(self.whole.memory.get(addr))
    }
    fn steady_line(&self, _: At, low: u8) -> (u8, u64) {
        (self.whole.memory.get(0xFF00 | u16::from(low)), u64::from(low) * 5)
    }
}
