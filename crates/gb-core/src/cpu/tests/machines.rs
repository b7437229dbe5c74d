//! Sequences in whole machines: memories of all kinds, interrupts at all times, both speeds.

use std::sync::Arc;

use super::super::sequences::SEQUENCES;
use super::Choices;
use crate::{GameBoy, Model, Profile, Registers, Rom};

/// Machines that each sequence is tried in.
const TRIES: usize = if cfg!(debug_assertions) { 2 } else { 16 };

/// Bytes of the ROM: eight banks behind an MBC1, with RAM.
const SIZE: usize = 0x2_0000;

/// Where the ROM switches the Color's speed, then goes round.
const SWITCH: u16 = 0x150;
const SWITCHING: [u8; 8] = [0x3E, 0x01, 0xE0, 0x4D, 0x10, 0x00, 0x18, 0xFE];

/// Ends of memories, and what is between.
const EDGES: [u16; 24] = [
    0x0000, 0x1FFF, 0x2000, 0x3FFF, 0x4000, 0x7FFF, 0x8000, 0x9FFF, 0xA000, 0xBFFF, 0xC000, 0xCFFF,
    0xD000, 0xDFFF, 0xE000, 0xFDFF, 0xFE00, 0xFE9F, 0xFEFF, 0xFF00, 0xFF41, 0xFF7F, 0xFF80, 0xFFFE,
];

/// A ROM full of sequences, and where each of them begins, in its first bank.
fn rom(choices: &mut Choices) -> (Arc<Rom>, Vec<u16>) {
    let mut image = vec![0; 0x150];
    image.extend(SWITCHING);
    let mut starts = Vec::new();
    for sequence in SEQUENCES {
        starts.push(image.len() as u16);
        image.extend(choices.instance(sequence));
    }
    assert!(image.len() <= 0x4000, "{} bytes in the first bank", image.len());
    while image.len() < SIZE {
        let sequence = choices.one_of(SEQUENCES);
        image.extend(choices.instance(sequence));
    }
    image.truncate(SIZE);
    (image[0x143], image[0x147], image[0x148], image[0x149]) = (0x80, 0x03, 2, 2);
    let sum = |sum: u8, byte: &u8| sum.wrapping_sub(*byte).wrapping_sub(1);
    image[0x14D] = image[0x134..0x14D].iter().fold(0, sum);
    (Arc::new(Rom::parse(&image).unwrap()), starts)
}

/// Machines of every kind with random memories.
fn machines(rom: &Arc<Rom>, choices: &mut Choices) -> Vec<GameBoy> {
    let kinds = [
        (Profile::Hardware, Model::Dmg, false),
        (Profile::PyBoy, Model::Dmg, false),
        (Profile::Hardware, Model::Cgb, false),
        (Profile::Hardware, Model::Cgb, true),
    ];
    let machines = kinds.map(|(profile, model, double)| {
        let mut machine = GameBoy::with_model(Arc::clone(rom), profile, model);
        if double {
            machine.set_registers(Registers { pc: SWITCH, ..machine.registers() });
            machine.run_cycles(200_000);
            assert_ne!(machine.cycles(), machine.clock());
        }
        machine.poke(0x0000, 0x0A);
        for addr in (0x8000..0xE000).chain(0xFF80..0xFFFF) {
            machine.poke(addr, choices.byte());
        }
        machine
    });
    machines.into()
}

/// Sets a machine at the start of a sequence, with everything else as awkward as can be.
fn prepare(machine: &mut GameBoy, pc: u16, choices: &mut Choices) {
    machine.poke(0xFF40, choices.one_of(&[0x00, 0x91, 0xB3, 0xE7]));
    machine.poke(0xFF41, choices.byte());
    machine.poke(0xFF45, choices.byte());
    let spin = Registers { pc: SWITCH + 6, ime: false, halted: false, ..machine.registers() };
    machine.set_registers(spin);
    machine.run_cycles(choices.below(1_000) as u64);
    machine.poke(0xFF06, choices.one_of(&[0xFF, 0xFE, 0xF0, 0x00]));
    machine.poke(0xFF05, 0xFF - choices.below(4) as u8);
    machine.poke(0xFF07, choices.one_of(&[0x00, 0x05, 0x05, 0x06]));
    machine.poke(0xFF0F, choices.one_of(&[0x00, 0x00, 0x04, 0x1F]));
    machine.poke(0xFFFF, choices.one_of(&[0x00, 0x04, 0x07, 0x1F]));
    if choices.below(16) == 0 {
        machine.poke(0xFF46, choices.byte());
    }
    let mut address = || {
        let edge = choices.one_of(&EDGES);
        let near = edge.wrapping_add(choices.below(9) as u16).wrapping_sub(4);
        let anywhere = choices.next() as u16;
        choices.one_of(&[near, near, 0xC000 | anywhere, 0xFF80 | anywhere, anywhere])
    };
    let [bc, de, hl] = [(); 3].map(|()| address().to_be_bytes());
    let sp = address();
    machine.set_registers(Registers {
        a: choices.byte(),
        f: choices.byte() & 0xF0,
        b: bc[0],
        c: bc[1],
        d: de[0],
        e: de[1],
        h: hl[0],
        l: hl[1],
        sp,
        pc,
        ime: choices.below(2) == 0,
        halted: false,
    });
}

#[test]
fn sequences_run_as_in_strict_machines() {
    let mut choices = Choices(5);
    let (rom, starts) = rom(&mut choices);
    let machines = machines(&rom, &mut choices);
    let mut interrupted = 0;
    for (sequence, &start) in SEQUENCES.iter().zip(&starts) {
        for _ in 0..TRIES {
            let mut fast = machines[choices.below(machines.len())].clone();
            prepare(&mut fast, start, &mut choices);
            let mut strict = fast.clone();
            // The first time is short enough to end within the sequence.
            for cycles in [1 + choices.below(80), 1 + choices.below(400)] {
                fast.run_cycles(cycles as u64);
                strict.run_cycles_strict(cycles as u64);
                let name = format!("{sequence:02X?} {:?} {:?}", fast.profile(), fast.model());
                assert_eq!(fast.registers(), strict.registers(), "{name}");
                assert_eq!(fast.clock(), strict.clock(), "{name}");
                interrupted += usize::from((0x40..0x80).contains(&fast.registers().pc));
            }
            fast.take_audio();
            strict.take_audio();
            assert!(fast.save_state() == strict.save_state(), "{sequence:02X?}: the state differs");
        }
    }
    assert!(interrupted > starts.len() * TRIES / 64, "{interrupted} interrupts");
}
