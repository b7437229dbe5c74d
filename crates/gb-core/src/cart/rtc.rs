//! The real-time clock of MBC3, on emulated time.

use crate::state_fields;

/// T-cycles in one second of emulated time.
pub const CYCLES_PER_SECOND: u32 = 4_194_304;

/// What the clock shows.
///
/// The counters keep what a game writes, also outside the range of a clock face: 60–63 seconds or
/// minutes and 24–31 hours count on and wrap to zero without a carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RtcTime {
    /// 0–59; 60–63 can be written.
    pub seconds: u8,
    /// 0–59; 60–63 can be written.
    pub minutes: u8,
    /// 0–23; 24–31 can be written.
    pub hours: u8,
    /// 0–511.
    pub days: u16,
    /// The day counter overflowed; stays until it is written.
    pub carry: bool,
    /// The game has stopped the clock.
    pub halted: bool,
    /// T-cycles into the current second, below [`CYCLES_PER_SECOND`].
    pub cycles: u32,
}
state_fields!(RtcTime { seconds, minutes, hours, days, carry, halted, cycles });

/// Adds `add` to a counter of `size` values that carries after `limit - 1`, and counts the carries.
fn count(value: &mut u8, add: u64, limit: u64, size: u64) -> u64 {
    let mut total = u64::from(*value) + add;
    if u64::from(*value) >= limit {
        if total < size {
            *value = total as u8;
            return 0;
        }
        total -= size;
    }
    *value = (total % limit) as u8;
    total / limit
}

impl RtcTime {
    /// The value with every field cut to the bits that the chip has.
    pub(super) fn masked(self) -> Self {
        Self {
            seconds: self.seconds & 0x3F,
            minutes: self.minutes & 0x3F,
            hours: self.hours & 0x1F,
            days: self.days & 0x1FF,
            cycles: self.cycles % CYCLES_PER_SECOND,
            ..self
        }
    }

    fn advance(&mut self, cycles: u64) {
        const SECOND: u64 = CYCLES_PER_SECOND as u64;
        let rest = u64::from(self.cycles) + cycles % SECOND;
        self.cycles = (rest % SECOND) as u32;
        let minutes = count(&mut self.seconds, cycles / SECOND + rest / SECOND, 60, 64);
        let hours = count(&mut self.minutes, minutes, 60, 64);
        let days = u64::from(self.days) + count(&mut self.hours, hours, 24, 32);
        self.days = (days % 512) as u16;
        self.carry |= days >= 512;
    }

    /// The registers 08–0C.
    fn registers(&self) -> [u8; 5] {
        let control =
            (self.days >> 8) as u8 | u8::from(self.halted) << 6 | u8::from(self.carry) << 7;
        [self.seconds, self.minutes, self.hours, self.days as u8, control]
    }

    fn write(&mut self, register: usize, value: u8) {
        let days = self.days.to_le_bytes();
        match register {
            0 => (self.seconds, self.cycles) = (value, 0),
            1 => self.minutes = value,
            2 => self.hours = value,
            3 => self.days = u16::from_le_bytes([value, days[1]]),
            _ => {
                self.days = u16::from_le_bytes([days[0], value & 1]);
                self.halted = value & 0x40 != 0;
                self.carry = value & 0x80 != 0;
            }
        }
        *self = self.masked();
    }
}

/// The clock chip: it catches up with emulated time when somebody looks.
///
/// # Source
/// Pan Docs, "MBC3"; the test ROM rtc3test and its `tests.md` for ranges and sub-second behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rtc {
    time: RtcTime,
    /// What a game reads: the registers at the last latch.
    latched: [u8; 5],
    /// Bit 0 of the last write to 6000–7FFF; its rising edge latches.
    latch_line: bool,
    /// Emulated time does not reach the clock.
    frozen: bool,
    /// When `time` was right, in T-cycles since power-on.
    synced: u64,
}
state_fields!(Rtc { time, latched, latch_line, frozen, synced });

impl Rtc {
    fn catch_up(&mut self, clock: u64) {
        self.time = self.time(clock);
        self.synced = clock;
    }

    /// What the clock shows at `clock`.
    pub(super) fn time(&self, clock: u64) -> RtcTime {
        let mut time = self.time;
        if !time.halted && !self.frozen {
            time.advance(clock.saturating_sub(self.synced));
        }
        time
    }

    pub(super) fn set_time(&mut self, time: RtcTime, clock: u64) {
        self.time = time.masked();
        self.synced = clock;
    }

    pub(super) fn set_frozen(&mut self, frozen: bool, clock: u64) {
        self.catch_up(clock);
        self.frozen = frozen;
    }

    pub(super) fn frozen(&self) -> bool {
        self.frozen
    }

    /// A write to 6000–7FFF.
    pub(super) fn write_latch(&mut self, value: u8, clock: u64) {
        let line = value & 1 != 0;
        if line && !self.latch_line {
            self.catch_up(clock);
            self.latched = self.time.registers();
        }
        self.latch_line = line;
    }

    /// Reads register `8 + register`.
    pub(super) fn read(&self, register: usize) -> u8 {
        self.latched[register]
    }

    /// Writes register `8 + register`; reads show it after the next latch.
    pub(super) fn write(&mut self, register: usize, value: u8, clock: u64) {
        self.catch_up(clock);
        self.time.write(register, value);
    }

    /// Whether every field is in its domain at `clock`.
    pub(super) fn validate(&self, clock: u64) -> bool {
        const MASKS: [u8; 5] = [0x3F, 0x3F, 0x1F, 0xFF, 0xC1];
        self.time == self.time.masked()
            && self.synced <= clock
            && self.latched.iter().zip(MASKS).all(|(value, mask)| value & !mask == 0)
    }
}
