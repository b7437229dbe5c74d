//! The processor's buses: the quick one, which serves memories only, and the whole one.

use crate::{
    cart::Rom,
    cpu::{Access, At, Bus, Cpu, Plan, BANK, UNPLANNED},
    machine::Machine,
    ppu::FRAME,
    Profile,
};

/// A bank of ROM.
type Bank = [u8; BANK];

/// What [`FastBus`] does not serve.
pub(crate) struct Miss;

/// The bus while no OAM DMA runs: what lies in ROM, work RAM and HRAM is served here, and everything
/// else, instruction by instruction, by a [`WholeBus`].
///
/// `STEP` is the length of an M-cycle in dots: 4, or 2 at double speed.
pub(crate) struct FastBus<'a, const STEP: u64> {
    m: &'a mut Machine,
    image: &'a Rom,
    /// What 0000–3FFF and 4000–7FFF show: offsets into the ROM, and the banks there.
    mapped: [usize; 2],
    banks: [&'a Bank; 2],
    /// The one of them that the program runs in, and where it begins.
    code: &'a Bank,
    plan: &'a Plan,
    code_at: u32,
    /// When the countdown is over.
    horizon: u64,
}

/// `code_at` when it is not known where the program runs: beyond all addresses.
const NOWHERE: u32 = 0x1_0000;

/// The banks at two offsets; the ROM is padded to whole banks and the mapper masks its numbers, so
/// the empty bank is never seen.
fn banks(rom: &[u8], at: [usize; 2]) -> [&Bank; 2] {
    at.map(|at| rom.get(at..).and_then(|r| r.first_chunk()).unwrap_or(&[0xFF; BANK]))
}

/// The instruction at `at`, if all bytes that it may have lie in `memory`.
#[inline(always)]
fn instruction(memory: &[u8], at: u32) -> Option<u64> {
    let bytes = memory.get(at as usize..)?.first_chunk()?;
    Some(u64::from(u32::from_le_bytes(*bytes) & 0x00FF_FFFF))
}

impl<'a, const STEP: u64> FastBus<'a, STEP> {
    pub(crate) fn new(m: &'a mut Machine, image: &'a Rom) -> Self {
        let mapped = m.rom_at;
        let banks = banks(image.bytes(), mapped);
        Self {
            m,
            image,
            mapped,
            banks,
            code: banks[0],
            plan: &UNPLANNED,
            code_at: NOWHERE,
            horizon: 0,
        }
    }

    /// Executes instructions up to the machine's horizon, at least one; returns the clock.
    #[inline(never)]
    pub(crate) fn run(mut self, cpu: &mut Cpu) -> u64 {
        let mut at = self.start_countdown(cpu.pc, self.m.clock);
        loop {
            let offset = u32::from(at.pc()).wrapping_sub(self.code_at) as usize;
            at = match self.code.get(offset..).and_then(|code| code.first_chunk()) {
                Some(&bytes) => {
                    let planned = self.plan[offset];
                    cpu.execute_planned(&mut self, planned, u64::from_le_bytes(bytes), at)
                }
                None => self.execute_far(cpu, at),
            };
            if at.over() {
                break;
            }
        }
        cpu.pc = at.pc();
        self.clock(at)
    }

    /// The countdown from `clock` to the machine's horizon, which it takes over.
    #[inline(always)]
    fn start_countdown(&mut self, pc: u16, clock: u64) -> At {
        self.horizon = self.m.horizon.max(clock);
        At::new(pc, clock.wrapping_sub(self.horizon) as i64)
    }

    #[inline(always)]
    fn clock(&self, at: At) -> u64 {
        self.horizon.wrapping_add(at.countdown() as u64)
    }

    /// Executes an instruction that is not where the program ran before, or at the end of a bank, or in
    /// memory, which it may write to.
    #[inline(never)]
    fn execute_far(&mut self, cpu: &mut Cpu, at: At) -> At {
        let pc = u32::from(at.pc());
        let code = match pc {
            0..=0x7FFF => {
                self.code = self.banks[(pc >> 14) as usize];
                self.code_at = pc & 0x4000;
                self.plan = self.image.plan(self.mapped[(pc >> 14) as usize]);
                instruction(self.code, pc & 0x3FFF)
            }
            0xC000..=0xDFFF => instruction(&self.m.wram, pc & 0x1FFF),
            0xFF80.. => instruction(&self.m.hram, pc & 0x7F),
            _ => None,
        };
        match code {
            Some(code) => cpu.execute(self, code, at),
            // Its bytes are not quickly had, or do not lie in one bank.
            None => self.execute_whole::<false>(cpu, 0, at),
        }
    }

    /// Executes an instruction on the whole bus.
    #[inline(always)]
    fn execute_whole<const FETCHED: bool>(&mut self, cpu: &mut Cpu, code: u64, at: At) -> At {
        let clock = self.clock(at);
        let mut whole =
            WholeBus::<STEP, FETCHED> { clock, m: &mut *self.m, rom: self.image.bytes() };
        let pc = if FETCHED {
            cpu.execute(&mut whole, code & 0x00FF_FFFF, at).pc()
        } else {
            cpu.pc = at.pc();
            cpu.step(&mut whole);
            cpu.pc
        };
        let clock = whole.clock;
        if self.mapped != self.m.rom_at {
            self.mapped = self.m.rom_at;
            self.banks = banks(self.image.bytes(), self.mapped);
            self.code_at = NOWHERE;
        }
        self.start_countdown(pc, clock)
    }
}

impl<const STEP: u64> Access for FastBus<'_, STEP> {
    type Miss = Miss;
    type Whole = WholeBus<'static, STEP, true>;
    const DOTS: u64 = STEP;

    #[cold]
    #[inline(never)]
    fn elsewhere(cpu: &mut Cpu, bus: &mut Self, _: Miss, code: u64, at: At) -> At {
        bus.execute_whole::<true>(cpu, code, at)
    }

    #[inline(always)]
    fn whole(&mut self) -> Result<&mut Self::Whole, Miss> {
        Err(Miss)
    }

    #[inline(always)]
    fn fetched(&mut self) {}

    #[inline(always)]
    fn operand(&mut self, code: u64, _: u16) -> u8 {
        code as u8
    }

    #[inline(always)]
    fn read(&mut self, addr: u16) -> Result<u8, Miss> {
        self.glance(addr).ok_or(Miss)
    }

    #[inline(always)]
    fn write(&mut self, addr: u16, v: u8) -> Result<(), Miss> {
        if addr & 0xE000 == 0xC000 {
            self.m.wram[usize::from(addr & 0x1FFF)] = v;
        } else if in_hram(addr) {
            self.m.hram[usize::from(addr & 0x7F)] = v;
        } else {
            return Err(Miss);
        }
        Ok(())
    }

    #[inline(always)]
    fn idle(&mut self) {}

    #[inline(always)]
    fn idle_at(&mut self, addr: u16) -> Result<(), Miss> {
        if addr >> 8 == 0xFE {
            Err(Miss)
        } else {
            Ok(())
        }
    }

    #[inline(always)]
    fn room(&self, at: At) -> u64 {
        (-at.countdown()).max(0) as u64 * (4 / STEP)
    }

    #[inline(always)]
    fn skip(&mut self, at: &mut At, cycles: u64) {
        at.pass(cycles / (4 / STEP));
    }

    #[inline(always)]
    fn glance(&self, addr: u16) -> Option<u8> {
        if addr < 0x8000 {
            Some(self.banks[usize::from(addr >> 14)][usize::from(addr & 0x3FFF)])
        } else {
            self.m.glance(addr)
        }
    }

    fn steady_line(&self, at: At, low: u8) -> (u8, u64) {
        let (value, dots) = self.m.steady_line(low, self.clock(at));
        (value, dots.min(FRAME) * (4 / STEP))
    }
}

/// The bus with everything on it, an OAM DMA included.
///
/// `STEP` as in [`FastBus`]. `FETCHED` is for one instruction, of which all bytes are at hand.
pub(crate) struct WholeBus<'a, const STEP: u64, const FETCHED: bool> {
    pub(crate) m: &'a mut Machine,
    pub(crate) rom: &'a [u8],
    pub(crate) clock: u64,
}

impl<'a, const STEP: u64> WholeBus<'a, STEP, false> {
    pub(crate) fn new(m: &'a mut Machine, rom: &'a [u8]) -> Self {
        let clock = m.clock;
        Self { m, rom, clock }
    }

    /// Executes instructions up to the horizon, at least one; returns the clock.
    #[inline(never)]
    pub(crate) fn run(mut self, cpu: &mut Cpu) -> u64 {
        loop {
            cpu.step(&mut self);
            if self.clock >= self.m.horizon {
                return self.clock;
            }
        }
    }
}

/// HRAM, all that can be used without noticing an OAM DMA; IE is not of it.
#[inline(always)]
fn in_hram(addr: u16) -> bool {
    (0xFF80..0xFFFF).contains(&addr)
}

impl<const STEP: u64, const FETCHED: bool> Bus for WholeBus<'_, STEP, FETCHED> {
    #[inline(always)]
    fn fetched(&mut self) {
        if FETCHED {
            self.clock += STEP;
        }
    }

    #[inline(always)]
    fn operand(&mut self, code: u64, pc: u16) -> u8 {
        if FETCHED {
            self.clock += STEP;
            code as u8
        } else {
            Bus::read(self, pc)
        }
    }

    #[inline(always)]
    fn idle(&mut self) {
        self.clock += STEP;
    }

    #[inline(always)]
    fn idle_at(&mut self, addr: u16) {
        self.clock += STEP;
        if addr >> 8 == 0xFE {
            self.m.count_in_oam(self.rom, addr, self.clock);
        }
    }

    #[inline(always)]
    fn pending(&mut self) -> u8 {
        self.m.pending(self.clock)
    }

    #[inline(always)]
    fn has_halt_bug(&self) -> bool {
        self.m.profile == Profile::Hardware
    }

    #[inline(always)]
    fn acknowledge(&mut self, bit: u8) {
        self.m.interrupt_flags &= !(1 << bit);
    }

    #[inline(always)]
    fn attention(&mut self) {
        self.m.horizon = 0;
    }

    #[inline(always)]
    fn room(&self) -> u64 {
        self.m.horizon.saturating_sub(self.clock) * (4 / STEP)
    }

    #[inline(always)]
    fn skip(&mut self, cycles: u64) {
        self.clock += cycles / (4 / STEP);
    }

    #[inline(always)]
    fn glance(&self, addr: u16) -> Option<u8> {
        self.m.glance(addr)
    }

    #[inline(always)]
    fn stop(&mut self) -> bool {
        let (clock, stopped) = self.m.stop(self.rom, self.clock);
        self.clock = clock;
        stopped
    }

    #[inline(always)]
    fn read(&mut self, addr: u16) -> u8 {
        self.clock += STEP;
        if in_hram(addr) {
            return self.m.hram[usize::from(addr & 0x7F)];
        }
        self.m.read_slow(self.rom, addr, self.clock)
    }

    #[inline(always)]
    fn write(&mut self, addr: u16, v: u8) {
        self.clock += STEP;
        if in_hram(addr) {
            self.m.hram[usize::from(addr & 0x7F)] = v;
            return;
        }
        self.m.write_slow(self.rom, addr, v, self.clock);
    }
}
