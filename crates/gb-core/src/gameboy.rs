//! One Game Boy: the processor, the machine around it, and frames.

use std::sync::Arc;

use crate::{
    boot::Boot,
    bus::{FastBus, WholeBus},
    cart::{CartRamError, CgbSupport, Rom, RtcTime},
    cpu::{Cpu, Flags, Mode, Pair},
    machine::{irq, Machine},
    ppu::{signal, FRAME},
    revision::Revision,
    screen::Picture,
    snapshot::{self, Kind, StateError},
    state::{Reader, State, Writer},
    NEVER,
};

/// Which machine's observables are reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Profile {
    /// A DMG-ABC; frames end when V-blank begins.
    #[default]
    Hardware,
    /// `PyBoy` 2.8.1: its boot state, frame boundaries and input latch.
    PyBoy,
}

/// Which console runs the cartridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// The monochrome Game Boy.
    Dmg,
    /// The Game Boy Color; games made for the other one run in its compatibility mode.
    Cgb,
}

impl Model {
    /// The console that a cartridge asks for: the Color if it knows that one.
    pub fn of(rom: &Rom) -> Self {
        match rom.header().cgb {
            CgbSupport::None => Self::Dmg,
            CgbSupport::Enhanced | CgbSupport::Required => Self::Cgb,
        }
    }
}

/// The sound unit catches up after so many frames even if nobody looks at it, so that whoever looks
/// later does not pay for a long past.
const APU_SETTLES: u64 = 16;

/// The processor's registers, by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Registers {
    pub a: u8,
    pub f: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub e: u8,
    pub h: u8,
    pub l: u8,
    pub sp: u16,
    pub pc: u16,
    /// Interrupt master enable.
    pub ime: bool,
    /// In `HALT` or `STOP`.
    pub halted: bool,
}

/// A whole machine. Cloning copies about 24 KiB (91 KiB of a Color) plus the cartridge RAM; the ROM
/// is shared.
#[derive(Clone, Debug)]
pub struct GameBoy {
    rom: Arc<Rom>,
    cpu: Cpu,
    machine: Machine,
    /// Frames completed.
    frames: u64,
    /// When the current frame ends if nothing else ends it.
    frame_deadline: u64,
}

impl GameBoy {
    /// A machine that has just left its boot program, of the model that the cartridge asks for.
    pub fn new(rom: Arc<Rom>, profile: Profile) -> Self {
        let model = Model::of(&rom);
        Self::with_model(rom, profile, model)
    }

    /// A machine of the given model that has just left its boot program.
    pub fn with_model(rom: Arc<Rom>, profile: Profile, model: Model) -> Self {
        Self::build(rom, profile, model, Revision::default())
    }

    /// A Color of the given making that has just left its boot program, with the hardware's profile.
    pub fn with_revision(rom: Arc<Rom>, revision: Revision) -> Self {
        Self::build(rom, Profile::Hardware, Model::Cgb, revision)
    }

    fn build(rom: Arc<Rom>, profile: Profile, model: Model, revision: Revision) -> Self {
        let boot = Boot::of(profile, model, &rom);
        let cpu = boot.cpu();
        let machine = boot.machine(&rom, profile, model, revision);
        let frame_deadline = boot.clock + FRAME;
        Self { rom, cpu, machine, frames: 0, frame_deadline }
    }

    /// Switches off and on again; cartridge RAM and clock start anew, the audio setting stays.
    pub fn reset(&mut self) {
        let rate = self.machine.apu.sample_rate();
        let rom = Arc::clone(&self.rom);
        *self = Self::build(rom, self.profile(), self.model(), self.revision());
        self.set_audio(rate);
    }

    /// The cartridge image.
    pub fn rom(&self) -> &Arc<Rom> {
        &self.rom
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        self.machine.profile
    }

    /// The model.
    pub fn model(&self) -> Model {
        if self.machine.cgb.is_some() {
            Model::Cgb
        } else {
            Model::Dmg
        }
    }

    /// The making of a Color; of the other machines, the default.
    pub fn revision(&self) -> Revision {
        self.machine.apu.revision()
    }

    /// Holds exactly these buttons from now on; bits 0–7 are Right, Left, Up, Down, A, B, Select,
    /// Start.
    pub fn set_buttons(&mut self, buttons: u8) {
        let m = &mut self.machine;
        let pressed = buttons & !m.joypad.buttons() != 0;
        let fell = m.joypad.set_buttons(buttons);
        // The reference requests the interrupt for any button that goes down, selected or not.
        if fell && m.profile == Profile::Hardware || pressed && m.profile == Profile::PyBoy {
            m.request(irq::JOYPAD);
        }
    }

    /// The buttons held.
    pub fn buttons(&self) -> u8 {
        self.machine.joypad.buttons()
    }

    /// Runs to the end of the frame; draws it when `render` is set, so that
    /// [`picture`](Self::picture) shows it afterwards.
    pub fn run_frame(&mut self, render: bool) {
        self.frame::<false>(render);
    }

    /// As [`run_frame`](Self::run_frame), but brings every component up to date after every
    /// instruction, so that nothing is skipped. Slow; the yardstick that the fast path must equal.
    pub fn run_frame_strict(&mut self, render: bool) {
        self.frame::<true>(render);
    }

    fn frame<const STRICT: bool>(&mut self, render: bool) {
        self.machine.ppu.set_rendering(render);
        self.machine.ppu.set_always_fifo(STRICT);
        let frame = self.frames;
        while self.frames == frame {
            self.run::<STRICT>(NEVER);
        }
        // The reference blanks its picture in frames that are not drawn, too.
        if render || self.machine.profile == Profile::PyBoy {
            self.machine.ppu.finish_picture();
        }
        self.machine.ppu.set_rendering(false);
        if self.frames % APU_SETTLES == 0 {
            let m = &mut self.machine;
            m.apu.sync(m.clock, m.div_base());
        }
    }

    /// Runs at least `cycles` T-cycles, to an instruction boundary, without drawing.
    pub fn run_cycles(&mut self, cycles: u64) {
        let target = self.machine.clock.saturating_add(cycles);
        loop {
            self.run::<false>(target);
            if self.machine.clock >= target {
                break;
            }
        }
    }

    /// Runs until the clock reaches `target` or a frame ends.
    fn run<const STRICT: bool>(&mut self, target: u64) {
        loop {
            let clock = self.machine.clock;
            let ahead = self.look_ahead();
            let waited = ahead != 0 && self.cpu.mode != Mode::Running;
            self.machine.sync(self.rom.bytes(), clock + ahead);
            if self.frame_ends() || clock >= target {
                return;
            }
            let Self { rom: image, cpu, machine: m, .. } = self;
            let rom = image.bytes();
            if m.cgb.is_some() && cpu.mode == Mode::Running && m.hold_processor(rom) {
                continue;
            }
            m.plan();
            let limit = target.min(self.frame_deadline).min(m.next_event.saturating_sub(ahead));
            let shadow = cpu.ei_pending && m.profile == Profile::PyBoy;
            let planned = if shadow { m.planned_by_reference() } else { NEVER };
            if !Self::attend(cpu, m, rom, limit) {
                continue;
            }
            // A processor that was waiting has not been looked ahead for all the way.
            if STRICT || waited {
                m.horizon = 0;
            }
            let dma = m.dma.active();
            if dma {
                m.horizon = m.horizon.min(m.speed.clock(m.dma.next_change()));
            }
            m.clock = match (dma || STRICT, m.speed.double()) {
                (false, false) => FastBus::<4>::new(m, image).run(cpu),
                (true, false) => WholeBus::<4, false>::new(m, rom).run(cpu),
                (false, true) => FastBus::<2>::new(m, image).run(cpu),
                (true, true) => WholeBus::<2, false>::new(m, rom).run(cpu),
            };
            if shadow && cpu.mode == Mode::Halted {
                // `EI; HALT` in the reference: the handler returns to the `HALT` if something was
                // due before it was over, else the `HALT` takes another M-cycle.
                if planned.min(self.frame_deadline) <= m.clock || m.wanted() != 0 {
                    cpu.pc = cpu.pc.wrapping_sub(1);
                } else {
                    m.clock += m.speed.step();
                }
            }
        }
    }

    /// How far the interrupt lines are looked at ahead of the clock: a running processor takes an
    /// interrupt that is requested until the end of the next opcode's fetch instead of that
    /// instruction; one that waits takes it from two dots later on.
    ///
    /// Source: `DocBoy`'s tests `interrupts/*_timing*`.
    fn look_ahead(&self) -> u64 {
        match (self.machine.profile, self.cpu.mode) {
            (Profile::PyBoy, _) => 0,
            (Profile::Hardware, Mode::Running) => self.machine.speed.step(),
            (Profile::Hardware, _) => self.machine.speed.step() / 2,
        }
    }

    /// Handles interrupts and the states in which no instruction runs, and sets the horizon.
    /// Returns whether an instruction is to be executed now.
    fn attend(cpu: &mut Cpu, m: &mut Machine, rom: &[u8], limit: u64) -> bool {
        m.horizon = limit;
        let pending = m.wanted();
        match cpu.mode {
            Mode::Running => {}
            Mode::Halted if pending != 0 => cpu.mode = Mode::Running,
            Mode::Stopped if m.joypad.any_low() => cpu.mode = Mode::Running,
            Mode::Halted | Mode::Locked => {
                m.wait(limit);
                return false;
            }
            Mode::Stopped => {
                m.wait(limit);
                m.write_io(rom, 0xFF04, 0, m.clock);
                return false;
            }
        }
        if cpu.ei_pending {
            cpu.ei_pending = false;
            cpu.ime = true;
            m.horizon = 0;
        } else if pending != 0 && cpu.ime {
            if m.speed.double() {
                Self::dispatch(cpu, WholeBus::<2, false>::new(m, rom));
            } else {
                Self::dispatch(cpu, WholeBus::<4, false>::new(m, rom));
            }
            m.horizon = 0;
            return false;
        }
        if cpu.halt_bug {
            if m.speed.double() {
                Self::step_after_halt_bug(cpu, WholeBus::<2, false>::new(m, rom));
            } else {
                Self::step_after_halt_bug(cpu, WholeBus::<4, false>::new(m, rom));
            }
            return false;
        }
        true
    }

    fn dispatch<const STEP: u64>(cpu: &mut Cpu, mut bus: WholeBus<'_, STEP, false>) {
        cpu.dispatch(&mut bus);
        bus.m.clock = bus.clock;
    }

    fn step_after_halt_bug<const STEP: u64>(cpu: &mut Cpu, mut bus: WholeBus<'_, STEP, false>) {
        cpu.step_after_halt_bug(&mut bus);
        bus.m.clock = bus.clock;
    }

    /// Whether the frame is over; consumes the signals that say so and starts the next one.
    fn frame_ends(&mut self) -> bool {
        let m = &mut self.machine;
        let signals = m.take_frame_signals();
        let timed_out = m.clock >= self.frame_deadline;
        let ends = match m.profile {
            // A V-blank that comes a little later than the last one still ends the frame by itself.
            Profile::Hardware => {
                signals & signal::FRAME != 0 || (timed_out && !m.ppu.vblank_is_near())
            }
            Profile::PyBoy => {
                signals & (signal::TOP | signal::LCD) != 0 || (timed_out && !m.ppu.lcd_on())
            }
        };
        if ends {
            self.frames = self.frames.wrapping_add(1);
            self.frame_deadline = match m.profile {
                Profile::PyBoy if !m.ppu.lcd_on() => m.ppu.next_blank_frame(m.clock),
                _ => m.clock + FRAME,
            };
        }
        ends
    }

    /// T-cycles of 4 MHz since power-on, at either speed.
    pub fn clock(&self) -> u64 {
        self.machine.clock
    }

    /// T-cycles of the processor since power-on, which are twice as short at double speed.
    pub fn cycles(&self) -> u64 {
        self.machine.speed.cycles(self.machine.clock)
    }

    /// Frames completed since the boot program ended.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// What the processor would read at `addr`, without blocking and without side effects.
    pub fn peek(&self, addr: u16) -> u8 {
        self.machine.peek(self.rom.bytes(), addr)
    }

    /// Writes as the processor would, but never blocked; below 8000 this reaches the mapper.
    pub fn poke(&mut self, addr: u16, value: u8) {
        let m = &mut self.machine;
        match addr {
            0x8000..=0x9FFF => m.ppu.vram_seen_mut()[usize::from(addr & 0x1FFF)] = value,
            0xFE00..=0xFEFF => m.set_object_memory(addr, value),
            _ => {
                let rom = self.rom.bytes();
                m.sync_dma(rom, m.clock);
                m.write_at(rom, addr, value, m.clock);
            }
        }
    }

    /// Work RAM C000–DFFF as the processor sees it.
    pub fn wram(&self) -> &[u8; 0x2000] {
        &self.machine.wram
    }

    /// A bank of work RAM: 0–1 of a DMG, 0–7 of a Color; `None` for others.
    pub fn wram_bank(&self, bank: usize) -> Option<&[u8]> {
        let m = &self.machine;
        match &m.cgb {
            Some(cgb) => cgb.bank(bank, &m.wram),
            None => m.wram.chunks_exact(0x1000).nth(bank),
        }
    }

    /// A bank of video RAM: 0 of a DMG, 0–1 of a Color; `None` for others.
    pub fn vram_bank(&self, bank: usize) -> Option<&[u8; 0x2000]> {
        let ppu = &self.machine.ppu;
        match bank {
            0 => Some(&ppu.vram),
            1 => ppu.color.as_ref().map(|color| &color.vram),
            _ => None,
        }
    }

    /// The registers.
    pub fn registers(&self) -> Registers {
        let Cpu { a, flags, bc, de, hl, sp, pc, ime, .. } = self.cpu;
        let halted = matches!(self.cpu.mode, Mode::Halted | Mode::Stopped);
        Registers {
            a,
            f: flags.byte(),
            b: bc.high(),
            c: bc.low(),
            d: de.high(),
            e: de.low(),
            h: hl.high(),
            l: hl.low(),
            sp,
            pc,
            ime,
            halted,
        }
    }

    /// Replaces the registers; the low four bits of F do not exist.
    pub fn set_registers(&mut self, r: Registers) {
        self.cpu = Cpu {
            a: r.a,
            flags: Flags::from_byte(r.f),
            bc: Pair::new(u16::from_be_bytes([r.b, r.c])),
            de: Pair::new(u16::from_be_bytes([r.d, r.e])),
            hl: Pair::new(u16::from_be_bytes([r.h, r.l])),
            sp: r.sp,
            pc: r.pc,
            ime: r.ime,
            ei_pending: false,
            halt_bug: false,
            mode: if r.halted { Mode::Halted } else { Mode::Running },
        };
    }

    /// Whether an undefined opcode locked the processor.
    pub fn stuck(&self) -> bool {
        self.cpu.mode == Mode::Locked
    }

    /// Sets the 16-bit counter behind DIV, whose low two bits are fixed by the processor's clock.
    /// Games draw their randomness from it.
    pub fn set_div(&mut self, counter: u16) {
        let m = &mut self.machine;
        let clock = m.clock;
        let old_base = m.div_base();
        m.timer.set_counter(m.speed.cycles(clock), counter & !3);
        m.apu.div_rebase(clock, old_base, m.div_base());
    }

    /// The picture drawn last.
    pub fn picture(&self) -> Picture<'_> {
        self.machine.ppu.picture()
    }

    /// What the state of this machine belongs to.
    fn kind(&self) -> Kind {
        Kind { profile: self.profile(), model: self.model(), revision: self.revision() }
    }

    /// The whole state: magic, version, ROM hash, checksum, every bit of the machine.
    pub fn save_state(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.bytes.reserve(snapshot::HEADER + 0x9000 + self.cart_ram().len());
        snapshot::begin(&mut w, self.kind(), self.rom.hash());
        let Self { rom: _, cpu, machine, frames, frame_deadline } = self;
        cpu.save(&mut w);
        machine.save(&mut w);
        frames.save(&mut w);
        frame_deadline.save(&mut w);
        snapshot::seal(&mut w.bytes);
        w.bytes
    }

    /// Replaces the state by one that [`save_state`](Self::save_state) gave for the same ROM and
    /// profile.
    ///
    /// # Errors
    /// [`StateError`] when the bytes are damaged, truncated, from another ROM, profile or a newer
    /// version; the machine is unchanged then.
    pub fn load_state(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let body = snapshot::open(bytes, self.kind(), self.rom.hash())?;
        let mut next = self.clone();
        let mut r = Reader::new(body);
        next.cpu
            .load(&mut r)
            .and_then(|()| next.machine.load(&mut r))
            .and_then(|()| next.frames.load(&mut r))
            .and_then(|()| next.frame_deadline.load(&mut r))
            .map_err(|_| StateError::Malformed)?;
        let m = &mut next.machine;
        let left = next.frame_deadline.abs_diff(m.clock);
        if !r.is_empty() || !m.valid() || left > crate::MAX_LAG {
            return Err(StateError::Malformed);
        }
        m.remap();
        m.ppu.invalidate();
        *self = next;
        Ok(())
    }

    /// Copies another machine's state, which is a copy of memory.
    ///
    /// # Errors
    /// [`StateError`] when the other machine runs another ROM or is of another kind.
    pub fn copy_from(&mut self, other: &GameBoy) -> Result<(), StateError> {
        if self.rom.hash() != other.rom.hash() {
            let (got, expected) = (other.rom.hash(), self.rom.hash());
            return Err(StateError::OtherRom { got, expected });
        }
        other.kind().expect(self.kind())?;
        let rate = self.machine.apu.sample_rate();
        self.clone_from(other);
        self.set_audio(rate);
        Ok(())
    }

    /// Cartridge RAM, of whatever size the header names.
    pub fn cart_ram(&self) -> &[u8] {
        self.machine.cart.ram()
    }

    /// Replaces the cartridge RAM.
    ///
    /// # Errors
    /// [`CartRamError`] when the size differs.
    pub fn load_cart_ram(&mut self, bytes: &[u8]) -> Result<(), CartRamError> {
        self.machine.cart.load_ram(bytes)
    }

    /// The cartridge's clock, if it has one; it runs on emulated time.
    pub fn rtc(&self) -> Option<RtcTime> {
        self.machine.cart.rtc(self.machine.clock)
    }

    /// Sets the cartridge's clock; returns whether there is one.
    pub fn set_rtc(&mut self, time: RtcTime) -> bool {
        self.machine.cart.set_rtc(time, self.machine.clock)
    }

    /// Stops or restarts the cartridge's clock; returns whether there is one.
    pub fn freeze_rtc(&mut self, frozen: bool) -> bool {
        self.machine.cart.freeze_rtc(frozen, self.machine.clock)
    }

    /// Starts producing audio at `sample_rate` Hz, or stops it.
    pub fn set_audio(&mut self, sample_rate: Option<u32>) {
        self.machine.apu.set_sample_rate(sample_rate);
    }

    /// The audio produced since the last call: left, right. The newest 1,048,576 samples are kept.
    pub fn take_audio(&mut self) -> Vec<[i16; 2]> {
        let m = &mut self.machine;
        m.apu.sync(m.clock, m.div_base());
        m.apu.take_samples()
    }
}
