//! The two rules that quick buses rely on, and all sequences.

mod bus;
mod machines;
mod misses;
mod plans;
mod sequences;

use crate::split_mix::split_mix;

use super::{Cpu, Flags, Pair};

/// A stream of reproducible choices.
struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn byte(&mut self) -> u8 {
        self.next() as u8
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// A processor with random registers.
    fn cpu(&mut self) -> Cpu {
        Cpu {
            a: self.byte(),
            flags: Flags::from_byte(self.byte()),
            bc: Pair::new(self.next() as u16),
            de: Pair::new(self.next() as u16),
            hl: Pair::new(self.next() as u16),
            sp: self.next() as u16,
            ime: self.byte() & 1 != 0,
            ..Cpu::default()
        }
    }

    /// Machine code: the given opcodes with random operands.
    fn instance(&mut self, sequence: &[u8]) -> Vec<u8> {
        let mut code = Vec::new();
        let mut ops = sequence.iter();
        while let Some(&op) = ops.next() {
            code.push(op);
            match op {
                super::opcode::PREFIX => {
                    let any = self.byte();
                    code.push(ops.next().copied().unwrap_or(any));
                }
                // Often as far as a loop that waits goes back.
                0x20 | 0x28 | 0x30 | 0x38 => {
                    let far = self.byte() as i8;
                    code.push(self.one_of(&[-3, -5, -6, 2, far]) as u8);
                }
                0xF0 => {
                    let low = self.byte();
                    code.push(self.one_of(&[0x41, 0x44, 0x80 | low, low]));
                }
                _ => code.extend((1..super::opcode::length(op)).map(|_| self.byte())),
            }
        }
        code
    }
}
