//! The mooneye test suite, as far as it is meant for the DMG (models A, B and C) and the CGB (A to E).

use std::path::{Path, PathBuf};

use gb_core::{GameBoy, Model, Profile};
use libtest_mimic::Trial;

use crate::common::{self, FRAME};
use crate::scores;
use crate::trials::test_with_data;

/// ROMs in the suite, and those that are meant for DMG-ABC and for CGB-ABCDE.
const ROMS: usize = 111;
const FOR_DMG: usize = 92;
const FOR_CGB: usize = 84;

/// Emulated time for one ROM: the slowest needs 6 seconds.
const BUDGET: u64 = 1200 * FRAME;

const LD_B_B: u8 = 0x40;

/// What is done with a ROM of the suite.
#[derive(PartialEq, Eq)]
enum Plan {
    /// Runs to `LD B,B`; the registers tell.
    Run,
    /// Not a register test for this model, and why.
    Leave(&'static str),
}

/// Decides by the folder and the model suffix in the name.
///
/// # Source
/// mooneye-test-suite, README, "Test naming": upper-case letters are groups (G = DMG and MGB, S = SGB
/// and SGB2, C = CGB, AGB and AGS, A = AGB and AGS), lower-case names are models and their revisions.
fn plan(name: &str, model: Model) -> Plan {
    if name.starts_with("manual-only/") {
        return Plan::Leave("its verdict is a picture");
    }
    if name == "madness/mgb_oam_dma_halt_sprites" {
        return Plan::Leave("for the MGB, its verdict is a picture");
    }
    let test = name.rsplit_once('/').map_or(name, |(_, test)| test);
    let Some((_, models)) = test.rsplit_once('-') else { return Plan::Run };
    let (revisions, group) = match model {
        Model::Dmg => (["dmgABC", "dmgABCmgb"], 'G'),
        Model::Cgb => (["cgb", "cgbABCDE"], 'C'),
    };
    let in_group = models.bytes().all(|b| b.is_ascii_uppercase()) && models.contains(group);
    if revisions.contains(&models) || in_group {
        Plan::Run
    } else {
        Plan::Leave("for other models")
    }
}

/// Every folder with a `test.gb` below `folder`, as a name relative to `root`.
pub fn roms(root: &Path, folder: &Path, found: &mut Vec<(String, PathBuf)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            roms(root, &path, found);
        } else if path.file_name().is_some_and(|name| name == "test.gb") {
            let name = folder.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            found.push((name, path));
        }
    }
}

/// Runs until `LD B,B` has been executed; returns the frames of emulated time that it took.
fn run_to_breakpoint(machine: &mut GameBoy) -> Option<u64> {
    let start = machine.clock();
    while machine.clock() < start + BUDGET && !machine.stuck() {
        let pc = machine.registers().pc;
        let breakpoint = machine.peek(pc) == LD_B_B;
        machine.run_cycles(1);
        if breakpoint && machine.registers().pc == pc.wrapping_add(1) {
            return Some((machine.clock() - start) / FRAME);
        }
    }
    None
}

/// The verdict: six Fibonacci numbers mean success.
pub fn verdict(machine: &mut GameBoy) -> Result<u64, String> {
    let frames = run_to_breakpoint(machine);
    let r = machine.registers();
    let Some(frames) = frames else {
        return Err(format!("no LD B,B within {} frames, PC={:04X}", BUDGET / FRAME, r.pc));
    };
    let got = [r.b, r.c, r.d, r.e, r.h, r.l];
    if got == [3, 5, 8, 13, 21, 34] {
        Ok(frames)
    } else {
        Err(format!("B, C, D, E, H, L = {got:02X?} after {frames} frames"))
    }
}

pub fn trials() -> Vec<Trial> {
    vec![
        test_with_data(every_test_for_dmg_abc_passes),
        test_with_data(every_test_for_cgb_abcde_passes),
        test_with_data(sprite_priority_looks_right),
    ]
}

fn every_test_for_dmg_abc_passes(data: &Path) {
    check_all(data, Model::Dmg, FOR_DMG);
}

fn every_test_for_cgb_abcde_passes(data: &Path) {
    check_all(data, Model::Cgb, FOR_CGB);
}

/// Runs the `expected` tests that are meant for a model.
fn check_all(data: &Path, model: Model, expected: usize) {
    let root = data.join("mooneye-test-suite");
    let mut found = Vec::new();
    roms(&root, &root, &mut found);
    found.sort();
    let (mut ran, mut failed) = (0, 0);
    let mut report = String::new();
    for (name, path) in &found {
        let outcome = match plan(name, model) {
            Plan::Leave(reason) => format!("-     {name}: {reason}"),
            Plan::Run => {
                ran += 1;
                match verdict(&mut common::boot_model(path, model)) {
                    Ok(frames) => format!("ok    {name} ({frames} frames)"),
                    Err(reason) => {
                        failed += 1;
                        format!("FAIL  {name}: {reason}")
                    }
                }
            }
        };
        report += &outcome;
        report.push('\n');
    }
    assert_eq!((found.len(), ran), (ROMS, expected));
    let judge = match model {
        Model::Dmg => "mooneye-dmg",
        Model::Cgb => "mooneye-cgb",
    };
    scores::settle(judge, ran - failed, ran);
    assert_eq!(failed, 0, "{failed} of {ran} tests fail\n{report}");
}

fn sprite_priority_looks_right(data: &Path) {
    let folder = data.join("mooneye-test-suite/manual-only/sprite_priority");
    let mut machine = common::boot(&folder.join("test.gb"), Profile::Hardware);
    for _ in 0..60 {
        machine.run_frame(true);
    }
    let result =
        common::check_picture("sprite_priority", &machine, &folder.join("baseline_0000.png"));
    assert_eq!(result, Ok(()));
}
