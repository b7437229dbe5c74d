//! Rewards and ends of episodes, declared over the machine's memory and evaluated after each step.

// Fields have at most 48 bits: whole numbers in double precision.
#![allow(clippy::cast_precision_loss)]

use gb_core::GameBoy;

use crate::seed::SplitMix64;

/// The longest field: its values stay exact in the arithmetic of rewards.
pub const MAX_FIELD_BYTES: u8 = 6;

/// The longest field that a seeded start may overwrite.
pub const MAX_RANDOM_BYTES: u8 = 4;

/// Where a seeded start may write: cartridge RAM and work RAM, high RAM.
const WRITABLE: [(u32, u32); 2] = [(0xA000, 0xDFFF), (0xFF80, 0xFFFE)];

/// How the bytes of a field make a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Unsigned binary.
    Uint,
    /// Two's complement.
    Int,
    /// Two decimal digits a byte, the more significant in the high nibble. A nibble above 9 counts
    /// as the number it is, so every byte has a value.
    Bcd,
    /// One bit of the unsigned value, 0 being the least significant.
    Bit(u8),
}

/// A number in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The lowest address.
    pub address: u16,
    /// Bytes, 1 to [`MAX_FIELD_BYTES`].
    pub size: u8,
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
    /// What the bytes mean.
    pub encoding: Encoding,
}

impl Field {
    /// Reads the number through `peek`, address by address (wrapping at 0xFFFF).
    pub fn read(self, peek: impl Fn(u16) -> u8) -> i64 {
        let byte = |k: u8| {
            let offset = if self.big_endian { k } else { self.size - 1 - k };
            i64::from(peek(self.address.wrapping_add(offset.into())))
        };
        match self.encoding {
            Encoding::Bcd => (0..self.size).fold(0, |value, k| {
                let byte = byte(k);
                value * 100 + (byte >> 4) * 10 + (byte & 15)
            }),
            Encoding::Uint => self.binary(byte),
            Encoding::Int => {
                let unused = 64 - 8 * u32::from(self.size);
                self.binary(byte) << unused >> unused
            }
            Encoding::Bit(bit) => self.binary(byte) >> bit & 1,
        }
    }

    fn binary(self, byte: impl Fn(u8) -> i64) -> i64 {
        (0..self.size).fold(0, |value, k| value << 8 | byte(k))
    }

    /// Whether [`Field::randomize`] can write the number: unsigned binary of at most
    /// [`MAX_RANDOM_BYTES`], in RAM of the machine or of the cartridge.
    pub fn can_be_random(self) -> bool {
        let last = u32::from(self.address) + u32::from(self.size) - 1;
        let address = u32::from(self.address);
        let inside = |(low, high): &(u32, u32)| *low <= address && last <= *high;
        self.encoding == Encoding::Uint
            && (1..=MAX_RANDOM_BYTES).contains(&self.size)
            && WRITABLE.iter().any(inside)
    }

    /// Draws a number, each but zero being as likely as any other, and writes it byte by byte
    /// through `poke`.
    fn randomize(self, stream: &mut SplitMix64, mut poke: impl FnMut(u16, u8)) {
        let largest = u32::MAX >> (32 - 8 * u32::from(self.size));
        let value = stream.next_up_to(largest - 1) + 1;
        for k in 0..self.size {
            let place = if self.big_endian { self.size - 1 - k } else { k };
            poke(self.address + u16::from(k), (value >> (8 * place)) as u8);
        }
    }
}

/// A relation between a field's value and a constant, or its value one step earlier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Op {
    /// Equal to the constant.
    Equal(f64),
    /// Different from the constant.
    NotEqual(f64),
    /// Below the constant.
    Less(f64),
    /// Not above the constant.
    LessEqual(f64),
    /// Above the constant.
    Greater(f64),
    /// Not below the constant.
    GreaterEqual(f64),
    /// Different from the step before.
    Changed,
    /// Above the step before.
    Increased,
    /// Below the step before.
    Decreased,
}

/// Something that is true or false after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// Index of the field in [`Program::fields`].
    pub field: usize,
    /// The relation.
    pub op: Op,
}

impl Test {
    #[allow(clippy::float_cmp)] // Both sides are whole numbers or the user's exact constant.
    fn holds(&self, before: &[i64], now: &[i64]) -> bool {
        let (before, now) = (before[self.field], now[self.field]);
        let value = now as f64;
        match self.op {
            Op::Equal(constant) => value == constant,
            Op::NotEqual(constant) => value != constant,
            Op::Less(constant) => value < constant,
            Op::LessEqual(constant) => value <= constant,
            Op::Greater(constant) => value > constant,
            Op::GreaterEqual(constant) => value >= constant,
            Op::Changed => now != before,
            Op::Increased => now > before,
            Op::Decreased => now < before,
        }
    }
}

/// One summand of the reward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Term {
    /// `weight` times the field.
    Value {
        /// Index of the field in [`Program::fields`].
        field: usize,
        /// The factor.
        weight: f64,
    },
    /// `weight` times the field's change since the step before, held within `low..=high`.
    Delta {
        /// Index of the field in [`Program::fields`].
        field: usize,
        /// The factor.
        weight: f64,
        /// The least change that counts.
        low: f64,
        /// The greatest change that counts.
        high: f64,
    },
    /// `weight` when the test holds, else nothing.
    When {
        /// The test.
        test: Test,
        /// The amount.
        weight: f64,
    },
}

impl Term {
    fn amount(&self, before: &[i64], now: &[i64]) -> f64 {
        match *self {
            Term::Value { field, weight } => weight * now[field] as f64,
            Term::Delta { field, weight, low, high } => {
                weight * ((now[field] - before[field]) as f64).max(low).min(high)
            }
            Term::When { test, weight } => {
                if test.holds(before, now) {
                    weight
                } else {
                    0.0
                }
            }
        }
    }
}

/// A whole task. The empty one pays nothing and never ends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    /// The numbers that the rest refers to by index.
    pub fields: Vec<Field>,
    /// The summands of the reward, added in this order in double precision.
    pub reward: Vec<Term>,
    /// The episode is over when one of these holds.
    pub terminated: Vec<Test>,
    /// The episode is cut off when one of these holds.
    pub truncated: Vec<Test>,
    /// The episode is cut off after so many steps.
    pub max_steps: Option<u64>,
    /// The fields reported after each step.
    pub info: Vec<usize>,
    /// The fields that every seeded start overwrites by chance, in this order; each for which
    /// [`Field::can_be_random`].
    pub randomized: Vec<usize>,
}

impl Program {
    /// Ends a seeded start: overwrites the fields of [`Program::randomized`].
    pub fn randomize(&self, machine: &mut GameBoy, stream: &mut SplitMix64) {
        for &field in &self.randomized {
            self.fields[field].randomize(stream, |address, byte| machine.poke(address, byte));
        }
    }
}

/// What one step of one environment brought.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outcome {
    /// The reward.
    pub reward: f32,
    /// The episode reached its end.
    pub terminated: bool,
    /// The episode was cut off.
    pub truncated: bool,
}

/// The memory of a task in one environment: the fields as they were, the steps so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tracker {
    before: Vec<i64>,
    now: Vec<i64>,
    steps: u64,
}

impl Tracker {
    /// Starts an episode at the machine's present memory, so that the first step pays only for
    /// changes of its own.
    pub fn begin(&mut self, program: &Program, machine: &GameBoy) {
        self.steps = 0;
        self.read(program, machine);
    }

    /// Ends a step: compares the machine's memory with what it was.
    pub fn advance(&mut self, program: &Program, machine: &GameBoy) -> Outcome {
        std::mem::swap(&mut self.before, &mut self.now);
        self.read(program, machine);
        self.steps += 1;
        let any = |tests: &[Test]| tests.iter().any(|test| test.holds(&self.before, &self.now));
        let amounts = program.reward.iter().map(|term| term.amount(&self.before, &self.now));
        // From plus zero: `sum` would make an empty reward minus zero.
        let reward = amounts.fold(0.0, |total, amount| total + amount);
        Outcome {
            reward: reward as f32,
            terminated: any(&program.terminated),
            truncated: any(&program.truncated)
                || program.max_steps.is_some_and(|most| self.steps >= most),
        }
    }

    /// Writes the fields that [`Program::info`] names, as of the last step or the start.
    pub fn report(&self, program: &Program, out: &mut [i64]) {
        for (slot, &field) in out.iter_mut().zip(&program.info) {
            *slot = self.now[field];
        }
    }

    fn read(&mut self, program: &Program, machine: &GameBoy) {
        self.now.clear();
        self.now.extend(program.fields.iter().map(|f| f.read(|address| machine.peek(address))));
    }
}

#[cfg(test)]
mod tests {
    use super::{Encoding, Field, Op, SplitMix64, Term, Test};

    fn read(encoding: Encoding, big_endian: bool, bytes: &[u8]) -> i64 {
        let field = Field { address: 0xC000, size: bytes.len() as u8, big_endian, encoding };
        field.read(|address| bytes[usize::from(address - 0xC000)])
    }

    #[test]
    fn fields_decode_every_encoding_in_both_byte_orders() {
        assert_eq!(read(Encoding::Uint, false, &[0x34, 0x12]), 0x1234);
        assert_eq!(read(Encoding::Uint, true, &[0x34, 0x12]), 0x3412);
        assert_eq!(read(Encoding::Uint, false, &[0xFF; 6]), (1 << 48) - 1);
        assert_eq!(read(Encoding::Int, false, &[0xFE]), -2);
        assert_eq!(read(Encoding::Int, true, &[0xFF, 0x00]), -256);
        assert_eq!(read(Encoding::Int, false, &[0xFF; 6]), -1);
        assert_eq!(read(Encoding::Int, false, &[0xFF, 0x7F]), 0x7FFF);
        assert_eq!(read(Encoding::Bcd, true, &[0x12, 0x34, 0x56]), 123_456);
        assert_eq!(read(Encoding::Bcd, false, &[0x12, 0x34, 0x56]), 563_412);
        assert_eq!(read(Encoding::Bcd, false, &[0x0A]), 10);
        assert_eq!(read(Encoding::Bit(3), false, &[0b1000]), 1);
        assert_eq!(read(Encoding::Bit(3), false, &[0b0111]), 0);
        assert_eq!(read(Encoding::Bit(8), false, &[0, 1]), 1);
    }

    #[test]
    fn a_field_at_the_end_of_memory_wraps() {
        let field = Field { address: 0xFFFF, size: 2, big_endian: false, encoding: Encoding::Uint };
        assert_eq!(field.read(|address| u8::from(address == 0)), 0x100);
    }

    #[test]
    fn random_numbers_are_never_zero_and_reach_every_byte() {
        for size in 1..=4 {
            let mut seen = [0u8; 4];
            for seed in 0..2000 {
                let big_endian = seed % 2 == 0;
                let field = Field { address: 0xFF80, size, big_endian, encoding: Encoding::Uint };
                assert!(field.can_be_random());
                let mut bytes = [0; 4];
                let mut stream = SplitMix64::new(seed);
                field.randomize(&mut stream, |address, byte| {
                    bytes[usize::from(address - 0xFF80)] = byte;
                });
                let value = field.read(|address| bytes[usize::from(address - 0xFF80)]);
                let most = (1u128 << (8 * size)) - 1;
                let drawn = u128::from(SplitMix64::new(seed).next_u64());
                assert_eq!(value as u128, (drawn * most >> 64) + 1);
                seen.iter_mut().zip(bytes).for_each(|(seen, byte)| *seen |= byte);
            }
            assert!(seen.iter().enumerate().all(|(k, &bits)| (k < size.into()) == (bits == 0xFF)));
        }
    }

    #[test]
    fn only_short_unsigned_numbers_in_ram_can_be_random() {
        let field = |address, size, encoding| Field { address, size, big_endian: false, encoding };
        for (address, size, encoding, expected) in [
            (0xC000, 4, Encoding::Uint, true),
            (0xA000, 1, Encoding::Uint, true),
            (0xDFFE, 2, Encoding::Uint, true),
            (0xFFFB, 4, Encoding::Uint, true),
            (0x9FFF, 2, Encoding::Uint, false),
            (0xDFFF, 2, Encoding::Uint, false),
            (0xFFFC, 4, Encoding::Uint, false),
            (0xFF7F, 1, Encoding::Uint, false),
            (0xFFFF, 1, Encoding::Uint, false),
            (0xC000, 5, Encoding::Uint, false),
            (0xC000, 2, Encoding::Int, false),
            (0xC000, 2, Encoding::Bcd, false),
            (0xC000, 2, Encoding::Bit(0), false),
        ] {
            let got = field(address, size, encoding).can_be_random();
            assert_eq!(got, expected, "{address:04X}, {size} bytes, {encoding:?}");
        }
    }

    #[test]
    fn tests_compare_with_constants_and_with_the_step_before() {
        let holds = |op, before, now| Test { field: 0, op }.holds(&[before], &[now]);
        for (op, lower, same, higher) in [
            (Op::Equal(5.0), false, true, false),
            (Op::NotEqual(5.0), true, false, true),
            (Op::Less(5.0), true, false, false),
            (Op::LessEqual(5.0), true, true, false),
            (Op::Greater(5.0), false, false, true),
            (Op::GreaterEqual(5.0), false, true, true),
            (Op::Changed, true, false, true),
            (Op::Increased, false, false, true),
            (Op::Decreased, true, false, false),
        ] {
            assert_eq!([4, 5, 6].map(|now| holds(op, 5, now)), [lower, same, higher], "{op:?}");
        }
    }

    #[test]
    fn terms_weigh_values_clip_changes_and_pay_for_tests() {
        let value = Term::Value { field: 1, weight: 0.5 };
        assert_eq!(value.amount(&[0, 0], &[0, 7]).to_bits(), 3.5f64.to_bits());
        let delta = |low, high| Term::Delta { field: 0, weight: 2.0, low, high };
        let unbounded = delta(f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(unbounded.amount(&[10], &[3]).to_bits(), (-14.0f64).to_bits());
        assert_eq!(delta(0.0, 4.0).amount(&[10], &[3]).to_bits(), 0f64.to_bits());
        assert_eq!(delta(0.0, 4.0).amount(&[10], &[30]).to_bits(), 8f64.to_bits());
        let when = Term::When { test: Test { field: 0, op: Op::Changed }, weight: -3.0 };
        assert_eq!(when.amount(&[1], &[2]).to_bits(), (-3.0f64).to_bits());
        assert_eq!(when.amount(&[2], &[2]).to_bits(), 0f64.to_bits());
    }
}
