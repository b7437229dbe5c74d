//! An instruction that misses an access has changed no register, and is executed elsewhere as if it
//! had not begun here.

use std::collections::BTreeSet;

use super::super::{At, Cpu};
use super::bus::{registers, Memory, Picky, Registers, Whole};
use super::Choices;

/// Where the program is, and how long before the end of the countdown.
const PC: u16 = 0x4321;
const COUNTDOWN: i64 = -1_000;

/// Tries per opcode; conditions hold in some of them.
const TRIES: usize = 32;

struct Outcome {
    registers: Registers,
    pc: u16,
    countdown: i64,
    memory: Memory,
}

/// Executes one instruction on the whole bus.
fn elsewhere(mut cpu: Cpu, code: u64) -> Outcome {
    let mut bus = Whole::default();
    let pc = cpu.execute(&mut bus, code & 0x00FF_FFFF, At::new(PC, 0)).pc();
    let countdown = COUNTDOWN + bus.clock as i64;
    Outcome { registers: registers(&cpu), pc, countdown, memory: bus.memory }
}

/// Executes one instruction where `served` accesses are served, and checks what it did.
fn check(name: &str, cpu: &Cpu, code: u64, served: usize) -> Picky {
    let mut bus = Picky::new(Memory::default(), served);
    let mut after = cpu.clone();
    let at = after.execute(&mut bus, code, At::new(PC, COUNTDOWN));
    if let Some(left) = &bus.left {
        assert_eq!(left.registers, registers(cpu), "{name}: registers at the miss");
        assert_eq!((left.code, left.pc, left.countdown), (code, PC, COUNTDOWN), "{name}");
    }
    let expected = elsewhere(cpu.clone(), code);
    assert_eq!(registers(&after), expected.registers, "{name}: registers");
    assert_eq!((at.pc(), at.countdown()), (expected.pc, expected.countdown), "{name}: place");
    assert!(bus.whole.memory.equals(&expected.memory), "{name}: memory");
    bus
}

#[test]
fn a_miss_leaves_the_registers_as_they_were() {
    let mut choices = Choices(1);
    let mut missed = BTreeSet::new();
    let mut whole = BTreeSet::new();
    for op in (0..512u64).filter(|&op| op != 0xCB) {
        for _ in 0..TRIES {
            let code = match op {
                0..256 => choices.next() & !0xFF | op,
                _ => choices.next() & !0xFFFF | (op & 0xFF) << 8 | 0xCB,
            };
            let cpu = choices.cpu();
            let served = check(&format!("{op:03X}"), &cpu, code, usize::MAX);
            if served.left.is_some() {
                // It asks for the whole bus, whatever is served.
                whole.insert(op);
                continue;
            }
            for access in 0..usize::MAX - served.served {
                let bus = check(&format!("{op:03X}, access {access}"), &cpu, code, access);
                assert!(bus.left.is_some());
                missed.insert((op, access));
            }
        }
    }
    // HALT, STOP, RETI, EI where it is news, and what is undefined; then the accesses of all others:
    // 56 behind CB.
    assert_eq!((whole.len(), missed.len()), (4 + 11, 121 + 56));
}
