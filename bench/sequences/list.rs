//! The file with the list.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use crate::choose::Sequence;
use crate::opcode::PREFIX;
use crate::record::Symbol;

const HEAD: &str = "\
//! The sequences, those that save most first. Written by `make sequences` (`bench/sequences`).

sequences! {";

/// Columns of a line.
const WIDTH: usize = 98;

/// Reads the list in a file.
pub fn read(file: &Path) -> Result<Vec<Sequence>, Box<dyn Error>> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let bracketed = text.split('[').skip(1).filter_map(|part| part.split(']').next());
    bracketed.map(|ops| parse(ops).map_err(|e| format!("[{ops}]: {e}").into())).collect()
}

fn parse(ops: &str) -> Result<Sequence, std::num::ParseIntError> {
    let mut sequence = Sequence::new();
    for op in ops.split_whitespace() {
        let byte = u8::from_str_radix(op.trim_start_matches("0x"), 16)?;
        let prefixed = sequence.last() == Some(&Symbol::first(PREFIX));
        sequence.push(if prefixed { Symbol::second(byte) } else { Symbol::first(byte) });
    }
    Ok(sequence)
}

/// Writes the list to a file.
pub fn write(file: &Path, sequences: &[Sequence]) -> Result<(), Box<dyn Error>> {
    let mut text = String::from(HEAD);
    let mut column = WIDTH;
    for sequence in sequences {
        let ops: Vec<String> = sequence.iter().map(|s| format!("0x{:02X}", s.byte())).collect();
        let item = format!("[{}]", ops.join(" "));
        if column + 1 + item.len() > WIDTH {
            write!(text, "\n    {item}")?;
            column = 4 + item.len();
        } else {
            write!(text, " {item}")?;
            column += 1 + item.len();
        }
    }
    text.push_str("\n}\n");
    Ok(std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))?)
}
