//! The accuracy and robustness suite: whole programs, published vectors and hostile bytes.
//!
//! Test data lives outside the repository, in the folder named by `HYBRIDENV_SHARED` or else in
//! `../shared` beside the repository. Tests that need it say so and pass without it.

mod acid2;
mod color;
mod common;
mod docboy;
mod mealybug;
mod mooneye;
mod robustness;
mod rtc3;
mod same_suite;
mod save_state;
mod sm83;
mod strict;
