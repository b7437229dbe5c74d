//! The mealybug-tearoom tests: pictures of registers that change while a line is drawn.

use std::path::Path;

use gb_core::Profile;
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

pub fn trials() -> Vec<Trial> {
    vec![test_with_data(pictures_of_the_dmg_are_exact)]
}

fn pictures_of_the_dmg_are_exact(data: &Path) {
    let data = data.join("mealybug-tearoom-tests");
    let mut inexact = Vec::new();
    let mut seen = 0;
    for entry in std::fs::read_dir(data.join("expected/DMG-blob")).unwrap() {
        let expected = entry.unwrap().path();
        let name = expected.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut machine = common::boot(&data.join(format!("{name}.gb")), Profile::Hardware);
        for _ in 0..30 {
            machine.run_frame(true);
        }
        if common::shades(&machine) != common::read_shades(&expected) {
            inexact.push(name);
        }
        seen += 1;
    }
    assert_eq!(seen, 24, "pictures seen");
    inexact.sort();
    assert_eq!(inexact, INEXACT);
    scores::settle("mealybug", seen - inexact.len(), seen);
}
