//! Turns the digital outputs into host samples.
//!
//! Each DAC maps 0..=15 to +1..=-1 (0 when it is off). Each side adds the channels that NR51 sends
//! to it and scales them by NR50. A sample is the exact mean of that signal over its own span of
//! time (a box filter, summed in integers), which keeps aliasing low without any table. Last comes
//! the high-pass of the output capacitor: on the DMG it loses 0.0042 % of its charge every clock
//! cycle, which is a cut-off near 28 Hz.
//!
//! # Source
//! Pan Docs, "Audio details, Mixer" and "Obscure behavior, High-pass filter" (0.999958 on the DMG).

use std::collections::VecDeque;

use super::core::Core;
use super::sequencer::Observer;

/// Ticks per second.
const TICK_RATE: u32 = 1 << 21;

/// Most samples that wait for [`take`](Mixer::take); then the oldest make room.
const MAX_WAITING: usize = 1 << 20;

/// Factor from one DAC step at master volume 1 to the 16-bit scale: four channels at full volume
/// make ±480 steps, and the high-pass can at most double that.
const GAIN: f64 = 34.0;

/// Charge that the output capacitor keeps per clock cycle.
const CHARGE: f64 = 0.999_958;

/// Host side of the sound: not part of a save state.
#[derive(Debug, Clone)]
pub(super) struct Mixer {
    /// Samples per second, `1..=TICK_RATE`.
    rate: u32,
    /// Tick up to which the sound has been rendered; none before the first rendering.
    rendered: Option<u64>,
    /// Sums of the sample being built, left and right, weighted with `filled`: at most 480 times
    /// `TICK_RATE`, which fits.
    sums: [i32; 2],
    /// How much of the sample is built; `TICK_RATE` is all of it.
    filled: u32,
    /// Voltages of the output capacitors.
    capacitors: [f64; 2],
    /// What they keep per sample.
    charge: f64,
    samples: VecDeque<[i16; 2]>,
}

impl Mixer {
    /// `rate` in Hz is clamped to what the APU can produce.
    pub(super) fn new(rate: u32) -> Self {
        let rate = rate.clamp(1, TICK_RATE);
        Self {
            rate,
            rendered: None,
            sums: [0; 2],
            filled: 0,
            capacitors: [0.0; 2],
            charge: CHARGE.powf(2.0 * f64::from(TICK_RATE) / f64::from(rate)),
            samples: VecDeque::new(),
        }
    }

    /// Samples per second.
    pub(super) fn rate(&self) -> u32 {
        self.rate
    }

    /// The newest samples since the last call, at most [`MAX_WAITING`].
    pub(super) fn take(&mut self) -> Vec<[i16; 2]> {
        std::mem::take(&mut self.samples).into()
    }

    /// The machine's time has jumped: go on from the next rendering.
    pub(super) fn jump(&mut self) {
        self.rendered = None;
    }

    /// Renders up to tick `until`, up to which `core` does not change.
    fn render(&mut self, core: &Core, until: u64) {
        let mut now = match self.rendered {
            Some(rendered) if rendered < until => rendered,
            Some(_) => return,
            None => until,
        };
        self.rendered = Some(until);
        let mut voices = *core;
        while now < until {
            voices.advance_channels(now);
            // Bounded so that the products below cannot overflow.
            let next = [
                voices.pulse1.next_edge(),
                voices.pulse2.next_edge(),
                voices.wave.next_edge(),
                voices.noise.next_edge(),
            ]
            .into_iter()
            .fold(until.min(now + u64::from(TICK_RATE)), u64::min);
            self.add(sides(&voices, now), next - now);
            now = next;
        }
    }

    /// Adds `ticks` of a constant signal.
    fn add(&mut self, level: [i32; 2], ticks: u64) {
        let mut left = ticks * u64::from(self.rate);
        while left != 0 {
            let part = left.min(u64::from(TICK_RATE - self.filled)) as u32;
            for (sum, level) in self.sums.iter_mut().zip(level) {
                *sum += level * part as i32;
            }
            self.filled += part;
            left -= u64::from(part);
            if self.filled == TICK_RATE {
                self.finish_sample();
            }
        }
    }

    fn finish_sample(&mut self) {
        let mut sample = [0; 2];
        for (side, out) in sample.iter_mut().enumerate() {
            let input = GAIN * f64::from(self.sums[side]) / f64::from(TICK_RATE);
            let output = input - self.capacitors[side];
            self.capacitors[side] = input - output * self.charge;
            *out = output.round() as i16;
        }
        if self.samples.len() == MAX_WAITING {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        self.sums = [0; 2];
        self.filled = 0;
    }
}

impl Observer for Mixer {
    const LOOKS: bool = true;
    fn before_change(&mut self, core: &Core, at: u64) {
        self.render(core, at);
    }
}

/// The signal left and right in DAC steps times master volume, each in -480..=480.
fn sides(core: &Core, now: u64) -> [i32; 2] {
    let outputs = core.outputs(now);
    let dacs = core.dacs();
    let side = |panning: u8, volume: u8| -> i32 {
        let sum: i32 = (0..4)
            .filter(|&channel| dacs[channel] && panning >> channel & 1 != 0)
            .map(|channel| 15 - 2 * i32::from(outputs[channel]))
            .sum();
        sum * (i32::from(volume & 7) + 1)
    };
    [side(core.panning >> 4, core.volume >> 4), side(core.panning, core.volume)]
}
