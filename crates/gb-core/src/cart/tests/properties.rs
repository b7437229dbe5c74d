use super::super::header::header_checksum;
use super::super::Rom;
use super::{Bench, SECOND};
use crate::state::{Reader, State, Writer};
use proptest::prelude::*;

const KINDS: [u8; 14] =
    [0x00, 0x01, 0x03, 0x06, 0x08, 0x0F, 0x10, 0x11, 0x13, 0x19, 0x1B, 0x1C, 0x1E, 0x09];

/// Cartridge type, ROM size code, RAM size code.
fn any_build() -> impl Strategy<Value = (u8, u8, u8)> {
    (proptest::sample::select(KINDS.to_vec()), 0..6u8, 0..6u8)
}

/// Reads and writes everywhere; panics where something is out of range.
fn exercise(bench: &mut Bench, writes: &[(u16, u8, u64)]) {
    for &(addr, value, step) in writes {
        bench.clock = bench.clock.wrapping_add(step);
        let addr = if addr < 0x8000 { addr } else { 0xA000 | addr & 0x1FFF };
        bench.write(addr, value);
        let (low, high) = bench.cart.rom_banks();
        let last = bench.rom.bytes().len() - 0x4000;
        assert!(low <= last && high <= last && (low | high) % 0x4000 == 0);
        bench.read(addr | 0xA000);
        bench.cart.rtc(bench.clock);
    }
}

fn any_writes() -> impl Strategy<Value = Vec<(u16, u8, u64)>> {
    proptest::collection::vec((any::<u16>(), any::<u8>(), 0..1u64 << 40), 0..64)
}

proptest! {
    #[test]
    fn random_writes_stay_in_range_and_states_round_trip(
        (kind, rom_code, ram_code) in any_build(),
        writes in any_writes(),
    ) {
        let mut bench = Bench::new(kind, rom_code, ram_code);
        exercise(&mut bench, &writes);
        prop_assert!(bench.cart.validate(bench.clock));
        let mut w = Writer::default();
        bench.cart.save(&mut w);
        let mut fresh = bench.rom.new_cart();
        let mut r = Reader::new(&w.bytes);
        fresh.load(&mut r).unwrap();
        prop_assert!(r.is_empty());
        prop_assert_eq!(&fresh, &bench.cart);
        prop_assert!(fresh.load(&mut Reader::new(&w.bytes[..w.bytes.len() - 1])).is_err());
    }

    #[test]
    fn hostile_states_are_refused_or_harmless(
        (kind, rom_code, ram_code) in any_build(),
        head in proptest::collection::vec(any::<u8>(), 64),
        flags in any::<u64>(),
        clock in any::<u64>(),
        writes in any_writes(),
    ) {
        let mut bench = Bench::new(kind, rom_code, ram_code);
        // Small values in the head, so that many get past the domain checks.
        let mut bytes: Vec<u8> = head
            .iter()
            .enumerate()
            .map(|(i, byte)| if flags >> i & 1 == 0 { byte & 1 } else { *byte })
            .collect();
        bytes.resize(64 + bench.cart.ram().len(), 0xA5);
        let loaded = bench.cart.load(&mut Reader::new(&bytes)).is_ok();
        let _ = bench.cart.validate(clock);
        if loaded {
            bench.clock = clock;
            exercise(&mut bench, &writes);
        }
    }

    #[test]
    fn no_image_panics(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..0x1_0000),
        kind in proptest::sample::select(KINDS.to_vec()),
        valid in any::<bool>(),
    ) {
        if valid && bytes.len() >= 0x150 {
            (bytes[0x147], bytes[0x148]) = (kind, 0);
            bytes[0x14D] = header_checksum(&bytes);
            bytes.truncate(0x8000);
        }
        if let Ok(rom) = Rom::parse(&bytes) {
            prop_assert!(rom.bytes().len().is_power_of_two());
            let _ = (rom.new_cart(), rom.new_pyboy_cart(), rom.title());
        }
    }

    #[test]
    fn clock_jumps_equal_single_steps(registers in any::<[u8; 5]>(), steps in 0..5000u64) {
        let mut jump = Bench::clocked();
        jump.set_clock(registers.map(|byte| byte & 0xBF));
        let mut walk = Bench { rom: jump.rom.clone(), cart: jump.cart.clone(), clock: 0 };
        jump.clock = steps * SECOND;
        for step in 1..=steps {
            walk.clock = step * SECOND;
            walk.write(0x6000, (step & 1) as u8);
        }
        prop_assert_eq!(walk.latched(), jump.latched());
    }
}
