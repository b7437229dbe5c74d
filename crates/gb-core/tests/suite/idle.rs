//! Waiting loops of every shape, skipped and run through: both must come out the same.

use std::sync::Arc;

use gb_core::{GameBoy, Model, Profile, Rom};
use libtest_mimic::Trial;

use crate::common::fix_header;
use crate::strict::check;
use crate::trials::test;

/// What A is compared with, or its bits are: modes, lines, and what LY and STAT never read.
const OPERANDS: [u8; 6] = [0x00, 0x02, 0x03, 0x44, 0x90, 0xFF];
const JR: [u8; 4] = [0x20, 0x28, 0x30, 0x38];
const LY: u8 = 0x44;
const STAT: u8 = 0x41;

pub fn trials() -> Vec<Trial> {
    vec![test(loops_that_poll_a_line_run_alike), test(loops_that_count_down_run_alike)]
}

/// A program that repeats `body` and counts how often in WRAM; with the timer, whose interrupts come
/// at all phases of it, or without.
fn machine(body: &[u8], operand: u8, timer: bool) -> GameBoy {
    let mut image = vec![0; 0x8000];
    image[0x50..0x52].copy_from_slice(&[0x14, 0xD9]); // inc d; reti
    let mut program = vec![0xF3, 0x06, operand, 0x0E, operand, 0x1E, operand];
    if timer {
        // TMA = A7; TAC = 5 (every 16 cycles); IE = 4; ei
        program.extend([0x3E, 0xA7, 0xE0, 0x06, 0x3E, 5, 0xE0, 0x07, 0x3E, 4, 0xE0, 0xFF, 0xFB]);
    }
    let again = program.len();
    program.extend(body);
    program.extend([0x21, 0x00, 0xC0, 0x34]); // ld hl,C000; inc (hl)
    let back = again as i32 - (program.len() as i32 + 2);
    program.extend([0x18, back as u8]);
    image[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
    image[0x150..0x150 + program.len()].copy_from_slice(&program);
    fix_header(&mut image, 0, 0);
    GameBoy::with_model(Arc::new(Rom::parse(&image).unwrap()), Profile::Hardware, Model::Dmg)
}

fn loops_that_poll_a_line_run_alike() {
    let tests = |operand| {
        let with_registers = [0xA0, 0xA1, 0xA3, 0xA7, 0xB0, 0xB3, 0xB7, 0xB8, 0xB9, 0xBB, 0xBF];
        let mut tests: Vec<Vec<u8>> = with_registers.iter().map(|&op| vec![op]).collect();
        tests.extend([vec![0xE6, operand], vec![0xFE, operand]]);
        tests
    };
    let mut seen = 0;
    for operand in OPERANDS {
        for (register, jr, timer) in [LY, STAT]
            .into_iter()
            .flat_map(|register| JR.map(|jr| (register, jr)))
            .flat_map(|(register, jr)| [false, true].map(|timer| (register, jr, timer)))
        {
            for test in tests(operand) {
                let mut body = vec![0xF0, register];
                body.extend(&test);
                body.extend([jr, (-(test.len() as i8) - 4) as u8]);
                let name = format!("{body:02X?} with {operand:02X}, timer {timer}");
                check(&name, machine(&body, operand, timer), 2);
                seen += 1;
            }
        }
    }
    assert!(seen >= 1_200, "saw {seen} loops");
}

fn loops_that_count_down_run_alike() {
    let mut seen = 0;
    for dec in [0x05, 0x0D, 0x15, 0x1D, 0x25, 0x2D, 0x3D] {
        for (start, timer) in
            [0, 1, 2, 40, 255].into_iter().flat_map(|start| [(start, false), (start, true)])
        {
            let body = [dec + 1, start, dec, 0x20, 0xFD]; // ld r,start; dec r; jr nz
            check(&format!("{body:02X?}, timer {timer}"), machine(&body, 0, timer), 2);
            seen += 1;
        }
    }
    assert_eq!(seen, 70);
}
