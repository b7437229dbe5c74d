//! OAM DMA: 160 bytes, one per M-cycle, starting one M-cycle after the write that follows the
//! write to FF46; a restart lets the running transfer go on until the new one begins.
//!
//! Source: mooneye `acceptance/oam_dma*`.

use crate::NEVER;

/// M-cycles from the write of FF46 to the first byte copied, in T-cycles.
const SETUP: u64 = 8;
/// Bytes of a transfer.
const LENGTH: u8 = 160;

/// The DMA unit.
#[derive(Clone, Debug)]
pub struct OamDma {
    /// FF46 as last written.
    register: u8,
    /// Source page of the running transfer.
    source: u8,
    /// Next byte of the running transfer.
    index: u8,
    /// Clock at which byte `index` is copied, or at which the transfer ends; `NEVER` when none runs.
    next_at: u64,
    /// Clock at which a requested transfer begins, from `register`.
    queued_at: u64,
}
crate::state_fields!(OamDma { register, source, index, next_at, queued_at });

/// One byte to copy: from `source * 256 + index` to OAM at `index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// When.
    pub at: u64,
    /// Where from.
    pub from: u16,
    /// Index in OAM.
    pub to: u8,
}

impl OamDma {
    /// Idle; FF46 reads `register`.
    pub fn new(register: u8) -> Self {
        Self { register, source: register, index: LENGTH, next_at: NEVER, queued_at: NEVER }
    }

    /// FF46.
    pub fn read(&self) -> u8 {
        self.register
    }

    /// Requests a transfer.
    pub fn start(&mut self, page: u8, clock: u64) {
        self.register = page;
        self.queued_at = clock + SETUP;
    }

    /// Whether something runs or waits to run.
    pub fn active(&self) -> bool {
        self.next_at != NEVER || self.queued_at != NEVER
    }

    /// When the unit next starts or stops owning OAM.
    pub fn next_change(&self) -> u64 {
        let end = self.next_at.saturating_add(4 * u64::from(LENGTH - self.index));
        end.min(self.queued_at)
    }

    /// Whether OAM belongs to the unit; call after the copies due have been taken. The byte copied
    /// last still occupies the bus in its M-cycle.
    pub fn owns_oam(&self) -> bool {
        self.next_at != NEVER
    }

    /// The address whose byte is copied in this M-cycle; call after the copies due have been taken.
    pub fn copying(&self) -> Option<u16> {
        let runs = self.owns_oam() && self.index > 0;
        runs.then(|| u16::from(self.source) << 8 | u16::from(self.index - 1))
    }

    /// The next copy that is due, in order.
    pub fn take_due(&mut self, clock: u64) -> Option<Copy> {
        if self.queued_at <= clock && self.queued_at <= self.next_at {
            // Source pages above DF are the echo of work RAM to this unit.
            self.source = if self.register >= 0xE0 { self.register - 0x20 } else { self.register };
            self.index = 0;
            self.next_at = self.queued_at;
            self.queued_at = NEVER;
        }
        if self.next_at > clock {
            return None;
        }
        if self.index == LENGTH {
            self.next_at = NEVER;
            return if self.queued_at <= clock { self.take_due(clock) } else { None };
        }
        let from = u16::from(self.source) << 8 | u16::from(self.index);
        let copy = Copy { at: self.next_at, from, to: self.index };
        self.index += 1;
        self.next_at += 4;
        Some(copy)
    }

    /// Takes the copies up to `clock` that follow the last one straight on: where from, the first index
    /// in OAM, and how many.
    pub fn take_run(&mut self, clock: u64) -> (u16, u8, u8) {
        let first = self.index;
        let until = clock.saturating_add(1).min(self.queued_at);
        let due = until.saturating_sub(self.next_at).div_ceil(4);
        let count = due.min(u64::from(LENGTH - first));
        self.index += count as u8;
        self.next_at += 4 * count;
        (u16::from(self.source) << 8 | u16::from(first), first, count as u8)
    }

    /// Whether hostile state bytes left every value in its domain.
    pub fn valid(&self, clock: u64) -> bool {
        let near = |at: u64| at == NEVER || (at > clock && at - clock <= SETUP);
        self.index <= LENGTH
            && near(self.next_at)
            && near(self.queued_at)
            && (self.next_at != NEVER || self.index == LENGTH)
    }
}
