//! What an instruction sees of the bus it is executed on.

use std::convert::Infallible;

use super::{Bus, Cpu};

/// Where the processor is, in one register: PC, and the dots since the moment at which it has to look
/// up, negative before it (the *countdown*). A bus that keeps the time itself leaves the latter alone.
#[derive(Clone, Copy)]
pub(crate) struct At(i64);

impl At {
    #[inline(always)]
    pub(crate) fn new(pc: u16, countdown: i64) -> Self {
        Self(countdown << 16 | i64::from(pc))
    }

    #[inline(always)]
    pub(crate) fn pc(self) -> u16 {
        self.0 as u16
    }

    #[inline(always)]
    pub(crate) fn countdown(self) -> i64 {
        self.0 >> 16
    }

    /// Whether the countdown is over.
    #[inline(always)]
    pub(crate) fn over(self) -> bool {
        self.0 >= 0
    }

    #[inline(always)]
    pub(crate) fn pass(&mut self, dots: u64) {
        self.0 += (dots << 16) as i64;
    }

    /// Moves PC. A bus with a countdown executes nothing here that wraps around.
    #[inline(always)]
    pub(super) fn advance(&mut self, bytes: u16) {
        self.0 += i64::from(bytes);
    }

    #[inline(always)]
    pub(super) fn jump(&mut self, pc: u16) {
        self.0 = self.0 & !0xFFFF | i64::from(pc);
    }
}

/// A bus as instructions use it: whole (every [`Bus`]), or one that serves only what is quickly
/// served and leaves the rest to a whole one.
pub(crate) trait Access: Sized {
    /// Why an access is not served here.
    type Miss;
    /// The bus that knows interrupts and all that a processor seldom needs.
    type Whole: Bus;
    /// Dots of an M-cycle on the countdown; none where the bus keeps the time itself.
    const DOTS: u64;

    /// Executes the instruction `code` from its start, in another way, after an access missed.
    /// Nothing but bytes in memory that will be written again has changed.
    fn elsewhere(cpu: &mut Cpu, bus: &mut Self, miss: Self::Miss, code: u64, at: At) -> At;
    /// The whole bus.
    fn whole(&mut self) -> Result<&mut Self::Whole, Self::Miss>;

    /// As [`Bus::fetched`].
    fn fetched(&mut self);
    /// As [`Bus::operand`].
    fn operand(&mut self, code: u64, pc: u16) -> u8;
    /// As [`Bus::read`].
    fn read(&mut self, addr: u16) -> Result<u8, Self::Miss>;
    /// As [`Bus::write`].
    fn write(&mut self, addr: u16, v: u8) -> Result<(), Self::Miss>;
    /// As [`Bus::idle`].
    fn idle(&mut self);
    /// As [`Bus::idle_at`].
    fn idle_at(&mut self, addr: u16) -> Result<(), Self::Miss>;

    /// As [`Bus::room`].
    fn room(&self, at: At) -> u64;
    /// As [`Bus::skip`].
    fn skip(&mut self, at: &mut At, cycles: u64);
    /// As [`Bus::glance`].
    fn glance(&self, addr: u16) -> Option<u8>;
    /// What the PPU register FF00 + `low` (STAT or LY) reads now, and for how many T-cycles it will.
    fn steady_line(&self, at: At, low: u8) -> (u8, u64);
}

impl<B: Bus> Access for B {
    type Miss = Infallible;
    type Whole = B;
    const DOTS: u64 = 0;

    #[inline(always)]
    fn elsewhere(_: &mut Cpu, _: &mut B, miss: Infallible, _: u64, _: At) -> At {
        match miss {}
    }

    #[inline(always)]
    fn whole(&mut self) -> Result<&mut B, Infallible> {
        Ok(self)
    }

    #[inline(always)]
    fn fetched(&mut self) {
        Bus::fetched(self);
    }

    #[inline(always)]
    fn operand(&mut self, code: u64, pc: u16) -> u8 {
        Bus::operand(self, code, pc)
    }

    #[inline(always)]
    fn read(&mut self, addr: u16) -> Result<u8, Infallible> {
        Ok(Bus::read(self, addr))
    }

    #[inline(always)]
    fn write(&mut self, addr: u16, v: u8) -> Result<(), Infallible> {
        Bus::write(self, addr, v);
        Ok(())
    }

    #[inline(always)]
    fn idle(&mut self) {
        Bus::idle(self);
    }

    #[inline(always)]
    fn idle_at(&mut self, addr: u16) -> Result<(), Infallible> {
        Bus::idle_at(self, addr);
        Ok(())
    }

    #[inline(always)]
    fn room(&self, _: At) -> u64 {
        Bus::room(self)
    }

    #[inline(always)]
    fn skip(&mut self, _: &mut At, cycles: u64) {
        Bus::skip(self, cycles);
    }

    #[inline(always)]
    fn glance(&self, addr: u16) -> Option<u8> {
        Bus::glance(self, addr)
    }

    #[inline(always)]
    fn steady_line(&self, _: At, _: u8) -> (u8, u64) {
        (0, 0)
    }
}
