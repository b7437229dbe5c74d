//! One frame of `Profile::PyBoy`, instruction by instruction: this project's half of
//! `python -m tests.oracle.diverge`.
//!
//! ```text
//! trace ROM FRAME < button masks, one byte a frame
//! ```
//!
//! Plays the masks of standard input, one a frame. In frame number `FRAME` it prints a line
//! before every instruction, and one at the end: the clock in decimal, then PC, AF, BC, DE, HL,
//! SP, IF, IE, LCDC, STAT, LY, DIV and TIMA in hexadecimal.

use std::error::Error;
use std::io::{BufWriter, Read, Write};
use std::sync::Arc;

use gb_core::{GameBoy, Profile, Rom};

const USAGE: &str = "usage: trace ROM FRAME < masks";

/// Registers of the bus that a line shows.
const SHOWN: [u16; 7] = [0xFF0F, 0xFFFF, 0xFF40, 0xFF41, 0xFF44, 0xFF04, 0xFF05];

fn line(out: &mut impl Write, machine: &GameBoy) -> std::io::Result<()> {
    let r = machine.registers();
    write!(
        out,
        "{} {:04X} {:02X}{:02X} {:02X}{:02X} {:02X}{:02X} {:02X}{:02X} {:04X}",
        machine.clock(),
        r.pc,
        r.a,
        r.f,
        r.b,
        r.c,
        r.d,
        r.e,
        r.h,
        r.l,
        r.sp
    )?;
    for addr in SHOWN {
        write!(out, " {:02X}", machine.peek(addr))?;
    }
    writeln!(out)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let rom = std::fs::read(args.next().ok_or(USAGE)?)?;
    let frame: usize = args.next().ok_or(USAGE)?.parse()?;
    let mut masks = Vec::new();
    std::io::stdin().read_to_end(&mut masks)?;
    let mask = *masks.get(frame).ok_or("FRAME is beyond the masks")?;

    let mut machine = GameBoy::new(Arc::new(Rom::parse(&rom)?), Profile::PyBoy);
    for &mask in &masks[..frame] {
        machine.set_buttons(mask);
        machine.run_frame(true);
    }
    machine.set_buttons(mask);
    let mut out = BufWriter::new(std::io::stdout().lock());
    let frames = machine.frames();
    while machine.frames() == frames {
        // A halted processor goes on with the next instruction once something is pending.
        let pending = machine.peek(0xFFFF) & machine.peek(0xFF0F) & 0x1F;
        if !machine.registers().halted || pending != 0 {
            line(&mut out, &machine)?;
        }
        machine.run_cycles(1);
    }
    line(&mut out, &machine)?;
    Ok(())
}
