//! The emulation of batch steps and nothing else: the floor that `bench` compares batches with.
//!
//! ```text
//! solo ROM MACHINES FRAME_SKIP
//! ```
//!
//! Reads blocks from standard input: a `u32` (little endian) number of steps, then `MACHINES`
//! button masks a step. Plays each block on this thread, machine after machine, rendering the
//! last frame of every step, and prints the seconds of processor time that it took (as Linux
//! accounts them). No picture is exported and no result is gathered: whatever a batch takes longer
//! is the cost of batching.

use std::error::Error;
use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::time::Duration;

use gb_core::{GameBoy, Profile, Rom};

const USAGE: &str = "usage: solo ROM MACHINES FRAME_SKIP < blocks";

/// How long this thread has run.
fn thread_time() -> Result<Duration, Box<dyn Error>> {
    let file = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let nanos = text.split_ascii_whitespace().next().ok_or("schedstat is empty")?.parse()?;
    Ok(Duration::from_nanos(nanos))
}

fn play(machines: &mut [GameBoy], steps: &[u8], frame_skip: u64) {
    for step in steps.chunks_exact(machines.len()) {
        for (machine, &mask) in machines.iter_mut().zip(step) {
            machine.set_buttons(mask);
            for frame in 1..=frame_skip {
                machine.run_frame(frame == frame_skip);
            }
        }
    }
}

/// The next block's masks, or `None` at the end of the input.
fn next_block(input: &mut impl Read, machines: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut steps = [0; 4];
    match input.read_exact(&mut steps) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let mut masks = vec![0; u32::from_le_bytes(steps) as usize * machines];
    input.read_exact(&mut masks)?;
    Ok(Some(masks))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let rom = std::fs::read(args.next().ok_or(USAGE)?)?;
    let machines: usize = args.next().ok_or(USAGE)?.parse()?;
    let frame_skip: u64 = args.next().ok_or(USAGE)?.parse()?;

    let first = GameBoy::new(Arc::new(Rom::parse(&rom)?), Profile::Hardware);
    let mut machines = vec![first; machines];
    let mut input = std::io::stdin().lock();
    while let Some(masks) = next_block(&mut input, machines.len())? {
        let start = thread_time()?;
        play(&mut machines, &masks, frame_skip);
        println!("{}", thread_time()?.saturating_sub(start).as_secs_f64());
    }
    Ok(())
}
