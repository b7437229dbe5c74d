//! `SameSuite`: the sound unit, VRAM DMA and palettes of the Color.

use std::path::Path;

use std::sync::Arc;

use gb_core::cart::Rom;
use gb_core::{GameBoy, Revision};
use libtest_mimic::Trial;

use crate::trials::test_with_data;
use crate::{mooneye, scores};

/// Programs in the suite.
const ROMS: usize = 79;

/// Programs that do not pass. A ratchet: neither more nor fewer may fail. They are for the Advance and
/// for the Super Game Boy.
const FAILING: [&str; 4] = [
    "apu/channel_1/freq_change_timing-A",
    "sgb/command_mlt_req",
    "sgb/command_mlt_req_1",
    "sgb/command_mlt_req_1_incrementing",
];

pub fn trials() -> Vec<Trial> {
    vec![test_with_data(programs_pass)]
}

fn programs_pass(data: &Path) {
    let root = data.join("SameSuite");
    let mut found = Vec::new();
    mooneye::roms(&root, &root, &mut found);
    found.sort();
    assert_eq!(found.len(), ROMS);
    let (mut failing, mut runs) = (Vec::new(), 0);
    for (name, path) in found {
        let rom = Arc::new(Rom::parse(&std::fs::read(path).unwrap()).unwrap());
        let mut failed = false;
        for revision in revisions(&name) {
            runs += 1;
            let mut machine = GameBoy::with_revision(Arc::clone(&rom), revision);
            if let Err(reason) = mooneye::verdict(&mut machine) {
                println!("FAIL  {name} ({revision:?}): {reason}");
                failed = true;
            }
        }
        if failed {
            failing.push(name);
        }
    }
    assert_eq!(failing, FAILING);
    assert_eq!(runs, ROMS + 4, "four programs are for two revisions each");
    scores::settle("samesuite", ROMS - failing.len(), ROMS);
}

/// The revisions of the Color that a program is meant for, as its name tells; else the last.
fn revisions(name: &str) -> Vec<Revision> {
    match name.rsplit_once("-cgb") {
        Some((_, "0")) => vec![Revision::Zero],
        Some((_, "B")) => vec![Revision::B],
        Some((_, "0B" | "0BC")) => vec![Revision::Zero, Revision::B],
        _ => vec![Revision::E],
    }
}
