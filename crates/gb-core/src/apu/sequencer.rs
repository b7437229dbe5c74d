//! The 512 Hz frame sequencer: everything that changes a channel without a register write.

use super::core::Core;
use super::envelope::Envelope;

/// Half sequencer steps (4,096 clocks) after which an APU that nobody writes to has become
/// periodic: lengths run out within 1,024 and envelopes end within 1,808; the slowest sweep (shift
/// 7, pace 7) needs 425 firings of 56 until it stops the channel or changes nothing any more.
const SETTLED: u64 = 1 << 15;

/// Period of a settled APU in half steps: envelopes repeat after 16 times, sweeps after 8 times
/// their pace, and every pace of 1 to 8 divides 840.
const CYCLE: u64 = 16 * 840;

/// Somebody who must see the sound before it changes.
pub(super) trait Observer {
    /// False if nobody looks, so that stretches in which nothing new happens may be skipped.
    const LOOKS: bool;
    /// The channels are about to change at tick `at`.
    fn before_change(&mut self, core: &Core, at: u64);
}

/// Nobody looks.
impl Observer for () {
    const LOOKS: bool = false;
    fn before_change(&mut self, _: &Core, _: u64) {}
}

impl Core {
    /// The tick before which the `n`th edge of divider bit 12 happens: one tick before an access that
    /// reads the changed divider.
    fn edge_tick(&self, div_base: u64, n: u64) -> u64 {
        self.tick(div_base + (n << 12)) - 1
    }

    /// Carries out everything that happens before an access at `clock`.
    pub(super) fn run<O: Observer>(&mut self, clock: u64, div_base: u64, observer: &mut O) {
        let target = clock.saturating_sub(div_base) >> 12;
        if !self.powered {
            self.half_steps = target;
            return;
        }
        let mut settled = SETTLED;
        while self.half_steps < target {
            if self.silent() {
                self.skip_silence(target);
                break;
            }
            let left = target - self.half_steps;
            if !O::LOOKS && settled == 0 && left >= 2 * CYCLE {
                // The last cycle is run, so that every time stamp is as recent as it should be.
                self.half_steps += (left / CYCLE - 1) * CYCLE;
                continue;
            }
            settled = settled.saturating_sub(1);
            self.half_steps += 1;
            let at = self.edge_tick(div_base, self.half_steps);
            self.finish_sweep_check(at, observer);
            if self.half_steps & 1 == 0 {
                observer.before_change(self, at);
                self.step(at);
            } else {
                self.rise();
            }
        }
        self.finish_sweep_check(self.tick(clock), observer);
    }

    /// The divider counts from `div_base` from now on; the core has been run up to `clock`.
    pub(super) fn rebase_divider(&mut self, clock: u64, div_base: u64) {
        let was_high = self.half_steps & 1 != 0;
        self.half_steps = clock.saturating_sub(div_base) >> 12;
        let is_high = self.half_steps & 1 != 0;
        match (was_high, is_high) {
            _ if !self.powered => {}
            (true, false) => self.step(self.tick(clock)),
            (false, true) => self.rise(),
            _ => {}
        }
    }

    /// Whether all four channels are off, so that only lengths count.
    fn silent(&self) -> bool {
        !(self.pulse1.on || self.pulse2.on || self.wave.on || self.noise.on)
    }

    /// All steps up to half step `target` of a silent APU.
    fn skip_silence(&mut self, target: u64) {
        let steps = target / 2 - self.half_steps / 2;
        let step = u64::from(self.step);
        let clocks = ((step + steps) >> 1) - (step >> 1);
        self.pulse1.length.clock(clocks);
        self.pulse2.length.clock(clocks);
        self.wave.length.clock(clocks);
        self.noise.length.clock(clocks);
        self.step = (step + steps) as u8 & 7;
        self.half_steps = target;
    }

    /// A fall of divider bit 12: lengths on even steps, the sweep on every fourth, the envelope
    /// counts on every eighth.
    fn step(&mut self, at: u64) {
        self.step = (self.step + 1) & 7;
        if self.step & 1 == 0 {
            self.clock_lengths(at);
        }
        if self.step & 3 == 0 && self.pulse1.on {
            if let Some(frequency) = self.sweep.clock(at, self.pulse1.frequency) {
                self.pulse1.set_frequency(frequency, at);
            }
        }
        let count = self.step == 0;
        self.for_running_envelopes(|envelope| {
            if count {
                envelope.clock();
            }
            envelope.step();
        });
    }

    /// `act` on the envelope of each channel that is on.
    #[inline]
    fn for_running_envelopes(&mut self, act: impl Fn(&mut Envelope)) {
        if self.pulse1.on {
            act(&mut self.pulse1.envelope);
        }
        if self.pulse2.on {
            act(&mut self.pulse2.envelope);
        }
        if self.noise.on {
            act(&mut self.noise.envelope);
        }
    }

    fn clock_lengths(&mut self, at: u64) {
        if self.pulse1.length.clock(1) {
            self.pulse1.stop(at);
        }
        if self.pulse2.length.clock(1) {
            self.pulse2.stop(at);
        }
        if self.wave.length.clock(1) {
            self.wave.stop(at);
        }
        if self.noise.length.clock(1) {
            self.noise.stop(at, self.color);
        }
    }

    /// A rise of divider bit 12.
    fn rise(&mut self) {
        self.for_running_envelopes(Envelope::rise);
    }

    /// Finishes a sweep check that is due at or before tick `now`.
    fn finish_sweep_check<O: Observer>(&mut self, now: u64, observer: &mut O) {
        if let Some(at) = self.sweep.check_at() {
            if at <= now {
                observer.before_change(self, at);
                if self.sweep.finish_check(at, self.pulse1.frequency, self.color) {
                    self.pulse1.stop(at);
                }
            }
        }
    }
}
