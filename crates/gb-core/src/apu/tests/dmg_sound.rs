//! What blargg's `dmg_sound` ROMs check on DMG hardware, as sequences of the same accesses.
//!
//! Source: blargg, `dmg_sound` 02 to 05 and 07 to 12; the numbers are those of the sub-tests.

use super::{Bench, LENGTH};

const NR10: u16 = 0xFF10;
const NR11: u16 = 0xFF11;
const NR12: u16 = 0xFF12;
const NR13: u16 = 0xFF13;
const NR14: u16 = 0xFF14;
const NR52: u16 = 0xFF26;

/// Register `n` of `channel`, for example 4 and 1 for NR14.
fn nr(channel: u8, n: u16) -> u16 {
    NR10 + u16::from(channel - 1) * 5 + n
}

/// The most that a length counter holds.
fn longest(channel: u8) -> u64 {
    if channel == 3 {
        256
    } else {
        64
    }
}

/// The value of NRx1 for a length.
fn length(clocks: u8) -> u8 {
    0_u8.wrapping_sub(clocks)
}

/// CRC-32 over the bytes that a ROM prints.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ 0xEDB8_8320 * (crc & 1))
    })
}

impl Bench {
    /// `ld a,value; ldh (addr),a`: 20 clocks.
    fn wreg(&mut self, addr: u16, value: u8) {
        self.wait(16);
        self.write(addr, value);
    }

    fn wregs(&mut self, writes: &[(u16, u8)]) {
        for &(addr, value) in writes {
            self.wreg(addr, value);
        }
    }

    /// `n` clocks of the lengths.
    fn delay_apu(&mut self, n: u64) {
        self.wait(n * LENGTH);
    }

    /// To within 32 clocks after a clock of the lengths. Uses channel 2.
    fn sync_apu(&mut self) {
        self.wregs(&[(nr(2, 4), 0), (nr(2, 1), 0x3E), (nr(2, 2), 8), (nr(2, 4), 0xC0)]);
        while self.on(2) {
            self.wait(32);
        }
    }

    /// To within 32 clocks after a clock of the sweep. Uses channel 1.
    fn sync_sweep(&mut self) {
        self.wregs(&[(NR10, 0x11), (NR12, 8), (NR13, 0xFF), (NR14, 0x83)]);
        while self.on(1) {
            self.wait(32);
        }
    }

    fn dac(&mut self, channel: u8, on: bool) {
        match (channel, on) {
            (3, true) => self.wreg(nr(3, 0), 0x80),
            (3, false) => self.wreg(nr(3, 0), 0),
            (_, true) => self.wreg(nr(channel, 2), 8),
            (_, false) => self.wreg(nr(channel, 2), 7),
        }
    }

    /// The channel is on for less than one more clock of the lengths.
    fn assert_almost_off(&mut self, channel: u8, what: &str) {
        assert!(self.on(channel), "{what}: still on");
        self.delay_apu(1);
        assert!(!self.on(channel), "{what}: off one clock later");
    }

    /// What the length counter of a channel holds, by waiting for it.
    fn length_left(&mut self, channel: u8) -> u64 {
        let mut clocks = 0;
        while self.on(channel) {
            self.delay_apu(1);
            clocks += 1;
        }
        clocks
    }
}

#[test]
fn test_02_length_counters() {
    type Acts<'a> = &'a [(u64, u16, u8)];
    for channel in 1..=4 {
        let (nrx1, nrx4, max) = (nr(channel, 1), nr(channel, 4), longest(channel));
        let begin = || {
            let mut bench = Bench::new();
            bench.sync_apu();
            bench.wait(8192);
            bench.dac(channel, true);
            bench.wregs(&[(nrx4, 0x40), (nrx1, length(4)), (nrx4, 0xC0)]);
            bench
        };
        // Number, then (clocks of the lengths, register, value) up to the last stretch.
        let cases: [(u8, Acts, u64); 7] = [
            (2, &[], 3),
            (3, &[(0, nrx1, length(10))], 9),
            (4, &[(0, nrx1, 0)], max - 1),
            (5, &[(1, nrx4, 0xC0)], 2),
            (6, &[(4, nrx4, 0xC0)], max - 1),
            (7, &[(4, nrx4, 0), (0, nrx4, 0x80), (0, nrx4, 0x40)], max - 1),
            (9, &[(0, nrx4, 0), (4, nrx4, 0x40)], 3),
        ];
        for (number, acts, rest) in cases {
            let mut bench = begin();
            for &(clocks, addr, value) in acts {
                bench.delay_apu(clocks);
                bench.wreg(addr, value);
            }
            bench.delay_apu(rest);
            bench.assert_almost_off(channel, &format!("#{number}, channel {channel}"));
        }
        for (number, addr, value) in [(8, nrx4, 0), (10, nrx1, length(2))] {
            let mut bench = begin();
            bench.delay_apu(4);
            bench.wreg(addr, value);
            assert!(!bench.on(channel), "#{number}, channel {channel}: stays off");
        }
    }
}

#[test]
fn test_03_trigger() {
    for channel in 1..=4 {
        let (nrx1, nrx4, max) = (nr(channel, 1), nr(channel, 4), longest(channel));
        let begin = || {
            let mut bench = Bench::new();
            bench.dac(channel, true);
            bench.sync_apu();
            bench.wregs(&[(nrx1, length(60)), (nrx4, 0x80)]);
            bench
        };
        // Number, length, clocks before the controls, controls, and the length that they leave.
        let cases: [(u8, u8, u64, &[u8], u64); 14] = [
            (2, 2, 8256, &[0x40], 2),
            (3, 2, 7900, &[0x40], 1),
            (6, 1, 0, &[0x40, 0, 0x40, 0, 0x40], max),
            (8, 1, 0, &[0x40, 0, 0xC0], max - 1),
            (8, 1, 0, &[0x40, 0xC0], max - 1),
            (9, 1, 0, &[0xC0], max - 1),
            (10, 0, 8192, &[0x80], max),
            (10, 0, 0, &[0x80], max),
            (10, 2, 0, &[0x80], 2),
            (12, 1, 0, &[0x40, 0, 0x40, 0x80], max),
            (12, 1, 0, &[0x40, 0, 0x40, 0x80, 0x40], max - 1),
            (12, 1, 0, &[0x40, 0, 0x40, 0x80, 0x40, 0, 0x40], max - 2),
            (12, 1, 0, &[0x40, 0, 0x40, 0x80, 0x40, 0, 0x40, 0xC0], max - 2),
            (4, 5, 0, &[0, 0, 0x80, 0], 5),
        ];
        for (number, clocks, wait, controls, expected) in cases {
            let mut bench = begin();
            bench.wreg(nrx1, length(clocks));
            bench.wait(wait);
            for &control in controls {
                bench.wreg(nrx4, control);
            }
            // Now in the half of the period in which triggering and enabling clock nothing.
            bench.wait(if wait == 0 { 8192 + 1024 } else { 0 });
            bench.wreg(nrx4, 0xC0);
            let left = bench.length_left(channel);
            assert_eq!(left, expected, "#{number}, channel {channel}, {controls:02X?}");
        }

        let mut bench = begin();
        bench.wregs(&[(nrx1, length(1)), (nrx4, 0x40)]);
        assert!(!bench.on(channel), "#5, channel {channel}");

        let mut bench = begin();
        bench.wregs(&[(nrx1, length(1)), (nrx4, 0x40), (nrx4, 0), (nrx4, 0x80)]);
        bench.wait(8192);
        bench.wreg(nrx4, 0x40);
        bench.delay_apu(2);
        assert_eq!(bench.length_left(channel), max - 2, "#7, channel {channel}");

        let mut bench = begin();
        bench.dac(channel, false);
        bench.wregs(&[(nrx1, length(1)), (nrx4, 0xC0)]);
        assert!(!bench.on(channel), "#11, channel {channel}: no DAC, no sound");
        bench.dac(channel, true);
        bench.wreg(nrx4, 0x80);
        bench.wait(8192 + 1024);
        bench.wreg(nrx4, 0xC0);
        assert_eq!(bench.length_left(channel), max - 1, "#11, channel {channel}");
    }
}

/// One step of a sweep test.
#[derive(Clone, Copy)]
enum Act {
    /// A write.
    W(u16, u8),
    /// Clocks of the lengths.
    D(u64),
    /// Half a clock of the lengths, after which enabling a length does not clock it.
    Half,
}

/// How a sweep test ends.
#[derive(PartialEq)]
enum End {
    Off,
    AlmostOff,
}

/// A sweep test: the channel, of a length of `clocks`, is prepared just after a sweep clock.
fn sweep_test(name: &str, clocks: u8, acts: &[Act], end: &End) {
    let mut bench = Bench::new();
    bench.sync_sweep();
    bench.wregs(&[(NR14, 0x40), (NR11, length(clocks)), (NR12, 8)]);
    for act in acts {
        match *act {
            Act::W(addr, value) => bench.wreg(addr, value),
            Act::D(clocks) => bench.delay_apu(clocks),
            Act::Half => bench.wait(LENGTH / 2),
        }
    }
    // A call and a read come between the last write and the check.
    bench.wait(36);
    match end {
        End::Off => assert!(!bench.on(1), "{name}: off"),
        End::AlmostOff => bench.assert_almost_off(1, name),
    }
}

#[test]
fn test_04_sweep() {
    use Act::{D, W};
    use End::{AlmostOff, Off};
    // NR10, NR13 and NR14, what follows, and the end.
    let cases: [(&str, [u8; 3], &[Act], End); 13] = [
        ("#2 a", [0x01, 0xFF, 0xC7], &[], Off),
        ("#2 b", [0x11, 0xFF, 0xC7], &[], Off),
        ("#3", [0x10, 0xFF, 0xC7], &[D(1)], AlmostOff),
        ("#4", [0x00, 0xFF, 0xC7], &[D(0x20)], AlmostOff),
        ("#5", [0x11, 0x00, 0xC5], &[D(1)], AlmostOff),
        ("#6", [0x02, 0x67, 0xC6], &[], Off),
        ("#7", [0x01, 0x55, 0xC5], &[D(0x20)], AlmostOff),
        ("#8", [0x10, 0xFF, 0xC3], &[D(2), W(NR10, 0x11), D(1)], AlmostOff),
        ("#9", [0x01, 0xFF, 0xC3], &[D(15), W(NR10, 0x11)], AlmostOff),
        ("#10", [0x08, 0xFF, 0xC3], &[W(NR10, 0x11), D(0x20)], AlmostOff),
        ("#11", [0x10, 0xFF, 0xC3], &[D(0x20)], AlmostOff),
        ("#12", [0x01, 0x00, 0xC5], &[D(0x20)], AlmostOff),
        ("subtracting does not overflow", [0x19, 0xFF, 0xC7], &[D(0x20)], AlmostOff),
    ];
    for (name, [nr10, nr13, nr14], then, end) in cases {
        let mut acts = vec![W(NR10, nr10), W(NR13, nr13), W(NR14, nr14)];
        acts.extend(then);
        sweep_test(name, 0x21, &acts, &end);
    }
}

#[test]
fn test_05_sweep_details() {
    use Act::{Half, D, W};
    use End::{AlmostOff, Off};
    let test = |name, acts: &[Act], end| sweep_test(name, 0x20, acts, &end);
    let start = |nr10, nr13, nr14| [W(NR10, nr10), W(NR13, nr13), W(NR14, nr14)];
    let with = |start: [Act; 3], rest: Vec<Act>| start.into_iter().chain(rest).collect::<Vec<_>>();

    let rest = vec![D(1), W(NR10, 0x01), D(3), W(NR10, 0x11), D(0x11)];
    test("#2", &with(start(0x11, 0x00, 0xC2), rest), AlmostOff);
    let rest = vec![W(NR13, 0), D(0x39)];
    test("#3", &with(start(0x12, 0x04, 0x80), rest), AlmostOff);
    let rest = vec![D(2), W(NR10, 0x10)];
    test("#4", &with(start(0x09, 0x00, 0xC0), rest), Off);
    let rest = vec![D(2), W(NR10, 0x18), D(2), W(NR10, 0x10)];
    test("#5", &with(start(0x10, 0x00, 0xC0), rest), Off);
    let acts = [
        W(NR10, 0x1F),
        W(NR14, 0xC0),
        D(2),
        W(NR10, 0x18),
        W(NR13, 0x00),
        W(NR14, 0xC0),
        D(1),
        W(NR10, 0x10),
        D(1),
        W(NR10, 0x0F),
        D(2),
        W(NR10, 0x10),
        D(2),
        W(NR10, 0x1F),
        D(18),
        W(NR10, 0x79),
        D(5),
    ];
    test("#6", &acts, AlmostOff);
    let rest = vec![D(2), W(NR10, 0x01), W(NR14, 0xC5), D(0x1F)];
    let mut acts = with(start(0x1C, 0xB0, 0x85), rest);
    acts.insert(0, Half);
    test("#7", &acts, AlmostOff);
    let rest = vec![D(2), W(NR10, 0x01), W(NR14, 0xC5)];
    test("#8", &with(start(0x1C, 0xB1, 0x85), rest), Off);
}

/// #9 of test 05 needs the channel alive at one frequency and stopped at the next.
#[test]
fn test_05_frequency_changes_only_when_the_sweep_fires() {
    for (clocks, on) in [(13, true), (14, false)] {
        let mut bench = Bench::new();
        bench.sync_sweep();
        bench.wregs(&[(NR12, 8), (NR10, 0x74), (NR13, 0x06), (NR14, 0x85)]);
        bench.delay_apu(14);
        bench.wreg(NR13, 0x06);
        bench.delay_apu(clocks);
        bench.wregs(&[(NR10, 0x11), (NR14, 0x85)]);
        bench.wait(36);
        assert_eq!(bench.on(1), on, "{clocks}");
    }
}

/// Rounds of a polling loop of 44 clocks until channel 1 is off.
fn rounds(bench: &mut Bench) -> u64 {
    bench.wait(12);
    let mut rounds = 1;
    loop {
        bench.wait(24);
        if !bench.on(1) {
            return rounds;
        }
        bench.wait(20);
        rounds += 1;
    }
}

#[test]
fn test_07_periods_and_their_synchronisation() {
    const POWER: [(u16, u8); 2] = [(NR52, 0), (NR52, 0x80)];
    const START: [(u16, u8); 4] = [(NR14, 0x40), (NR11, 0xFF), (NR12, 8), (NR14, 0xC0)];
    // Number, whether to start from a sweep clock, clocks to wait, writes, clocks to wait, writes,
    // and the rounds that must follow, or up to four more.
    type Writes<'a> = &'a [(u16, u8)];
    let sweep: Writes = &[(NR10, 0x10), (NR12, 8), (NR13, 0xFF), (NR14, 0x87)];
    let power_sweep: Writes =
        &[(NR52, 0), (NR52, 0x80), (NR10, 0x11), (NR12, 8), (NR13, 0), (NR14, 0x84)];
    let cases: [(u8, bool, u64, Writes, u64, Writes, u64); 10] = [
        (2, false, 0, &[], 0, &START, 0x170),
        (3, true, 0, &[], 0, sweep, 0x2E4),
        (4, true, 0, &[], 0, &START, 0x170),
        (5, false, 0, &POWER[1..], 0, &START, 0x16F),
        (5, false, 0, &POWER, 0, &START, 0xB5),
        (5, false, 8192, &POWER[1..], 0, &START, 0xB5),
        (5, false, 8192, &POWER, 0, &START, 0xB5),
        (5, false, 0, &POWER[..1], 8192, &[POWER[1], START[0], START[1], START[2], START[3]], 0xB5),
        (6, true, 0, power_sweep, 0, &[], 0x229),
        (6, true, LENGTH, power_sweep, 0, &[], 0x229),
    ];
    for (number, from_sweep, wait, first, pause, second, expected) in cases {
        let mut bench = Bench::new();
        if from_sweep {
            bench.sync_sweep();
        } else {
            bench.sync_apu();
        }
        bench.wait(wait);
        bench.wregs(first);
        bench.wait(pause);
        bench.wregs(second);
        let rounds = rounds(&mut bench);
        assert!((expected..=expected + 4).contains(&rounds), "#{number}: {rounds} for {expected}");
    }
}

#[test]
fn test_08_length_counters_during_power_off() {
    let enable: Vec<(u16, u8)> = [2, 1, 3, 4]
        .into_iter()
        .flat_map(|ch| [if ch == 3 { (nr(3, 0), 0x80) } else { (nr(ch, 2), 8) }, (nr(ch, 4), 0xC0)])
        .collect();
    let mut bench = Bench::new();
    bench.sync_apu();
    for addr in (NR10..0xFF30).filter(|&addr| addr != NR52) {
        bench.write(addr, 0);
    }
    for (channel, clocks) in [(4, 0x33), (3, 0x44), (1, 0x11), (2, 0x22)] {
        bench.wreg(nr(channel, 1), length(clocks));
    }
    bench.wait(8192);
    bench.wregs(&enable);
    bench.wreg(NR52, 0);
    bench.wregs(&enable);
    bench.wait(1_048_576);
    bench.wreg(NR52, 0x80);
    bench.wait(2048);
    let mut seen: Vec<u8> = [2, 1, 3, 4]
        .into_iter()
        .map(|channel| {
            bench.dac(channel, true);
            bench.wreg(nr(channel, 4), 0xC0);
            bench.length_left(channel) as u8
        })
        .collect();
    seen.reverse();
    assert_eq!(crc32(&seen), 0x32F0_CFBB, "{seen:02X?}");
}

#[test]
fn test_11_registers_after_power_off() {
    let mut bench = Bench::new();
    bench.sync_apu();
    for addr in (NR10..0xFF30).filter(|&addr| addr != NR52) {
        bench.write(addr, 0xFF);
    }
    bench.wregs(&[(NR52, 0), (nr(4, 1), length(0x12)), (NR12, 0xF0)]);
    bench.wait(419_430);
    bench.wait(2);
    bench.wreg(NR52, 0x80);
    bench.sync_apu();
    bench.wreg(NR14, 0x80);
    assert!(!bench.on(1), "#2: NR12 is clear");
    bench.sync_apu();
    bench.wregs(&[(NR10, 0x11), (NR12, 8), (NR14, 0x80)]);
    bench.delay_apu(20);
    assert!(bench.on(1), "#3: NR13 is clear");
    bench.sync_apu();
    bench.wait(8192);
    bench.wregs(&[(nr(4, 2), 8), (nr(4, 4), 0xC0)]);
    bench.delay_apu(0x11);
    bench.assert_almost_off(4, "#4: NR41 is loaded");
}

/// The wave channel 208 clocks after a trigger, playing a ramp at a fetch every four clocks; each
/// larger `nr33` makes its first fetch two clocks earlier.
fn playing_wave(nr33: u8) -> Bench {
    let mut bench = Bench::new();
    bench.wreg(nr(3, 0), 0);
    for n in 0..16 {
        bench.write(0xFF30 + u16::from(n), n * 0x11);
    }
    bench.wregs(&[(nr(3, 0), 0x80), (nr(3, 2), 0), (nr(3, 3), nr33), (nr(3, 4), 0x87)]);
    bench.wreg(nr(3, 3), 0xFE);
    bench.wait(184);
    bench
}

fn wave_ram(mut bench: Bench) -> Vec<u8> {
    bench.wreg(nr(3, 0), 0);
    (0xFF30..=0xFF3F).map(|addr| bench.read(addr)).collect()
}

/// All the iterations of one of the wave tests.
fn wave_test(probe: impl Fn(Bench) -> Vec<u8>) -> Vec<u8> {
    (0x99..0x99 + 69).flat_map(|nr33| probe(playing_wave(nr33))).collect()
}

#[test]
fn test_09_wave_read_while_on() {
    let seen = wave_test(|mut bench| vec![bench.read(0xFF30)]);
    assert_eq!(crc32(&seen), 0x118A_3620, "{seen:02X?}");
}

#[test]
fn test_10_wave_trigger_while_on() {
    let seen = wave_test(|mut bench| {
        bench.write(nr(3, 4), 0x87);
        bench.wait(40);
        wave_ram(bench)
    });
    assert_eq!(crc32(&seen), 0x533D_6D4D);
}

#[test]
fn test_12_wave_write_while_on() {
    let seen = wave_test(|mut bench| {
        bench.write(0xFF30, 0xF7);
        wave_ram(bench)
    });
    assert_eq!(crc32(&seen), 0x3B45_38A9);
}
