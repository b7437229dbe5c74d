//! The mealybug-tearoom tests: pictures of registers that change while a line is drawn.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gb_core::{GameBoy, Profile, Revision, Rom};
use libtest_mimic::Trial;

use crate::common;
use crate::scores;
use crate::trials::test_with_data;

/// Pictures that are not exact yet. A ratchet: neither more nor fewer may fail.
const INEXACT: [&str; 4] = [
    "m3_lcdc_obj_en_change_variant",
    "m3_lcdc_obj_size_change",
    "m3_lcdc_win_en_change_multiple_wx",
    "m3_scx_high_5_bits",
];

/// Pictures of the Color whose place is held by a notice that there is none yet.
const MISSING: [&str; 4] =
    ["m3_lcdc_win_en_change_multiple_wx", "m3_wx_4_change", "m3_wx_5_change", "m3_wx_6_change"];

/// The pictures of a making of the Color.
struct Pictures {
    folder: &'static str,
    /// The making here that stands for it.
    revision: Revision,
    count: usize,
    /// Those that are not exact yet, and in how many pixels they differ. A ratchet.
    inexact: &'static [(&'static str, usize)],
}

const COLOR: [Pictures; 2] = [
    Pictures {
        folder: "CPU CGB C",
        revision: Revision::B,
        count: 27,
        inexact: &[
            ("m3_lcdc_tile_sel_change", 8),
            ("m3_lcdc_tile_sel_change2", 186),
            ("m3_lcdc_tile_sel_win_change", 8),
            ("m3_lcdc_tile_sel_win_change2", 179),
            ("m3_wx_4_change_sprites", 10),
        ],
    },
    Pictures {
        folder: "CPU CGB D",
        revision: Revision::E,
        count: 20,
        inexact: &[
            ("m3_lcdc_tile_sel_change", 8),
            ("m3_lcdc_tile_sel_win_change", 8),
            ("m3_wx_4_change_sprites", 10),
        ],
    },
];

pub fn trials() -> Vec<Trial> {
    vec![
        test_with_data(pictures_of_the_dmg_are_exact),
        test_with_data(pictures_of_the_color_are_as_exact_as_recorded),
    ]
}

/// The expected pictures in a folder, by the name of the test, in order.
fn expected(data: &Path, folder: &str) -> Vec<(String, PathBuf)> {
    let folder = data.join("expected").join(folder);
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    found.sort();
    found
}

fn pictures_of_the_dmg_are_exact(data: &Path) {
    let data = data.join("mealybug-tearoom-tests");
    let pictures = expected(&data, "DMG-blob");
    assert_eq!(pictures.len(), 24);
    let seen = pictures.len();
    let mut inexact = Vec::new();
    for (name, expected) in pictures {
        let mut machine = common::boot(&data.join(format!("{name}.gb")), Profile::Hardware);
        for _ in 0..30 {
            machine.run_frame(true);
        }
        if common::shades(&machine) != common::read_shades(&expected) {
            inexact.push(name);
        }
    }
    assert_eq!(inexact, INEXACT);
    scores::settle("mealybug", seen - inexact.len(), seen);
}

fn pictures_of_the_color_are_as_exact_as_recorded(data: &Path) {
    let data = data.join("mealybug-tearoom-tests");
    for Pictures { folder, revision, count, inexact: recorded } in COLOR {
        let mut pictures = expected(&data, folder);
        pictures.retain(|(name, _)| !MISSING.contains(&name.as_str()));
        assert_eq!(pictures.len(), count, "{folder}");
        let mut inexact = Vec::new();
        for (name, expected) in &pictures {
            let rom = std::fs::read(data.join(format!("{name}.gb"))).unwrap();
            let rom = Arc::new(Rom::parse(&rom).unwrap());
            let mut machine = GameBoy::with_revision(rom, revision);
            for _ in 0..30 {
                machine.run_frame(true);
            }
            let pixels = common::different_colors(&machine, expected);
            if pixels != 0 {
                inexact.push((name.as_str(), pixels));
            }
        }
        assert_eq!(inexact, recorded, "{folder}");
    }
}
