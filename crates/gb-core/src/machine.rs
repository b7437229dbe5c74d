//! Everything on the processor's bus.
//!
//! Time is one counter of T-cycles. Components are brought up to it only when an access or an
//! interrupt needs them; `next_event` says when the latter is next possible, and up to the
//! `horizon` the processor runs without looking up.

use crate::{
    apu::Apu,
    cart::Cart,
    cgb::Cgb,
    dma::OamDma,
    hdma::BLOCK,
    joypad::Joypad,
    ppu::{signal, Access, Ppu},
    serial::Serial,
    speed::{Speed, SWITCH_DOTS},
    timer::Timer,
    Profile,
};

/// Interrupt bits of IE and IF.
pub(crate) mod irq {
    pub(crate) const TIMER: u8 = 0x04;
    pub(crate) const SERIAL: u8 = 0x08;
    pub(crate) const JOYPAD: u8 = 0x10;
    pub(crate) const ALL: u8 = 0x1F;
}

/// What a block of VRAM DMA in H-blank costs in the reference, in processor cycles.
const REFERENCE_BLOCK: u64 = 206;

/// Index of IE in `hram`, whose last byte it is on the bus too.
const IE: usize = 0x7F;

/// The machine without its processor.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) clock: u64,
    /// The processor must look up at the first instruction boundary at or after this clock.
    pub(crate) horizon: u64,
    /// When an interrupt may be requested next.
    pub(crate) next_event: u64,
    /// Offsets into the ROM of what 0000–3FFF and 4000–7FFF show.
    pub(crate) rom_at: [usize; 2],
    pub(crate) wram: [u8; 0x2000],
    /// FF80–FFFE, and IE.
    pub(crate) hram: [u8; 0x80],
    /// FEA0–FEFF, which is memory in the `PyBoy` profile only.
    pub(crate) unusable: [u8; 0x60],
    pub(crate) interrupt_flags: u8,
    pub(crate) ppu: Ppu,
    pub(crate) timer: Timer,
    pub(crate) serial: Serial,
    pub(crate) joypad: Joypad,
    pub(crate) dma: OamDma,
    pub(crate) apu: Apu,
    pub(crate) cart: Cart,
    pub(crate) profile: Profile,
    /// Dots for which the processor stands still.
    pub(crate) stall: u64,
    pub(crate) speed: Speed,
    /// What only the Color has.
    pub(crate) cgb: Option<Box<Cgb>>,
}
crate::state_fields!(Machine {
    clock, wram, hram, unusable, interrupt_flags, ppu, timer, serial, joypad, dma, apu, cart,
    stall, speed, cgb,
} skip { horizon, next_event, rom_at, profile });

impl Machine {
    pub(crate) fn ie(&self) -> u8 {
        self.hram[IE]
    }

    /// Refreshes the ROM offsets from the mapper.
    pub(crate) fn remap(&mut self) {
        let (low, high) = self.cart.rom_banks();
        self.rom_at = [low, high];
    }

    /// Brings the PPU up to `clock`.
    #[inline]
    pub(crate) fn sync_ppu(&mut self, clock: u64) {
        self.ppu.sync(clock);
        self.take_ppu_irqs();
    }

    #[inline]
    fn take_ppu_irqs(&mut self) {
        let requested = self.ppu.take_irqs();
        if requested != 0 {
            self.request(requested);
        }
    }

    /// The clock at which DIV would have been zero at today's speed, for the sound unit, which counts
    /// dots.
    pub(crate) fn div_base(&self) -> u64 {
        self.speed.clock(self.timer.div_base)
    }

    pub(crate) fn request(&mut self, bits: u8) {
        self.interrupt_flags |= bits;
        self.horizon = 0;
    }

    #[inline]
    fn sync_timer(&mut self, clock: u64) {
        if self.timer.sync(self.speed.cycles(clock)) {
            self.request(irq::TIMER);
        }
    }

    #[inline]
    fn sync_serial(&mut self, clock: u64) {
        if self.serial.sync(self.speed.cycles(clock)) {
            self.request(irq::SERIAL);
        }
    }

    /// Brings everything that can request an interrupt up to `clock`.
    #[inline(always)]
    pub(crate) fn sync(&mut self, rom: &[u8], clock: u64) {
        self.sync_dma(rom, clock);
        self.sync_ppu(clock);
        let cycles = self.speed.cycles(clock);
        if self.timer.sync(cycles) {
            self.request(irq::TIMER);
        }
        if self.serial.sync(cycles) {
            self.request(irq::SERIAL);
        }
    }

    /// Interrupts that are requested and enabled when the M-cycle that ends at `clock` is over: its
    /// last dot counts, in which timer and serial port request what reads see an M-cycle later.
    pub(crate) fn pending(&mut self, clock: u64) -> u8 {
        if self.profile == Profile::Hardware {
            self.sync_ppu(clock + 1);
            self.sync_timer(clock + self.speed.step());
            self.sync_serial(clock + self.speed.step());
        }
        self.wanted()
    }

    /// Interrupts that are requested and enabled, as far as the machine is synced.
    pub(crate) fn wanted(&self) -> u8 {
        self.ie() & self.interrupt_flags & irq::ALL
    }

    /// Lets time pass without instructions, up to the M-cycle in which `limit` lies (the reference
    /// stops at `limit` itself).
    pub(crate) fn wait(&mut self, limit: u64) {
        let step = self.speed.step();
        let wait = limit.saturating_sub(self.clock).max(step);
        self.clock += match self.profile {
            Profile::Hardware => wait.next_multiple_of(step),
            Profile::PyBoy => wait,
        };
    }

    /// The next thing that the reference has planned; there a timer's overflow counts, not its
    /// interrupt.
    pub(crate) fn planned_by_reference(&self) -> u64 {
        let overflow = self.timer.next_event().saturating_sub(4);
        let timed = overflow.min(self.serial.next_event());
        self.ppu.next_event().min(self.speed.clock(timed))
    }

    /// The clock that an access to an I/O register sees, which ends its M-cycle at `clock`. In the
    /// reference all accesses of an instruction come early.
    fn io_clock(&self, addr: u16, clock: u64) -> u64 {
        if self.profile == Profile::PyBoy && addr != 0xFF46 {
            clock - 2 * self.speed.step()
        } else {
            clock
        }
    }

    /// `STOP`, complete at `clock`: resets DIV and may switch the speed. Returns the clock after it
    /// and whether the processor stays stopped.
    #[cold]
    #[inline(never)]
    pub(crate) fn stop(&mut self, rom: &[u8], clock: u64) -> (u64, bool) {
        if self.profile == Profile::PyBoy {
            let begun = clock - 2 * self.speed.step();
            return (self.stop_reference(rom, begun), false);
        }
        self.write_io(rom, 0xFF04, 0, clock);
        if self.speed.armed() {
            self.sync(rom, clock);
            self.speed.switch(clock);
            self.stall = SWITCH_DOTS;
            return (clock, false);
        }
        (clock, !self.joypad.any_low())
    }

    /// `STOP` in the reference, begun at `clock`: one M-cycle, and nothing happens but on the Color.
    /// Returns the clock after it.
    fn stop_reference(&mut self, rom: &[u8], clock: u64) -> u64 {
        if self.cgb.is_some() {
            if self.speed.armed() {
                self.sync_ppu(clock);
                self.sync_timer(clock);
                self.sync_serial(clock);
                self.speed.switch(clock);
            }
            self.write_io(rom, 0xFF04, 0, clock);
        }
        clock + self.speed.step()
    }

    /// Lets the processor stand still after a speed switch, and copies what VRAM DMA has to copy;
    /// returns whether time has passed.
    pub(crate) fn hold_processor(&mut self, rom: &[u8]) -> bool {
        let before = self.clock;
        if self.stall != 0 {
            // No further than to what the PPU does next: a frame may end meanwhile.
            let next = self.ppu.next_event().saturating_sub(before);
            let wait = next.max(self.speed.step()).min(self.stall);
            self.stall -= wait;
            self.clock += wait;
            return true;
        }
        let Some(cgb) = &mut self.cgb else { return false };
        if self.profile == Profile::PyBoy {
            // The reference looks at the mode, each time round.
            if cgb.hdma.active() && self.ppu.in_hblank() {
                cgb.hdma.copy_block();
                self.run_hdma(rom);
                self.clock = self.speed.clock(self.speed.cycles(self.clock) + REFERENCE_BLOCK);
            }
        } else if cgb.hdma.due() != 0 {
            self.clock += self.speed.step();
            self.run_hdma(rom);
        }
        self.clock != before
    }

    /// Copies the blocks that are due, two dots a byte; at once in the reference.
    pub(crate) fn run_hdma(&mut self, rom: &[u8]) {
        let reference = self.profile == Profile::PyBoy;
        while self.cgb.as_ref().is_some_and(|cgb| cgb.hdma.due() != 0) {
            for _ in 0..BLOCK {
                let Some(cgb) = &mut self.cgb else { return };
                let transfer = cgb.hdma.next_byte();
                let v = match transfer.from {
                    0x8000..=0x9FFF => 0xFF,
                    from => self.memory(rom, from),
                };
                if !reference {
                    self.sync_ppu(self.clock);
                    self.clock += 2;
                }
                if self.ppu.vram_free(self.clock) {
                    self.ppu.write_vram(transfer.to, v);
                }
            }
            if let Some(cgb) = &mut self.cgb {
                cgb.hdma.finish_block();
                self.ppu.set_watch_hblank(cgb.hdma.active());
            }
        }
    }

    /// Plans the next time at which the processor has to look up.
    pub(crate) fn plan(&mut self) {
        let timed = self.timer.next_event().min(self.serial.next_event());
        self.next_event = self.ppu.next_event().min(self.speed.clock(timed));
        let reference = self.profile == Profile::PyBoy;
        let copies = self.cgb.as_ref().is_some_and(|cgb| cgb.hdma.active());
        if reference && copies && self.ppu.in_hblank() {
            // A processor that is woken there executes one instruction before a block is copied.
            self.next_event = self.clock;
        }
    }

    #[inline]
    pub(crate) fn sync_dma(&mut self, rom: &[u8], clock: u64) {
        if self.dma.active() {
            self.run_dma(rom, clock);
        }
    }

    fn run_dma(&mut self, rom: &[u8], clock: u64) {
        let cycles = self.speed.cycles(clock);
        while let Some(copy) = self.dma.take_due(cycles) {
            // Lines that end before this moment show OAM as it was.
            let at = self.speed.clock(copy.at);
            self.ppu.sync(at - 1);
            let v = self.memory(rom, copy.from);
            self.ppu.write_oam(copy.to, v, at);
            if let Some(quiet) = self.ppu.quiet_until() {
                self.run_dma_quietly(rom, quiet.min(clock));
            }
        }
    }

    /// Goes on with a transfer up to `clock`, until when the PPU has nothing to do.
    fn run_dma_quietly(&mut self, rom: &[u8], clock: u64) {
        let (from, to, count) = self.dma.take_run(self.speed.cycles(clock));
        let mut bytes = [0; 0x100];
        let bytes = &mut bytes[..usize::from(count)];
        if from < 0xC000 {
            for (byte, addr) in bytes.iter_mut().zip(from..) {
                *byte = self.memory(rom, addr);
            }
        } else {
            let start = usize::from(from & 0x1FFF);
            bytes.copy_from_slice(&self.wram[start..start + bytes.len()]);
        }
        self.ppu.write_oam_run(to, bytes, clock);
    }

    /// A byte of the memories 0000–FDFF, whoever is allowed to see it.
    pub(crate) fn memory(&self, rom: &[u8], addr: u16) -> u8 {
        match addr >> 12 {
            0x0..=0x7 => {
                let at = self.rom_at[usize::from(addr >> 14)] + usize::from(addr & 0x3FFF);
                rom.get(at).copied().unwrap_or(0xFF)
            }
            0x8 | 0x9 => self.ppu.vram_seen()[usize::from(addr & 0x1FFF)],
            0xA | 0xB => self.cart.read_ram(addr),
            _ => self.wram[usize::from(addr & 0x1FFF)],
        }
    }

    /// A byte of work RAM or HRAM.
    #[inline(always)]
    pub(crate) fn glance(&self, addr: u16) -> Option<u8> {
        if addr & 0xE000 == 0xC000 {
            Some(self.wram[usize::from(addr & 0x1FFF)])
        } else if addr >= 0xFF80 {
            Some(self.hram[usize::from(addr & 0x7F)])
        } else {
            None
        }
    }

    /// What a PPU register reads now, and for how many dots it will; none where that is not
    /// known.
    pub(crate) fn steady_line(&self, low: u8, clock: u64) -> (u8, u64) {
        let steady = match self.profile {
            Profile::Hardware => self.ppu.next_change().saturating_sub(clock),
            Profile::PyBoy => 0,
        };
        (self.ppu.read(0xFF00 | u16::from(low)), steady)
    }

    /// Reads anything that the fast path of the bus does not serve.
    #[inline(never)]
    pub(crate) fn read_slow(&mut self, rom: &[u8], addr: u16, clock: u64) -> u8 {
        let mut addr = addr;
        if self.dma.active() {
            self.run_dma(rom, clock);
            addr = self.conflict(addr).unwrap_or(addr);
        }
        match addr {
            0x8000..=0x9FFF => {
                self.sync_ppu(clock);
                if self.ppu.vram_free(clock) {
                    self.ppu.vram_seen()[usize::from(addr & 0x1FFF)]
                } else {
                    0xFF
                }
            }
            0..=0xFDFF => self.memory(rom, addr),
            0xFE00..=0xFEFF => {
                self.sync_ppu(clock);
                self.disturb_oam(addr, Access::Read, clock);
                if self.dma.owns_oam() || !self.ppu.oam_free(clock) {
                    0xFF
                } else {
                    self.object_memory(addr)
                }
            }
            0xFF80.. => self.hram[usize::from(addr & 0x7F)],
            0xFF00..=0xFF7F => self.read_io(rom, addr, self.io_clock(addr, clock)),
        }
    }

    /// An address of FE00–FEFF stands on the bus in the M-cycle that ends at `clock`.
    fn disturb_oam(&mut self, addr: u16, access: Access, clock: u64) {
        if !self.dma.owns_oam() && self.cgb.is_none() {
            self.ppu.disturb_oam(addr as u8, access, clock);
            if access == Access::Read {
                self.ppu.disturb_first_row(addr as u8, None);
            }
        }
    }

    /// When the PPU sees a write whose M-cycle ends at `clock`.
    fn write_clock(&self, clock: u64) -> u64 {
        match self.profile {
            Profile::Hardware => clock - self.speed.step() / 2,
            Profile::PyBoy => clock,
        }
    }

    /// A register that holds an address of FE00–FEFF is counted up or down.
    #[cold]
    pub(crate) fn count_in_oam(&mut self, rom: &[u8], addr: u16, clock: u64) {
        self.sync_dma(rom, clock);
        self.sync_ppu(clock);
        self.disturb_oam(addr, Access::Count, clock);
    }

    /// Where an access to `addr` goes instead while an OAM DMA uses the same bus: VRAM has its own,
    /// work RAM has on the Color, and all other memories below FE00 share one. Call after the copies
    /// due have been made.
    ///
    /// Source: Pan Docs "OAM DMA bus conflicts"; `DocBoy`'s tests `dma/dma_source_*`.
    fn conflict(&self, addr: u16) -> Option<u16> {
        let bus = |addr: u16| match addr >> 13 {
            4 => 1,
            6 | 7 if self.cgb.is_some() => 2,
            _ => 0,
        };
        let from = self.dma.copying()?;
        (addr < 0xFE00 && bus(addr) == bus(from) && self.profile == Profile::Hardware)
            .then_some(from)
    }

    /// FE00–FEFF without blocking.
    pub(crate) fn object_memory(&self, addr: u16) -> u8 {
        match usize::from(addr & 0xFF) {
            i @ 0..0xA0 => self.ppu.oam[i],
            i if self.profile == Profile::PyBoy => self.unusable[i - 0xA0],
            _ => 0,
        }
    }

    fn read_io(&mut self, rom: &[u8], addr: u16, clock: u64) -> u8 {
        match addr {
            0xFF00 => self.joypad.read(),
            0xFF01 => {
                self.sync_serial(clock);
                self.serial.sb()
            }
            0xFF02 => {
                self.sync_serial(clock);
                self.serial.sc()
            }
            0xFF04..=0xFF07 => {
                self.sync_timer(clock);
                self.timer.read(addr, self.speed.cycles(clock))
            }
            0xFF0F => {
                self.sync(rom, clock);
                0xE0 | self.interrupt_flags
            }
            0xFF10..=0xFF3F => self.apu.read(addr, clock, self.div_base()),
            0xFF46 => self.dma.read(),
            0xFF40..=0xFF4B => {
                self.sync_ppu(clock);
                if addr == 0xFF41 {
                    let stat = self.ppu.read_stat();
                    // A scan that OAM DMA keeps from OAM does not show.
                    let hidden = stat & 3 == 2 && self.dma.owns_oam();
                    if hidden && self.profile == Profile::Hardware {
                        stat & !3
                    } else {
                        stat
                    }
                } else {
                    self.ppu.read(addr)
                }
            }
            _ => {
                self.sync_for_color_io(clock);
                self.read_color_io(addr, clock)
            }
        }
    }

    /// Writes anything that the fast path of the bus does not serve.
    #[inline(never)]
    pub(crate) fn write_slow(&mut self, rom: &[u8], addr: u16, v: u8, clock: u64) {
        let mut conflict = None;
        if self.dma.active() {
            self.run_dma(rom, clock);
            conflict = self.conflict(addr);
        }
        self.write_at(rom, conflict.unwrap_or(addr), v, clock);
        if let Some(from) = conflict {
            // The value arrives before the unit reads it.
            let copied = self.memory(rom, from);
            self.ppu.write_oam(from as u8, copied, clock);
        }
    }

    /// Writes to `addr`, whoever uses the buses.
    #[inline(always)]
    pub(crate) fn write_at(&mut self, rom: &[u8], addr: u16, v: u8, clock: u64) {
        match addr {
            0x8000..=0x9FFF => {
                let at = self.write_clock(clock);
                self.sync_ppu(at);
                if self.ppu.vram_free(at) {
                    self.ppu.write_vram(addr, v);
                }
            }
            0..=0x7FFF => {
                self.cart.write_control(addr, v, clock);
                self.remap();
            }
            0xA000..=0xBFFF => self.cart.write_ram(addr, v, clock),
            0xC000..=0xFDFF => self.wram[usize::from(addr & 0x1FFF)] = v,
            0xFE00..=0xFEFF => {
                let at = self.write_clock(clock);
                self.sync_ppu(at);
                self.disturb_oam(addr, Access::Write, clock);
                if !self.dma.owns_oam() && self.ppu.oam_free(at) {
                    let replaced = self.object_memory(addr);
                    self.set_object_memory(addr, v, at);
                    self.sync_ppu(clock);
                    self.ppu.disturb_first_row(addr as u8, Some(replaced));
                }
            }
            0xFF80.. => {
                self.hram[usize::from(addr & 0x7F)] = v;
                self.horizon = 0;
            }
            0xFF00..=0xFF7F => self.write_io(rom, addr, v, self.io_clock(addr, clock)),
        }
    }

    /// Writes FE00–FEFF at `clock` without blocking.
    pub(crate) fn set_object_memory(&mut self, addr: u16, v: u8, clock: u64) {
        match usize::from(addr & 0xFF) {
            i @ 0..0xA0 => self.ppu.write_oam(i as u8, v, clock),
            i if self.profile == Profile::PyBoy => self.unusable[i - 0xA0] = v,
            _ => {}
        }
    }

    pub(crate) fn write_io(&mut self, rom: &[u8], addr: u16, v: u8, clock: u64) {
        match addr {
            0xFF00 => {
                let fell = self.joypad.write(v);
                if fell && self.profile == Profile::Hardware {
                    self.request(irq::JOYPAD);
                }
            }
            0xFF01 => {
                self.sync_serial(clock);
                self.serial.write_sb(v);
            }
            0xFF02 => {
                self.sync_serial(clock);
                self.serial.write_sc(v, self.speed.cycles(clock), self.timer.div_base);
                self.horizon = 0;
            }
            0xFF04 => {
                self.sync_timer(clock);
                self.sync_serial(clock);
                self.apu.div_reset(clock, self.div_base());
                let cycles = self.speed.cycles(clock);
                if self.serial.reset_div(cycles, self.timer.counter(cycles)) {
                    self.request(irq::SERIAL);
                }
                self.timer.reset_div(cycles);
                self.horizon = 0;
            }
            0xFF05..=0xFF07 => {
                self.sync_timer(clock);
                self.timer.write(addr, v, self.speed.cycles(clock));
                self.horizon = 0;
            }
            0xFF0F => {
                // What the PPU requests in the last dot of the M-cycle, after reads, is lost too.
                let last = u64::from(self.profile == Profile::Hardware);
                self.sync_ppu(clock + last);
                self.sync_timer(clock);
                self.sync_serial(clock);
                self.interrupt_flags = v & irq::ALL;
                self.horizon = 0;
            }
            0xFF10..=0xFF3F => self.apu.write(addr, v, clock, self.div_base()),
            0xFF46 => {
                self.dma.start(v, self.speed.cycles(clock));
                self.horizon = 0;
            }
            0xFF40..=0xFF4B => {
                self.sync_ppu(match addr {
                    0xFF41 => self.write_clock(clock),
                    _ => clock,
                });
                let was_on = self.ppu.lcd_on();
                self.ppu.write(addr, v, clock);
                if self.profile == Profile::PyBoy && !was_on && self.ppu.lcd_on() {
                    // The first line begins with the end of the instruction, not with the access.
                    self.ppu.begin_earlier(8 - 2 * self.speed.step());
                }
                self.take_ppu_irqs();
                if matches!(addr, 0xFF40 | 0xFF41 | 0xFF45) || self.ppu.drawing(clock) {
                    self.horizon = 0;
                }
            }
            _ => self.write_color_io(rom, addr, v, clock),
        }
    }

    /// As the processor would read, but without blocking or side effects. The machine must be
    /// synced to its clock.
    pub(crate) fn peek(&self, rom: &[u8], addr: u16) -> u8 {
        match addr {
            0..=0xFDFF => self.memory(rom, addr),
            0xFE00..=0xFEFF => self.object_memory(addr),
            0xFF80.. => self.hram[usize::from(addr & 0x7F)],
            0xFF00 => self.joypad.read(),
            0xFF01 => self.serial.sb(),
            0xFF02 => self.serial.sc(),
            0xFF04..=0xFF07 => self.timer.read(addr, self.speed.cycles(self.clock)),
            0xFF0F => 0xE0 | self.interrupt_flags,
            0xFF10..=0xFF3F => self.apu.peek(addr, self.clock, self.div_base()),
            0xFF46 => self.dma.read(),
            0xFF40..=0xFF4B => self.ppu.read(addr),
            _ => self.read_color_io(addr, self.clock),
        }
    }

    /// Whether hostile state bytes left every value where running on is short and safe.
    pub(crate) fn valid(&self) -> bool {
        let clock = self.clock;
        let cycles = self.speed.cycles(clock);
        (0x1_0000..1 << 62).contains(&clock)
            && self.speed.valid(clock)
            && self.stall <= SWITCH_DOTS
            && self.cgb.as_ref().is_none_or(|cgb| cgb.valid())
            && self.interrupt_flags & !irq::ALL == 0
            && self.ppu.valid(clock)
            && self.timer.valid(cycles)
            && self.serial.valid(cycles)
            && self.joypad.valid()
            && self.dma.valid(cycles)
            && self.apu.validate(clock)
            && self.cart.validate(clock)
    }

    /// Frame-ending signals since the last call.
    pub(crate) fn take_frame_signals(&mut self) -> u8 {
        let signals = self.ppu.take_signals();
        if signals & signal::HBLANK != 0 {
            if let Some(cgb) = &mut self.cgb {
                cgb.hdma.hblank();
            }
        }
        signals & (signal::FRAME | signal::TOP | signal::LCD)
    }
}
