//! Length counters: switch a channel off after a programmed time.

/// Whether a write of NRx4 clocks a length counter by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extra {
    /// No: the next sequencer step clocks it anyway.
    Never,
    /// If it enables the counter.
    Enabling,
    /// If the counter was not enabled before, which is enough on early Colors.
    Any,
}

/// The length counter of one channel, clocked at 256 Hz; `MAX` is 64, or 256 for the wave channel.
///
/// It counts whether or not its channel is on, and on the DMG it survives a power-off.
///
/// # Source
/// Pan Docs, "Audio details, Length timer"; "Obscure behavior" for the extra clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length<const MAX: u16> {
    /// Clocks left, `0..=MAX`; at 0 the counter is spent and does nothing.
    left: u16,
    /// NRx4 bit 6.
    pub(super) enabled: bool,
}
crate::state_fields!(Length<64> { left, enabled });
crate::state_fields!(Length<256> { left, enabled });

impl<const MAX: u16> Length<MAX> {
    pub(super) const SPENT: Self = Self { left: 0, enabled: false };

    /// NRx1: `value` clocks fewer than the maximum.
    pub(super) fn load(&mut self, value: u8) {
        self.left = MAX - u16::from(value) % MAX;
    }

    /// `clocks` 256 Hz clocks; true if the counter ran out, which stops the channel.
    pub(super) fn clock(&mut self, clocks: u64) -> bool {
        if !self.enabled || self.left == 0 {
            return false;
        }
        self.left = u64::from(self.left).saturating_sub(clocks) as u16;
        self.left == 0
    }

    /// Whether a write that leaves the counter `enabled` clocks it.
    fn clocks(enabled: bool, extra: Extra) -> bool {
        match extra {
            Extra::Never => false,
            Extra::Enabling => enabled,
            Extra::Any => true,
        }
    }

    /// NRx4 bit 6; true if the counter ran out.
    pub(super) fn set_enabled(&mut self, enabled: bool, extra: Extra) -> bool {
        let was_enabled = std::mem::replace(&mut self.enabled, enabled);
        if was_enabled || self.left == 0 || !Self::clocks(enabled, extra) {
            return false;
        }
        self.left -= 1;
        self.left == 0
    }

    /// NRx4 bit 7, after [`set_enabled`](Self::set_enabled): a spent counter restarts from the
    /// maximum, less the same extra clock.
    pub(super) fn trigger(&mut self, extra: Extra) {
        if self.left == 0 {
            self.left = MAX - u16::from(Self::clocks(self.enabled, extra));
        }
    }

    /// The count of `old`, but not enabled: what a power-off leaves.
    pub(super) fn keep(&mut self, old: Self) {
        self.left = old.left;
    }

    /// Whether every field is in its domain.
    pub(super) fn valid(self) -> bool {
        self.left <= MAX
    }
}
