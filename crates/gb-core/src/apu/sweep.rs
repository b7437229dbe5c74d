//! Frequency sweep of channel 1.
//!
//! The sweep works in two stages. At 128 Hz, when its pace is out, it *fires*: the frequency
//! computed earlier goes into NR13 and NR14 and the next addend is taken from it. Only some ticks
//! later, after a lead-in and one count for each bit of shift, is the next frequency *checked*
//! for overflow, which may stop the channel. A trigger starts a check as well. Writes that meet a
//! check under way have effects of their own.
//!
//! # Source
//! Pan Docs, "Audio details, Frequency sweep"; the two stages and their glitches: the `docboy`
//! tests `ch1_period_sweep_*`, and `SameBoy`'s notes on the same circuit.

/// Highest frequency value.
const TOP: u16 = 0x7FF;

/// The sweep unit. Its counts are computed from `since` when somebody asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sweep {
    /// NR10: pace in bits 4 to 6, bit 3 subtracts, shift in bits 0 to 2.
    register: u8,
    /// 128 Hz clocks left, modulo 8.
    timer: u8,
    /// Frequency that the next sum starts from.
    shadow: u16,
    /// Amount to be added to it.
    addend: u16,
    /// The addend of the last check, complemented when it was subtracted.
    checked: u16,
    /// The check under way was started by a trigger.
    triggered: bool,
    /// Counts before a check begins, and how many of them are over.
    lead_in: u8,
    led: u8,
    /// Counts left of the check under way; 0 when there is none.
    left: u8,
    /// The check runs even with a shift of 0, which otherwise holds it.
    unshifted: bool,
    /// Counts happen in odd ticks.
    odd: bool,
    /// Tick up to which `led` and `left` hold.
    since: u64,
    /// Tick up to which a firing meets the channel still restarting.
    restarting: u64,
}
crate::state_fields!(Sweep {
    register,
    timer,
    shadow,
    addend,
    checked,
    triggered,
    lead_in,
    led,
    left,
    unshifted,
    odd,
    since,
    restarting,
});

/// What a write to NR10 did to the channel.
#[derive(Default)]
pub(super) struct Nr10Effect {
    /// The channel's frequency becomes this.
    pub(super) frequency: Option<u16>,
    /// The channel stops.
    pub(super) stop: bool,
}

impl Sweep {
    pub(super) const OFF: Self = Self {
        register: 0,
        timer: 0,
        shadow: 0,
        addend: 0,
        checked: 0,
        triggered: false,
        lead_in: 0,
        led: 0,
        left: 0,
        unshifted: false,
        odd: false,
        since: 0,
        restarting: 0,
    };

    /// NR10 with its unused bit clear.
    pub(super) fn register(&self) -> u8 {
        self.register
    }

    /// Sets NR10 without any of the effects of a write.
    pub(super) fn preset(&mut self, value: u8) {
        self.register = value & 0x7F;
    }

    fn pace(&self) -> u8 {
        self.register >> 4
    }

    fn subtracts(&self) -> bool {
        self.register & 8 != 0
    }

    fn shift(&self) -> u8 {
        self.register & 7
    }

    /// The addend as the adder sees it; the missing one of the two's complement is its carry.
    fn operand(&self) -> u16 {
        if self.subtracts() {
            self.addend ^ TOP
        } else {
            self.addend
        }
    }

    fn held(&self) -> bool {
        self.shift() == 0 && !self.unshifted
    }

    /// The first tick at or after `since` that counts.
    fn first_count(&self) -> u64 {
        self.since + ((self.since ^ u64::from(self.odd)) & 1)
    }

    /// The tick from which the result of the check under way is seen.
    pub(super) fn check_at(&self) -> Option<u64> {
        if self.left == 0 || self.held() {
            return None;
        }
        let counts = u64::from(self.lead_in - self.led) + u64::from(self.left);
        Some(self.first_count() + 2 * counts - 1)
    }

    /// Brings the counts to `now`; a check that is complete by then has been finished before.
    fn catch_up(&mut self, now: u64) {
        let counts = (now + 1).saturating_sub(self.first_count()) / 2;
        let lead = counts.min(u64::from(self.lead_in - self.led));
        self.led += lead as u8;
        if !self.held() {
            self.left = u64::from(self.left).saturating_sub(counts - lead) as u8;
        }
        self.since = now;
    }

    /// Finishes the check at the tick of [`check_at`](Self::check_at); true if it stops the
    /// channel. The carry is missing from the first check after a trigger.
    ///
    /// On the Color there is no carry.
    pub(super) fn finish_check(&mut self, now: u64, frequency: u16, color: bool) -> bool {
        self.led = self.lead_in;
        self.left = 0;
        self.since = now;
        self.shadow = frequency;
        self.checked = self.operand();
        let carry = u16::from(!self.triggered && !color);
        self.triggered = false;
        !self.subtracts() && self.shadow + self.checked + carry > TOP
    }

    /// The 128 Hz clock of a running channel: the new frequency, if it fires.
    pub(super) fn clock(&mut self, now: u64, frequency: u16) -> Option<u16> {
        self.timer = self.timer.wrapping_sub(1) & 7;
        if self.timer == 0 {
            self.fire(now, frequency)
        } else {
            None
        }
    }

    fn fire(&mut self, now: u64, frequency: u16) -> Option<u16> {
        self.catch_up(now);
        let restarting = now < self.restarting;
        if self.left != 0 {
            if restarting {
                self.shadow = frequency;
            }
            self.addend = 0;
        }
        self.timer = self.pace() & 7;
        if self.pace() == 0 {
            return None;
        }
        let sum = self.shadow + self.operand() + u16::from(self.subtracts());
        let updated = (self.shift() != 0).then_some(sum & TOP);
        if !restarting {
            // Without a shift the check starts on the spot, whatever the phase of the counts.
            self.unshifted = updated.is_none();
            self.odd = self.unshifted && now & 1 != 0;
            self.left = if self.unshifted { 2 } else { 1 + self.shift() };
        }
        self.addend = updated.unwrap_or(frequency) >> self.shift();
        updated
    }

    /// NR10. `running`: the channel is on.
    pub(super) fn write(
        &mut self,
        value: u8,
        now: u64,
        running: bool,
        frequency: u16,
        color: bool,
    ) -> Nr10Effect {
        self.catch_up(now);
        let was_held = self.shift() == 0;
        // On the Color (revision E) the carry is that of the old direction.
        let carry = u16::from(!color || self.subtracts());
        self.register = value & 0x7F;
        let mut effect = Nr10Effect::default();
        if !running {
            return effect;
        }
        // The write adds up the last check again, elsewhere always with the carry.
        if !self.subtracts() && self.shadow + self.checked + carry > TOP {
            effect.stop = true;
            return effect;
        }
        if self.left != 0 && was_held && self.shift() != 0 {
            // Releasing a held check counts once.
            self.left -= 1;
            if self.left == 0 {
                effect.stop = self.finish_check(now, frequency, color);
            }
        }
        if !effect.stop && self.timer == 0 {
            effect.frequency = self.fire(now, frequency);
        }
        effect
    }

    /// NR14 bit 7, after the frequency has been written.
    pub(super) fn trigger(&mut self, now: u64, frequency: u16, color: bool) {
        self.catch_up(now);
        self.timer = self.pace() & 7;
        self.shadow = 0;
        self.addend = 0;
        self.checked = 0;
        self.triggered = true;
        if self.led == self.lead_in {
            self.restarting = now + if color { 5 } else { 3 };
        }
        let shift = self.shift();
        if shift == 0 {
            return;
        }
        self.addend = frequency >> shift;
        self.lead_in = 2 + u8::from(self.left < 2) + u8::from(self.led == 2 && self.left == shift);
        self.led = 0;
        self.left = shift;
        self.odd = false;
    }

    /// Whether every field is in its domain at tick `now`.
    pub(super) fn valid(&self, now: u64) -> bool {
        self.register < 0x80
            && self.timer < 8
            && self.shadow <= TOP
            && self.addend <= TOP
            && self.checked <= TOP
            && self.lead_in <= 4
            && self.led <= self.lead_in
            && self.left <= 8
            && self.since <= now
            && self.restarting <= now + 5
    }
}
