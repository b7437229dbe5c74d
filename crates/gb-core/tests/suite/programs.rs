//! Random cartridges and programs, and how long tests try them.
//!
//! `make test` tries the same examples each time. `HYBRIDENV_FUZZ=N` tries N new ones in each test
//! (`make fuzz`); what it finds is printed in its smallest form.

use std::fmt;
use std::sync::Arc;

use gb_core::cart::Rom;
use gb_core::{GameBoy, Model, Profile};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::common::{self, Choices};

/// The variable that says how many examples each test tries.
const VARIABLE: &str = "HYBRIDENV_FUZZ";

/// The cartridge types that run here.
pub const KINDS: [u8; 19] = [
    0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x08, 0x09, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x19, 0x1A, 0x1B,
    0x1C, 0x1D, 0x1E,
];

/// Codes of RAM sizes.
pub const RAM_CODES: u8 = 6;

/// Opcodes that lock the processor; without them random programs live longer.
const LOCKING: [u8; 11] = [0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD];

/// Registers of the Color alone: speed, banks, VRAM DMA, palettes.
const COLOR: [u8; 14] =
    [0x4D, 0x4F, 0x51, 0x52, 0x53, 0x54, 0x55, 0x55, 0x55, 0x68, 0x69, 0x6A, 0x6B, 0x70];

/// How often each test tries another example.
pub fn cases(bounded: u32) -> ProptestConfig {
    let asked = std::env::var(VARIABLE).ok().filter(|value| !value.is_empty());
    let (cases, rng_seed) = match asked {
        None => (bounded, RngSeed::Fixed(1)),
        Some(text) => match text.parse() {
            Ok(cases) => (cases, RngSeed::Random),
            Err(error) => panic!("{VARIABLE}: got {text:?}, expected a number of cases: {error}"),
        },
    };
    ProptestConfig {
        cases,
        rng_seed,
        max_shrink_iters: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A console with a cartridge in it, but for the program.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    kind: u8,
    ram_code: u8,
    /// Whether the header knows the Color.
    color: bool,
    model: Model,
    profile: Profile,
}

impl Setting {
    /// A cartridge without a mapper or RAM, on the hardware; `color` where its header knows the Color.
    pub fn new(model: Model, color: bool) -> Self {
        Self { kind: 0, ram_code: 0, color, model, profile: Profile::Hardware }
    }

    /// The same with another profile.
    pub fn with_profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// A machine at power-on.
    pub fn machine(self, program: &Program) -> GameBoy {
        let mut image = program.image();
        image[0x143] = if self.color { 0x80 } else { 0 };
        common::fix_header(&mut image, self.kind, self.ram_code);
        GameBoy::with_model(Arc::new(Rom::parse(&image).unwrap()), self.profile, self.model)
    }
}

pub fn any_profile() -> impl Strategy<Value = Profile> {
    prop_oneof![Just(Profile::Hardware), Just(Profile::PyBoy)]
}

pub fn any_model() -> impl Strategy<Value = Model> {
    prop_oneof![Just(Model::Dmg), Just(Model::Cgb)]
}

pub fn any_setting() -> impl Strategy<Value = Setting> {
    let kinds = proptest::sample::select(KINDS.to_vec());
    (kinds, 0..RAM_CODES, any::<bool>(), any_model(), any_profile()).prop_map(
        |(kind, ram_code, color, model, profile)| Setting { kind, ram_code, color, model, profile },
    )
}

/// What a cartridge holds, in a form that fits on a screen.
#[derive(Clone)]
pub enum Program {
    /// Bytes of [`Choices`] with this seed.
    Bytes(u64),
    /// Machine code at 0150, in an endless loop; interrupt handlers return.
    Loop(Vec<u8>),
}

impl Program {
    /// An image of 32 KiB without a header.
    fn image(&self) -> Vec<u8> {
        match self {
            Self::Bytes(seed) => {
                let mut choices = Choices(*seed);
                let byte = |_| match choices.next() as u8 {
                    opcode if LOCKING.contains(&opcode) => 0,
                    byte => byte,
                };
                (0..0x8000).map(byte).collect()
            }
            Self::Loop(code) => {
                let mut image = vec![0; 0x8000];
                for vector in (0x00..=0x60).step_by(8) {
                    image[vector] = 0xD9;
                }
                image[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
                let code = [code, &[0xC3, 0x50, 0x01][..]].concat();
                image[0x150..0x150 + code.len()].copy_from_slice(&code);
                image
            }
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(seed) => write!(f, "Bytes({seed:#x})"),
            Self::Loop(code) => {
                write!(f, "Loop(")?;
                code.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
                write!(f, ")")
            }
        }
    }
}

/// Random bytes.
pub fn any_bytes() -> impl Strategy<Value = Program> {
    any::<u64>().prop_map(Program::Bytes)
}

/// A program that does random things in an endless loop.
pub fn any_loop() -> impl Strategy<Value = Program> {
    vec(any_deed(), 1..200).prop_map(|deeds| Program::Loop(deeds.concat()))
}

/// One small thing that a program can do, as machine code.
fn any_deed() -> impl Strategy<Value = Vec<u8>> {
    let color = proptest::sample::select(COLOR.to_vec());
    prop_oneof![
        // Write a register of the machine, most often one of the picture or of the Color.
        (any::<u8>(), any::<u8>()).prop_map(|(value, to)| vec![0x3E, value, 0xE0, to]),
        (any::<u8>(), 0x40..0x4Cu8).prop_map(|(value, to)| vec![0x3E, value, 0xE0, to]),
        (any::<u8>(), color).prop_map(|(value, to)| vec![0x3E, value, 0xE0, to]),
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
        // Wait for a line, a mode of the picture, or a while.
        (0x00..0x9Au8).prop_map(|line| vec![0xF0, 0x44, 0xFE, line, 0x20, 0xFA]),
        (0x00..0x04u8).prop_map(|mode| vec![0xF0, 0x41, 0xE6, 0x03, 0xFE, mode, 0x20, 0xF8]),
        any::<u8>().prop_map(|rounds| vec![0x06, rounds, 0x05, 0x20, 0xFD]),
        // Change the speed, which only games for the Color can.
        Just(vec![0x3E, 0x01, 0xE0, 0x4D, 0x10, 0x00]),
        // EI, DI, HALT, STOP, PUSH, POP, 16-bit increments (OAM bug).
        proptest::sample::select(vec![
            vec![0xFB],
            vec![0xF3],
            vec![0xFB, 0x76],
            vec![0x76],
            vec![0x10, 0x00],
            vec![0xC5],
            vec![0xE1],
            vec![0x23],
            vec![0x3B],
        ]),
    ]
}
