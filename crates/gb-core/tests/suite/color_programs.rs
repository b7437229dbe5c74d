//! Random programs for the Color: transfers that use a bus while the processor does, blocks that are copied
//! in H-blank, speed switches and banks, on the fast path and on the strict one.

use std::cell::Cell;
use std::sync::Arc;

use gb_core::{GameBoy, Model, Profile, Revision, Rom};
use libtest_mimic::Trial;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common;
use crate::strict::check;
use crate::trials::test;

/// Frames that each program plays.
const FRAMES: u64 = 12;

/// `LD A,value; LDH (to),A`.
fn set(to: u8, value: u8) -> Vec<u8> {
    vec![0x3E, value, 0xE0, to]
}

/// Pages that an OAM DMA may copy from: ROM, VRAM, cartridge RAM, work RAM and its echo.
fn any_page() -> impl Strategy<Value = u8> {
    prop_oneof![0x00..0x80u8, 0x80..0xA0u8, 0xA0..0xC0u8, 0xC0..0xE0u8, Just(0xFE)]
}

/// Addresses on each of the buses.
fn any_place() -> impl Strategy<Value = u16> {
    prop_oneof![0x8000..0xA000u16, 0xA000..0xC000u16, 0xC000..0xFE00u16, 0xFE00..0xFEA0u16]
}

/// A transfer into VRAM: source, target, and FF55.
fn any_copy() -> impl Strategy<Value = Vec<u8>> {
    (0x00..0xE0u8, any::<u8>(), 0x80..0xA0u8, any::<u8>(), 0..24u8, any::<bool>()).prop_map(
        |(source, source_low, target, target_low, blocks, in_hblank)| {
            let start = blocks | u8::from(in_hblank) << 7;
            [
                set(0x51, source),
                set(0x52, source_low),
                set(0x53, target),
                set(0x54, target_low),
                set(0x55, start),
            ]
            .concat()
        },
    )
}

/// One small thing that a program for the Color can do, as machine code.
fn any_deed() -> impl Strategy<Value = Vec<u8>> {
    let read = |place: u16| vec![0xFA, place as u8, (place >> 8) as u8];
    let write = |(place, v): (u16, u8)| vec![0x3E, v, 0xEA, place as u8, (place >> 8) as u8];
    prop_oneof![
        3 => any_copy(),
        // OAM DMA, and accesses on the same bus or another while it runs.
        3 => any_page().prop_map(|page| set(0x46, page)),
        4 => any_place().prop_map(read),
        4 => (any_place(), any::<u8>()).prop_map(write),
        // PUSH, POP, INC HL, a delay, HALT, EI, DI.
        3 => proptest::sample::select(vec![
            vec![0xC5],
            vec![0xE1],
            vec![0x23],
            vec![0x06, 0x20, 0x05, 0x20, 0xFD],
            vec![0xFB, 0x76],
            vec![0xFB],
            vec![0xF3],
        ]),
        // Banks, palettes, and what is read of them and of the transfer.
        2 => (proptest::sample::select(vec![0x4F, 0x70, 0x68, 0x69, 0x6A, 0x6B, 0x6C]), any::<u8>())
            .prop_map(|(to, v)| set(to, v)),
        2 => proptest::sample::select(vec![0x55, 0x41, 0x44, 0x69, 0x6B, 0x76, 0x77])
            .prop_map(|from| vec![0xF0, from]),
        // Interrupts and the picture's registers; the LCD stays on most of the time.
        3 => (0x40..0x4Cu8, any::<u8>()).prop_map(|(to, v)| match to {
            0x40 => set(to, v | if v & 7 == 0 { 0 } else { 0x80 }),
            0x46 => set(0x45, v % 154),
            _ => set(to, v),
        }),
        // A speed switch.
        1 => Just([set(0x4D, 1), vec![0x10, 0x00]].concat()),
    ]
}

/// A cartridge that repeats the deeds; `flag` says whether it knows the Color.
fn image(deeds: &[Vec<u8>], flag: u8) -> Vec<u8> {
    let mut image: Vec<u8> = (0..0x8000u32).map(|i| (i * 37 >> 3) as u8).collect();
    for vector in (0x00..=0x60).step_by(8) {
        image[vector] = 0xD9;
    }
    image[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
    // LD SP,DFF0; IE = 1F.
    let program = [vec![0x31, 0xF0, 0xDF], set(0xFF, 0x1F), deeds.concat()].concat();
    image[0x150..0x150 + program.len()].copy_from_slice(&program);
    let end = 0x150 + program.len();
    image[end..end + 3].copy_from_slice(&[0xC3, 0x50, 0x01]);
    image[0x143] = flag;
    common::fix_header(&mut image, 0x1B, 3);
    image
}

pub fn trials() -> Vec<Trial> {
    vec![test(random_programs_for_the_color_run_alike)]
}

fn random_programs_for_the_color_run_alike() {
    let (programs, switched) = (Cell::new(0), Cell::new(0));
    let config = ProptestConfig {
        cases: if cfg!(debug_assertions) { 48 } else { 400 },
        max_shrink_iters: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(
        deeds in vec(any_deed(), 1..60),
        flag in proptest::sample::select(vec![0x80u8, 0x80, 0x80, 0x00]),
        revision in proptest::sample::select(Revision::ALL.to_vec()),
        reference in proptest::bool::weighted(0.2),
    )| {
        let rom = Arc::new(Rom::parse(&image(&deeds, flag)).unwrap());
        let machine = if reference {
            GameBoy::with_model(rom, Profile::PyBoy, Model::Cgb)
        } else {
            GameBoy::with_revision(rom, revision)
        };
        let double = check("random program", machine, FRAMES);
        programs.set(programs.get() + 1);
        switched.set(switched.get() + u32::from(double));
    });
    assert!(programs.get() >= 48 && switched.get() * 10 > programs.get(), "{switched:?}");
}
