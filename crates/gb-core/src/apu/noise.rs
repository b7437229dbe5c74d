//! Noise channel (4).

use super::envelope::Envelope;
use super::length::Length;
use super::lfsr;

/// The noise channel: a prescaler drives a 14-bit counter, and a rise of one of the counter's
/// bits steps the shift register. It runs as long as the APU is powered, on or off.
///
/// Nothing of this shows in a DMG register, only in the sound.
///
/// # Source
/// Pan Docs, "Audio registers, NR43"; `SameBoy`'s documentation of the counter and of the 1 MHz/4
/// alignment of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Noise {
    /// The bit of NR52.
    pub(super) on: bool,
    /// NR43: shift in bits 4 to 7, bit 3 narrow, divider in bits 0 to 2.
    pub(super) register: u8,
    /// Shift register, 15 bits.
    lfsr: u16,
    /// 14 bits.
    counter: u16,
    /// Tick from which the next count is seen.
    edge: u64,
    pub(super) length: Length<64>,
    pub(super) envelope: Envelope,
}
crate::state_fields!(Noise { on, register, lfsr, counter, edge, length, envelope });

impl Noise {
    pub(super) const OFF: Self = Self {
        on: false,
        register: 0,
        lfsr: 0,
        counter: 0,
        edge: 0,
        length: Length::SPENT,
        envelope: Envelope::OFF,
    };

    const COUNTER: u64 = 0x3FFF;

    /// Ticks between counts.
    fn divider(&self) -> u64 {
        match u64::from(self.register & 7) {
            0 => 2,
            n => 4 * n,
        }
    }

    /// The counter bit that steps the register; 14 and 15 do not exist.
    fn shift(&self) -> Option<u32> {
        let shift = u32::from(self.register >> 4);
        (shift < 14).then_some(shift)
    }

    fn narrow(&self) -> bool {
        self.register & 8 != 0
    }

    fn selected(&self) -> bool {
        self.shift().is_some_and(|shift| self.counter >> shift & 1 != 0)
    }

    /// Carries out everything seen at `now`.
    pub(super) fn advance(&mut self, now: u64) {
        if now < self.edge {
            return;
        }
        let counts = (now - self.edge) / self.divider() + 1;
        self.edge += counts * self.divider();
        let counter = u64::from(self.counter);
        if let Some(shift) = self.shift() {
            // Rises are the values 2^shift modulo 2^(shift+1), which divides 2^14.
            let rises = |counter: u64| (counter + (1 << shift)) >> (shift + 1);
            let steps = rises(counter + counts) - rises(counter);
            self.lfsr = lfsr::advance(self.lfsr, self.narrow(), steps);
        }
        self.counter = (counter + counts & Self::COUNTER) as u16;
    }

    /// The next tick at which the output may change.
    pub(super) fn next_edge(&self) -> u64 {
        match self.shift() {
            Some(shift) if self.on => {
                let rise = 1_u64 << shift;
                let counts = (rise - 1).wrapping_sub(u64::from(self.counter)) & (2 * rise - 1);
                self.edge + counts * self.divider()
            }
            _ => u64::MAX,
        }
    }

    /// Digital output, `0..=15`, as of the last [`advance`](Self::advance).
    pub(super) fn output(&self) -> u8 {
        if self.on && self.lfsr & 1 != 0 {
            self.envelope.volume
        } else {
            0
        }
    }

    /// Power-on: the prescaler starts.
    pub(super) fn start(&mut self, now: u64) {
        self.edge = now + self.divider();
    }

    /// NR42.
    pub(super) fn set_envelope(&mut self, value: u8) {
        self.envelope.write(value, self.on);
        self.on &= self.envelope.dac();
    }

    /// NR43: selecting a counter bit that is set is a rise, too.
    pub(super) fn set_register(&mut self, value: u8, now: u64) {
        self.advance(now);
        let before = self.selected();
        self.register = value;
        if self.selected() && !before {
            self.lfsr = lfsr::advance(self.lfsr, self.narrow(), 1);
        }
    }

    /// NR44, complete. `off_step`: the next sequencer step does not clock lengths.
    pub(super) fn control(&mut self, value: u8, now: u64, off_step: bool) {
        if self.length.set_enabled(value & 0x40 != 0, off_step) {
            self.on = false;
        }
        if value & 0x80 != 0 {
            self.trigger(now);
            self.length.trigger(off_step);
        }
    }

    /// Starts the note. The generator starts on a multiple of four ticks, six ticks late if the
    /// write was not on one.
    fn trigger(&mut self, now: u64) {
        self.advance(now);
        let start = if now & 3 == 0 { now } else { now + 6 };
        let divider = self.divider();
        self.edge = start + divider.max(4);
        self.lfsr = 0;
        self.envelope.trigger();
        self.on = self.envelope.dac();
    }

    /// Whether every field is in its domain at tick `now`.
    pub(super) fn valid(&self, now: u64) -> bool {
        self.lfsr < 0x8000
            && u64::from(self.counter) <= Self::COUNTER
            && self.edge <= now + 6 + 28
            && (!self.on || self.envelope.dac())
            && self.length.valid()
            && self.envelope.valid()
    }
}
