//! Noise channel (4).

use super::envelope::Envelope;
use super::length::{Extra, Length};
use super::lfsr;
use crate::Revision;

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
    /// Nothing counts: on the Color, while the channel is off.
    frozen: bool,
    /// On the Color: ticks by which the next count but one is late.
    delta: u8,
    pub(super) length: Length<64>,
    pub(super) envelope: Envelope,
}
crate::state_fields!(Noise { on, register, lfsr, counter, edge, frozen, delta, length, envelope });

impl Noise {
    pub(super) const OFF: Self = Self {
        on: false,
        register: 0,
        lfsr: 0,
        counter: 0,
        edge: 0,
        frozen: false,
        delta: 0,
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
        if self.frozen || now < self.edge {
            return;
        }
        let late = u64::from(std::mem::take(&mut self.delta));
        let since = now - self.edge;
        let counts = 1 + since.saturating_sub(late) / self.divider();
        self.edge += late + counts * self.divider();
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
                let late = if counts == 0 { 0 } else { u64::from(self.delta) };
                self.edge + late + counts * self.divider()
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

    /// Power-on: the prescaler starts, on the Color only with the channel.
    pub(super) fn start(&mut self, now: u64, color: bool) {
        self.frozen = color;
        self.edge = now + self.divider();
    }

    /// The note ends.
    pub(super) fn stop(&mut self, now: u64, color: bool) {
        self.advance(now);
        self.on = false;
        self.frozen = color;
    }

    /// NR42 on the Color.
    pub(super) fn set_color_envelope(&mut self, value: u8, now: u64, revision: Revision) {
        self.envelope.write_color(value, self.on, revision);
        if !self.envelope.dac() {
            self.stop(now, true);
        }
    }

    /// NR43 on the Color (revision E): a count in the tick of the write takes the new divider.
    pub(super) fn set_color_register(&mut self, value: u8, now: u64) {
        self.advance(now);
        let reloaded = self.on && self.edge == now + self.divider();
        let counter = self.counter;
        // While NR43 changes, some of the counter's bits leak into others.
        let high = if self.narrow() { 0x40 } else { 0x80 };
        self.counter |= if counter & high == 0 { 0 } else { 0xFF };
        self.counter |= (counter & 0x1000) >> 8;
        self.set_register(value, now);
        self.counter = counter;
        if reloaded {
            self.delta = 0;
            self.edge = now + self.divider() + self.alignment(now);
        }
    }

    /// What the Color's prescaler adds to the divider, so that it stays on its grid.
    fn alignment(&self, now: u64) -> u64 {
        if self.register & 7 == 0 {
            0
        } else {
            [2, 1, 0, 3][(now & 3) as usize]
        }
    }

    /// NR44 on the Color (revision E), complete.
    pub(super) fn color_control(&mut self, value: u8, now: u64, extra: Extra) {
        if self.length.set_enabled(value & 0x40 != 0, extra) && value & 0x80 == 0 {
            self.stop(now, true);
        }
        if value & 0x80 != 0 {
            self.color_trigger(now);
            self.length.trigger(extra);
        }
    }

    /// Starts the note on the grid of the prescaler.
    ///
    /// # Source
    /// `SameSuite` `apu/channel_4`; `SameBoy`'s notes on the same circuit.
    fn color_trigger(&mut self, now: u64) {
        self.advance(now);
        self.delta = 0;
        let early = (now + 1) & 3 < 2;
        let offset = match self.register & 7 {
            0 => 4 + (now & 1),
            1 if early => {
                self.delta = 2;
                2 + self.alignment(now)
            }
            _ => 4 - 4 * u64::from(early) + self.alignment(now),
        };
        self.edge = now + self.divider() + offset;
        self.frozen = false;
        self.lfsr = 0;
        self.envelope.trigger();
        self.on = self.envelope.dac();
        self.frozen = !self.on;
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

    /// NR44, complete.
    pub(super) fn control(&mut self, value: u8, now: u64, extra: Extra) {
        if self.length.set_enabled(value & 0x40 != 0, extra) {
            self.on = false;
        }
        if value & 0x80 != 0 {
            self.trigger(now);
            self.length.trigger(extra);
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
            && self.delta <= 2
            && (!self.on || self.envelope.dac())
            && self.length.valid()
            && self.envelope.valid()
    }
}
