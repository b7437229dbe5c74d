//! Tasks as `hybridenv.task` hands them over: tuples, checked there for meaning, here for form.

use pyo3::prelude::*;

use super::errors::TaskError;
use crate::task::{Encoding, Field, Op, Program, Term, Test, MAX_FIELD_BYTES, MAX_RANDOM_BYTES};

/// Address, bytes, big-endian, kind, bit.
type RawField = (u16, u8, bool, String, u8);
/// Field, operator, constant.
type RawTest = (usize, String, f64);

/// A summand of the reward, told apart by its types.
#[derive(FromPyObject)]
enum RawTerm {
    /// Field, weight, low, high.
    Delta(usize, f64, f64, f64),
    /// Field, weight.
    Value(usize, f64),
    /// Test, weight.
    When(RawTest, f64),
}

/// A task in tuples.
#[derive(FromPyObject)]
pub struct RawTask(
    Vec<RawField>,
    Vec<RawTerm>,
    Vec<RawTest>,
    Vec<RawTest>,
    Option<u64>,
    Vec<usize>,
    Vec<usize>,
);

impl RawTask {
    /// The program.
    ///
    /// # Errors
    /// `TaskError` for an unknown name, a size out of range, an index of no field, or a field that
    /// cannot be random.
    pub fn compile(self) -> PyResult<Program> {
        let Self(fields, reward, terminated, truncated, max_steps, info, randomized) = self;
        let count = fields.len();
        let index = |field: usize| {
            if field < count {
                Ok(field)
            } else {
                Err(TaskError::new_err(format!("task: got field {field} of {count}")))
            }
        };
        let test = |(field, op, value): RawTest| {
            Ok::<_, PyErr>(Test { field: index(field)?, op: operator(&op, value)? })
        };
        let term = |raw: RawTerm| {
            Ok::<_, PyErr>(match raw {
                RawTerm::Value(field, weight) => Term::Value { field: index(field)?, weight },
                RawTerm::Delta(field, weight, low, high) => {
                    Term::Delta { field: index(field)?, weight, low, high }
                }
                RawTerm::When(raw, weight) => Term::When { test: test(raw)?, weight },
            })
        };
        let tests = |raw: Vec<RawTest>| raw.into_iter().map(test).collect::<PyResult<Vec<_>>>();
        let fields = fields.into_iter().map(field).collect::<PyResult<Vec<_>>>()?;
        let random = |k: usize| {
            let field = fields[index(k)?];
            if field.can_be_random() {
                Ok(k)
            } else {
                Err(TaskError::new_err(format!(
                    "randomize: got {field:X?}, expected an unsigned number of 1 to \
                     {MAX_RANDOM_BYTES} bytes in A000-DFFF or FF80-FFFE"
                )))
            }
        };
        Ok(Program {
            randomized: randomized.into_iter().map(random).collect::<PyResult<_>>()?,
            fields,
            reward: reward.into_iter().map(term).collect::<PyResult<_>>()?,
            terminated: tests(terminated)?,
            truncated: tests(truncated)?,
            max_steps,
            info: info.into_iter().map(index).collect::<PyResult<_>>()?,
        })
    }
}

fn field((address, size, big_endian, kind, bit): RawField) -> PyResult<Field> {
    if !(1..=MAX_FIELD_BYTES).contains(&size) {
        return Err(TaskError::new_err(format!(
            "field: got size {size}, expected 1 to {MAX_FIELD_BYTES} bytes"
        )));
    }
    let encoding = match kind.as_str() {
        "uint" => Encoding::Uint,
        "int" => Encoding::Int,
        "bcd" => Encoding::Bcd,
        "bit" if bit < 8 * size => Encoding::Bit(bit),
        _ => {
            return Err(TaskError::new_err(format!(
            "field: got kind {kind:?} (bit {bit}), expected uint, int, bcd or a bit of the field"
        )))
        }
    };
    Ok(Field { address, size, big_endian, encoding })
}

fn operator(name: &str, value: f64) -> PyResult<Op> {
    Ok(match name {
        "==" => Op::Equal(value),
        "!=" => Op::NotEqual(value),
        "<" => Op::Less(value),
        "<=" => Op::LessEqual(value),
        ">" => Op::Greater(value),
        ">=" => Op::GreaterEqual(value),
        "changed" => Op::Changed,
        "increased" => Op::Increased,
        "decreased" => Op::Decreased,
        _ => {
            return Err(TaskError::new_err(format!(
                "compare: got op {name:?}, expected ==, !=, <, <=, >, >=, changed, increased or \
                 decreased"
            )))
        }
    })
}
