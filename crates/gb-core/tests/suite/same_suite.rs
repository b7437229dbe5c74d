//! `SameSuite`: the sound unit, VRAM DMA and palettes of the Color.

use gb_core::{GameBoy, Model};

use crate::{common, mooneye};

/// Programs in the suite.
const ROMS: usize = 79;

/// Programs that do not pass. A ratchet: neither more nor fewer may fail.
const FAILING: [&str; 50] = [
    "apu/channel_1/align",
    "apu/channel_1/align_cpu",
    "apu/channel_1/delay",
    "apu/channel_1/duty",
    "apu/channel_1/duty_delay",
    "apu/channel_1/extra_length_clocking-cgb0B",
    "apu/channel_1/freq_change",
    "apu/channel_1/freq_change_timing-A",
    "apu/channel_1/freq_change_timing-cgb0BC",
    "apu/channel_1/freq_change_timing-cgbDE",
    "apu/channel_1/nrx2_glitch",
    "apu/channel_1/restart",
    "apu/channel_1/restart_nrx2_glitch",
    "apu/channel_1/stop_div",
    "apu/channel_1/stop_restart",
    "apu/channel_1/sweep",
    "apu/channel_1/sweep_restart",
    "apu/channel_1/sweep_restart_2",
    "apu/channel_1/volume",
    "apu/channel_1/volume_div",
    "apu/channel_2/align",
    "apu/channel_2/align_cpu",
    "apu/channel_2/delay",
    "apu/channel_2/duty",
    "apu/channel_2/duty_delay",
    "apu/channel_2/extra_length_clocking-cgb0B",
    "apu/channel_2/freq_change",
    "apu/channel_2/nrx2_glitch",
    "apu/channel_2/restart",
    "apu/channel_2/restart_nrx2_glitch",
    "apu/channel_2/stop_div",
    "apu/channel_2/stop_restart",
    "apu/channel_2/volume",
    "apu/channel_2/volume_div",
    "apu/channel_3/extra_length_clocking-cgb0",
    "apu/channel_3/extra_length_clocking-cgbB",
    "apu/channel_3/restart_during_delay",
    "apu/channel_3/wave_ram_sync",
    "apu/channel_4/align",
    "apu/channel_4/delay",
    "apu/channel_4/equivalent_frequencies",
    "apu/channel_4/extra_length_clocking-cgb0B",
    "apu/channel_4/freq_change",
    "apu/channel_4/frequency_alignment",
    "apu/channel_4/lfsr",
    "apu/channel_4/lfsr15",
    "apu/channel_4/lfsr_7_15",
    "sgb/command_mlt_req",
    "sgb/command_mlt_req_1",
    "sgb/command_mlt_req_1_incrementing",
];

#[test]
fn programs_pass() {
    let Some(data) = common::game_boy_data() else { return };
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
}
