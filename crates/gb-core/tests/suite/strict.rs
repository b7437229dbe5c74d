//! The fast path (lazy components, skipped lines, skipped `HALT`) against the strict one, which brings
//! everything up to date after every instruction: equal in every bit of the state.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gb_core::{GameBoy, Model, Profile, Rom};
use libtest_mimic::Trial;

use crate::common::{self, Choices};
use crate::trials::{test, test_with_data};
use crate::{docboy, mooneye};

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

/// Whether a line may be being drawn: the strict side holds a pipeline then that the fast side does
/// without, until a few dots after mode 3. The reference draws a line at once.
fn in_a_line(machine: &GameBoy) -> bool {
    let (on, mode) = (machine.peek(0xFF40) & 0x80 != 0, machine.peek(0xFF41) & 3);
    on && (mode == 3 || mode == 0 && machine.profile() == Profile::Hardware)
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
        if draw && !in_a_line(&fast) {
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
        test_with_data(every_program_runs_alike),
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

/// Every ROM below a folder.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            programs(&path, found);
        } else if is_rom(&path) {
            found.push(path);
        }
    }
}

fn is_rom(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "gb" || e == "gbc")
}

/// The programs of all suites, each on the console that it asks for; only the first frames in debug,
/// where a strict frame takes long.
fn every_program_runs_alike(data: &Path) {
    let frames = if cfg!(debug_assertions) { 2 } else { 12 };
    let mut found = Vec::new();
    for suite in ["mooneye-test-suite", "SameSuite", "acid2", "mealybug-tearoom-tests", "rtc3test"]
    {
        programs(&data.join(suite), &mut found);
    }
    let read = |path: PathBuf| (path.display().to_string(), std::fs::read(path).unwrap());
    let archived = docboy::unpack(&data.join("docboy.tar.xz"));
    let archived = archived.into_iter().filter(|(name, _)| is_rom(Path::new(name)));
    let (mut seen, mut differences) = (0, Vec::new());
    for (name, image) in found.into_iter().map(read).chain(archived) {
        let Ok(rom) = Rom::parse(&image) else { continue };
        seen += 1;
        let machine = GameBoy::new(Arc::new(rom), Profile::Hardware);
        if let Err(difference) = compare(machine, frames) {
            differences.push(format!("{name}: {difference}"));
        }
    }
    assert!(differences.is_empty(), "{} of {seen}: {differences:#?}", differences.len());
    assert!(seen >= 2_000, "saw {seen} programs");
}
