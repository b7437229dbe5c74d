//! No program and no buttons can make the machine panic.

use gb_core::{GameBoy, Profile};
use libtest_mimic::Trial;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{self, Choices};
use crate::trials::test;

/// The cartridge types that run here.
const KINDS: [u8; 12] = [0x00, 0x01, 0x03, 0x06, 0x08, 0x0F, 0x10, 0x13, 0x19, 0x1B, 0x1E, 0x09];

/// Opcodes that lock the processor; without them random programs live longer.
const LOCKING: [u8; 11] = [0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD];

fn any_profile() -> impl Strategy<Value = Profile> {
    prop_oneof![Just(Profile::Hardware), Just(Profile::PyBoy)]
}

/// Cartridge type and RAM size code.
fn any_board() -> impl Strategy<Value = (u8, u8)> {
    (proptest::sample::select(KINDS.to_vec()), 0..6u8)
}

/// One small thing that a program can do, as machine code.
fn any_deed() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        // Write a register of the machine, most often one of the picture.
        (any::<u8>(), any::<u8>()).prop_map(|(value, to)| vec![0x3E, value, 0xE0, to]),
        (any::<u8>(), 0x40..0x4Cu8).prop_map(|(value, to)| vec![0x3E, value, 0xE0, to]),
        // Read one.
        any::<u8>().prop_map(|from| vec![0xF0, from]),
        // Write anywhere, read anywhere.
        (any::<u8>(), any::<u16>()).prop_map(|(value, to)| {
            let [low, high] = to.to_le_bytes();
            vec![0x3E, value, 0xEA, low, high]
        }),
        any::<u16>().prop_map(|from| {
            let [low, high] = from.to_le_bytes();
            vec![0xFA, low, high]
        }),
        // EI, DI, HALT, STOP, PUSH, POP, 16-bit increments (OAM bug), a delay.
        proptest::sample::select(vec![
            vec![0xFB],
            vec![0xF3],
            vec![0xFB, 0x76],
            vec![0x10, 0x00],
            vec![0xC5],
            vec![0xE1],
            vec![0x23],
            vec![0x3B],
            vec![0x06, 0x10, 0x05, 0x20, 0xFD],
        ]),
    ]
}

/// Runs a program with buttons, drawing some of the frames; then it must survive a save and a load.
fn run(machine: &mut GameBoy, buttons: &[u8]) -> Result<(), TestCaseError> {
    for (frame, mask) in buttons.iter().enumerate() {
        machine.set_buttons(*mask);
        machine.run_frame(frame % 2 == 0);
    }
    let mut restored = GameBoy::new(machine.rom().clone(), machine.profile());
    restored.load_state(&machine.save_state()).map_err(|e| TestCaseError::fail(e.to_string()))?;
    for machine in [&mut *machine, &mut restored] {
        machine.run_frame(true);
    }
    prop_assert!(machine.save_state() == restored.save_state(), "a restored machine went astray");
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    vec![
        test(random_bytes_run),
        test(random_deeds_in_a_loop_run),
        test(pokes_and_registers_from_outside_run),
    ]
}

/// How often each test tries another example.
fn cases() -> ProptestConfig {
    ProptestConfig {
        cases: 96,
        max_shrink_iters: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn random_bytes_run() {
    proptest!(cases(), |(
        seed in any::<u64>(),
        (kind, ram_code) in any_board(),
        profile in any_profile(),
        buttons in vec(any::<u8>(), 1..12),
    )| {
        let mut choices = Choices(seed);
        let mut image: Vec<u8> = (0..0x8000).map(|_| choices.next() as u8).collect();
        for byte in &mut image {
            if LOCKING.contains(byte) {
                *byte = 0;
            }
        }
        common::fix_header(&mut image, kind, ram_code);
        run(&mut common::insert(&image, profile), &buttons)?;
    });
}

fn random_deeds_in_a_loop_run() {
    proptest!(cases(), |(
        deeds in vec(any_deed(), 1..200),
        (kind, ram_code) in any_board(),
        profile in any_profile(),
        buttons in vec(any::<u8>(), 1..20),
    )| {
        let mut image = vec![0; 0x8000];
        // Interrupt handlers return; 0100 jumps to 0150, where the deeds are.
        for vector in (0x00..=0x60).step_by(8) {
            image[vector] = 0xD9;
        }
        image[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
        let program: Vec<u8> = deeds.concat();
        image[0x150..0x150 + program.len()].copy_from_slice(&program);
        let end = 0x150 + program.len();
        image[end..end + 3].copy_from_slice(&[0xC3, 0x50, 0x01]);
        common::fix_header(&mut image, kind, ram_code);
        run(&mut common::insert(&image, profile), &buttons)?;
    });
}

fn pokes_and_registers_from_outside_run() {
    proptest!(cases(), |(
        pokes in vec((any::<u16>(), any::<u8>()), 0..200),
        pc in any::<u16>(),
        sp in any::<u16>(),
        profile in any_profile(),
    )| {
        let mut image = vec![0; 0x8000];
        common::fix_header(&mut image, 0x10, 3);
        let mut machine = common::insert(&image, profile);
        for (addr, value) in pokes {
            machine.poke(addr, value);
            machine.peek(addr);
        }
        let registers = machine.registers();
        machine.set_registers(gb_core::Registers { pc, sp, ime: true, ..registers });
        run(&mut machine, &[0, 0xFF])?;
    });
}
