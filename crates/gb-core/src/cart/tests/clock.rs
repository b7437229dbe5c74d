use super::super::{RtcTime, CYCLES_PER_SECOND};
use super::{Bench, SECOND};

#[test]
fn clock_counts_emulated_seconds_and_is_seen_when_latched() {
    let mut bench = Bench::clocked();
    assert_eq!(bench.latched(), [0; 5]);
    bench.clock = SECOND - 1;
    assert_eq!(bench.latched()[0], 0);
    bench.clock = SECOND;
    bench.write(0x4000, 8);
    assert_eq!(bench.read(0xA000), 0);
    assert_eq!(bench.latched()[0], 1);
    bench.clock = 90_061 * SECOND;
    assert_eq!(bench.latched(), [1, 1, 1, 1, 0]);
    assert_eq!(bench.cart.rtc(bench.clock).map(|time| (time.days, time.cycles)), Some((1, 0)));
}

#[test]
fn only_a_rising_edge_latches() {
    let mut bench = Bench::clocked();
    bench.write(0x4000, 8);
    for (step, (value, latches)) in [
        (1, true),
        (1, false),
        (3, false),
        (0, false),
        (2, false),
        (3, true),
        (4, false),
        (0xFF, true),
    ]
    .into_iter()
    .enumerate()
    {
        let before = bench.read(0xA000);
        bench.clock = (step as u64 + 1) * SECOND;
        bench.write(0x6000, value);
        let expected = if latches { step as u8 + 1 } else { before };
        assert_eq!(bench.read(0xA000), expected, "step {step}");
    }
}

#[test]
fn clock_writes_are_masked_and_seen_after_a_latch() {
    let mut bench = Bench::clocked();
    bench.set_clock([0xFF; 5]);
    bench.write(0x4000, 8);
    assert_eq!(bench.read(0xA000), 0);
    assert_eq!(bench.latched(), [0x3F, 0x3F, 0x1F, 0xFF, 0xC1]);
    bench.write(0x0000, 0x00);
    bench.write(0xA000, 0x00);
    bench.write(0x0000, 0x0A);
    assert_eq!(bench.latched()[4], 0xC1);
}

#[test]
fn clock_rolls_over_as_the_chip_does() {
    for (before, after) in [
        ([59, 59, 23, 0xFF, 0x00], [0, 0, 0, 0x00, 0x01]),
        ([59, 59, 23, 0xFF, 0x01], [0, 0, 0, 0x00, 0x80]),
        ([59, 59, 23, 0xFF, 0x81], [0, 0, 0, 0x00, 0x80]),
        ([60, 63, 28, 0x12, 0x00], [61, 63, 28, 0x12, 0x00]),
        ([63, 10, 10, 0x12, 0x00], [0, 10, 10, 0x12, 0x00]),
        ([59, 63, 10, 0x12, 0x00], [0, 0, 10, 0x12, 0x00]),
        ([59, 59, 31, 0x12, 0x00], [0, 0, 0, 0x12, 0x00]),
        ([59, 61, 10, 0x12, 0x00], [0, 62, 10, 0x12, 0x00]),
        ([59, 59, 24, 0x12, 0x00], [0, 0, 25, 0x12, 0x00]),
    ] {
        let mut bench = Bench::clocked();
        bench.set_clock(before);
        bench.clock += SECOND;
        assert_eq!(bench.latched(), after, "{before:?}");
    }
}

#[test]
fn only_writes_to_the_seconds_restart_the_second() {
    let mut bench = Bench::clocked();
    bench.clock = SECOND / 2;
    for register in 9..=12 {
        bench.write(0x4000, register);
        bench.write(0xA000, 0);
    }
    bench.clock = SECOND;
    assert_eq!(bench.latched()[0], 1);
    bench.clock = SECOND + SECOND / 2;
    bench.write(0x4000, 8);
    bench.write(0xA000, 1);
    bench.clock = 2 * SECOND;
    assert_eq!(bench.latched()[0], 1);
    bench.clock = 2 * SECOND + SECOND / 2;
    assert_eq!(bench.latched()[0], 2);
}

#[test]
fn a_halted_clock_keeps_its_part_of_a_second() {
    let mut bench = Bench::clocked();
    bench.write(0x4000, 12);
    bench.clock = SECOND * 6 / 10;
    bench.write(0xA000, 0x40);
    bench.clock = SECOND * 100;
    assert_eq!(bench.latched(), [0, 0, 0, 0, 0x40]);
    bench.write(0x4000, 12);
    bench.write(0xA000, 0x00);
    bench.clock += SECOND * 4 / 10 - 1;
    assert_eq!(bench.latched()[0], 0);
    bench.clock += 2;
    assert_eq!(bench.latched()[0], 1);
}

#[test]
fn a_frozen_clock_stands_still_and_can_be_set() {
    let mut bench = Bench::clocked();
    bench.clock = 5 * SECOND;
    assert!(bench.cart.freeze_rtc(true, bench.clock));
    bench.clock = 50 * SECOND;
    assert_eq!((bench.latched()[0], bench.cart.rtc_frozen()), (5, true));
    let time = RtcTime { hours: 7, days: 300, cycles: CYCLES_PER_SECOND - 1, ..RtcTime::default() };
    assert!(bench.cart.set_rtc(time, bench.clock));
    assert_eq!(bench.cart.rtc(90 * SECOND), Some(time));
    bench.clock = 100 * SECOND;
    assert!(bench.cart.freeze_rtc(false, bench.clock));
    bench.clock += 1;
    assert_eq!(bench.latched(), [1, 0, 7, 44, 1]);
}
