//! Laziness shows nowhere: catching up, looking and listening change nothing.

use super::Bench;
use crate::apu::Apu;
use crate::state::{Reader, State, Writer};
use proptest::prelude::*;

/// What a program can do to the APU.
#[derive(Debug, Clone)]
enum Op {
    Write(u16, u8),
    Read(u16),
    Wait(u64),
    Div,
    Rebase(u16),
}

fn op() -> impl Strategy<Value = Op> {
    let value = prop_oneof![any::<u8>(), any::<u8>().prop_map(|v| v | 0x80), Just(0x80)];
    prop_oneof![
        8 => (0xFF10_u16..=0xFF3F, value).prop_map(|(addr, value)| match addr {
            // The power goes off only now and then.
            0xFF26 if value & 0x0F != 0 => Op::Write(addr, value | 0x80),
            _ => Op::Write(addr, value),
        }),
        2 => (0xFF10_u16..=0xFF3F).prop_map(Op::Read),
        2 => (0_u64..40).prop_map(|n| Op::Wait(4 * n)),
        2 => (0_u64..20_000).prop_map(|n| Op::Wait(4 * n)),
        1 => (0_u64..2_000_000).prop_map(|n| Op::Wait(4 * n)),
        1 => Just(Op::Div),
        1 => any::<u16>().prop_map(Op::Rebase),
    ]
}

fn script() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 1..80)
}

impl Bench {
    /// Carries out `op`; a read gives its value.
    fn perform(&mut self, op: &Op) -> Option<u8> {
        match *op {
            Op::Write(addr, value) => self.write(addr, value),
            Op::Read(addr) => return Some(self.read(addr)),
            Op::Wait(clocks) => self.wait(clocks),
            Op::Div => self.write_div(),
            Op::Rebase(divider) => {
                let new_base = self.clock - self.clock.min(u64::from(divider & !3));
                self.apu.div_rebase(self.clock, self.div_base, new_base);
                self.div_base = new_base;
            }
        }
        None
    }

    /// As [`perform`](Self::perform), but catching up at every `stride` clocks on the way.
    fn perform_in_steps(&mut self, op: &Op, stride: u64) -> Option<u8> {
        if let Op::Wait(mut clocks) = *op {
            while clocks > stride {
                self.wait(stride);
                self.sync();
                clocks -= stride;
            }
            self.wait(clocks);
            self.sync();
            return None;
        }
        self.perform(op)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn many_small_syncs_equal_one(script in script(), stride in 1_u64..5_000) {
        let mut once = Bench::new();
        let mut often = once.clone();
        for op in &script {
            prop_assert_eq!(once.perform(op), often.perform_in_steps(op, stride), "{:?}", op);
        }
        prop_assert_eq!(once.state(), often.state());
        prop_assert_eq!(once.outputs(), often.outputs());
    }

    #[test]
    fn peek_equals_read_and_changes_nothing(script in script(), addr in 0xFF10_u16..=0xFF3F) {
        let mut bench = Bench::new();
        for op in &script {
            bench.perform(op);
            let before = bench.apu.core;
            let peeked = bench.peek(addr);
            prop_assert_eq!(before, bench.apu.core);
            prop_assert_eq!(peeked, bench.apu.read(addr, bench.clock, bench.div_base));
        }
    }

    #[test]
    fn listening_changes_nothing(script in script(), rate in 1_u32..100_000) {
        let mut deaf = Bench::new();
        let mut listening = deaf.clone();
        listening.apu.set_sample_rate(Some(rate));
        for op in &script {
            prop_assert_eq!(deaf.perform(op), listening.perform(op));
        }
        prop_assert_eq!(deaf.state(), listening.state());
        prop_assert!(listening.apu.take_samples().len() as u64 <= listening.clock + 1);
    }

    #[test]
    fn what_is_heard_does_not_depend_on_when(script in script(), stride in 1_u64..5_000) {
        let mut once = Bench::new();
        once.apu.set_sample_rate(Some(32_000));
        once.sync();
        let mut often = once.clone();
        for op in &script {
            once.perform(op);
            often.perform_in_steps(op, stride);
        }
        once.sync();
        often.sync();
        prop_assert_eq!(once.apu.take_samples(), often.apu.take_samples());
    }

    #[test]
    fn a_long_sleep_equals_short_ones(script in script(), halves in 60_000_u64..200_000) {
        let mut once = Bench::new();
        for op in &script {
            once.perform(op);
        }
        let mut often = once.clone();
        once.wait(halves * 4096);
        once.sync();
        // Too short for anything to be skipped.
        for _ in 0..halves / 1000 {
            often.wait(1000 * 4096);
            often.sync();
        }
        often.wait(halves % 1000 * 4096);
        prop_assert_eq!(once.state(), often.state());
        prop_assert_eq!(once.outputs(), often.outputs());
    }

    #[test]
    fn states_round_trip_and_are_valid(before in script(), after in script()) {
        let mut bench = Bench::new();
        for op in &before {
            bench.perform(op);
            prop_assert!(bench.apu.validate(bench.clock));
        }
        let bytes = bench.state();
        let mut restored = Bench { apu: Apu::new(), ..bench.clone() };
        restored.apu.load(&mut Reader::new(&bytes)).unwrap();
        for op in &after {
            prop_assert_eq!(bench.perform(op), restored.perform(op));
        }
        prop_assert_eq!(bench.state(), restored.state());
    }

    #[test]
    fn damaged_states_are_refused_or_harmless(
        before in script(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        after in script(),
        listen in any::<bool>(),
    ) {
        let mut bench = Bench::new();
        for op in &before {
            bench.perform(op);
        }
        let mut bytes = bench.state();
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bench.apu.set_sample_rate(listen.then_some(1_000));
        let loaded = bench.apu.load(&mut Reader::new(&bytes)).is_ok();
        if loaded && bench.apu.validate(bench.clock) {
            for op in &after {
                bench.perform(op);
            }
            bench.sync();
            prop_assert!(bench.apu.validate(bench.clock));
        }
    }
}

/// Whole cycles, so that nothing but the last of them is run after the skip.
#[test]
fn a_sleep_of_whole_cycles_leaves_recent_time_stamps() {
    let mut once = Bench::new();
    for (addr, value) in [(0xFF10, 0x7F), (0xFF12, 0xF0), (0xFF13, 0xFF), (0xFF14, 0x87)] {
        once.write(addr, value);
    }
    let mut often = once.clone();
    let halves = (1 << 15) + 10 * 16 * 840;
    once.wait(halves * 4096);
    for _ in 0..halves / 64 {
        often.wait(64 * 4096);
        often.sync();
    }
    assert_eq!(once.clock, often.clock);
    assert_eq!(once.state(), often.state());
}

#[test]
fn early_end_of_a_state_is_refused() {
    let mut writer = Writer::default();
    Bench::new().apu.save(&mut writer);
    for length in 0..writer.bytes.len() {
        let mut apu = Apu::new();
        assert!(apu.load(&mut Reader::new(&writer.bytes[..length])).is_err(), "{length}");
    }
}
