//! The fast path (lazy components, skipped lines, skipped `HALT`) against the strict one, which brings
//! everything up to date after every instruction: equal in every bit of the state.

use std::path::{Path, PathBuf};

use gb_core::{GameBoy, Model, Profile};
use libtest_mimic::Trial;

use crate::common::{self, Choices};
use crate::mooneye;
use crate::trials::{test, test_with_data};

/// Frames compared per game and profile.
const FRAMES: u64 = if cfg!(debug_assertions) { 200 } else { 1_200 };

/// Every this many frames the picture is drawn, on the fast side only then.
const DRAW_EVERY: u64 = 4;

fn games(data: &Path) -> Vec<PathBuf> {
    let mut roms: Vec<PathBuf> = std::fs::read_dir(data.join("games"))
        .unwrap()
        .flat_map(|game| std::fs::read_dir(game.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "gb" || e == "gbc"))
        .collect();
    roms.sort();
    assert!(roms.len() >= 12, "found {} games", roms.len());
    roms
}

/// The state with every lazy component at its latest.
fn settled(machine: &mut GameBoy) -> Vec<u8> {
    machine.take_audio();
    machine.save_state()
}

/// Runs a machine and a strict copy of it. Returns whether the processor ended at another speed than
/// it began, or what differs first.
pub fn compare(mut fast: GameBoy, frames: u64) -> Result<bool, String> {
    let mut strict = fast.clone();
    let mut choices = Choices(7);
    for frame in 1..=frames {
        if frame % 6 == 0 {
            let buttons = 1 << choices.below(8);
            fast.set_buttons(buttons);
            strict.set_buttons(buttons);
        }
        let draw = frame % DRAW_EVERY == 0;
        fast.run_frame(draw);
        // The reference counts the window's lines in drawn frames only; on the hardware nobody notices.
        strict.run_frame_strict(draw || fast.profile() == Profile::Hardware);
        let (a, b) = (fast.clock(), strict.clock());
        if a != b {
            return Err(format!("clock after frame {frame}: fast {a}, strict {b}"));
        }
        let (a, b) = (fast.registers(), strict.registers());
        if a != b {
            return Err(format!("registers after frame {frame}: fast {a:X?}, strict {b:X?}"));
        }
        // In the middle of a line the strict side holds a pipeline that the fast side does without.
        if draw && fast.peek(0xFF41) & 3 != 3 {
            let (a, b) = (settled(&mut fast), settled(&mut strict));
            let first = a.iter().zip(&b).skip(26).position(|(a, b)| a != b);
            if let Some(first) = first {
                return Err(format!("byte {first} of the state after frame {frame}"));
            }
        }
    }
    Ok(fast.cycles() != fast.clock())
}

/// As [`compare`]; fails the test where something differs.
pub fn check(name: &str, machine: GameBoy, frames: u64) -> bool {
    compare(machine, frames).unwrap_or_else(|difference| panic!("{name}: {difference}"))
}

pub fn trials() -> Vec<Trial> {
    vec![
        test_with_data(games_run_alike),
        test_with_data(programs_for_the_color_run_alike),
        test(the_embedded_game_runs_alike),
        test_with_data(timing_programs_run_alike),
    ]
}

fn games_run_alike(data: &Path) {
    for rom in games(data) {
        for profile in [Profile::Hardware, Profile::PyBoy] {
            let name = format!("{} ({profile:?})", rom.display());
            check(&name, common::boot(&rom, profile), FRAMES);
        }
    }
}

fn programs_for_the_color_run_alike(data: &Path) {
    let mut found = Vec::new();
    for folder in ["dma", "ppu", "apu/channel_1", "apu/channel_4"] {
        let folder = data.join("SameSuite").join(folder);
        mooneye::roms(&folder, &folder, &mut found);
    }
    assert!(found.len() >= 39, "found {} programs", found.len());
    let mut doubled = 0;
    for (name, rom) in found {
        let machine = common::boot_model(&rom, Model::Cgb);
        doubled += u32::from(check(&name, machine, 30));
    }
    assert!(doubled >= 9, "{doubled} programs switched to double speed");
}

fn the_embedded_game_runs_alike() {
    let rom =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/hybridenv/data/polar_post.gb");
    for profile in [Profile::Hardware, Profile::PyBoy] {
        check("polar_post", common::boot(&rom, profile), FRAMES);
    }
}

fn timing_programs_run_alike(data: &Path) {
    let ppu = data.join("mooneye-test-suite/acceptance/ppu");
    let mut seen = 0;
    for folder in std::fs::read_dir(ppu).unwrap() {
        let rom = folder.unwrap().path().join("test.gb");
        if rom.is_file() {
            check(&rom.display().to_string(), common::boot(&rom, Profile::Hardware), 60);
            seen += 1;
        }
    }
    assert!(seen >= 12, "found {seen} programs");
}
