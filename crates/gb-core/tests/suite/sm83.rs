//! Every opcode against the `SingleStepTests` vectors: registers, memory and the bus action of each
//! M-cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use gb_core::cpu::{Bus, Cpu, Flags, Mode, Pair};
use libtest_mimic::Trial;
use lzma_rust2::XzReader;
use serde::Deserialize;

use crate::scores;
use crate::trials::test_with_data;

const VECTORS: usize = 50_000;
const OPCODES: usize = 500;

/// What the bus does in one M-cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Read(u16, u8),
    Write(u16, u8),
    Idle,
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    initial: Machine,
    #[serde(rename = "final")]
    last: Machine,
    cycles: Vec<(u16, u8, String)>,
}

#[derive(Deserialize)]
struct Machine {
    pc: u16,
    sp: u16,
    a: u8,
    b: u8,
    c: u8,
    d: u8,
    e: u8,
    f: u8,
    h: u8,
    l: u8,
    ime: u8,
    #[serde(default)]
    ei: u8,
    ram: Vec<(u16, u8)>,
}

impl Vector {
    /// `CB 11` of `CB 11 003F`.
    fn opcode(&self) -> &str {
        self.name.rsplit_once(' ').map_or(&self.name, |(opcode, _)| opcode)
    }

    fn actions(&self) -> Vec<Action> {
        let action = |(addr, value, pins): &(u16, u8, String)| match pins.as_str() {
            "r-m" => Action::Read(*addr, *value),
            "-wm" => Action::Write(*addr, *value),
            "---" => Action::Idle,
            other => panic!("{}: unknown pins {other:?}", self.name),
        };
        // After HALT and STOP the vectors watch the processor do nothing for two more M-cycles.
        let own = if matches!(self.opcode(), "10" | "76") { 1 } else { self.cycles.len() };
        let mut actions: Vec<Action> = self.cycles[..own].iter().map(action).collect();
        if self.opcode() == "10" {
            actions.push(Action::Read(self.last.pc, 0));
        }
        actions
    }

    /// The registers afterwards. The vectors look at STOP before its second byte is skipped.
    fn last_cpu(&self) -> Cpu {
        let mut cpu = self.last.cpu();
        cpu.pc = cpu.pc.wrapping_add(u16::from(self.opcode() == "10"));
        cpu
    }
}

impl Machine {
    fn cpu(&self) -> Cpu {
        Cpu {
            a: self.a,
            flags: Flags::from_byte(self.f),
            bc: Pair::new(u16::from_be_bytes([self.b, self.c])),
            de: Pair::new(u16::from_be_bytes([self.d, self.e])),
            hl: Pair::new(u16::from_be_bytes([self.h, self.l])),
            sp: self.sp,
            pc: self.pc,
            ime: self.ime != 0,
            ei_pending: self.ei != 0,
            ..Cpu::default()
        }
    }
}

/// The registers in a form that compares and prints. A pending EI counts where it can still change
/// something.
fn registers(cpu: &Cpu) -> String {
    format!(
        "AF={:02X}{:02X} BC={:04X} DE={:04X} HL={:04X} SP={:04X} PC={:04X} IME={} EI={}",
        cpu.a,
        cpu.flags.byte(),
        cpu.bc.get(),
        cpu.de.get(),
        cpu.hl.get(),
        cpu.sp,
        cpu.pc,
        u8::from(cpu.ime),
        u8::from(cpu.ei_pending && !cpu.ime)
    )
}

/// 64 KiB of memory that writes down what happens.
struct FlatBus {
    memory: Box<[u8]>,
    actions: Vec<Action>,
}

impl Bus for FlatBus {
    fn read(&mut self, addr: u16) -> u8 {
        let value = self.memory[usize::from(addr)];
        self.actions.push(Action::Read(addr, value));
        value
    }

    fn write(&mut self, addr: u16, value: u8) {
        self.memory[usize::from(addr)] = value;
        self.actions.push(Action::Write(addr, value));
    }

    fn idle(&mut self) {
        self.actions.push(Action::Idle);
    }

    fn pending(&mut self) -> u8 {
        0
    }

    fn acknowledge(&mut self, bit: u8) {
        panic!("interrupt {bit} acknowledged although none is pending");
    }

    fn attention(&mut self) {}

    fn stop(&mut self) -> bool {
        true
    }
}

impl FlatBus {
    /// Runs one vector and describes the first thing that differs.
    fn check(&mut self, vector: &Vector) -> Result<(), String> {
        self.memory.fill(0);
        self.actions.clear();
        for &(addr, value) in &vector.initial.ram {
            self.memory[usize::from(addr)] = value;
        }
        let mut cpu = vector.initial.cpu();
        cpu.step(self);

        let (got, expected) = (registers(&cpu), registers(&vector.last_cpu()));
        if got != expected {
            return Err(format!("got {got}, expected {expected}"));
        }
        let expected = vector.actions();
        if self.actions != expected {
            return Err(format!("bus: got {:X?}, expected {expected:X?}", self.actions));
        }
        for &(addr, value) in &vector.last.ram {
            let got = self.memory[usize::from(addr)];
            if got != value {
                return Err(format!("{addr:04X}: got {got:02X}, expected {value:02X}"));
            }
        }
        let mode = match vector.opcode() {
            "10" => Mode::Stopped,
            "76" => Mode::Halted,
            _ => Mode::Running,
        };
        if cpu.mode != mode {
            return Err(format!("mode: got {:?}, expected {mode:?}", cpu.mode));
        }
        Ok(())
    }
}

pub fn trials() -> Vec<Trial> {
    vec![test_with_data(all_vectors_pass)]
}

fn all_vectors_pass(data: &Path) {
    let file = File::open(data.join("sm83.jsonl.xz")).unwrap();
    let lines = BufReader::new(XzReader::new(BufReader::new(file), true)).lines();

    let mut bus = FlatBus { memory: vec![0; 0x1_0000].into(), actions: Vec::new() };
    let mut seen = 0;
    let mut failures: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut opcodes = BTreeSet::new();
    for line in lines {
        let vector: Vector = serde_json::from_str(&line.unwrap()).unwrap();
        seen += 1;
        opcodes.insert(vector.opcode().to_owned());
        if let Err(difference) = bus.check(&vector) {
            failures
                .entry(vector.opcode().to_owned())
                .or_insert_with(|| (0, format!("{}: {difference}", vector.name)))
                .0 += 1;
        }
    }
    assert_eq!((seen, opcodes.len()), (VECTORS, OPCODES));
    let report: Vec<String> = failures
        .iter()
        .map(|(opcode, (count, first))| {
            format!("{opcode}: {count} of 100 fail, the first: {first}")
        })
        .collect();
    scores::settle("sm83", seen - failures.values().map(|(count, _)| count).sum::<usize>(), seen);
    assert!(report.is_empty(), "{} opcodes fail\n{}", report.len(), report.join("\n"));
}
