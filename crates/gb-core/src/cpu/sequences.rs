//! Sequences of instructions that are executed as one.
//!
//! What costs an interpreter most is that the host mispredicts which instruction's code comes next:
//! it remembers some 1,500 places of a program at once, and a frame of a game visits more. A sequence
//! is one place, however many instructions it has, and within it the compiler knows them all.
//!
//! A sequence names opcodes, not operands, but for `CB`, which is followed by the byte that names
//! the instruction; only where that byte is any, `CB` stands last. It has at most 8 bytes of
//! program, which is what a handler gets, and nothing follows an instruction that may jump. Between
//! two instructions the countdown is looked at, so that a sequence ends where an interrupt may
//! come, and it ends with an instruction that a quick bus does not serve.
//!
//! `bench/sequences` finds those that save most in games and writes [`list`] (`make sequences`).

use super::{
    access::{Access, At},
    exec::{first, Handler, Table, Turn},
    opcode::{controls, length, PREFIX},
    Cpu,
};

/// Numbers of plans: the opcodes, then the sequences.
pub(super) const PLANS: usize = 2048;

/// The instructions of a handler from the first of the given opcodes on.
macro_rules! steps {
    ($turn:ident $cpu:ident $bus:ident 0xCB) => {{
        let Turn { code, at, .. } = $turn;
        first::<A, 0xCB>($cpu, $bus, code, at)
    }};
    ($turn:ident $cpu:ident $bus:ident 0xCB $second:tt $($rest:tt)*) => {
        steps!(@ $turn $cpu $bus { $turn.prefixed::<$second>() } $($rest)*)
    };
    ($turn:ident $cpu:ident $bus:ident $op:tt $($rest:tt)*) => {
        steps!(@ $turn $cpu $bus { $turn.instruction::<$op>() } $($rest)*)
    };
    (@ $turn:ident $cpu:ident $bus:ident $execute:block $($rest:tt)*) => {{
        let (code, at) = ($turn.code, $turn.at);
        if let Err(miss) = $execute {
            return A::elsewhere($cpu, $bus, miss, code, at);
        }
        steps!(# $turn $cpu $bus $($rest)*)
    }};
    (# $turn:ident $cpu:ident $bus:ident) => { $turn.at };
    (# $turn:ident $cpu:ident $bus:ident $($rest:tt)+) => {{
        if $turn.at.over() {
            return $turn.at;
        }
        $turn.code >>= 8;
        steps!($turn $cpu $bus $($rest)+)
    }};
}

/// The handler of a sequence.
macro_rules! handler {
    ($($op:tt)+) => {{
        fn run<A: Access>(cpu: &mut Cpu, bus: &mut A, code: u64, at: At) -> At {
            let mut turn = Turn { cpu: &mut *cpu, bus: &mut *bus, code, at };
            steps!(turn cpu bus $($op)+)
        }
        run::<A>
    }};
}

/// Defines [`SEQUENCES`] and the table of what is executed by plan.
macro_rules! sequences {
    ($([$($op:tt)+])+) => {
        use super::{first, Access, At, Cpu, Handler, Table, Turn, PLANS};

        /// The opcodes of each sequence.
        pub(in super::super) const SEQUENCES: &[&[u8]] = &[$(&[$($op),+]),+];

        impl<A: Access> Table<A> {
            /// By plan: an opcode, or 256 more than the index of a sequence.
            pub(in super::super) const PLANNED: [Handler<A>; PLANS] = {
                let mut table = [first::<A, 0> as Handler<A>; PLANS];
                let sequences: &[Handler<A>] = &[$(handler!($($op)+)),+];
                let mut i = 0;
                while i < 256 {
                    table[i] = Table::<A>::FIRST[i];
                    i += 1;
                }
                while i < 256 + sequences.len() {
                    table[i] = sequences[i - 256];
                    i += 1;
                }
                table
            };
        }
    };
}

mod list;

pub(super) use list::SEQUENCES;

/// Whether a sequence keeps to the rules above.
const fn fits(ops: &[u8]) -> bool {
    let (mut at, mut bytes) = (0, 0);
    while at < ops.len() {
        let op = ops[at];
        bytes += length(op);
        at += if op == PREFIX { 2 } else { 1 };
        if controls(op) && at < ops.len() {
            return false;
        }
    }
    ops.len() > 1 && bytes <= size_of::<u64>()
}

const _: () = {
    assert!(256 + SEQUENCES.len() <= PLANS);
    let mut i = 0;
    while i < SEQUENCES.len() {
        assert!(fits(SEQUENCES[i]));
        i += 1;
    }
};
