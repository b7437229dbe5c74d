//! The accuracy and robustness suite: whole programs, published vectors and hostile bytes.
//!
//! Test data lives outside the repository, in the folder named by `HYBRIDENV_SHARED` or else in
//! `../shared` beside the repository. The standard harness cannot ignore a test while it runs, so
//! the suite brings one that can: each module lists its tests in `trials`, and those that miss
//! their data are reported as ignored. A test that no list has is unused code, which the compiler
//! reports.

mod acid2;
mod color;
mod color_programs;
mod common;
mod docboy;
mod idle;
mod mealybug;
mod mooneye;
mod programs;
mod robustness;
mod rtc3;
mod same_suite;
mod save_state;
mod scores;
mod sm83;
mod split_mix;
mod strict;
mod trials;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let modules = [
        acid2::trials(),
        color::trials(),
        color_programs::trials(),
        docboy::trials(),
        idle::trials(),
        mealybug::trials(),
        mooneye::trials(),
        robustness::trials(),
        rtc3::trials(),
        same_suite::trials(),
        save_state::trials(),
        sm83::trials(),
        strict::trials(),
        vec![trials::test(every_module_lists_its_tests)],
    ];
    let trials: Vec<Trial> = modules.into_iter().flatten().collect();
    let names: BTreeSet<&str> = trials.iter().map(Trial::name).collect();
    assert_eq!(names.len(), trials.len(), "a test is listed twice");
    trials::explain(&arguments);
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// This harness does not collect functions marked for the standard one: they would never run.
fn every_module_lists_its_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let marked = text.lines().any(|line| line.trim() == "#[test]");
            assert!(!marked, "{}: got #[test], expected an entry in `trials`", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 18, "saw {seen} files");
}
