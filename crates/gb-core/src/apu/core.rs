//! The APU proper: the channels and their registers, without any host-side sound.

use super::envelope::Envelope;
use super::length::Extra;
use super::noise::Noise;
use super::square::Square;
use super::sweep::Sweep;
use super::tick;
use super::wave::Wave;
use crate::Revision;

/// Registers and wave RAM, in the address order of the hardware.
mod io {
    pub(super) const NR10: u16 = 0xFF10;
    pub(super) const NR11: u16 = 0xFF11;
    pub(super) const NR12: u16 = 0xFF12;
    pub(super) const NR13: u16 = 0xFF13;
    pub(super) const NR14: u16 = 0xFF14;
    pub(super) const NR21: u16 = 0xFF16;
    pub(super) const NR22: u16 = 0xFF17;
    pub(super) const NR23: u16 = 0xFF18;
    pub(super) const NR24: u16 = 0xFF19;
    pub(super) const NR30: u16 = 0xFF1A;
    pub(super) const NR31: u16 = 0xFF1B;
    pub(super) const NR32: u16 = 0xFF1C;
    pub(super) const NR33: u16 = 0xFF1D;
    pub(super) const NR34: u16 = 0xFF1E;
    pub(super) const NR41: u16 = 0xFF20;
    pub(super) const NR42: u16 = 0xFF21;
    pub(super) const NR43: u16 = 0xFF22;
    pub(super) const NR44: u16 = 0xFF23;
    pub(super) const NR50: u16 = 0xFF24;
    pub(super) const NR51: u16 = 0xFF25;
    pub(super) const NR52: u16 = 0xFF26;
    pub(super) const WAVE: u16 = 0xFF30;
    pub(super) const WAVE_END: u16 = 0xFF3F;
}

/// Everything of the APU that the program can see or hear. A pure function of the writes so far:
/// catching up in small steps or in one leaves the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Core {
    /// NR52 bit 7.
    pub(super) powered: bool,
    /// NR50: master volumes.
    pub(super) volume: u8,
    /// NR51: panning.
    pub(super) panning: u8,
    /// Number of the sequencer step taken last, modulo 8.
    pub(super) step: u8,
    /// Edges of divider bit 12 since the divider was last reset: odd ones are rises.
    pub(super) half_steps: u64,
    pub(super) sweep: Sweep,
    pub(super) pulse1: Square,
    pub(super) pulse2: Square,
    pub(super) wave: Wave,
    pub(super) noise: Noise,
    /// Ticks here are those of the machine and so many more: on the Color, they count from power-on.
    pub(super) shift: u64,
    /// The Color's sound unit, and which of them.
    pub(super) color: bool,
    pub(super) revision: Revision,
}
crate::state_fields!(Core {
    powered,
    volume,
    panning,
    step,
    half_steps,
    sweep,
    pulse1,
    pulse2,
    wave,
    noise,
    shift,
} skip { color, revision });

impl Core {
    pub(super) const OFF: Self = Self {
        powered: false,
        volume: 0,
        panning: 0,
        step: 0,
        half_steps: 0,
        sweep: Sweep::OFF,
        pulse1: Square::OFF,
        pulse2: Square::OFF,
        wave: Wave::OFF,
        noise: Noise::OFF,
        shift: 0,
        color: false,
        revision: Revision::E,
    };

    /// The tick at which an access at `clock` happens.
    pub(super) fn tick(&self, clock: u64) -> u64 {
        tick(clock).wrapping_add(self.shift)
    }

    /// The registers that both boot codes leave behind; see [`super::Apu::after_boot`].
    pub(super) fn after_boot(clock: u64, div_base: u64) -> Self {
        let mut core = Self::OFF;
        core.powered = true;
        core.volume = 0x77;
        core.panning = 0xF3;
        core.step = 2;
        core.half_steps = clock.saturating_sub(div_base) >> 12;
        core.noise.start(core.tick(clock), false);
        core.pulse1.duty = 2;
        core.pulse1.frequency = 0x7C1;
        core.pulse1.envelope = Envelope::faded(0xF3);
        core.pulse1.length.load(0);
        core
    }

    /// Whether a write of NRx4 clocks lengths by itself, which the next sequencer step then does not.
    fn extra_clock(&self) -> Extra {
        if self.step & 1 != 0 {
            Extra::Never
        } else if self.color && !self.revision.clocks_lengths_when_enabled() {
            Extra::Any
        } else {
            Extra::Enabling
        }
    }

    /// The value at `addr` for an access at tick `now`; unused bits and addresses read as ones.
    pub(super) fn read(&self, addr: u16, now: u64) -> u8 {
        let enable = |enabled: bool| 0xBF | u8::from(enabled) << 6;
        match addr {
            io::NR10 => 0x80 | self.sweep.register(),
            io::NR11 => 0x3F | self.pulse1.duty << 6,
            io::NR12 => self.pulse1.envelope.register,
            io::NR14 => enable(self.pulse1.length.enabled),
            io::NR21 => 0x3F | self.pulse2.duty << 6,
            io::NR22 => self.pulse2.envelope.register,
            io::NR24 => enable(self.pulse2.length.enabled),
            io::NR30 => 0x7F | u8::from(self.wave.dac) << 7,
            io::NR32 => 0x9F | self.wave.volume << 5,
            io::NR34 => enable(self.wave.length.enabled),
            io::NR42 => self.noise.envelope.register,
            io::NR43 => self.noise.register,
            io::NR44 => enable(self.noise.length.enabled),
            io::NR50 => self.volume,
            io::NR51 => self.panning,
            io::NR52 => {
                0x70 | u8::from(self.powered) << 7
                    | u8::from(self.noise.on) << 3
                    | u8::from(self.wave.on) << 2
                    | u8::from(self.pulse2.on) << 1
                    | u8::from(self.pulse1.on)
            }
            io::WAVE..=io::WAVE_END => {
                self.wave.read_ram(usize::from(addr - io::WAVE), now, self.color)
            }
            _ => 0xFF,
        }
    }

    /// A write to `addr` at `clock`, up to which the core has been run.
    pub(super) fn write(&mut self, addr: u16, value: u8, clock: u64, div_base: u64) {
        let now = self.tick(clock);
        let extra = self.extra_clock();
        match addr {
            io::WAVE..=io::WAVE_END => {
                self.wave.write_ram(usize::from(addr - io::WAVE), value, now, self.color);
            }
            io::NR52 => self.set_power(value & 0x80 != 0, clock, div_base),
            _ if !self.powered && self.color => {}
            // Elsewhere, lengths can be loaded while the power is off.
            io::NR11 | io::NR21 | io::NR31 | io::NR41 => self.load_length(addr, value, now),
            _ if !self.powered => {}
            io::NR10 => {
                let running = self.pulse1.on;
                let effect =
                    self.sweep.write(value, now, running, self.pulse1.frequency, self.color);
                if let Some(frequency) = effect.frequency {
                    self.pulse1.set_frequency(frequency, now);
                }
                if effect.stop {
                    self.pulse1.stop(now);
                }
            }
            io::NR12
            | io::NR14
            | io::NR22
            | io::NR24
            | io::NR13
            | io::NR23
            | io::NR42..=io::NR44
                if self.color =>
            {
                self.write_color(addr, value, now, extra);
            }
            io::NR12 => self.pulse1.set_envelope(value, now),
            io::NR13 => self.pulse1.set_frequency(low_byte(self.pulse1.frequency, value), now),
            io::NR14 => {
                self.pulse1.control(value, now, extra);
                if value & 0x80 != 0 {
                    self.sweep.trigger(now, self.pulse1.frequency, self.color);
                }
            }
            io::NR22 => self.pulse2.set_envelope(value, now),
            io::NR23 => self.pulse2.set_frequency(low_byte(self.pulse2.frequency, value), now),
            io::NR24 => self.pulse2.control(value, now, extra),
            io::NR30 => self.wave.set_dac(value & 0x80 != 0, now),
            io::NR32 => self.wave.volume = value >> 5 & 3,
            io::NR33 => self.wave.set_frequency(low_byte(self.wave.frequency, value), now),
            io::NR34 => {
                let extra = self.wave.soften(extra, self.revision);
                self.wave.control(value, now, extra, self.color);
            }
            io::NR42 => self.noise.set_envelope(value),
            io::NR43 => self.noise.set_register(value, now),
            io::NR44 => self.noise.control(value, now, extra),
            io::NR50 => self.volume = value,
            io::NR51 => self.panning = value,
            _ => {}
        }
    }

    /// As [`write`](Self::write), for the registers that the Color's channels take differently.
    fn write_color(&mut self, addr: u16, value: u8, now: u64, extra: Extra) {
        match addr {
            io::NR12 => self.pulse1.set_color_envelope(value, now, self.revision),
            io::NR13 => {
                self.pulse1.set_color_frequency(low_byte(self.pulse1.frequency, value), now);
            }
            io::NR14 => {
                self.pulse1.color_control(value, now, extra, self.revision);
                if value & 0x80 != 0 {
                    self.sweep.trigger(now, self.pulse1.frequency, self.color);
                }
            }
            io::NR22 => self.pulse2.set_color_envelope(value, now, self.revision),
            io::NR23 => {
                self.pulse2.set_color_frequency(low_byte(self.pulse2.frequency, value), now);
            }
            io::NR24 => self.pulse2.color_control(value, now, extra, self.revision),
            io::NR42 => self.noise.set_color_envelope(value, now, self.revision),
            io::NR43 => self.noise.set_color_register(value, now),
            _ => self.noise.color_control(value, now, extra),
        }
    }

    fn load_length(&mut self, addr: u16, value: u8, now: u64) {
        match addr {
            io::NR11 => self.pulse1.length.load(value),
            io::NR21 => self.pulse2.length.load(value),
            io::NR31 => self.wave.length.load(value),
            _ => self.noise.length.load(value),
        }
        if self.powered {
            match addr {
                io::NR11 => self.pulse1.set_duty(value >> 6, now),
                io::NR21 => self.pulse2.set_duty(value >> 6, now),
                _ => {}
            }
        }
    }

    /// NR52 bit 7. Power-off clears every register; wave RAM and length counters live on.
    fn set_power(&mut self, powered: bool, clock: u64, div_base: u64) {
        if powered == self.powered {
            return;
        }
        let old = *self;
        let Self { half_steps, shift, color, revision, .. } = old;
        *self = Self { powered, half_steps, shift, color, revision, ..Self::OFF };
        if color {
            // Everything counts from power-on; four ticks are the longest that any clock takes.
            self.shift += (4 - (self.tick(clock) & 3)) & 3;
        } else {
            self.pulse1.length.keep(old.pulse1.length);
            self.pulse2.length.keep(old.pulse2.length);
            self.noise.length.keep(old.noise.length);
            self.wave.length.keep(old.wave.length);
        }
        self.wave.ram = old.wave.ram;
        if powered {
            // With divider bit 12 clear, the sequencer takes its first step at once.
            let since = clock.wrapping_sub(div_base);
            let high = (since | since.wrapping_add(4)) & 0x1000 != 0;
            self.step = u8::from(!high);
            self.noise.start(self.tick(clock), color);
        }
    }

    /// Digital outputs, `0..=15`, of channels 1 to 4 at tick `now`.
    pub(super) fn outputs(mut self, now: u64) -> [u8; 4] {
        self.advance_channels(now);
        [self.pulse1.output(), self.pulse2.output(), self.wave.output(), self.noise.output()]
    }

    /// Brings the generators to tick `now`, up to which nothing else changes.
    pub(super) fn advance_channels(&mut self, now: u64) {
        self.pulse1.advance(now);
        self.pulse2.advance(now);
        self.wave.advance(now);
        self.noise.advance(now);
    }

    /// Whether each channel's DAC is on.
    pub(super) fn dacs(&self) -> [bool; 4] {
        [
            self.pulse1.envelope.dac(),
            self.pulse2.envelope.dac(),
            self.wave.dac,
            self.noise.envelope.dac(),
        ]
    }

    /// Whether every field is in its domain for a machine at `clock`.
    pub(super) fn valid(&self, clock: u64) -> bool {
        let now = self.tick(clock);
        let any_on = self.pulse1.on || self.pulse2.on || self.wave.on || self.noise.on;
        (self.powered || !any_on)
            && self.step < 8
            && self.half_steps <= clock >> 12
            && self.shift <= clock
            && self.sweep.valid(now)
            && self.pulse1.valid(now)
            && self.pulse2.valid(now)
            && self.wave.valid(now)
            && self.noise.valid(now)
    }
}

/// A frequency with its low byte (NRx3) replaced.
fn low_byte(frequency: u16, value: u8) -> u16 {
    frequency & 0x700 | u16::from(value)
}
