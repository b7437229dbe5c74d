//! Wave channel (3) and its 16 bytes of RAM.

use super::length::{Extra, Length};
use crate::Revision;

/// Right shift of the sample for each setting of NR32; 4 mutes.
const SHIFT: [u8; 4] = [4, 0, 1, 2];

/// The wave channel. Its position is computed from `fetch` when somebody asks.
///
/// # Source
/// Pan Docs, "Audio details, Wave channel" and "Obscure behavior"; the tick of each fetch:
/// blargg's `dmg_sound` 09, 10 and 12 and the `docboy` tests `ch3_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wave {
    /// The bit of NR52.
    pub(super) on: bool,
    /// NR30 bit 7.
    pub(super) dac: bool,
    /// NR32 bits 5 and 6.
    pub(super) volume: u8,
    /// NR33 and NR34, 11 bits.
    pub(super) frequency: u16,
    /// Index of the current sample, `0..32`.
    position: u8,
    /// The byte fetched last: a trigger does not fetch, so the first sample is a stale one.
    byte: u8,
    /// Tick from which the next fetch is seen.
    fetch: u64,
    /// The last write of NR34 came before a sequencer step that does not clock lengths.
    off_step: bool,
    pub(super) length: Length<256>,
    pub(super) ram: [u8; 16],
}
crate::state_fields!(Wave {
    on,
    dac,
    volume,
    frequency,
    position,
    byte,
    fetch,
    off_step,
    length,
    ram
});

impl Wave {
    pub(super) const OFF: Self = Self {
        on: false,
        dac: false,
        volume: 0,
        frequency: 0,
        position: 0,
        byte: 0,
        fetch: 0,
        off_step: false,
        length: Length::SPENT,
        ram: [0; 16],
    };

    /// Ticks between fetches.
    fn period(&self) -> u64 {
        2048 - u64::from(self.frequency)
    }

    fn ram_index(position: u8) -> usize {
        usize::from(position >> 1 & 0xF)
    }

    /// Carries out every fetch seen at `now`.
    pub(super) fn advance(&mut self, now: u64) {
        if self.on && now >= self.fetch {
            let steps = (now - self.fetch) / self.period() + 1;
            self.position = (u64::from(self.position) + steps) as u8 & 31;
            self.byte = self.ram[Self::ram_index(self.position)];
            self.fetch += steps * self.period();
        }
    }

    /// The next tick at which the output may change.
    pub(super) fn next_edge(&self) -> u64 {
        if self.on {
            self.fetch
        } else {
            u64::MAX
        }
    }

    /// Digital output, `0..=15`, as of the last [`advance`](Self::advance).
    pub(super) fn output(&self) -> u8 {
        if !self.on {
            return 0;
        }
        let nibble = if self.position & 1 == 0 { self.byte >> 4 } else { self.byte & 0xF };
        nibble >> SHIFT[usize::from(self.volume & 3)]
    }

    /// Length or DAC end the note.
    pub(super) fn stop(&mut self, now: u64) {
        self.advance(now);
        self.on = false;
    }

    /// Where the CPU's access lands: while the channel plays, only in the tick of a fetch, and
    /// then on the byte being fetched.
    ///
    /// On the Color it always lands on the byte that plays.
    fn accessible(&self, index: usize, now: u64, color: bool) -> Option<usize> {
        if !self.on {
            return Some(index & 0xF);
        }
        if color {
            let mut at = *self;
            at.advance(now);
            return Some(Self::ram_index(at.position));
        }
        let since = now.checked_sub(self.fetch)?;
        let steps = since / self.period() + 1;
        let position = (u64::from(self.position) + steps) as u8 & 31;
        (since % self.period() == 0).then_some(Self::ram_index(position))
    }

    /// A read of FF30 + `index`.
    pub(super) fn read_ram(&self, index: usize, now: u64, color: bool) -> u8 {
        self.accessible(index, now, color).map_or(0xFF, |at| self.ram[at])
    }

    /// A write to FF30 + `index`; lost when the RAM is not accessible.
    pub(super) fn write_ram(&mut self, index: usize, value: u8, now: u64, color: bool) {
        if let Some(at) = self.accessible(index, now, color) {
            self.advance(now);
            self.ram[at] = value;
        }
    }

    /// NR30.
    pub(super) fn set_dac(&mut self, dac: bool, now: u64) {
        self.dac = dac;
        if !dac {
            self.stop(now);
        }
    }

    /// NR33 or NR34: used from the next fetch on.
    pub(super) fn set_frequency(&mut self, frequency: u16, now: u64) {
        self.advance(now);
        self.frequency = frequency & 0x7FF;
    }

    /// NR34, complete.
    pub(super) fn control(&mut self, value: u8, now: u64, extra: Extra, color: bool) {
        let high = u16::from(value & 7) << 8;
        self.set_frequency(self.frequency & 0xFF | high, now);
        if self.length.set_enabled(value & 0x40 != 0, extra) {
            self.stop(now);
        }
        self.off_step = extra != Extra::Never;
        if value & 0x80 != 0 {
            self.trigger(now, color);
            self.length.trigger(extra);
        }
    }

    /// What becomes of an extra clock: on a Color B the second of two writes before the same sequencer
    /// step is the first that need not enable the counter. The circuit is not known; this is the
    /// simplest rule for what was measured.
    ///
    /// # Source
    /// `SameSuite` `apu/channel_3/extra_length_clocking-cgbB`, against `-cgb0`.
    pub(super) fn soften(&self, extra: Extra, revision: Revision) -> Extra {
        match (extra, revision) {
            (Extra::Any, Revision::B) if !self.off_step => Extra::Enabling,
            _ => extra,
        }
    }

    /// Starts the note; the first fetch comes three ticks late.
    fn trigger(&mut self, now: u64, color: bool) {
        if self.on && self.fetch == now + 1 {
            self.byte = self.ram[0];
            if !color {
                self.corrupt_ram();
            }
        }
        self.position = 0;
        self.fetch = now + 3 + self.period();
        self.on = self.dac;
    }

    /// A trigger in the tick of a fetch: the row being fetched leaks into the first bytes.
    fn corrupt_ram(&mut self) {
        let fetching = Self::ram_index(self.position.wrapping_add(1));
        if fetching < 4 {
            self.ram[0] = self.ram[fetching];
        } else {
            let row = fetching & 0xC;
            self.ram.copy_within(row..row + 4, 0);
        }
    }

    /// Whether every field is in its domain at tick `now`.
    pub(super) fn valid(&self, now: u64) -> bool {
        self.volume < 4
            && self.frequency < 2048
            && self.position < 32
            && self.fetch <= now + 2048 + 3
            && (!self.on || self.dac)
            && self.length.valid()
    }
}
