//! What a game executes.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use gb_core::{GameBoy, Profile, Registers, Rom};

use crate::opcode::{controls, length, PREFIX};
use crate::split_mix::split_mix;

/// Frames that a game is played for, of which every [`EVERY`]th is recorded.
const FRAMES: u64 = 7_200;
const EVERY: u64 = 12;

/// Frames for which one choice of buttons is held.
const HOLD: u64 = 24;

/// What a random player presses, one as likely as the other, as `bench/cases.py` has it: nothing,
/// directions, A, B, two at once; Start and Select now and then.
const BUTTONS: [u8; 28] = [
    0x00, 0x00, 0x00, 0x01, 0x01, 0x01, 0x02, 0x02, 0x02, 0x04, 0x04, 0x08, 0x08, 0x10, 0x10, 0x10,
    0x20, 0x20, 0x11, 0x11, 0x12, 0x12, 0x21, 0x22, 0x80, 0x80, 0x40, 0x00,
];

/// Instructions in a run at most; code that goes on without a jump for longer is data.
const LONGEST: usize = 64;

/// One byte that decides what is executed: an opcode, or the byte after `CB`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(u16);

impl Symbol {
    pub const fn first(op: u8) -> Self {
        Self(op as u16)
    }

    pub const fn second(op: u8) -> Self {
        Self(0x100 | op as u16)
    }

    pub const fn byte(self) -> u8 {
        self.0 as u8
    }

    /// Whether it stands after `CB`.
    pub const fn is_second(self) -> bool {
        self.0 & 0x100 != 0
    }

    /// Bytes that it adds to a sequence. Those of `CB` are two, whether the second is known or not.
    pub const fn bytes(self) -> usize {
        if self.is_second() {
            0
        } else {
            length(self.byte())
        }
    }
}

/// A symbol, and whether the quick bus leaves its instruction to the whole one. A sequence ends there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Executed {
    pub symbol: Symbol,
    pub missed: bool,
}

/// Runs of instructions that stand and were executed one after the other, with how often.
#[derive(Default)]
pub struct Runs(BTreeMap<Vec<Executed>, u64>);

/// What all instructions of a game weigh beside those of others.
const WEIGHT: u64 = 1 << 40;

fn instructions(run: &[Executed]) -> u64 {
    run.iter().filter(|e| !e.symbol.is_second()).count() as u64
}

impl Runs {
    /// Each run, with how often, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (&Vec<Executed>, u64)> {
        self.0.iter().map(|(run, &times)| (run, times))
    }

    /// Adds the runs of another game, which weighs as much as any other.
    ///
    /// Within it a run weighs as the square root of how often it was executed: what is executed all the
    /// time is what the host predicts by itself, and what every game has its own of.
    pub fn add(&mut self, game: &Runs) {
        let roots = || game.iter().map(|(run, times)| (run, (times << 16).isqrt()));
        let all: u64 = roots().map(|(run, root)| instructions(run) * root).sum();
        for (run, root) in roots() {
            let weight = u128::from(root) * u128::from(WEIGHT) / u128::from(all);
            *self.0.entry(run.clone()).or_insert(0) += weight as u64;
        }
    }

    /// Instructions in all runs.
    pub fn instructions(&self) -> u64 {
        self.iter().map(|(run, times)| instructions(run) * times).sum()
    }
}

/// Plays a ROM and records what it executes.
pub fn record(rom: &Path) -> Result<Runs, Box<dyn Error + Send + Sync>> {
    let rom = Arc::new(Rom::parse(&std::fs::read(rom)?)?);
    let mut machine = GameBoy::new(rom, Profile::Hardware);
    let mut chance = 1;
    let mut recorder = Recorder::default();
    for frame in 0..FRAMES {
        if frame % HOLD == 0 {
            machine.set_buttons(BUTTONS[split_mix(&mut chance) as usize % BUTTONS.len()]);
        }
        if frame % EVERY == EVERY - 1 {
            recorder.frame(&mut machine);
        } else {
            machine.run_frame(false);
        }
    }
    Ok(recorder.runs)
}

#[derive(Default)]
struct Recorder {
    runs: Runs,
    run: Vec<Executed>,
    /// Where the run began, and the one before it.
    start: u16,
    last: (u16, Vec<Executed>),
    /// Where it goes on.
    next: u16,
}

impl Recorder {
    fn frame(&mut self, machine: &mut GameBoy) {
        let frame = machine.frames();
        while machine.frames() == frame {
            let before = machine.registers();
            let code = [0, 1, 2].map(|i| machine.peek(before.pc.wrapping_add(i)));
            machine.run_cycles(1);
            let after = machine.registers();
            let dispatched = before.ime && !after.ime && after.sp == before.sp.wrapping_sub(2);
            if !before.halted && !dispatched && !machine.stuck() {
                self.instruction(&before, code);
            }
        }
        self.end();
    }

    fn instruction(&mut self, r: &Registers, code: [u8; 3]) {
        // Nothing is planned for code in memory.
        let apart = r.pc >= 0x8000;
        if r.pc != self.next || apart || self.run.len() >= LONGEST {
            self.end();
        }
        if self.run.is_empty() {
            self.start = r.pc;
        }
        let missed = misses(r, code);
        self.run
            .push(Executed { symbol: Symbol::first(code[0]), missed: missed && code[0] != PREFIX });
        if code[0] == PREFIX {
            self.run.push(Executed { symbol: Symbol::second(code[1]), missed });
        }
        self.next = r.pc.wrapping_add(length(code[0]) as u16);
        if controls(code[0]) || apart {
            self.end();
        }
    }

    fn end(&mut self) {
        if self.run.is_empty() {
            return;
        }
        let run = (self.start, std::mem::take(&mut self.run));
        // The processor passes loops that only wait (`cpu/idle.rs`) without executing them.
        if run != self.last || !waits(&run.1) {
            *self.runs.0.entry(run.1.clone()).or_insert(0) += 1;
        }
        self.last = run;
    }
}

/// Whether that can be an iteration of a loop that only waits.
fn waits(run: &[Executed]) -> bool {
    match run.iter().map(|e| e.symbol.byte()).collect::<Vec<_>>()[..] {
        [op, 0x20] => op & 0xC7 == 0x05 && op != 0x35,
        [0xF0, test, 0x20 | 0x28 | 0x30 | 0x38] => {
            matches!(test, 0xE6 | 0xFE)
                || matches!(test, 0xA0..=0xA7 | 0xB0..=0xBF) && test & 7 != 6
        }
        _ => false,
    }
}

/// Whether the quick bus of `gb-core` does not serve an access of the instruction: it knows ROM for
/// reading, work RAM and HRAM.
fn misses(r: &Registers, code: [u8; 3]) -> bool {
    let pair = |high, low| u16::from_be_bytes([high, low]);
    let (bc, de, hl) = (pair(r.b, r.c), pair(r.d, r.e), pair(r.h, r.l));
    let immediate = pair(code[2], code[1]);
    let memory = |addr: u16| matches!(addr, 0xC000..=0xDFFF | 0xFF80..=0xFFFE);
    let reads = |addr: u16| !(addr < 0x8000 || memory(addr) || addr == 0xFFFF);
    let writes = |addr: u16| !memory(addr);
    let high = |low: u8| 0xFF00 | u16::from(low);
    match code[0] {
        0x02 => writes(bc),
        0x12 => writes(de),
        0x22 | 0x32 | 0x36 | 0x70..=0x75 | 0x77 | 0x34 | 0x35 => writes(hl),
        0x0A => reads(bc),
        0x1A => reads(de),
        0x2A | 0x3A | 0x46 | 0x4E | 0x56 | 0x5E | 0x66 | 0x6E | 0x7E => reads(hl),
        0x80..=0xBF if code[0] & 7 == 6 => reads(hl),
        PREFIX if code[1] & 7 == 6 => {
            if code[1] >> 6 == 1 {
                reads(hl)
            } else {
                writes(hl)
            }
        }
        0x08 | 0xEA => writes(immediate),
        0xFA => reads(immediate),
        0xE0 => writes(high(code[1])),
        0xF0 => reads(high(code[1])),
        0xE2 => writes(high(r.c)),
        0xF2 => reads(high(r.c)),
        0xC1 | 0xD1 | 0xE1 | 0xF1 | 0xC9 => reads(r.sp),
        0xC5 | 0xD5 | 0xE5 | 0xF5 | 0xCD => writes(r.sp.wrapping_sub(1)),
        op => op == 0xD9 || op == 0x76,
    }
}
