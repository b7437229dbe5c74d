//! Answers known from hardware tests and documents; blargg's have a file of their own.

use super::{Bench, STEP};
use crate::apu::Apu;

/// Source: mooneye `acceptance/boot_hwio-dmgABCmgb`.
#[test]
fn registers_after_boot() {
    let expected = [
        0x80, 0xBF, 0xF3, 0xFF, 0xBF, 0xFF, 0x3F, 0x00, 0xFF, 0xBF, 0x7F, 0xFF, 0x9F, 0xFF, 0xBF,
        0xFF, 0xFF, 0x00, 0x00, 0xBF, 0x77, 0xF3, 0xF1,
    ];
    let mut apu = Apu::after_boot(0xABC8, 0);
    for (addr, expected) in (0xFF10..).zip(expected) {
        assert_eq!(apu.read(addr, 0xABCC, 0), expected, "{addr:04X}");
    }
    assert_eq!(apu.outputs(0xABCC, 0), [0; 4]);
}

/// Source: read from `PyBoy` 2.8.1.
#[test]
fn registers_after_pyboy_boot() {
    let mut apu = Apu::after_pyboy_boot(4_507_360, 0);
    for (addr, expected) in [(0xFF10, 0x93), (0xFF12, 0xF3), (0xFF26, 0xF0), (0xFF3F, 0xFF)] {
        assert_eq!(apu.read(addr, 4_507_360, 0), expected, "{addr:04X}");
    }
}

/// Source: Pan Docs, "Audio registers"; blargg `dmg_sound` 01.
#[test]
fn unused_bits_read_as_ones() {
    let masks = [
        0x80, 0x3F, 0x00, 0xFF, 0xBF, 0xFF, 0x3F, 0x00, 0xFF, 0xBF, 0x7F, 0xFF, 0x9F, 0xFF, 0xBF,
        0xFF, 0xFF, 0x00, 0x00, 0xBF, 0x00, 0x00, 0x70, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xFF,
    ];
    let mut bench = Bench::new();
    for value in [0, 0x55, 0xAA, 0xFF] {
        for (addr, mask) in (0xFF10..).zip(masks).filter(|&(addr, _)| addr != 0xFF26) {
            bench.write(addr, value);
            assert_eq!(bench.read(addr), value | mask, "{addr:04X}");
        }
    }
    bench.write(0xFF26, 0);
    for (addr, mask) in (0xFF10..).zip(masks) {
        bench.write(addr, if addr == 0xFF26 { 0 } else { 0xFF });
        assert_eq!(bench.read(addr), mask, "{addr:04X} without power");
    }
    for addr in 0xFF30..=0xFF3F {
        bench.write(addr, addr as u8);
        assert_eq!(bench.read(addr), addr as u8, "wave RAM works without power");
    }
}

/// Source: `SameSuite` `apu/div_write_trigger` and `div_write_trigger_10`: a DIV write is a step
/// while divider bit 12 is set, and nothing otherwise.
#[test]
fn div_writes_step_the_sequencer() {
    for (wait, steps) in [(STEP / 2, 1), (STEP / 2 - 8, 0)] {
        let mut bench = Bench::new();
        bench.write_div();
        bench.wait(STEP - 4);
        bench.write_div();
        bench.sync();
        let before = bench.apu.core.step;
        bench.wait(wait);
        bench.write_div();
        assert_eq!(bench.apu.core.step, (before + steps) & 7);
    }
}

/// A jump of the divider is seen as the edge of bit 12 that it makes, and later edges come on the
/// new grid.
#[test]
fn divider_jumps_are_edges() {
    for (from, to, steps, volume) in
        [(0x0100, 0x1100, 0, 8), (0x1100, 0x0100, 1, 8), (0x1100, 0x3100, 0, 9)]
    {
        let mut bench = Bench::new();
        bench.write(0xFF17, 0xF0);
        bench.write(0xFF19, 0x80);
        bench.wait(4 * STEP);
        bench.write_div();
        bench.wait(from);
        bench.sync();
        let before = bench.apu.core.step;
        // With the count out, a rise of the bit makes a change due.
        bench.write(0xFF17, 0xF1);
        bench.apu.core.pulse2.envelope.volume = 9;
        let base = bench.clock - to;
        bench.apu.div_rebase(bench.clock, bench.div_base, base);
        bench.div_base = base;
        assert_eq!(bench.apu.core.step, before + steps, "{from:04X} to {to:04X}");
        bench.wait(STEP - to % STEP);
        bench.sync();
        assert_eq!(bench.apu.core.step, before + steps + 1, "{from:04X} to {to:04X}");
        assert_eq!(bench.apu.core.pulse2.envelope.volume, volume, "{from:04X} to {to:04X}");
    }
}

/// Source: `docboy` `apu/ch1_turn_on_div_0F` and `ch1_turn_on_div_10`; blargg `dmg_sound` 07: with
/// divider bit 12 clear, the first step comes at power-on and the next fall is the second one.
#[test]
fn power_on_steps_the_sequencer() {
    for (divider, steps) in [(0x0FF0, 1), (0x1000, 0), (0x1FF0, 0), (0x2000, 1)] {
        let mut bench = Bench::new();
        bench.write(0xFF26, 0);
        bench.write_div();
        bench.wait(divider - 4);
        bench.write(0xFF26, 0x80);
        assert_eq!(bench.apu.core.step, steps, "{divider:04X}");
        bench.wait(STEP);
        bench.sync();
        assert_eq!(bench.apu.core.step, steps + 1, "{divider:04X}");
    }
}

/// Source: `docboy` `apu/ch3_read_wave_period1_delay*`, with the reads in terms of the trigger.
#[test]
fn first_fetch_is_four_ticks_after_the_trigger_at_the_shortest_period() {
    let mut bench = Bench::new();
    for n in 0..16 {
        bench.write(0xFF30 + u16::from(n), n * 0x11);
    }
    for (addr, value) in [(0xFF1A, 0x80), (0xFF1D, 0xFF), (0xFF1E, 0x87)] {
        bench.write(addr, value);
    }
    let trigger = bench.clock;
    let seen: Vec<u8> =
        (0..9).map(|m| bench.apu.peek(0xFF30, trigger + 4 * m, bench.div_base)).collect();
    assert_eq!(seen, [0xFF, 0xFF, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]);
}
