//! The programs that come with `DocBoy`, each about one detail of the DMG, judged by a byte of
//! memory or by a picture.
//!
//! They encode their author's reading of the hardware, so this is a ratchet and not a law:
//! `docboy-failing.txt` names the programs that fail. The test fails when another one does, and
//! also when one of them passes and is still listed. `HYBRIDENV_RATCHET=write` writes the list
//! anew.
//!
//! A debug build runs every thirtieth program only.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use gb_core::cart::Rom;
use gb_core::{GameBoy, Profile};
use libtest_mimic::Trial;
use lzma_rust2::XzReader;
use serde::Deserialize;

use crate::common::{self, FRAME};
use crate::scores;
use crate::trials::test_with_data;

/// Entries of the configuration whose program is `DocBoy`'s own and in the archive.
const PROGRAMS: usize = 2354;
/// Those that the configuration itself leaves out, as they take a minute.
const DISABLED: usize = 1;
/// Those that a byte of memory judges and that need no buttons.
const UNATTENDED: usize = 1716;

/// Emulated time for a verdict in memory; the slowest program that passes needs 13 seconds.
const MEMORY_BUDGET: u64 = 900 * FRAME;
/// Frames within which a picture has to appear.
const PICTURE_BUDGET: u64 = 90;

const THREADS: usize = 2;

#[derive(Deserialize)]
struct Entry {
    rom: String,
    #[serde(default)]
    memory: Vec<Expected>,
    framebuffer: Option<String>,
    #[serde(default)]
    inputs: Vec<Input>,
    /// A second machine at the other end of the serial cable.
    rom2: Option<String>,
    #[serde(default = "yes")]
    enabled: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct Expected {
    address: u16,
    value: u8,
    fail_value: Option<u8>,
}

#[derive(Deserialize)]
struct Input {
    trigger_at_tick: Option<u64>,
    trigger_at_instruction: Option<String>,
    key: String,
    state: String,
}

impl Entry {
    /// The program, and the buttons pressed and released.
    fn name(&self) -> String {
        let mut name = self.rom.trim_start_matches("docboy/").trim_end_matches(".gb").to_owned();
        for input in &self.inputs {
            name += if input.pressed() { " +" } else { " -" };
            name += &input.key;
        }
        name
    }

    fn unattended(&self) -> bool {
        !self.memory.is_empty() && self.inputs.is_empty()
    }
}

impl Input {
    fn pressed(&self) -> bool {
        match self.state.as_str() {
            "pressed" => true,
            "released" => false,
            other => panic!("unknown state {other:?}"),
        }
    }

    /// The bit of the button, as [`GameBoy::set_buttons`] takes it.
    fn button(&self) -> u8 {
        let order = ["right", "left", "up", "down", "a", "b", "select", "start"];
        let at = order.iter().position(|key| *key == self.key);
        1 << at.unwrap_or_else(|| panic!("unknown key {:?}", self.key))
    }

    /// Runs until it is time, at most until the budget is used up.
    fn wait(&self, machine: &mut GameBoy, start: u64) {
        if let Some(tick) = self.trigger_at_tick {
            machine.run_cycles((start + tick).saturating_sub(machine.clock()));
            return;
        }
        let opcode = match self.trigger_at_instruction.as_deref() {
            Some("ld b,b") => 0x40,
            Some("ld c,c") => 0x49,
            other => panic!("unknown trigger {other:?}"),
        };
        let end = start + MEMORY_BUDGET;
        while machine.peek(machine.registers().pc) != opcode && machine.clock() < end {
            machine.run_cycles(1);
        }
        machine.run_cycles(1);
    }
}

/// The archive's files by their path below `tests`.
pub fn unpack(archive: &Path) -> HashMap<String, Vec<u8>> {
    let mut files = HashMap::new();
    let mut tar = tar::Archive::new(XzReader::new(File::open(archive).unwrap(), true));
    for file in tar.entries().unwrap() {
        let mut file = file.unwrap();
        let path = file.path().unwrap().to_string_lossy().into_owned();
        if let Some(path) = path.strip_prefix("docboy/tests/") {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            files.insert(path.to_owned(), bytes);
        }
    }
    files
}

/// Presses and releases the buttons of an entry when their time comes.
fn play(machine: &mut GameBoy, inputs: &[Input]) {
    let start = machine.clock();
    for input in inputs {
        input.wait(machine, start);
        let (held, bit) = (machine.buttons(), input.button());
        machine.set_buttons(if input.pressed() { held | bit } else { held & !bit });
    }
}

/// Whether every byte has its value, before one says that the program has failed.
fn memory_verdict(machine: &mut GameBoy, expected: &[Expected]) -> bool {
    let end = machine.clock() + MEMORY_BUDGET;
    loop {
        if expected.iter().all(|e| machine.peek(e.address) == e.value) {
            return true;
        }
        let failed = |e: &Expected| Some(machine.peek(e.address)) == e.fail_value;
        if expected.iter().any(failed) || machine.clock() >= end || machine.stuck() {
            return false;
        }
        machine.run_cycles(FRAME / 8);
    }
}

/// A picture of the archive, in greys or in the greens of a first Game Boy.
fn shades(png: &[u8], name: &str) -> Vec<u8> {
    let shade = |green| match green {
        // The last is a screen that is switched off.
        255 | 149 | 161 => 0,
        170 | 105 => 1,
        85 => 2,
        0 | 64 => 3,
        other => panic!("{name}: no shade has the green {other}"),
    };
    common::read_greens(Cursor::new(png), name).into_iter().map(shade).collect()
}

fn picture_verdict(machine: &mut GameBoy, expected: &[u8]) -> bool {
    (0..PICTURE_BUDGET).any(|_| {
        machine.run_frame(true);
        common::shades(machine) == expected
    })
}

/// Whether the program of an entry comes to the right verdict.
fn passes(entry: &Entry, files: &HashMap<String, Vec<u8>>) -> bool {
    // Mappers that this machine does not have, or two machines and a cable.
    let Ok(rom) = Rom::parse(&files[&format!("roms/dmg/{}", entry.rom)]) else { return false };
    if entry.rom2.is_some() {
        return false;
    }
    let mut machine = GameBoy::new(Arc::new(rom), Profile::Hardware);
    play(&mut machine, &entry.inputs);
    if let Some(picture) = &entry.framebuffer {
        let png = &files[&format!("results/dmg/{picture}")];
        picture_verdict(&mut machine, &shades(png, picture))
    } else {
        memory_verdict(&mut machine, &entry.memory)
    }
}

/// The names of the entries that fail.
fn failing(entries: &[&Entry], files: &HashMap<String, Vec<u8>>) -> BTreeSet<String> {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !passes(entry, files) {
                        failed.lock().unwrap().insert(entry.name());
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap()
}

/// The passes of each class of programs, a line each.
fn classes(entries: &[&Entry], failed: &BTreeSet<String>) -> String {
    let mut classes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for entry in entries {
        let class = entry.rom.split('/').nth(1).unwrap_or_default();
        let passed = usize::from(!failed.contains(&entry.name()));
        let count = classes.entry(class).or_default();
        *count = (count.0 + passed, count.1 + 1);
    }
    let mut lines: Vec<String> = classes
        .into_iter()
        .map(|(class, (passed, all))| format!("{class}: {passed} of {all}"))
        .collect();
    lines.push(format!("in all {} of {}", entries.len() - failed.len(), entries.len()));
    lines.join("\n")
}

pub fn trials() -> Vec<Trial> {
    vec![test_with_data(programs_of_docboy_pass_as_listed)]
}

fn programs_of_docboy_pass_as_listed(data: &Path) {
    let files = unpack(&data.join("docboy.tar.xz"));
    let config: BTreeMap<String, Vec<Entry>> =
        serde_json::from_slice(&files["config/dmg.json"]).unwrap();
    let entries: Vec<&Entry> = config
        .values()
        .flatten()
        .filter(|e| e.rom.starts_with("docboy/"))
        .filter(|e| files.contains_key(&format!("roms/dmg/{}", e.rom)))
        .collect();
    assert_eq!(entries.len(), PROGRAMS);
    assert_eq!(entries.iter().filter(|e| e.unattended()).count(), UNATTENDED);
    let entries: Vec<&Entry> = entries
        .into_iter()
        .filter(|e| e.enabled)
        .step_by(if cfg!(debug_assertions) { 30 } else { 1 })
        .collect();
    let failed = failing(&entries, &files);
    let report = classes(&entries, &failed);

    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/docboy-failing.txt");
    if std::env::var_os("HYBRIDENV_RATCHET").is_some_and(|v| v == "write") {
        assert_eq!(entries.len(), PROGRAMS - DISABLED, "only a release build runs every program");
        let names: Vec<&str> = failed.iter().map(String::as_str).collect();
        std::fs::write(&list, names.join("\n") + "\n").unwrap();
    }
    if entries.len() == PROGRAMS - DISABLED {
        let unattended = entries.iter().filter(|entry| entry.unattended());
        let passed = unattended.filter(|entry| !failed.contains(&entry.name())).count();
        scores::settle("docboy", passed, UNATTENDED);
    }
    let ran: BTreeSet<String> = entries.iter().map(|e| e.name()).collect();
    let listed = std::fs::read_to_string(&list).unwrap();
    let listed: BTreeSet<&str> = listed.lines().filter(|name| ran.contains(*name)).collect();
    let failed: BTreeSet<&str> = failed.iter().map(String::as_str).collect();
    let worse: Vec<_> = failed.difference(&listed).collect();
    let better: Vec<_> = listed.difference(&failed).collect();
    assert!(worse.is_empty(), "{} fail that passed: {worse:?}\n{report}", worse.len());
    assert!(
        better.is_empty(),
        "{} pass now: {better:?}; update the list with HYBRIDENV_RATCHET=write",
        better.len()
    );
}
