//! rtc3test: the clock of MBC3, measured by a game's own means.

use std::path::Path;

use gb_core::{GameBoy, Profile};
use libtest_mimic::Trial;

use crate::common;
use crate::trials::test_with_data;

const DOWN: u8 = 1 << 3;
const A: u8 = 1 << 4;

const MAP: u16 = 0x9C00;
const COLUMNS: u16 = 20;
const ROWS: u16 = 18;

/// Frames for one group of tests: the longest takes about 20 seconds.
const BUDGET: u32 = 60 * 60;

/// The colour that the ROM gives the letters of a result, in the top bits of the tile number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    Plain,
    Pass,
    Fail,
}

/// A row of text on the screen and the colour of its last letter.
fn row(machine: &GameBoy, row: u16) -> (String, Colour) {
    let tiles = (0..COLUMNS).map(|column| machine.peek(MAP + row * 32 + column));
    let mut colour = Colour::Plain;
    let text: String = tiles
        .map(|tile| {
            let letter = match tile & 0x3F {
                n if tile >= 0xC0 => *b">*:/-".get(usize::from(n)).unwrap_or(&b' '),
                n @ 0..10 => b'0' + n,
                n @ 10..36 => b'A' + n - 10,
                n @ 36..62 => b'a' + n - 36,
                62 => b'.',
                _ => b' ',
            };
            if letter != b' ' && tile < 0xC0 {
                colour = [Colour::Plain, Colour::Pass, Colour::Fail][usize::from(tile >> 6)];
            }
            char::from(letter)
        })
        .collect();
    (text.trim().to_owned(), colour)
}

fn screen(machine: &GameBoy) -> Vec<(String, Colour)> {
    (0..ROWS).map(|y| row(machine, y)).collect()
}

fn press(machine: &mut GameBoy, button: u8) {
    for mask in [button, 0] {
        machine.set_buttons(mask);
        for _ in 0..6 {
            machine.run_frame(false);
        }
    }
}

/// Runs the group at `entry` of the menu and returns how many tests passed, or the whole screen.
fn run_group(machine: &mut GameBoy, entry: usize) -> Result<usize, String> {
    for _ in 0..30 {
        machine.run_frame(false);
    }
    for _ in 0..entry {
        press(machine, DOWN);
    }
    press(machine, A);
    for _ in 0..BUDGET {
        machine.run_frame(false);
        if row(machine, ROWS - 1).0 == "* Return" {
            let rows = screen(machine);
            let count = |colour| rows.iter().filter(|(_, c)| *c == colour).count();
            return match count(Colour::Fail) {
                0 => Ok(count(Colour::Pass)),
                _ => Err(format!("{rows:#?}")),
            };
        }
    }
    Err(format!("no result within {BUDGET} frames: {:#?}", screen(machine)))
}

pub fn trials() -> Vec<Trial> {
    vec![test_with_data(all_groups_pass)]
}

fn all_groups_pass(data: &Path) {
    for (entry, (group, tests)) in
        [("basic", 8), ("range", 7), ("sub-second", 8)].into_iter().enumerate()
    {
        let mut machine = common::boot(&data.join("rtc3test/rtc3test.gb"), Profile::Hardware);
        assert_eq!(run_group(&mut machine, entry), Ok(tests), "{group}");
    }
}
