//! Which sequence a place gets.

use super::super::opcode::{length, PREFIX};
use super::super::plan::{plan, BANK};
use super::super::sequences::{PLANS, SEQUENCES};
use super::Choices;

/// Bytes of the sequence if it stands at the start of `bytes` as a whole.
fn stands(sequence: &[u8], bytes: &[u8]) -> Option<usize> {
    let (mut at, mut end) = (0, 0);
    let mut prefixed = false;
    for &op in sequence {
        if bytes.get(at) != Some(&op) {
            return None;
        }
        end = if prefixed { at + 1 } else { at + length(op) };
        prefixed = op == PREFIX && !prefixed;
        at = if prefixed { at + 1 } else { end };
    }
    (end <= bytes.len()).then_some(end)
}

/// The plan of a place, found by trying all sequences.
fn longest(bytes: &[u8]) -> u16 {
    let standing = (256..).zip(SEQUENCES).filter(|(_, s)| stands(s, bytes).is_some());
    standing.max_by_key(|(_, s)| s.len()).map_or(u16::from(bytes[0]), |(plan, _)| plan)
}

/// A bank of sequences, one after the other.
fn dense(choices: &mut Choices) -> Vec<u8> {
    let mut bank = Vec::new();
    while bank.len() < BANK {
        let sequence = choices.one_of(SEQUENCES);
        bank.extend(choices.instance(sequence));
    }
    bank.truncate(BANK);
    bank
}

#[test]
fn every_place_gets_the_longest_sequence_that_stands_there() {
    let mut choices = Choices(3);
    let data: Vec<u8> = (0..BANK).map(|_| choices.byte()).collect();
    let rom = [dense(&mut choices), data].concat();
    let planned = plan(&rom);
    assert_eq!(planned.len(), rom.len());
    let mut sequences = [0, 0];
    for (at, &plan) in planned.iter().enumerate() {
        let bank = at / BANK;
        assert_eq!(plan, longest(&rom[at..(bank + 1) * BANK]), "{at:04X}");
        assert!(usize::from(plan) < PLANS);
        sequences[bank] += usize::from(plan >= 256);
    }
    // Data looks like code here and there.
    assert!(sequences[0] > BANK / 4 && sequences[1] > 100, "{sequences:?} sequences");
}

#[test]
fn a_sequence_is_planned_at_the_end_of_a_bank_only_if_it_ends_there() {
    let mut choices = Choices(4);
    for (number, sequence) in (256..).zip(SEQUENCES) {
        let code = choices.instance(sequence);
        let start = BANK - code.len();
        let mut rom = vec![0xFF; 2 * BANK];
        rom[start..BANK].copy_from_slice(&code);
        assert_eq!(plan(&rom)[start], number, "{sequence:02X?} at the end");
        let mut rom = vec![0xFF; 2 * BANK];
        rom[start + 1..][..code.len()].copy_from_slice(&code);
        let planned = plan(&rom)[start + 1];
        assert_ne!(planned, number, "{sequence:02X?} in two banks");
        assert_eq!(planned, longest(&rom[start + 1..BANK]), "{sequence:02X?} in two banks");
    }
}

#[test]
fn a_program_without_sequences_is_planned_by_its_opcodes() {
    let rom = [0xD3; BANK];
    assert!(plan(&rom).iter().all(|&plan| plan == 0xD3));
}
