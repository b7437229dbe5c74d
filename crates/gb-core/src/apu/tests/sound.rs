//! What the channels play and what the host hears.

use super::{Bench, STEP};

const SECOND: u64 = 1 << 22;

/// Digital outputs of `channel` every `every` clocks.
fn play(bench: &mut Bench, channel: usize, every: u64, count: usize) -> Vec<u8> {
    (0..count)
        .map(|_| {
            bench.wait(every);
            bench.outputs()[channel - 1]
        })
        .collect()
}

/// Source: Pan Docs, "Pulse channels": duty and frequency.
#[test]
fn pulse_duty_and_period() {
    for (duty, high) in [(0, 1), (1, 2), (2, 4), (3, 6)] {
        let mut bench = Bench::new();
        for (addr, value) in [(0xFF11, duty << 6), (0xFF12, 0xF0), (0xFF13, 0x00), (0xFF14, 0x87)] {
            bench.write(addr, value);
        }
        // Phases of 4 * 256 clocks; the first steps late and without a level.
        bench.wait(8 * 1024);
        let wave = play(&mut bench, 1, 1024, 800);
        let sum: usize = wave.iter().map(|&level| usize::from(level)).sum();
        assert_eq!(sum, 15 * high * 100);
        assert_eq!(wave[8..408], wave[16..416], "period of eight samples");
    }
}

/// Source: Pan Docs, "Envelope": one change every pace/64 s, up or down, until the end.
#[test]
fn envelope_runs_to_its_end() {
    for (register, expected) in [(0xF1_u8, 0_u8), (0x09, 15), (0x8A, 15), (0x83, 0)] {
        let mut bench = Bench::new();
        bench.write(0xFF17, register);
        bench.write(0xFF19, 0x87);
        let mut volumes = vec![register >> 4];
        for _ in 0..8 * 8 * 16 {
            bench.wait(STEP);
            bench.sync();
            let volume = bench.apu.core.pulse2.envelope.volume;
            if volume != volumes[volumes.len() - 1] {
                volumes.push(volume);
            }
        }
        let start = register >> 4;
        let (low, high) = (start.min(expected), start.max(expected));
        let mut all: Vec<u8> = (low..=high).collect();
        if expected < start {
            all.reverse();
        }
        assert_eq!(volumes, all, "NR22 {register:02X}");
    }
}

/// Source: Pan Docs, "Envelope": pace 3 changes the volume every 3/64 s.
#[test]
fn envelope_pace() {
    let mut bench = Bench::new();
    bench.write(0xFF17, 0xF3);
    bench.write(0xFF19, 0x87);
    let mut changes = Vec::new();
    let mut before = 15;
    for step in 0..8 * 3 * 5 {
        bench.wait(STEP);
        bench.sync();
        let volume = bench.apu.core.pulse2.envelope.volume;
        if volume != before {
            changes.push(step);
        }
        before = volume;
    }
    assert!(changes.len() >= 4);
    assert!(changes.windows(2).all(|pair| pair[1] - pair[0] == 24), "{changes:?}");
}

/// Source: blargg's `Gb_Snd_Emu` notes: writing x8 over x8 counts by one, counting down at a pace
/// by two, and a change of direction takes 16 minus the volume.
#[test]
fn zombie_mode() {
    for (first, writes, expected) in [
        (0x58, [0x58; 4], [6, 7, 8, 9]),
        (0x57, [0x57; 4], [7, 9, 11, 13]),
        (0x5F, [0x5F; 4], [5, 5, 5, 5]),
        (0xE8, [0xE8; 4], [15, 0, 1, 2]),
        (0x5F, [0x57, 0x5F, 0x58, 0x50], [11, 3, 3, 12]),
    ] {
        let mut bench = Bench::new();
        bench.write(0xFF17, first);
        bench.write(0xFF19, 0x87);
        let volumes = writes.map(|value| {
            bench.write(0xFF17, value);
            bench.apu.core.pulse2.envelope.volume
        });
        assert_eq!(volumes, expected, "{first:02X}, then {writes:02X?}");
    }
}

/// Source: `SameBoy` and `docboy`: a pace set while the count is out takes effect at the next rise
/// of the divider bit, and the count stands still while the change is due.
#[test]
fn a_pace_set_late_changes_the_volume_at_the_next_step() {
    let mut bench = Bench::new();
    bench.write(0xFF17, 0x80);
    bench.write(0xFF19, 0x87);
    // To just after step 7 with the count out.
    while bench.apu.core.step != 7 {
        bench.wait(STEP);
        bench.sync();
    }
    bench.apu.core.pulse2.envelope.volume = 8;
    bench.write(0xFF17, 0x8B);
    let before = bench.apu.core.pulse2.envelope.volume;
    let changes: Vec<u64> = (1..=26)
        .filter(|_| {
            let before = bench.apu.core.pulse2.envelope.volume;
            bench.wait(STEP);
            bench.sync();
            bench.apu.core.pulse2.envelope.volume != before
        })
        .collect();
    assert_eq!(changes, [1, 26], "from {before}: at once, then three counts and a step later");
}

/// Source: `docboy`'s and `SameBoy`'s accounts of the start-up delay: three counts of four clocks,
/// two when the channel was running.
#[test]
fn the_first_phase_step_is_late() {
    for (running, delay) in [(false, 3), (true, 2)] {
        let mut bench = Bench::new();
        for (addr, value) in [(0xFF16, 0xC0), (0xFF17, 0xF0), (0xFF18, 0xF0), (0xFF19, 0x87)] {
            bench.write(addr, value);
        }
        bench.wait(24);
        if !running {
            bench.write(0xFF17, 0);
            bench.write(0xFF17, 0xF0);
        }
        bench.write(0xFF19, 0x87);
        let start = bench.clock;
        let step = |bench: &Bench, after| bench.apu.outputs(start + after, bench.div_base)[1] == 15;
        // The phase goes from 0, low, to 1, high; it steps in the first half of its last count.
        let first = 4 * (delay + 0x10) - 2;
        assert!(!step(&bench, first - 2), "running: {running}");
        assert!(step(&bench, first), "running: {running}");
    }
}

/// Source: Pan Docs, "Wave channel": samples from index 1 on, shifted by NR32.
#[test]
fn wave_plays_its_ram() {
    for (nr32, shift) in [(0x00, 4), (0x20, 0), (0x40, 1), (0x60, 2)] {
        let mut bench = Bench::new();
        for n in 0..16_u8 {
            bench.write(0xFF30 + u16::from(n), (2 * n) << 4 | (2 * n + 1) & 0xF);
        }
        for (addr, value) in [(0xFF1A, 0x80), (0xFF1C, nr32), (0xFF1D, 0), (0xFF1E, 0x87)] {
            bench.write(addr, value);
        }
        bench.wait(6);
        let wave = play(&mut bench, 3, 2 * 256, 64);
        let expected: Vec<u8> = (1..=64).map(|n: u8| (n & 0xF) >> shift).collect();
        assert_eq!(wave, expected, "NR32 {nr32:02X}");
    }
}

/// Source: Pan Docs, "Noise channel": the register has period 32,767, or 127 in narrow mode, and
/// steps every divider * 2^shift clocks.
#[test]
fn noise_period() {
    for (nr43, clocks, period) in [(0x00, 8, 32_767), (0x08, 8, 127), (0x1A, 64, 127)] {
        let mut bench = Bench::new();
        for (addr, value) in [(0xFF21, 0xF0), (0xFF22, nr43), (0xFF23, 0x80)] {
            bench.write(addr, value);
        }
        bench.wait(1000 * clocks);
        let noise = play(&mut bench, 4, clocks, 2 * period);
        assert_eq!(noise[..period], noise[period..], "NR43 {nr43:02X}");
        let sum: usize = noise[..period].iter().map(|&level| usize::from(level)).sum();
        assert_eq!(sum, 15 * (period / 2), "one zero more than ones");
    }
}

fn tone(rate: u32) -> Vec<[i16; 2]> {
    let mut bench = Bench::new();
    bench.apu.set_sample_rate(Some(rate));
    assert_eq!(bench.apu.sample_rate(), Some(rate));
    // 2,048 Hz on the left at full volume.
    for (addr, value) in
        [(0xFF25, 0x20), (0xFF16, 0x80), (0xFF17, 0xF0), (0xFF18, 0xC0), (0xFF19, 0x87)]
    {
        bench.write(addr, value);
    }
    for _ in 0..60 {
        bench.wait(SECOND / 60);
        bench.sync();
    }
    bench.apu.take_samples()
}

#[test]
fn samples_have_the_rate_and_the_pitch_asked_for() {
    for rate in [22_050, 44_100, 48_000] {
        let samples = tone(rate);
        assert!(samples.len().abs_diff(rate as usize) <= 1, "{} at {rate}", samples.len());
        assert!(samples.iter().all(|&[_, right]| right == 0), "NR51 sends it left only");
        let left: Vec<i16> = samples.iter().map(|&[left, _]| left).collect();
        let rises = left.windows(2).filter(|pair| pair[0] < 0 && pair[1] >= 0).count();
        assert!(rises.abs_diff(2048) <= 2, "{rises} periods at {rate}");
        let peak = left[left.len() / 2..].iter().map(|level| level.unsigned_abs()).max();
        assert!((3_500..=4_500).contains(&peak.unwrap()), "15 * 8 * 34 = 4,080, not {peak:?}");
    }
}

#[test]
fn the_high_pass_takes_a_constant_away() {
    let mut bench = Bench::new();
    bench.apu.set_sample_rate(Some(48_000));
    // A DAC that is on with its channel off is a constant +1.
    bench.write(0xFF12, 0xF0);
    bench.wait(SECOND);
    bench.sync();
    let samples = bench.apu.take_samples();
    assert!(samples.len() > 47_000);
    assert!(samples[4][0] > 3_900, "{:?}", samples[4]);
    assert!(samples[samples.len() - 1][0].abs() <= 1);
}

#[test]
fn the_newest_samples_wait() {
    let mut bench = Bench::new();
    bench.apu.set_sample_rate(Some(1 << 21));
    // A constant, which the high-pass takes away within a quarter of a second.
    bench.write(0xFF12, 0xF0);
    for _ in 0..3 {
        bench.wait(SECOND / 4);
        bench.sync();
    }
    let samples = bench.apu.take_samples();
    assert_eq!(samples.len(), 1 << 20);
    assert!(samples[0][0].abs() <= 1, "the loud start is a quarter of a second too old");
    assert!(bench.apu.take_samples().is_empty());
}

#[test]
fn silence_costs_no_samples_and_rates_can_change() {
    let mut bench = Bench::new();
    assert_eq!(bench.apu.sample_rate(), None);
    bench.wait(SECOND);
    bench.sync();
    assert!(bench.apu.take_samples().is_empty());
    bench.apu.set_sample_rate(Some(8_000));
    bench.sync();
    bench.wait(SECOND);
    bench.sync();
    assert!(bench.apu.take_samples().len().abs_diff(8_000) <= 1);
    bench.apu.set_sample_rate(Some(0));
    assert_eq!(bench.apu.sample_rate(), None);
}
