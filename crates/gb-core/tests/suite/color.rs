//! The Color: pictures, and machines of one model against states of the other.

use std::path::Path;

use gb_core::{GameBoy, Model, Profile, StateError};
use libtest_mimic::Trial;

use crate::common;
use crate::scores;
use crate::trials::{test, test_with_data};

/// Pixels of a machine's picture that differ from a reference by more than the low bits that PNGs
/// of five-bit colours round in several ways.
fn different(machine: &GameBoy, reference: &Path) -> usize {
    let (expected, channels) = common::read_pixels(reference);
    assert!(channels >= 3, "{}: a picture in colour", reference.display());
    let got = common::rgb(machine);
    got.chunks_exact(3)
        .zip(expected.chunks_exact(channels))
        .filter(|(got, expected)| got.iter().zip(*expected).any(|(a, b)| a >> 3 != b >> 3))
        .count()
}

pub fn trials() -> Vec<Trial> {
    vec![
        test_with_data(cgb_acid2_is_exact_in_both_profiles),
        test_with_data(a_dmg_game_gets_the_colours_of_the_boot_program),
        test(the_header_names_the_model_and_a_caller_may_name_another),
    ]
}

fn cgb_acid2_is_exact_in_both_profiles(data: &Path) {
    let folder = data.join("acid2/cgb-acid2");
    for profile in [Profile::Hardware, Profile::PyBoy] {
        let mut machine = common::boot(&folder.join("test.gbc"), profile);
        assert_eq!(machine.model(), Model::Cgb);
        for frame in 0..30 {
            if frame % 2 == 0 {
                machine.run_frame(true);
            } else {
                machine.run_frame_strict(true);
            }
        }
        let reference = folder.join("img/reference.png");
        assert_eq!(different(&machine, &reference), 0, "{profile:?}");
    }
    scores::settle("cgb-acid2", 1, 1);
}

fn a_dmg_game_gets_the_colours_of_the_boot_program(data: &Path) {
    let folder = data.join("acid2/dmg-acid2");
    let mut machine = common::boot_model(&folder.join("test.gb"), Model::Cgb);
    for _ in 0..30 {
        machine.run_frame(true);
    }
    assert_eq!(different(&machine, &folder.join("img/reference-cgb.png")), 0);
}

fn the_header_names_the_model_and_a_caller_may_name_another() {
    let mut image = vec![0; 0x8000];
    common::fix_header(&mut image, 0, 0);
    let old = common::insert(&image, Profile::Hardware);
    assert_eq!(old.model(), Model::Dmg);
    image[0x143] = 0x80;
    common::fix_header(&mut image, 0, 0);
    let mut new = common::insert(&image, Profile::Hardware);
    assert_eq!(new.model(), Model::Cgb);
    assert_eq!((new.registers().a, new.registers().d), (0x11, 0xFF));

    let mut other = GameBoy::with_model(new.rom().clone(), Profile::Hardware, Model::Dmg);
    assert_eq!(other.registers().a, 0x01);
    let refused = StateError::OtherModel { got: Model::Dmg, expected: Model::Cgb };
    assert_eq!(new.load_state(&other.save_state()), Err(refused));
    assert_eq!(new.copy_from(&other), Err(refused));
    other.reset();
    assert_eq!(other.model(), Model::Dmg);
}
