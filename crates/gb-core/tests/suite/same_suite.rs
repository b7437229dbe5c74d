//! `SameSuite`: the sound unit, VRAM DMA and palettes of the Color.

use std::path::Path;

use gb_core::{GameBoy, Model};
use libtest_mimic::Trial;

use crate::trials::test_with_data;
use crate::{common, mooneye, scores};

/// Programs in the suite.
const ROMS: usize = 79;

/// Programs that do not pass. A ratchet: neither more nor fewer may fail. Those in `apu` are for other
/// revisions of the console than the one that is built here (E), those in `sgb` for the Super Game Boy.
const FAILING: [&str; 10] = [
    "apu/channel_1/extra_length_clocking-cgb0B",
    "apu/channel_1/freq_change_timing-A",
    "apu/channel_1/freq_change_timing-cgb0BC",
    "apu/channel_2/extra_length_clocking-cgb0B",
    "apu/channel_3/extra_length_clocking-cgb0",
    "apu/channel_3/extra_length_clocking-cgbB",
    "apu/channel_4/extra_length_clocking-cgb0B",
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
    let mut failing = Vec::new();
    for (name, path) in found {
        let mut machine: GameBoy = common::boot_model(&path, Model::Cgb);
        if let Err(reason) = mooneye::verdict(&mut machine) {
            println!("FAIL  {name}: {reason}");
            failing.push(name);
        }
    }
    assert_eq!(failing, FAILING);
    scores::settle("samesuite", ROMS - failing.len(), ROMS);
}
