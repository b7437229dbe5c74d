//! dmg-acid2: one picture that shows most mistakes a line renderer can make.

use std::path::Path;

use gb_core::Profile;
use libtest_mimic::Trial;

use crate::common;
use crate::scores;
use crate::trials::test_with_data;

pub fn trials() -> Vec<Trial> {
    vec![test_with_data(the_picture_is_exact_in_both_profiles)]
}

fn the_picture_is_exact_in_both_profiles(data: &Path) {
    let folder = data.join("acid2/dmg-acid2");
    for (profile, name) in
        [(Profile::Hardware, "dmg-acid2-hardware"), (Profile::PyBoy, "dmg-acid2-pyboy")]
    {
        let mut machine = common::boot(&folder.join("test.gb"), profile);
        for _ in 0..30 {
            machine.run_frame(true);
        }
        let reference = folder.join("img/reference-dmg.png");
        assert_eq!(common::check_picture(name, &machine, &reference), Ok(()), "{name}");
    }
    scores::settle("dmg-acid2", 1, 1);
}
