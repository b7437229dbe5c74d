//! What is executed at each place of a program.
//!
//! A place has one plan, wherever the program comes from: the longest sequence whose opcodes stand
//! there. So bytes that are data, or the middle of an instruction, have one too, which is right if the
//! program should jump there and costs nothing otherwise.

use std::ops::Range;
use std::sync::LazyLock;

use super::{
    opcode::{length, PREFIX},
    sequences::SEQUENCES,
};

/// Bytes of a bank of ROM.
pub(crate) const BANK: usize = 0x4000;

/// For each byte of a bank, what is executed if the program comes there: an opcode, or 256 more than the
/// index of one of the [`SEQUENCES`].
pub(crate) type Plan = [u16; BANK];

/// The plan of no bank.
pub(crate) static UNPLANNED: Plan = [0; BANK];

/// How sequences go on, after some opcodes: by which opcodes, and the nodes after these, which stand one
/// after the other.
#[derive(Default)]
struct Node {
    /// The plan if the sequence ends here; else none.
    planned: u16,
    first_child: u16,
    /// Children before each quarter of the opcodes.
    before: [u8; 4],
    /// The opcodes with a child, a bit each.
    children: [u64; 4],
}

impl Node {
    #[inline]
    fn child(&self, op: u8) -> Option<u16> {
        let (quarter, bit) = (usize::from(op >> 6), 1 << (op & 63));
        let children = self.children[quarter];
        (children & bit != 0).then(|| {
            let before = (children & (bit - 1)).count_ones() as u16;
            self.first_child + u16::from(self.before[quarter]) + before
        })
    }
}

/// The sequences by opcode, from the root at 0.
static TREE: LazyLock<Vec<Node>> = LazyLock::new(|| grow(SEQUENCES));

fn grow(sequences: &[&[u8]]) -> Vec<Node> {
    let mut sorted: Vec<(&[u8], u16)> = sequences.iter().copied().zip(256..).collect();
    sorted.sort_unstable();
    let mut tree = vec![Node::default()];
    // For each node that has none yet, the sequences that reach it and its depth.
    let mut open: std::collections::VecDeque<(usize, Range<usize>, usize)> =
        [(0, 0..sorted.len(), 0)].into();
    while let Some((node, mut reached, depth)) = open.pop_front() {
        let ends = |&(ops, plan): &(&[u8], u16)| (ops.len() == depth).then_some(plan);
        let mut grown = Node { first_child: tree.len() as u16, ..Node::default() };
        // The shortest comes first.
        if let Some(plan) = sorted.get(reached.start).and_then(ends) {
            grown.planned = plan;
            reached.start += 1;
        }
        while let Some(&(ops, _)) = sorted[reached.clone()].first() {
            let op = ops[depth];
            let n = sorted[reached.clone()].partition_point(|(ops, _)| ops[depth] == op);
            grown.children[usize::from(op >> 6)] |= 1 << (op & 63);
            open.push_back((tree.len(), reached.start..reached.start + n, depth + 1));
            tree.push(Node::default());
            reached.start += n;
        }
        let mut before = 0;
        for (quarter, &children) in grown.children.iter().enumerate() {
            grown.before[quarter] = before;
            before = before.wrapping_add(children.count_ones() as u8);
        }
        tree[node] = grown;
    }
    tree
}

/// Plans a ROM, bank by bank: at every byte the longest sequence that begins there and ends in its bank,
/// or else the instruction.
pub(crate) fn plan(rom: &[u8]) -> Box<[u16]> {
    let tree = &*TREE;
    let mut plans = Vec::with_capacity(rom.len());
    for bank in rom.chunks(BANK) {
        plans.extend((0..bank.len()).map(|start| plan_place(tree, &bank[start..])));
    }
    plans.into()
}

/// The plan for the first of some bytes of a bank, of which there is at least one.
#[inline]
fn plan_place(tree: &[Node], bytes: &[u8]) -> u16 {
    let mut planned = u16::from(bytes[0]);
    let (mut at, mut node) = (0, 0);
    // The byte after `CB` is an opcode as well.
    let mut prefixed = false;
    while let Some(&op) = bytes.get(at) {
        let Some(child) = tree[node].child(op) else { break };
        node = usize::from(child);
        let ends = at + if prefixed { 1 } else { length(op) };
        at += if prefixed || op == PREFIX { 1 } else { length(op) };
        prefixed = op == PREFIX && !prefixed;
        if tree[node].planned != 0 && ends <= bytes.len() {
            planned = tree[node].planned;
        }
    }
    planned
}
