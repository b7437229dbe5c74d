//! Audio processing unit of the DMG, evaluated lazily.
//!
//! Nothing runs per cycle. A channel stores the time of its next step, and its phase is computed
//! from that when somebody looks; the only recurring work are the 1,024 half steps per second of
//! the frame sequencer, which are skipped in one go while all channels are off. Between two writes
//! the state does not depend on how often it was caught up, read or listened to.
//!
//! # Time
//! `clock` is the machine's count of 4,194,304 Hz cycles. Inside, time is counted in **ticks** of
//! two cycles; an access at `clock` happens between tick `clock / 2 - 1` and tick `clock / 2`.
//! Pulse and noise timers count in the first half of a tick, sweep, sequencer and wave in the
//! second. "Seen from tick n" means that the access at clock `2 * n` is the first to notice.
//!
//! # Where things are
//! `core` has the registers, `sequencer` what happens by itself, `square`, `wave` and `noise` the
//! generators, `length`, `envelope` and `sweep` the units on them, `mixer` the host's samples.

mod core;
mod envelope;
mod length;
mod lfsr;
mod mixer;
mod noise;
mod sequencer;
mod square;
mod sweep;
#[cfg(test)]
mod tests;
mod wave;

use self::core::Core;
use self::mixer::Mixer;
use crate::state::{Malformed, Reader, State, Writer};
use crate::Revision;

/// The tick at which an access at `clock` happens.
const fn tick(clock: u64) -> u64 {
    clock / 2
}

/// The audio unit. `clock` never decreases from call to call; `div_base` is the clock at which the
/// divider was last reset, so that the 16-bit divider is `clock - div_base`.
#[derive(Debug, Clone)]
pub struct Apu {
    core: Core,
    /// Host-side sound, if it is wanted.
    mixer: Option<Box<Mixer>>,
}

impl Default for Apu {
    fn default() -> Self {
        Self::new()
    }
}

/// Only what the machine can see is saved; sample rate and waiting samples stay as they are.
impl State for Apu {
    fn save(&self, w: &mut Writer) {
        self.core.save(w);
    }

    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        self.core.load(r)?;
        if let Some(mixer) = &mut self.mixer {
            mixer.jump();
        }
        Ok(())
    }
}

impl Apu {
    /// Power-on before any boot code: all zero and off.
    pub fn new() -> Self {
        Self { core: Core::OFF, mixer: None }
    }

    /// The state that the DMG boot code hands over at PC = 0x100: its chime has faded to volume 0
    /// but its channel is still on (NR52 = F1), and the sequencer has taken an even step. Wave RAM
    /// is undefined on hardware, and zero here as all memory is.
    ///
    /// # Source
    /// mooneye `acceptance/boot_hwio-dmgABCmgb` (registers); the boot code (frequency 7C1, length
    /// not loaded); `docboy` `apu/ch1_length_timer_delay*` (step).
    pub fn after_boot(clock: u64, div_base: u64) -> Self {
        let mut core = Core::after_boot(clock, div_base);
        core.pulse1.on = true;
        Self { core, mixer: None }
    }

    /// The state that `PyBoy`'s own boot code hands over: sweep set, channel 1 off (NR10 = 93,
    /// NR52 = F0), wave RAM full of ones.
    ///
    /// # Source
    /// Read from `PyBoy` 2.8.1 at PC = 0x100.
    pub fn after_pyboy_boot(clock: u64, div_base: u64) -> Self {
        let mut core = Core::after_boot(clock, div_base);
        core.sweep.preset(0x13);
        core.wave.ram = [0xFF; 16];
        Self { core, mixer: None }
    }

    /// The state that the Color's boot code hands over: as [`after_boot`](Self::after_boot), with
    /// alternating bytes in wave RAM.
    pub fn after_color_boot(clock: u64, div_base: u64, revision: Revision) -> Self {
        let mut apu = Self::after_boot(clock, div_base);
        apu.core.color = true;
        apu.core.revision = revision;
        apu.core.wave.ram = std::array::from_fn(|i| if i % 2 == 0 { 0 } else { 0xFF });
        apu
    }

    /// What the CPU reads at `addr` in FF10..=FF3F; unused bits are ones.
    pub fn read(&mut self, addr: u16, clock: u64, div_base: u64) -> u8 {
        self.sync(clock, div_base);
        self.core.read(addr, self.core.tick(clock))
    }

    /// The same value as [`read`](Self::read) gives, leaving everything as it is.
    pub fn peek(&self, addr: u16, clock: u64, div_base: u64) -> u8 {
        self.core_at(clock, div_base).read(addr, self.core.tick(clock))
    }

    /// A write by the CPU to `addr` in FF10..=FF3F.
    pub fn write(&mut self, addr: u16, value: u8, clock: u64, div_base: u64) {
        self.sync(clock, div_base);
        self.core.write(addr, value, clock, div_base);
    }

    /// Catches up with `clock`; with sampling on, renders the samples up to there.
    pub fn sync(&mut self, clock: u64, div_base: u64) {
        match self.mixer.as_deref_mut() {
            None => self.core.run(clock, div_base, &mut ()),
            Some(mixer) => {
                self.core.run(clock, div_base, mixer);
                let now = self.core.tick(clock);
                sequencer::Observer::before_change(mixer, &self.core, now);
            }
        }
    }

    /// DIV is written at `clock`: the divider counted from `old_div_base` so far and counts from
    /// `clock` from now on. A fall of its bit 12 is a sequencer step.
    pub fn div_reset(&mut self, clock: u64, old_div_base: u64) {
        self.div_rebase(clock, old_div_base, clock);
    }

    /// The divider jumps at `clock`: it counted from `old_div_base` so far and counts from
    /// `new_div_base`, at most `clock`, from now on.
    pub fn div_rebase(&mut self, clock: u64, old_div_base: u64, new_div_base: u64) {
        self.sync(clock, old_div_base);
        self.core.rebase_divider(clock, new_div_base);
    }

    /// Digital outputs, `0..=15`, of channels 1 to 4.
    pub fn outputs(&self, clock: u64, div_base: u64) -> [u8; 4] {
        self.core_at(clock, div_base).outputs(self.core.tick(clock))
    }

    /// The outputs as PCM12 and PCM34 of the Color show them: before the redesign, a change in the tick
    /// before the read leaves only the bits that are set before and after it, but for the wave
    /// channel.
    ///
    /// # Source
    /// `SameSuite`, `apu/README` and `apu/channel_1/freq_change_timing-cgb0BC`; `SameBoy`'s notes.
    pub fn pcm(&self, clock: u64, div_base: u64) -> [u8; 4] {
        let [ch1, ch2, ch3, ch4] = self.outputs(clock, div_base);
        if self.core.revision.redesigned() {
            return [ch1, ch2, ch3, ch4];
        }
        let before = self.outputs(clock.saturating_sub(2), div_base);
        [ch1 & before[0], ch2 & before[1], ch3, ch4 & before[3]]
    }

    /// Which of the Color's sound units it is.
    pub fn revision(&self) -> Revision {
        self.core.revision
    }

    /// Samples per second from now on, at most 2,097,152; `None` (the default) or 0: no sound, at
    /// no cost. A change drops the samples that have not been taken.
    pub fn set_sample_rate(&mut self, rate: Option<u32>) {
        self.mixer = rate.filter(|&rate| rate != 0).map(|rate| Box::new(Mixer::new(rate)));
    }

    /// The sample rate in use.
    pub fn sample_rate(&self) -> Option<u32> {
        self.mixer.as_deref().map(Mixer::rate)
    }

    /// The stereo samples (left, right) up to the last catching up. The newest 1,048,576 wait here;
    /// older ones are lost.
    pub fn take_samples(&mut self) -> Vec<[i16; 2]> {
        self.mixer.as_deref_mut().map_or_else(Vec::new, Mixer::take)
    }

    /// Whether a loaded state is one that a machine at `clock` can have: every value in its
    /// domain, and no time so far ahead that it would overflow.
    pub fn validate(&self, clock: u64) -> bool {
        clock <= u64::MAX / 2 && self.core.valid(clock)
    }

    fn core_at(&self, clock: u64, div_base: u64) -> Core {
        let mut core = self.core;
        core.run(clock, div_base, &mut ());
        core
    }
}
