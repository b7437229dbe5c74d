//! Volume envelopes of the pulse and noise channels.

use crate::Revision;

/// One volume envelope (NRx2).
///
/// The 64 Hz clock only counts; when the count is out, the next *rise* of the divider bit reloads
/// it and schedules a change of volume for the sequencer step after that.
///
/// # Source
/// Pan Docs, "Audio details, Envelope"; the delay between count and change: `SameSuite`
/// `apu/div_trigger_volume_10` and `div_write_trigger_volume`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Envelope {
    /// NRx2: volume in bits 4 to 7, bit 3 counts up, pace in bits 0 to 2.
    pub(super) register: u8,
    /// Current volume, `0..=15`.
    pub(super) volume: u8,
    /// 64 Hz clocks left, modulo 8.
    timer: u8,
    /// The volume changes on the next sequencer step.
    due: bool,
    /// The volume hit its end; automatic changes are over until the next trigger.
    ended: bool,
}
crate::state_fields!(Envelope { register, volume, timer, due, ended });

impl Envelope {
    pub(super) const OFF: Self = Self::faded(0);

    const UP: u8 = 8;

    /// An envelope that has run out: NRx2 as given, volume 0.
    pub(super) const fn faded(register: u8) -> Self {
        Self { register, volume: 0, timer: 0, due: false, ended: true }
    }

    fn pace(self) -> u8 {
        self.register & 7
    }

    /// Whether NRx2 keeps the channel's DAC on.
    pub(super) fn dac(self) -> bool {
        self.register & 0xF8 != 0
    }

    /// NRx2. On a running channel the volume changes at once ("zombie mode").
    ///
    /// # Source
    /// Blargg's `Gb_Snd_Emu` notes and Pan Docs, "Obscure behavior": an envelope of pace 0 that
    /// has not ended steps by one, otherwise one counting down steps by two; a change of
    /// direction then takes 16 minus the volume; four bits are kept.
    pub(super) fn write(&mut self, value: u8, running: bool) {
        let old = std::mem::replace(&mut self.register, value);
        if !running {
            return;
        }
        if old & 7 == 0 && !self.ended {
            self.volume += 1;
        } else if old & Self::UP == 0 {
            self.volume += 2;
        }
        if (old ^ value) & Self::UP != 0 {
            self.volume = 16_u8.wrapping_sub(self.volume);
        }
        self.volume &= 0xF;
    }

    /// NRx2 on the Color, where only some changes of a running channel show. Before the sound unit
    /// was redesigned, ones pass by before the value arrives.
    ///
    /// # Source
    /// `SameSuite` `apu/*/nrx2_*` and `volume`; `SameBoy`'s description of the clocks involved.
    pub(super) fn write_color(&mut self, value: u8, running: bool, revision: Revision) {
        if !revision.redesigned() {
            self.put_color(0xFF, running);
        }
        self.put_color(value, running);
    }

    fn put_color(&mut self, value: u8, running: bool) {
        let old = std::mem::replace(&mut self.register, value);
        if !running {
            return;
        }
        let at_end = self.volume == if old & Self::UP == 0 { 0 } else { 15 };
        if self.due {
            self.timer = value & 7;
        }
        let stood = old & 7 == 0 && !self.ended;
        let mut steps = stood && (value & 7 != 0 || (old & 0xF, value & 0xF) == (8, 8));
        match (old & Self::UP != 0, value & Self::UP != 0) {
            (false, true) => {
                let top = if stood { 0xF } else { 0xE };
                self.volume = u8::wrapping_sub(top, self.volume);
                steps = false;
            }
            (true, false) => self.volume = 16_u8.wrapping_sub(self.volume),
            _ => {}
        }
        if steps {
            let step = if value & Self::UP == 0 { 0xFF } else { 1 };
            self.volume = self.volume.wrapping_add(step);
        } else if value & 7 == 0 && std::mem::take(&mut self.due) {
            self.ended |= at_end;
        }
        self.volume &= 0xF;
    }

    /// NRx4 bit 7.
    pub(super) fn trigger(&mut self) {
        self.volume = self.register >> 4;
        self.timer = self.pace();
        self.due = false;
        self.ended = false;
    }

    /// The 64 Hz clock (every eighth sequencer step). It counts with pace 0 too.
    pub(super) fn clock(&mut self) {
        if !self.due {
            self.timer = self.timer.wrapping_sub(1) & 7;
        }
    }

    /// The rise of the divider bit, half a sequencer step after its fall.
    pub(super) fn rise(&mut self) {
        if self.timer == 0 {
            self.timer = self.pace();
            self.due = self.timer != 0;
        }
    }

    /// Any sequencer step: carries out the scheduled change.
    pub(super) fn step(&mut self) {
        if !std::mem::take(&mut self.due) {
            return;
        }
        match (self.register & Self::UP != 0, self.volume) {
            (true, 0..=14) => self.volume += 1,
            (false, 1..) => self.volume -= 1,
            _ => self.ended = true,
        }
    }

    /// Whether every field is in its domain.
    pub(super) fn valid(self) -> bool {
        self.volume < 16 && self.timer < 8
    }
}
