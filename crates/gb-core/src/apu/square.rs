//! Pulse generator of channels 1 and 2.

use super::envelope::Envelope;
use super::length::{Extra, Length};
use crate::Revision;

/// Output of the four duty settings at each of the eight phases.
///
/// # Source
/// Pan Docs, "Audio details, Pulse channels".
const DUTY: [[bool; 8]; 4] = {
    const L: bool = false;
    const H: bool = true;
    [
        [L, L, L, L, L, L, L, H],
        [H, L, L, L, L, L, L, H],
        [H, L, L, L, L, H, H, H],
        [L, H, H, H, H, H, H, L],
    ]
};

/// A pulse channel. Its phase is computed from `edge` when somebody asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Square {
    /// The bit of NR52.
    pub(super) on: bool,
    /// NRx1 bits 6 and 7.
    pub(super) duty: u8,
    /// Output since the last phase step.
    level: bool,
    /// Duty phase, `0..8`.
    phase: u8,
    /// NRx3 and NRx4, 11 bits.
    pub(super) frequency: u16,
    /// Tick from which the next phase step is seen.
    edge: u64,
    /// First tick that counts after the start-up delay of the last trigger.
    armed: u64,
    /// On the Color: no phase step since the channel went on, so that nothing comes out.
    mute: bool,
    /// On the Color: what was left of the period when the channel went off, in ticks.
    held: u16,
    pub(super) length: Length<64>,
    pub(super) envelope: Envelope,
}
crate::state_fields!(Square {
    on,
    duty,
    level,
    phase,
    frequency,
    edge,
    armed,
    mute,
    held,
    length,
    envelope,
});

impl Square {
    pub(super) const OFF: Self = Self {
        on: false,
        duty: 0,
        level: false,
        phase: 0,
        frequency: 0,
        edge: 0,
        armed: 0,
        mute: false,
        held: 0xFFFF,
        length: Length::SPENT,
        envelope: Envelope::OFF,
    };

    /// Ticks between phase steps: the timer counts every second tick.
    fn period(&self) -> u64 {
        2 * (2048 - u64::from(self.frequency))
    }

    /// The first tick at or after `now` in which the timer counts.
    fn count_tick(now: u64) -> u64 {
        now + (now & 1)
    }

    /// Whether the very next count of the timer steps the phase.
    fn about_to_step(&self, now: u64) -> bool {
        self.edge == Self::count_tick(now) + 1
    }

    fn step(&mut self, steps: u64) {
        self.phase = (u64::from(self.phase) + steps) as u8 & 7;
        self.mute = false;
        self.level = DUTY[usize::from(self.duty & 3)][usize::from(self.phase & 7)];
    }

    /// Carries out every phase step seen at `now`.
    pub(super) fn advance(&mut self, now: u64) {
        if self.on && now >= self.edge {
            let steps = (now - self.edge) / self.period() + 1;
            self.step(steps);
            self.edge += steps * self.period();
        }
    }

    /// The next tick at which the output may change.
    pub(super) fn next_edge(&self) -> u64 {
        if self.on {
            self.edge
        } else {
            u64::MAX
        }
    }

    /// Digital output, `0..=15`, as of the last [`advance`](Self::advance).
    pub(super) fn output(&self) -> u8 {
        if self.on && self.level {
            self.envelope.volume
        } else {
            0
        }
    }

    /// Length, sweep or DAC end the note; the phase stays where it is.
    pub(super) fn stop(&mut self, now: u64) {
        self.advance(now);
        if self.on {
            self.held = self.rest(now);
        }
        self.on = false;
    }

    /// NRx1 bits 6 and 7: a phase step in the tick of the write still has the old duty.
    pub(super) fn set_duty(&mut self, duty: u8, now: u64) {
        self.advance(Self::count_tick(now) + 1);
        self.duty = duty;
    }

    /// NRx2.
    pub(super) fn set_envelope(&mut self, value: u8, now: u64) {
        self.envelope.write(value, self.on);
        if !self.envelope.dac() && self.on {
            self.advance(now);
            if self.about_to_step(now) {
                self.step(1);
            }
            self.on = false;
        }
    }

    /// NRx2 on the Color.
    pub(super) fn set_color_envelope(&mut self, value: u8, now: u64, revision: Revision) {
        self.envelope.write_color(value, self.on, revision);
        if !self.envelope.dac() && self.on {
            self.stop(now);
        }
    }

    /// What is left of the period without a start-up delay, in ticks.
    fn rest(&self, now: u64) -> u16 {
        let delay = self.armed.saturating_sub(now + 1);
        self.edge.saturating_sub(now + 1).saturating_sub(delay) as u16
    }

    /// Whether the timer was reloaded in this very tick.
    fn just_reloaded(&self, now: u64) -> bool {
        self.on && now >= self.armed && self.edge == now + self.period()
    }

    /// NRx3 or NRx4 on the Color: a reload in the tick of the write takes the new frequency.
    pub(super) fn set_color_frequency(&mut self, frequency: u16, now: u64) {
        self.advance(now);
        let reloaded = self.just_reloaded(now);
        self.frequency = frequency & 0x7FF;
        if reloaded {
            self.edge = now + self.period();
        }
    }

    /// NRx4 on the Color, complete.
    ///
    /// # Source
    /// `SameSuite` `apu/channel_1`; `SameBoy`'s notes on the same circuit.
    pub(super) fn color_control(&mut self, value: u8, now: u64, extra: Extra, revision: Revision) {
        self.advance(now);
        let reloaded = self.just_reloaded(now);
        let triggers = value & 0x80 != 0;
        let high = u16::from(value & 7) << 8;
        let old = self.frequency;
        let left = self.edge.wrapping_sub(now + 1);
        let recent =
            left >> 1 == u64::from(0x7FF - old) && (revision.redesigned() || left & 1 != 0);
        if self.on && !triggers && old >> 8 == 7 && value & 7 != 7 && !self.mute && recent {
            // The write comes before the phase step that it meets.
            self.phase = self.phase.wrapping_sub(1) & 7;
        }
        self.set_color_frequency(old & 0xFF | high, now);
        if self.length.set_enabled(value & 0x40 != 0, extra) && !triggers {
            self.stop(now);
        }
        if triggers {
            self.color_trigger(now, old, reloaded, revision);
            self.length.trigger(extra);
        }
    }

    fn color_trigger(&mut self, now: u64, old: u16, reloaded: bool, revision: Revision) {
        // With bit 10 clear in the old period's rest and in the new frequency, the phase steps: a
        // flaw of the later makings.
        let clear = |rest: u16| {
            revision.redesigned() && self.frequency & 0x400 == 0 && rest >> 1 & 0x400 == 0
        };
        let mut delay = 3;
        if self.on {
            delay = 2;
            if !reloaded && clear(self.rest(now).wrapping_sub(1)) {
                self.step(1);
            } else if revision.redesigned() && self.frequency == 0x7FF && old != 0x7FF && self.mute
            {
                delay = 3;
            }
        } else {
            let steps = clear(self.held);
            self.mute = true;
            if steps {
                self.step(1);
            }
        }
        self.level = !self.mute && DUTY[usize::from(self.duty & 3)][usize::from(self.phase & 7)];
        self.armed = Self::count_tick(now) + 2 * delay;
        self.edge = self.armed + self.period() - 2;
        self.envelope.trigger();
        self.on = self.envelope.dac();
    }

    /// NRx3, NRx4 or the sweep: used from the next reload of the timer on.
    pub(super) fn set_frequency(&mut self, frequency: u16, now: u64) {
        self.advance(now);
        self.frequency = frequency & 0x7FF;
    }

    /// NRx4, complete.
    pub(super) fn control(&mut self, value: u8, now: u64, extra: Extra) {
        let high = u16::from(value & 7) << 8;
        self.set_frequency(self.frequency & 0xFF | high, now);
        if self.length.set_enabled(value & 0x40 != 0, extra) {
            self.stop(now);
        }
        if value & 0x80 != 0 {
            self.trigger(now);
            self.length.trigger(extra);
        }
    }

    /// Starts the note. The phase is kept, and held for 3 counts (2 or 3 if it was running).
    fn trigger(&mut self, now: u64) {
        let first = Self::count_tick(now);
        let mut delay = 3;
        if self.on {
            delay = 2 + u64::from(first < self.armed);
            if self.about_to_step(now) {
                self.step(1);
            }
        }
        self.armed = first + 2 * delay;
        self.edge = self.armed + self.period() - 1;
        self.envelope.trigger();
        self.on = self.envelope.dac();
    }

    /// Whether every field is in its domain at tick `now`.
    pub(super) fn valid(&self, now: u64) -> bool {
        self.duty < 4
            && self.phase < 8
            && self.frequency < 2048
            && self.edge <= now + 2 * 2048 + 8
            && self.armed <= now + 8
            && (!self.on || self.envelope.dac())
            && self.length.valid()
            && self.envelope.valid()
    }
}
