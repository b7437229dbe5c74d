//! The exact machine cycle in which the sweep stops its channel.
//!
//! Source: the `docboy` tests `apu/ch1_period_sweep_*` of DMG hardware, by their names; each pair
//! of ROMs finds the channel on in one machine cycle and off in the next.

use super::Bench;

const NR10: u16 = 0xFF10;
const NR14: u16 = 0xFF14;

/// A trigger after a power cycle, and what follows.
struct Case {
    name: &'static str,
    /// NR10, NR13 and NR14.
    start: [u8; 3],
    /// Writes by the machine cycle after the divider was reset; the trigger is in cycle 45.
    writes: &'static [(u64, u16, u8)],
    /// The last cycle in which the channel is seen on.
    last: u64,
}

#[rustfmt::skip]
const CASES: [Case; 19] = [
    Case { name: "disable_on_trigger_step1", start: [0x21, 0xA0, 0x87], writes: &[], last: 48 },
    Case { name: "disable_on_trigger_step2", start: [0x22, 0xA0, 0x87], writes: &[], last: 49 },
    Case { name: "disable_on_trigger_step7", start: [0x27, 0xF8, 0x87], writes: &[], last: 54 },
    Case { name: "step0", start: [0x30, 0x00, 0x85], writes: &[], last: 22_528 },
    Case { name: "step1", start: [0x31, 0x00, 0x85], writes: &[], last: 22_529 },
    Case { name: "step7", start: [0x37, 0xA0, 0x87], writes: &[], last: 145_415 },
    Case { name: "retrigger", start: [0x36, 0xFF, 0x86],
        writes: &[(49_202, NR14, 0x86)], last: 440_326 },
    Case { name: "disable_on_double_trigger_step1_delay0", start: [0x21, 0xF0, 0x87],
        writes: &[(47, NR14, 0x87)], last: 51 },
    Case { name: "disable_on_double_trigger_step1_delay1", start: [0x21, 0xF0, 0x87],
        writes: &[(48, NR14, 0x87)], last: 51 },
    Case { name: "disable_on_double_trigger_step6_delay00", start: [0x26, 0xF0, 0x87],
        writes: &[(47, NR14, 0x87)], last: 55 },
    Case { name: "disable_on_double_trigger_step6_delay0", start: [0x26, 0xF0, 0x87],
        writes: &[(48, NR14, 0x87)], last: 55 },
    Case { name: "disable_on_double_trigger_step6_delay6", start: [0x26, 0xF0, 0x87],
        writes: &[(54, NR14, 0x87)], last: 62 },
    Case { name: "change_pace_0_to_2_step6", start: [0x06, 0xA0, 0x87],
        writes: &[(66, NR10, 0x26)], last: 30_726 },
    Case { name: "change_step_6_to_5_period128", start: [0x36, 0x80, 0x87],
        writes: &[(66, NR10, 0x35)], last: 47_109 },
    Case { name: "change_direction_to_increase_step6", start: [0x2E, 0xA0, 0x87],
        writes: &[(53, NR10, 0x26)], last: 47_110 },
    Case { name: "change_period_nr14_during_recalc_delay14285", start: [0x15, 0x00, 0x83],
        writes: &[(47_103, NR14, 0x87)], last: 63_493 },
    Case { name: "change_period_nr14_during_recalc_delay14286", start: [0x15, 0x00, 0x83],
        writes: &[(47_104, NR14, 0x87)], last: 55_301 },
    Case { name: "change_period_nr14_during_recalc_step0_delay14285", start: [0x10, 0xFF, 0x83],
        writes: &[(14_335, NR14, 0x87)], last: 22_528 },
    Case { name: "change_period_nr14_during_recalc_step0_delay14286", start: [0x10, 0xFF, 0x83],
        writes: &[(14_336, NR14, 0x87)], last: 22_528 },
];

impl Bench {
    fn wait_until(&mut self, cycle: u64) {
        self.wait(4 * cycle - (self.clock - self.div_base));
    }
}

/// Powers on and triggers in cycle 45, then carries out the writes.
fn start([nr10, nr13, nr14]: [u8; 3], writes: &[(u64, u16, u8)]) -> Bench {
    let mut bench = Bench::new();
    bench.write_div();
    let power_on = [
        (5, 0xFF26, 0),
        (10, 0xFF26, 0x80),
        (25, NR10, nr10),
        (35, 0xFF12, 0xA0),
        (40, 0xFF13, nr13),
        (45, NR14, nr14),
    ];
    for &(cycle, addr, value) in power_on.iter().chain(writes) {
        bench.wait_until(cycle - 1);
        bench.write(addr, value);
    }
    bench
}

#[test]
fn the_channel_stops_in_the_right_cycle() {
    for Case { name, start: registers, writes, last } in CASES {
        let mut bench = start(registers, writes);
        bench.wait_until(last);
        assert!(bench.on(1), "{name}: on");
        bench.wait(4);
        assert!(!bench.on(1), "{name}: off");
    }
}

/// `change_pace_0_to_2_step0_delayed`: while the pace is out, a write to NR10 fires.
#[test]
fn writing_nr10_may_fire_the_sweep() {
    for (cycle, on) in [(6143, false), (6144, true)] {
        let mut bench = start([0x00, 0xA0, 0x87], &[(cycle, NR10, 0x20)]);
        bench.wait_until(cycle + 3);
        assert_eq!(bench.on(1), on, "written in {cycle}");
    }
}

/// A write to NR10 adds the last check up again, with a carry that the check itself has not.
#[test]
fn writing_nr10_may_stop_the_channel() {
    let mut stopped = 0;
    for (nr13, on) in [(0xF1, false), (0xF0, false), (0xEF, true)] {
        let mut bench = Bench::new();
        for (addr, value) in [(NR10, 0x17), (0xFF12, 0xA0), (0xFF13, nr13), (NR14, 0x87)] {
            bench.write(addr, value);
        }
        bench.wait(80);
        stopped += u32::from(!bench.on(1));
        bench.write(NR10, 0x17);
        assert_eq!(bench.on(1), on, "write_nr10_overflow, NR13 = {nr13:02X}");
    }
    assert_eq!(stopped, 1, "only the first overflows without the carry");
}
