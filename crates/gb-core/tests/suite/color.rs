//! The Color: pictures, and machines of one model against states of the other.

use std::path::Path;

use gb_core::{GameBoy, Model, Profile, Revision, StateError};
use libtest_mimic::Trial;

use crate::common;
use crate::scores;
use crate::trials::{test, test_with_data};

pub fn trials() -> Vec<Trial> {
    vec![
        test_with_data(cgb_acid2_is_exact_in_both_profiles),
        test_with_data(a_dmg_game_gets_the_colours_of_the_boot_program),
        test(the_header_names_the_model_and_a_caller_may_name_another),
        test(a_revision_keeps_to_its_own_states),
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
        assert_eq!(common::different_colors(&machine, &reference), 0, "{profile:?}");
    }
    scores::settle("cgb-acid2", 1, 1);
}

fn a_dmg_game_gets_the_colours_of_the_boot_program(data: &Path) {
    let folder = data.join("acid2/dmg-acid2");
    let mut machine = common::boot_model(&folder.join("test.gb"), Model::Cgb);
    for _ in 0..30 {
        machine.run_frame(true);
    }
    assert_eq!(common::different_colors(&machine, &folder.join("img/reference-cgb.png")), 0);
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

fn a_revision_keeps_to_its_own_states() {
    let mut image = vec![0; 0x8000];
    image[0x143] = 0x80;
    common::fix_header(&mut image, 0, 0);
    let color = common::insert(&image, Profile::Hardware);
    assert_eq!(color.revision(), Revision::E);
    for expected in Revision::ALL {
        let mut machine = GameBoy::with_revision(color.rom().clone(), expected);
        machine.run_frame(false);
        machine.reset();
        assert_eq!((machine.revision(), machine.model()), (expected, Model::Cgb));
        for got in Revision::ALL {
            let other = GameBoy::with_revision(color.rom().clone(), got);
            let answer = if got == expected {
                Ok(())
            } else {
                Err(StateError::OtherRevision { got, expected })
            };
            assert_eq!(machine.load_state(&other.save_state()), answer);
            assert_eq!(machine.copy_from(&other), answer);
            assert_eq!(machine.revision(), expected);
        }
    }
}
