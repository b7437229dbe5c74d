//! A sequence does what its instructions do one by one, wherever an access misses and whenever the
//! countdown ends.

use super::super::opcode::{length, PREFIX};
use super::super::sequences::SEQUENCES;
use super::super::{At, Cpu};
use super::bus::{registers, Memory, Picky};
use super::Choices;

const PC: u16 = 0x4321;

/// Registers and operands that each sequence is tried with.
const TRIES: usize = if cfg!(debug_assertions) { 1 } else { 4 };

/// One way to execute a program: what is planned at once, or an instruction at a time.
struct Run {
    cpu: Cpu,
    bus: Picky,
    at: At,
    instructions: usize,
}

impl Run {
    fn new(cpu: &Cpu, memory: &Memory, served: usize, countdown: i64) -> Self {
        let (cpu, bus) = (cpu.clone(), Picky::new(memory.clone(), served));
        Self { cpu, bus, at: At::new(PC, countdown), instructions: 0 }
    }

    fn at_once(mut self, plan: u16, code: u64) -> Self {
        self.at = self.cpu.execute_planned(&mut self.bus, plan, code, self.at);
        self
    }

    fn one_by_one(mut self, code: &[u8]) -> Self {
        let mut rest = code;
        while !rest.is_empty() {
            self.at = self.cpu.execute(&mut self.bus, word(rest), self.at);
            self.instructions += 1;
            if self.bus.left.is_some() || self.at.over() {
                break;
            }
            rest = &rest[length(rest[0])..];
        }
        self
    }

    /// Panics where two runs differ.
    fn check(&self, other: &Self, name: &str) {
        assert_eq!(registers(&self.cpu), registers(&other.cpu), "{name}");
        assert_eq!(
            (self.at.pc(), self.at.countdown(), &self.bus.left),
            (other.at.pc(), other.at.countdown(), &other.bus.left),
            "{name}"
        );
        assert!(self.bus.whole.memory.equals(&other.bus.whole.memory), "{name}: memory");
    }
}

/// The bytes as a handler gets them.
fn word(code: &[u8]) -> u64 {
    code.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// How many instructions a sequence has.
fn instructions(sequence: &[u8]) -> usize {
    let mut ops = sequence.iter();
    let mut n = 0;
    while let Some(&op) = ops.next() {
        n += 1;
        if op == PREFIX {
            ops.next();
        }
    }
    n
}

#[test]
fn a_sequence_is_its_instructions_one_by_one() {
    let mut choices = Choices(2);
    let (mut missed, mut cut) = (0, 0);
    for (plan, sequence) in (256u16..).zip(SEQUENCES) {
        let name = format!("{sequence:02X?}");
        for _ in 0..TRIES {
            let cpu = choices.cpu();
            let code = choices.instance(sequence);
            let mut memory = Memory::default();
            for (addr, &byte) in (PC..).zip(&code) {
                memory.set(addr, byte);
            }
            let both = |served, countdown| {
                let one_by_one = Run::new(&cpu, &memory, served, countdown).one_by_one(&code);
                let at_once = Run::new(&cpu, &memory, served, countdown).at_once(plan, word(&code));
                at_once.check(&one_by_one, &name);
                one_by_one
            };
            for served in 0..32 {
                if both(served, -10_000).bus.left.is_none() {
                    break;
                }
                missed += 1;
            }
            for mcycles in 0.. {
                let run = both(usize::MAX, -4 * mcycles - 1 - choices.below(4) as i64);
                if run.bus.left.is_some() || !run.at.over() {
                    break;
                }
                cut += usize::from(run.instructions < instructions(sequence));
            }
        }
    }
    assert!(SEQUENCES.len() >= 1_000, "{} sequences", SEQUENCES.len());
    assert!(missed > SEQUENCES.len() * TRIES, "{missed} misses");
    assert!(cut > SEQUENCES.len() * TRIES, "{cut} cut short");
}
