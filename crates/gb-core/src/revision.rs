//! The makings of the Color's processor, whose sound units differ.

/// A making of the Color, as printed on its processor.
///
/// They differ in what a program can notice of the sound unit. Reproduced are the clocking of the length
/// counters, what triggers and writes of the frequency do to the phase of a pulse, writes of the
/// envelope to a running channel, and the glitches of PCM12 and PCM34. The sweep while it is checked
/// and the noise generator are those of [`E`](Self::E) in all of them.
///
/// Source: `SameSuite`, whose programs name the makings that pass them; `SameBoy`'s notes on the same
/// circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Revision {
    /// `CPU CGB`, the first.
    Zero,
    /// `CPU CGB B`.
    B,
    /// `CPU CGB E`, the last.
    #[default]
    E,
}

impl Revision {
    /// All of them, the first first.
    pub const ALL: [Self; 3] = [Self::Zero, Self::B, Self::E];

    /// Whether the sound unit is the one that was redesigned with `CPU CGB D`.
    pub(crate) fn redesigned(self) -> bool {
        self > Self::B
    }

    /// Whether a write of NRx4 has to enable a length counter in order to clock it; mended with
    /// `CPU CGB C`.
    pub(crate) fn clocks_lengths_when_enabled(self) -> bool {
        self > Self::B
    }
}
