//! No header, no program, no button and no state can make the machine panic, and skipping ahead
//! changes nothing for any of them.

use std::cell::Cell;
use std::sync::Arc;

use gb_core::cart::{Rom, RomError};
use gb_core::{seal, GameBoy, Model, Profile, Registers};
use libtest_mimic::Trial;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::common::FRAME;
use crate::programs::{
    any_bytes, any_loop, any_model, any_profile, any_setting, cases, Program, Setting, KINDS,
    RAM_CODES,
};
use crate::strict;
use crate::trials::test;

/// Examples of each test in `make test`.
const BOUNDED: u32 = if cfg!(debug_assertions) { 48 } else { 400 };

/// Frames in which the fast and the strict machine are compared.
const COMPARED: u64 = 12;

pub fn trials() -> Vec<Trial> {
    vec![
        test(every_type_and_size_in_a_header_is_run_or_refused_by_name),
        test(random_headers_are_run_or_refused),
        test(random_bytes_run),
        test(random_deeds_in_a_loop_run),
        test(random_programs_run_alike_on_both_paths),
        test(programs_that_once_differed_run_alike),
        test(pokes_and_registers_from_outside_run),
        test(mutated_states_are_refused_or_run),
    ]
}

/// Runs a program with buttons, drawing some of the frames; then it must survive a save and a load.
fn run(machine: &mut GameBoy, buttons: &[u8]) -> Result<(), TestCaseError> {
    for (frame, mask) in buttons.iter().enumerate() {
        machine.set_buttons(*mask);
        machine.run_frame(frame % 2 == 0);
    }
    let mut restored =
        GameBoy::with_model(machine.rom().clone(), machine.profile(), machine.model());
    restored.load_state(&machine.save_state()).map_err(|e| TestCaseError::fail(e.to_string()))?;
    for machine in [&mut *machine, &mut restored] {
        machine.run_frame(true);
    }
    prop_assert!(machine.save_state() == restored.save_state(), "a restored machine went astray");
    Ok(())
}

/// An image whose header has these bytes and the checksum that goes with them.
fn with_header(header: &[(usize, u8)], len: usize) -> Vec<u8> {
    let mut image = vec![0; len];
    for &(at, byte) in header {
        image[at] = byte;
    }
    let sum = |sum: u8, byte: &u8| sum.wrapping_sub(*byte).wrapping_sub(1);
    image[0x14D] = image[0x134..0x14D].iter().fold(0, sum);
    image
}

fn every_type_and_size_in_a_header_is_run_or_refused_by_name() {
    let (mut run, mut refused) = (0, 0);
    let types = (0..=0xFF).flat_map(|kind| (0..=0xFF).map(move |code| (kind, code)));
    for (kind, code) in types {
        for (at, name) in [(0x148, "ROM size code at 0148"), (0x149, "RAM size code at 0149")] {
            // All headers name 32 KiB of ROM and no RAM but for the byte that is tried.
            let image = with_header(&[(0x147, kind), (at, code)], 0x8000);
            let known = KINDS.contains(&kind);
            match Rom::parse(&image) {
                Ok(rom) => {
                    assert!(known && if at == 0x148 { code == 0 } else { code < RAM_CODES });
                    for (profile, model) in [
                        (Profile::Hardware, Model::Dmg),
                        (Profile::Hardware, Model::Cgb),
                        (Profile::PyBoy, Model::Dmg),
                        (Profile::PyBoy, Model::Cgb),
                    ] {
                        let rom = Arc::new(rom.clone());
                        GameBoy::with_model(rom, profile, model).run_frame(true);
                    }
                    run += 1;
                }
                Err(error) => {
                    let size =
                        matches!(error, RomError::Truncated { .. }) && (1..=8).contains(&code);
                    let text = error.to_string();
                    let expected = if known { name } else { "cartridge type at 0147" };
                    assert!(size || text.contains(expected), "{kind:02X} {code:02X}: {text}");
                    refused += 1;
                }
            }
        }
    }
    assert_eq!(run, KINDS.len() * (1 + usize::from(RAM_CODES)));
    assert_eq!(run + refused, 2 * 256 * 256);
}

fn random_headers_are_run_or_refused() {
    let accepted = Cell::new(0);
    let config = cases(4 * BOUNDED);
    let tried = config.cases;
    proptest!(config, |(
        bytes in vec(any::<u8>(), 0x50),
        kind in prop_oneof![proptest::sample::select(KINDS.to_vec()), any::<u8>()],
        rom_code in prop_oneof![4 => 0..3u8, 1 => any::<u8>()],
        ram_code in prop_oneof![4 => 0..RAM_CODES, 1 => any::<u8>()],
        checksum in prop_oneof![8 => Just(None), 1 => any::<u8>().prop_map(Some)],
        len in prop_oneof![
            4 => (0..4u32).prop_map(|code| 0x8000 << code),
            1 => 0..0x1_0000usize,
        ],
        (profile, model) in (any_profile(), any_model()),
    )| {
        let mut header: Vec<(usize, u8)> = (0x100..0x150).zip(bytes).collect();
        header.extend([(0x147, kind), (0x148, rom_code), (0x149, ram_code)]);
        let mut image = with_header(&header, len.max(0x150));
        if let Some(checksum) = checksum {
            image[0x14D] = checksum;
        }
        image.truncate(len);
        match Rom::parse(&image) {
            Ok(rom) => {
                prop_assert_eq!(rom.bytes().len(), 0x8000 << rom_code);
                run(&mut GameBoy::with_model(Arc::new(rom), profile, model), &[0x80])?;
                accepted.set(accepted.get() + 1);
            }
            Err(error) => prop_assert!(error.to_string().starts_with("ROM")),
        }
    });
    assert!(accepted.get() * 10 > tried, "{} of {tried} headers accepted", accepted.get());
}

fn random_bytes_run() {
    proptest!(cases(BOUNDED), |(
        program in any_bytes(),
        setting in any_setting(),
        buttons in vec(any::<u8>(), 1..12),
    )| {
        run(&mut setting.machine(&program), &buttons)?;
    });
}

fn random_deeds_in_a_loop_run() {
    proptest!(cases(BOUNDED), |(
        program in any_loop(),
        setting in any_setting(),
        buttons in vec(any::<u8>(), 1..20),
    )| {
        run(&mut setting.machine(&program), &buttons)?;
    });
}

fn random_programs_run_alike_on_both_paths() {
    let doubled = Cell::new(0);
    proptest!(cases(BOUNDED), |(
        program in prop_oneof![3 => any_loop().boxed(), 1 => any_bytes().boxed()],
        setting in any_setting(),
    )| {
        let fast = strict::compare(setting.machine(&program), COMPARED);
        doubled.set(doubled.get() + u32::from(fast.map_err(TestCaseError::fail)?));
    });
    assert!(doubled.get() >= 2, "{} programs switched to double speed", doubled.get());
}

/// Where the two paths once differed: the last pixels and writes to VRAM, sprites of another height, the
/// LCD's switch in the middle of a line, a block of VRAM DMA where `HALT` ends.
fn programs_that_once_differed_run_alike() {
    let switch_off = [
        0x3E, 0x01, 0xE0, 0x4D, 0x10, 0x00, 0xE1, 0x3E, 0x00, 0xEA, 0x00, 0x00, 0x3E, 0x00, 0xE0,
        0x00, 0xFA, 0x00, 0x00, 0x3E, 0x00, 0xE0, 0x40,
    ];
    let color = Setting::new(Model::Cgb, true);
    let compatible = Setting::new(Model::Cgb, false);
    let dmg = Setting::new(Model::Dmg, false);
    let reference = color.with_profile(Profile::PyBoy);
    for (program, setting) in [
        (Program::Loop(switch_off.to_vec()), color),
        (Program::Bytes(0x9939_de72_9138_eaa2), color),
        (Program::Bytes(0x00ae_f640_a25c_56c2), color),
        (Program::Bytes(0x9aa3_1ef9_2010_9dfd), compatible),
        (Program::Bytes(0x32a2_cce6_1d22_350c), reference),
        (Program::Bytes(0x2667_fe91_371f_c5fc), dmg),
        (Program::Bytes(0xfd8c_1277_9558_3bdb), dmg),
        (Program::Bytes(0x52ff_dd7b_0b41_44a1), compatible),
        (Program::Bytes(0xec09_0b1c_f0d0_90e2), compatible),
    ] {
        let differs = strict::compare(setting.machine(&program), COMPARED).err();
        assert_eq!(differs, None, "{program:?}, {setting:?}");
    }
}

fn pokes_and_registers_from_outside_run() {
    proptest!(cases(BOUNDED), |(
        pokes in vec((any::<u16>(), any::<u8>()), 0..200),
        pc in any::<u16>(),
        sp in any::<u16>(),
        setting in any_setting(),
    )| {
        let mut machine = setting.machine(&Program::Loop(Vec::new()));
        for (addr, value) in pokes {
            machine.poke(addr, value);
            machine.peek(addr);
        }
        let registers = machine.registers();
        machine.set_registers(Registers { pc, sp, ime: true, ..registers });
        run(&mut machine, &[0, 0xFF])?;
    });
}

/// What happens to the bytes of a state.
#[derive(Clone, Debug)]
enum Damage {
    /// They end early.
    Cut(Index),
    /// Some are others.
    Change(Vec<(Index, u8)>),
    /// A run of them is filled.
    Fill(Index, usize, u8),
    /// More come behind them.
    Extend(Vec<u8>),
}

impl Damage {
    fn apply(&self, state: &mut Vec<u8>) {
        match self {
            Self::Cut(at) => state.truncate(at.index(state.len())),
            Self::Change(changes) => {
                for (at, value) in changes {
                    let at = at.index(state.len());
                    state[at] = *value;
                }
            }
            Self::Fill(at, len, value) => {
                let at = at.index(state.len());
                let end = (at + len).min(state.len());
                state[at..end].fill(*value);
            }
            Self::Extend(bytes) => state.extend(bytes),
        }
    }
}

fn any_damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<Index>().prop_map(Damage::Cut),
        vec((any::<Index>(), any::<u8>()), 1..64).prop_map(Damage::Change),
        (any::<Index>(), 1..64usize, any::<u8>())
            .prop_map(|(at, len, value)| Damage::Fill(at, len, value)),
        vec(any::<u8>(), 1..64).prop_map(Damage::Extend),
    ]
}

fn mutated_states_are_refused_or_run() {
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    proptest!(cases(2 * BOUNDED), |(
        program in any_loop(),
        setting in any_setting(),
        cycles in 0..4 * FRAME,
        damage in any_damage(),
        sealed in prop_oneof![3 => Just(true), 1 => Just(false)],
    )| {
        let mut machine = setting.machine(&program);
        machine.run_cycles(cycles);
        let good = machine.save_state();
        let mut bad = good.clone();
        damage.apply(&mut bad);
        if sealed {
            seal(&mut bad);
        }
        let mut victim = machine.clone();
        if victim.load_state(&bad).is_ok() {
            prop_assert!(sealed || bad == good, "a state with a wrong checksum was taken");
            run(&mut victim, &[0, 0xFF])?;
            accepted.set(accepted.get() + 1);
        } else {
            prop_assert!(victim.save_state() == good, "a refused state changed the machine");
            refused.set(refused.get() + 1);
        }
    });
    let (accepted, refused) = (accepted.get(), refused.get());
    assert!(accepted > 8 && refused > 8, "{accepted} accepted, {refused} refused");
}
