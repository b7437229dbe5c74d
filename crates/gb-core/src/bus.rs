//! The processor's bus: the direct way to the memories, and the one beside an OAM DMA.

use crate::{cpu::Bus, machine::Machine, ppu::FRAME, Profile};

/// A bank of ROM.
type Bank = [u8; 0x4000];

/// The bus while no OAM DMA runs: memories are served directly.
///
/// `STEP` is the length of an M-cycle in dots: 4, or 2 at double speed.
pub(crate) struct FastBus<'a, const STEP: u64> {
    pub(crate) m: &'a mut Machine,
    pub(crate) rom: &'a [u8],
    /// What 0000–3FFF shows.
    low: &'a Bank,
    /// What 4000–7FFF shows.
    high: &'a Bank,
    /// T-cycles since the horizon, negative before it: one number is both clock and countdown.
    since: i64,
    /// The horizon that `since` counts from.
    horizon: u64,
}

/// The banks at two offsets; the ROM is padded to whole banks and the mapper masks its numbers, so
/// the empty bank is never seen.
fn banks(rom: &[u8], at: [usize; 2]) -> [&Bank; 2] {
    at.map(|at| rom.get(at..).and_then(|r| r.first_chunk()).unwrap_or(&[0xFF; 0x4000]))
}

impl<'a, const STEP: u64> FastBus<'a, STEP> {
    pub(crate) fn new(m: &'a mut Machine, rom: &'a [u8]) -> Self {
        let [low, high] = banks(rom, m.rom_at);
        let horizon = m.horizon;
        let since = m.clock.wrapping_sub(horizon) as i64;
        Self { m, rom, low, high, since, horizon }
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.horizon.wrapping_add(self.since as u64)
    }

    /// Takes over a horizon that has moved.
    #[inline(always)]
    fn follow_horizon(&mut self) {
        let clock = self.now();
        self.horizon = self.m.horizon;
        self.since = clock.wrapping_sub(self.horizon) as i64;
    }
}

impl<const STEP: u64> Bus for FastBus<'_, STEP> {
    #[inline(always)]
    fn idle(&mut self) {
        self.since += STEP as i64;
    }

    #[inline(always)]
    fn idle_at(&mut self, addr: u16) {
        self.since += STEP as i64;
        if addr >> 8 == 0xFE {
            let clock = self.now();
            self.m.count_in_oam(self.rom, addr, clock);
            self.follow_horizon();
        }
    }

    #[inline(always)]
    fn pending(&mut self) -> u8 {
        let clock = self.now();
        let pending = self.m.pending(clock);
        self.follow_horizon();
        pending
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
        self.follow_horizon();
    }

    #[inline(always)]
    fn clock(&self) -> u64 {
        self.now()
    }

    #[inline(always)]
    fn wants_attention(&self) -> bool {
        self.since >= 0
    }

    #[inline(always)]
    fn room(&self) -> u64 {
        (-self.since).max(0) as u64 * (4 / STEP)
    }

    #[inline(always)]
    fn skip(&mut self, cycles: u64) {
        self.since += (cycles / (4 / STEP)) as i64;
    }

    #[inline(always)]
    fn glance(&self, addr: u16) -> Option<u8> {
        if addr < 0x8000 {
            let bank = if addr & 0x4000 == 0 { self.low } else { self.high };
            Some(bank[usize::from(addr & 0x3FFF)])
        } else {
            self.m.glance(addr)
        }
    }

    #[inline(always)]
    fn steady_line(&self, low: u8) -> (u8, u64) {
        let (value, dots) = self.m.steady_line(low, self.now());
        (value, dots.min(FRAME) * (4 / STEP))
    }

    #[inline(always)]
    fn stop(&mut self) -> bool {
        let clock = self.now();
        let (clock, stopped) = self.m.stop(self.rom, clock);
        self.since = clock.wrapping_sub(self.horizon) as i64;
        self.follow_horizon();
        stopped
    }

    #[inline(always)]
    fn read(&mut self, addr: u16) -> u8 {
        self.since += STEP as i64;
        if addr < 0x8000 {
            let bank = if addr & 0x4000 == 0 { self.low } else { self.high };
            bank[usize::from(addr & 0x3FFF)]
        } else if addr & 0xE000 == 0xC000 {
            self.m.wram[usize::from(addr & 0x1FFF)]
        } else if addr >= 0xFF80 {
            self.m.hram[usize::from(addr & 0x7F)]
        } else {
            let clock = self.now();
            let v = self.m.read_slow(self.rom, addr, clock);
            self.follow_horizon();
            v
        }
    }

    #[inline(always)]
    fn write(&mut self, addr: u16, v: u8) {
        self.since += STEP as i64;
        if addr & 0xE000 == 0xC000 {
            self.m.wram[usize::from(addr & 0x1FFF)] = v;
        } else if (0xFF80..0xFFFF).contains(&addr) {
            self.m.hram[usize::from(addr & 0x7F)] = v;
        } else {
            let clock = self.now();
            self.m.write_slow(self.rom, addr, v, clock);
            self.follow_horizon();
            if addr < 0x8000 {
                [self.low, self.high] = banks(self.rom, self.m.rom_at);
            }
        }
    }
}

/// The bus while an OAM DMA runs or is about to: every access but those of HRAM lets it catch up.
///
/// `STEP` as in [`FastBus`].
pub(crate) struct DmaBus<'a, const STEP: u64> {
    pub(crate) m: &'a mut Machine,
    pub(crate) rom: &'a [u8],
    pub(crate) clock: u64,
}

impl<'a, const STEP: u64> DmaBus<'a, STEP> {
    pub(crate) fn new(m: &'a mut Machine, rom: &'a [u8]) -> Self {
        let clock = m.clock;
        Self { m, rom, clock }
    }

    /// Only HRAM can be used without noticing the transfer.
    #[inline(always)]
    fn in_hram(addr: u16) -> bool {
        (0xFF80..0xFFFF).contains(&addr)
    }
}

impl<const STEP: u64> Bus for DmaBus<'_, STEP> {
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
    fn clock(&self) -> u64 {
        self.clock
    }

    #[inline(always)]
    fn wants_attention(&self) -> bool {
        self.clock >= self.m.horizon
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
        if Self::in_hram(addr) {
            return self.m.hram[usize::from(addr & 0x7F)];
        }
        self.m.read_slow(self.rom, addr, self.clock)
    }

    #[inline(always)]
    fn write(&mut self, addr: u16, v: u8) {
        self.clock += STEP;
        if Self::in_hram(addr) {
            self.m.hram[usize::from(addr & 0x7F)] = v;
            return;
        }
        self.m.write_slow(self.rom, addr, v, self.clock);
    }
}
