//! What is executed at each place of a program.

use std::sync::LazyLock;

use super::sequences::SEQUENCES;

/// Bytes of a bank of ROM.
pub(crate) const BANK: usize = 0x4000;

/// For each byte of a bank, what is executed if the program comes there: an opcode, or 256 more than the
/// index of one of the [`SEQUENCES`].
pub(crate) type Plan = [u16; BANK];

/// The plan of no bank.
pub(crate) static UNPLANNED: Plan = [0; BANK];

/// Bytes of the instruction with that opcode.
const fn length(op: u8) -> usize {
    match op {
        0x01 | 0x11 | 0x21 | 0x31 | 0x08 | 0xC2 | 0xC3 | 0xCA | 0xD2 | 0xDA | 0xC4 | 0xCC
        | 0xCD | 0xD4 | 0xDC | 0xEA | 0xFA => 3,
        0x06 | 0x0E | 0x16 | 0x1E | 0x26 | 0x2E | 0x36 | 0x3E | 0xC6 | 0xCE | 0xD6 | 0xDE
        | 0xE6 | 0xEE | 0xF6 | 0xFE | 0x10 | 0x18 | 0x20 | 0x28 | 0x30 | 0x38 | 0xCB | 0xE0
        | 0xF0 | 0xE8 | 0xF8 => 2,
        _ => 1,
    }
}

/// A tree of the sequences by opcode.
struct Node {
    planned: u16,
    next: [u16; 256],
}

static TREE: LazyLock<Vec<Node>> = LazyLock::new(|| {
    let mut tree = vec![Node { planned: 0, next: [0; 256] }];
    for (i, sequence) in SEQUENCES.iter().enumerate() {
        let mut at = 0;
        for &op in *sequence {
            let next = usize::from(tree[at].next[usize::from(op)]);
            at = if next == 0 {
                let new = tree.len();
                tree[at].next[usize::from(op)] = new as u16;
                tree.push(Node { planned: 0, next: [0; 256] });
                new
            } else {
                next
            };
        }
        tree[at].planned = 256 + i as u16;
    }
    tree
});

/// Plans a ROM, bank by bank: at every byte the longest sequence that begins there and ends in its bank,
/// or else the instruction.
pub(crate) fn plan(rom: &[u8]) -> Box<[u16]> {
    rom.chunks(BANK).flat_map(|bank| (0..bank.len()).map(|start| plan_place(bank, start))).collect()
}

fn plan_place(bank: &[u8], start: usize) -> u16 {
    let tree = &*TREE;
    let mut planned = u16::from(bank[start]);
    let (mut at, mut node) = (start, 0);
    while let Some(&op) = bank.get(at) {
        node = usize::from(tree[node].next[usize::from(op)]);
        if node == 0 {
            break;
        }
        at += length(op);
        if tree[node].planned != 0 && at <= bank.len() {
            planned = tree[node].planned;
        }
    }
    planned
}
