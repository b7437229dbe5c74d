//! The instructions of one frame, one by one.

use gb_core::{GameBoy, Model};

/// What a row of a trace holds: [`COLUMNS`] numbers.
pub type Row = [u64; COLUMNS];

/// T-cycles of the processor; PC, AF, BC, DE, HL, SP; then the registers in [`SHOWN`].
pub const COLUMNS: usize = 7 + SHOWN.len();

/// IF, IE, LCDC, STAT, LY, DIV, TIMA.
const SHOWN: [u16; 7] = [0xFF0F, 0xFFFF, 0xFF40, 0xFF41, 0xFF44, 0xFF04, 0xFF05];

/// Opcodes that may leave every register as it was: jumps to themselves.
const JUMPS: [u8; 11] = [0x18, 0x20, 0x28, 0x30, 0x38, 0xC2, 0xC3, 0xCA, 0xD2, 0xDA, 0xE9];

/// Plays a frame on a copy of `machine` with these buttons held. Returns a row for the moment before
/// each instruction that the processor executes, and one for the frame's end. Interrupt dispatches,
/// waits and pauses for DMA are no instructions; idle loops, which a batch skips, count in full.
pub fn frame(machine: &GameBoy, buttons: u8) -> Vec<Row> {
    let mut machine = machine.clone();
    machine.set_buttons(buttons);
    let end = machine.frames().wrapping_add(1);
    let mut rows = Vec::new();
    while machine.frames() != end {
        let row = row(&machine);
        if step(&mut machine) {
            rows.push(row);
        }
    }
    rows.push(row(&machine));
    rows
}

/// Lets the processor do one thing; returns whether that was an instruction.
fn step(machine: &mut GameBoy) -> bool {
    let (before, stuck) = (machine.registers(), machine.stuck());
    let opcode = machine.peek(before.pc);
    machine.run_cycles(1);
    let after = machine.registers();
    if stuck || before.ime && !after.ime && after.sp == before.sp.wrapping_sub(2) {
        return false; // Locked, or an interrupt was dispatched: only that clears IME and pushes.
    }
    // Only the Color's VRAM DMA holds a running processor.
    let held = machine.model() == Model::Cgb && !JUMPS.contains(&opcode);
    before != after || !before.halted && !held
}

fn row(machine: &GameBoy) -> Row {
    let r = machine.registers();
    let pair = |high: u8, low: u8| u64::from(u16::from_be_bytes([high, low]));
    let mut row = [0; COLUMNS];
    let processor = [
        machine.cycles(),
        u64::from(r.pc),
        pair(r.a, r.f),
        pair(r.b, r.c),
        pair(r.d, r.e),
        pair(r.h, r.l),
        u64::from(r.sp),
    ];
    let shown = SHOWN.map(|address| u64::from(machine.peek(address)));
    for (place, value) in row.iter_mut().zip(processor.into_iter().chain(shown)) {
        *place = value;
    }
    row
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gb_core::{Profile, Rom};

    use super::*;

    const NOP: u8 = 0x00;

    fn machine(program: &[u8], model: Model) -> GameBoy {
        let mut image = vec![NOP; 0x8000];
        image[0x40] = 0xD9; // RETI
        image[0x100..0x104].copy_from_slice(&[NOP, 0xC3, 0x50, 0x01]);
        image[0x150..0x150 + program.len()].copy_from_slice(program);
        image[0x14D] = image[0x134..0x14D]
            .iter()
            .fold(0u8, |sum, byte| sum.wrapping_sub(*byte).wrapping_sub(1));
        GameBoy::with_model(Arc::new(Rom::parse(&image).unwrap()), Profile::Hardware, model)
    }

    /// PC before each instruction of a frame.
    fn places(machine: &GameBoy) -> Vec<u64> {
        let rows = frame(machine, 0);
        rows[..rows.len() - 1].iter().map(|row| row[1]).collect()
    }

    #[test]
    fn a_frame_is_traced_on_a_copy_and_ends_where_the_machine_ends() {
        let mut machine = machine(&[0x3C, 0xC3, 0x50, 0x01], Model::Dmg); // INC A; JP 0150
        let before = machine.save_state();
        let rows = frame(&machine, 0x80);
        assert_eq!(machine.save_state(), before);
        assert_eq!(rows[0][..2], [machine.cycles(), 0x100]);
        machine.set_buttons(0x80);
        machine.run_frame(true);
        assert_eq!(rows.last().unwrap(), &row(&machine));
        assert!(rows.len() > 3_000);
    }

    #[test]
    fn every_round_of_an_idle_loop_is_an_instruction() {
        for model in [Model::Dmg, Model::Cgb] {
            let mut machine = machine(&[0x18, 0xFE], model); // JR to itself
            machine.run_frame(false);
            let places = places(&machine);
            assert!(places.iter().all(|&pc| pc == 0x150));
            assert!((5_851..=5_853).contains(&places.len()), "{}", places.len());
            // 70,224 / 12
        }
    }

    #[test]
    fn waits_and_dispatches_are_no_instructions() {
        // LD A,1; LDH (FF),A; EI; HALT; JR to the HALT: once a frame, V-blank wakes it.
        let program = [0x3E, 0x01, 0xE0, 0xFF, 0xFB, 0x76, 0x18, 0xFD];
        for model in [Model::Dmg, Model::Cgb] {
            let mut machine = machine(&program, model);
            for _ in 0..2 {
                machine.run_frame(false);
            }
            assert_eq!(places(&machine), [0x40, 0x156, 0x155]);
        }
    }

    #[test]
    fn a_locked_processor_executes_nothing_but_the_frame_ends() {
        let mut machine = machine(&[0xD3], Model::Dmg);
        machine.run_frame(false);
        assert!(machine.stuck());
        assert!(places(&machine).is_empty());
    }
}
