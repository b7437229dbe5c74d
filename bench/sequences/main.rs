//! Chooses the sequences of instructions that the processor executes as one.
//!
//! ```text
//! sequences LIST ROM...
//! ```
//!
//! Plays each ROM with random buttons, records which instructions it executes one after the other,
//! and chooses the sequences that save most dispatches, every game counting the same. Writes them
//! to `LIST`, the source file that `gb-core` is built from. The same ROMs give the same list.
//!
//! Then prints how often the interpreter jumps to another piece of code with the list before, with the
//! new one, and, for each game, with one that is chosen from the others, which is the honest figure
//! for a game that nobody has seen here. Ends of sequences where an interrupt may come are not counted.

mod choose;
mod list;
#[path = "../../crates/gb-core/src/cpu/opcode.rs"]
mod opcode;
mod record;
#[path = "../../crates/gb-core/tests/suite/split_mix.rs"]
mod split_mix;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::thread;

use choose::{choose, dispatches, Sequence};
use record::Runs;

const USAGE: &str = "usage: sequences LIST ROM...";

/// How many sequences are chosen: with the opcodes, they are numbered from 0 to 2047.
const CHOSEN: usize = 2048 - 256;

/// What each game executes, in the order of their files.
fn record_all(roms: &[String]) -> Result<Vec<Runs>, Box<dyn Error>> {
    thread::scope(|scope| {
        let recording: Vec<_> = roms
            .iter()
            .map(|rom| {
                scope.spawn(move || {
                    record::record(Path::new(rom)).map_err(|e| format!("{rom}: {e}"))
                })
            })
            .collect();
        recording
            .into_iter()
            .map(|game| Ok(game.join().map_err(|_| "a recording panicked")??))
            .collect()
    })
}

/// The runs of all games but one, each game weighing the same.
fn together(games: &[Runs], without: Option<usize>) -> Runs {
    let mut all = Runs::default();
    for (i, game) in games.iter().enumerate() {
        if Some(i) != without {
            all.add(game);
        }
    }
    all
}

/// Dispatches per 1,000 instructions.
fn rate(game: &Runs, sequences: &[Sequence]) -> u64 {
    1000 * dispatches(game, sequences) / game.instructions().max(1)
}

fn print_row(name: &str, [none, before, new, others]: [u64; 4]) {
    println!("{name:20} {none:5} {before:5} {new:5} {others:5}");
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or(USAGE)?;
    let mut roms: Vec<String> = args.collect();
    if roms.is_empty() {
        return Err(USAGE.into());
    }
    roms.sort();
    let before = list::read(Path::new(&file))?;
    let games = record_all(&roms)?;
    let chosen = choose(&together(&games, None), CHOSEN);
    list::write(Path::new(&file), &chosen)?;

    let others: Vec<Vec<Sequence>> = thread::scope(|scope| {
        let games = &games;
        let choosing: Vec<_> = (0..games.len())
            .map(|i| scope.spawn(move || choose(&together(games, Some(i)), CHOSEN)))
            .collect();
        choosing
            .into_iter()
            .map(|c| c.join().map_err(|_| "a choice panicked"))
            .collect::<Result<_, _>>()
    })?;
    println!(
        "dispatches per 1,000 instructions: with no sequences, those before, the new ones, and"
    );
    println!("as many that are chosen from the other games");
    let mut sums = [0; 4];
    for ((rom, game), others) in roms.iter().zip(&games).zip(&others) {
        let rates = [&[][..], &before, &chosen, others].map(|sequences| rate(game, sequences));
        let name = Path::new(rom).file_stem().unwrap_or_default();
        print_row(&name.to_string_lossy(), rates);
        for (sum, rate) in sums.iter_mut().zip(rates) {
            *sum += rate;
        }
    }
    print_row("mean", sums.map(|sum| sum / games.len() as u64));
    let mut lengths = BTreeMap::new();
    for sequence in &chosen {
        *lengths.entry(sequence.len()).or_insert(0) += 1;
    }
    println!("opcodes in a sequence: {lengths:?}");
    Ok(())
}
