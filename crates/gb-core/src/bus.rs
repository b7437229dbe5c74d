//! The processor's bus: the direct way to the memories, and the one beside an OAM DMA.

use crate::{cpu::Bus, machine::Machine, Profile};

/// A bank of ROM.
type Bank = [u8; 0x4000];

/// The bus while no OAM DMA runs: memories are served directly.
pub(crate) struct FastBus<'a> {
    pub(crate) m: &'a mut Machine,
    pub(crate) rom: &'a [u8],
    /// What 0000–3FFF shows.
    low: &'a Bank,
    /// What 4000–7FFF shows.
    high: &'a Bank,
    pub(crate) clock: u64,
}

/// The banks at two offsets; the ROM is padded to whole banks and the mapper masks its numbers, so
/// the empty bank is never seen.
fn banks(rom: &[u8], at: [usize; 2]) -> [&Bank; 2] {
    at.map(|at| rom.get(at..).and_then(|r| r.first_chunk()).unwrap_or(&[0xFF; 0x4000]))
}

impl<'a> FastBus<'a> {
    pub(crate) fn new(m: &'a mut Machine, rom: &'a [u8]) -> Self {
        let clock = m.clock;
        let [low, high] = banks(rom, m.rom_at);
        Self { m, rom, low, high, clock }
    }
}

/// Interrupt lines and idle cycles are the same on both buses.
macro_rules! common_bus_methods {
    () => {
        #[inline(always)]
        fn idle(&mut self) {
            self.clock += 4;
        }

        #[inline(always)]
        fn idle_at(&mut self, addr: u16) {
            self.clock += 4;
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
        fn stop(&mut self) -> bool {
            self.m.stop(self.clock)
        }
    };
}

impl Bus for FastBus<'_> {
    common_bus_methods!();

    #[inline(always)]
    fn read(&mut self, addr: u16) -> u8 {
        self.clock += 4;
        if addr < 0x8000 {
            let bank = if addr & 0x4000 == 0 { self.low } else { self.high };
            bank[usize::from(addr & 0x3FFF)]
        } else if addr & 0xE000 == 0xC000 {
            self.m.wram[usize::from(addr & 0x1FFF)]
        } else if addr >= 0xFF80 {
            self.m.hram[usize::from(addr & 0x7F)]
        } else {
            self.m.read_slow(self.rom, addr, self.clock)
        }
    }

    #[inline(always)]
    fn write(&mut self, addr: u16, v: u8) {
        self.clock += 4;
        if addr & 0xE000 == 0xC000 {
            self.m.wram[usize::from(addr & 0x1FFF)] = v;
        } else if (0xFF80..0xFFFF).contains(&addr) {
            self.m.hram[usize::from(addr & 0x7F)] = v;
        } else {
            self.m.write_slow(self.rom, addr, v, self.clock);
            if addr < 0x8000 {
                [self.low, self.high] = banks(self.rom, self.m.rom_at);
            }
        }
    }
}

/// The bus while an OAM DMA runs or is about to: every access but those of HRAM lets it catch up.
pub(crate) struct DmaBus<'a> {
    pub(crate) m: &'a mut Machine,
    pub(crate) rom: &'a [u8],
    pub(crate) clock: u64,
}

impl<'a> DmaBus<'a> {
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

impl Bus for DmaBus<'_> {
    common_bus_methods!();

    #[inline(always)]
    fn read(&mut self, addr: u16) -> u8 {
        self.clock += 4;
        if Self::in_hram(addr) {
            return self.m.hram[usize::from(addr & 0x7F)];
        }
        self.m.read_slow(self.rom, addr, self.clock)
    }

    #[inline(always)]
    fn write(&mut self, addr: u16, v: u8) {
        self.clock += 4;
        if Self::in_hram(addr) {
            self.m.hram[usize::from(addr & 0x7F)] = v;
            return;
        }
        self.m.write_slow(self.rom, addr, v, self.clock);
    }
}
