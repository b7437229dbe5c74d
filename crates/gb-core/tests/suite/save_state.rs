//! Save states: a machine that is saved and loaded at any moment goes on as if nothing had happened,
//! and bytes that are no state of it are refused.

use std::path::{Path, PathBuf};

use gb_core::{seal, GameBoy, Profile, Registers, StateError, STATE_VERSION};
use libtest_mimic::Trial;

use crate::common::{self, Choices, FRAME};
use crate::trials::{test, test_with_data};

/// Length of magic, version, profile, ROM hash and checksum in front of the body.
const ENVELOPE: usize = 26;

const RANDOM_BODIES: usize = 600;

const PROFILES: [Profile; 2] = [Profile::Hardware, Profile::PyBoy];

const GAMES: [&str; 9] = [
    "tobutobugirl/tobu.gb",
    "2048gb/2048.gb",
    "porklike-gb/porklike.gb",
    "renegade-rush/RenegadeRush.gb",
    "shock-lobster/shocklobster.gb",
    "grub-glide/GrubGlide.gb",
    "maxpirate/maxpirate.gb",
    "rebound/Rebound.gbc",
    "gbhack/gbhack.gbc",
];

/// A program that keeps most of the machine busy: OAM DMA waited for in HRAM, EI, DI and HALT,
/// V-blank, STAT and timer interrupts, sound, serial, and the LCD switched off and on.
///
/// ```text
///         ld sp,FFFE ; ld hl,FF80 ; ld de,dma ; ld b,10
/// copy:   ld a,(de) ; ld (hl+),a ; inc de ; dec b ; jr nz,copy
///         IE=0F ; TMA=F0 ; TAC=05 ; STAT=28 ; NR52=80 ; NR12=F3 ; NR14=C7 ; NR22=F3 ; NR24=87
/// loop:   ei ; halt ; nop ; di ; SC=81 ; ld a,C1 ; call FF80 ; inc b
///         ldh a,(SCX) ; inc a ; ldh (SCX),a ; ld a,b ; and 0F ; jr nz,loop
/// wait:   ldh a,(LY) ; cp 90 ; jr nz,wait
///         LCDC=00 ; ld c,20
/// delay:  dec c ; jr nz,delay
///         LCDC=E3 ; jr loop
/// dma:    ldh (DMA),a ; ld a,28
/// spin:   dec a ; jr nz,spin ; ret
/// ```
fn busy_image() -> Vec<u8> {
    const START: [u8; 17] = [
        0x31, 0xFE, 0xFF, 0x21, 0x80, 0xFF, 0x11, 0x00, 0x02, 0x06, 0x0A, 0x1A, 0x22, 0x13, 0x05,
        0x20, 0xFA,
    ];
    const REGISTERS: [(u8, u8); 9] = [
        (0xFF, 0x0F),
        (0x06, 0xF0),
        (0x07, 0x05),
        (0x41, 0x28),
        (0x26, 0x80),
        (0x12, 0xF3),
        (0x14, 0xC7),
        (0x17, 0xF3),
        (0x19, 0x87),
    ];
    const LOOP: [u8; 44] = [
        0xFB, 0x76, 0x00, 0xF3, 0x3E, 0x81, 0xE0, 0x02, 0x3E, 0xC1, 0xCD, 0x80, 0xFF, 0x04, 0xF0,
        0x43, 0x3C, 0xE0, 0x43, 0x78, 0xE6, 0x0F, 0x20, 0xE8, 0xF0, 0x44, 0xFE, 0x90, 0x20, 0xFA,
        0xAF, 0xE0, 0x40, 0x0E, 0x20, 0x0D, 0x20, 0xFD, 0x3E, 0xE3, 0xE0, 0x40, 0x18, 0xD4,
    ];
    const DMA: [u8; 10] = [0xE0, 0x46, 0x3E, 0x28, 0x3D, 0x20, 0xFD, 0xC9, 0x00, 0x00];
    let mut program = START.to_vec();
    program.extend(REGISTERS.iter().flat_map(|(register, value)| [0x3E, *value, 0xE0, *register]));
    program.extend(LOOP);

    let mut image = vec![0; 0x8000];
    for vector in (0x40..=0x60).step_by(8) {
        image[vector] = 0xD9;
    }
    image[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
    image[0x150..0x150 + program.len()].copy_from_slice(&program);
    image[0x200..0x20A].copy_from_slice(&DMA);
    common::fix_header(&mut image, 0x03, 2);
    image
}

fn games(data: &Path) -> Vec<PathBuf> {
    GAMES.iter().map(|game| data.join("games").join(game)).collect()
}

/// A machine of the same kind that has lived another life.
fn stranger(machine: &GameBoy, choices: &mut Choices) -> GameBoy {
    let mut other = GameBoy::with_model(machine.rom().clone(), machine.profile(), machine.model());
    other.set_buttons(choices.next() as u8);
    other.run_cycles(choices.below(3 * FRAME));
    other
}

/// Runs one machine straight on and one that is saved and loaded into another machine after every
/// step, and compares them.
struct Pair {
    straight: GameBoy,
    moved: GameBoy,
}

impl Pair {
    fn new(machine: GameBoy) -> Self {
        Self { moved: machine.clone(), straight: machine }
    }

    fn both(&mut self, act: impl Fn(&mut GameBoy)) {
        act(&mut self.straight);
        act(&mut self.moved);
    }

    fn move_on(&mut self, mut into: GameBoy) {
        into.load_state(&self.moved.save_state()).unwrap();
        self.moved = into;
    }

    fn check(&self, at: &str) {
        assert_eq!(self.moved.clock(), self.straight.clock(), "{at}");
        assert_eq!(self.moved.registers(), self.straight.registers(), "{at}");
    }

    fn check_everything(&self, at: &str) {
        self.check(at);
        assert!(self.moved.picture() == self.straight.picture(), "{at}: picture");
        assert!(self.moved.save_state() == self.straight.save_state(), "{at}: state");
    }
}

pub fn trials() -> Vec<Trial> {
    vec![
        test(a_state_can_be_moved_at_every_instruction),
        test_with_data(a_state_can_be_moved_at_random_moments_of_real_games),
        test(frames_after_a_load_are_the_same_byte_for_byte),
        test_with_data(frames_of_real_games_after_a_load_are_the_same_byte_for_byte),
        test(a_copy_is_the_same_machine),
        test(damaged_states_are_refused),
        test(states_of_another_rom_are_refused),
        test(states_of_another_version_profile_or_origin_are_refused_by_name),
        test(strange_values_in_sealed_states_are_refused_or_run),
        test(random_bodies_in_sealed_states_are_refused_or_run),
    ]
}

fn a_state_can_be_moved_at_every_instruction() {
    for profile in PROFILES {
        let mut pair = Pair::new(common::insert(&busy_image(), profile));
        let fresh = pair.straight.clone();
        let (mut dma, mut lcd_off, mut halted, mut interrupts) = (0, 0, 0, 0);
        for step in 0..60_000 {
            pair.both(|machine| machine.run_cycles(1));
            pair.move_on(fresh.clone());
            let at = format!("{profile:?} step {step}");
            pair.check(&at);
            if step % 512 == 0 {
                pair.check_everything(&at);
            }
            let registers = pair.straight.registers();
            dma += u32::from((0xFF82..0xFF90).contains(&registers.pc));
            interrupts += u32::from((0x40..0x68).contains(&registers.pc));
            halted += u32::from(registers.halted);
            lcd_off += u32::from(pair.straight.peek(0xFF40) & 0x80 == 0);
        }
        assert!(
            dma > 1000 && lcd_off > 30 && halted > 100 && interrupts > 100,
            "{profile:?}: the program must reach all of DMA {dma}, LCD off {lcd_off}, \
             HALT {halted}, interrupts {interrupts}"
        );
    }
}

fn a_state_can_be_moved_at_random_moments_of_real_games(data: &Path) {
    for path in games(data) {
        for profile in PROFILES {
            let mut choices = Choices(7);
            let mut pair = Pair::new(common::boot(&path, profile));
            for round in 0..40 {
                let (buttons, cycles) = (choices.next() as u8, choices.below(12 * FRAME));
                pair.both(|machine| {
                    machine.set_buttons(buttons);
                    machine.run_cycles(cycles);
                });
                let into = stranger(&pair.straight, &mut choices);
                pair.move_on(into);
                let at = format!("{} {profile:?} round {round}", path.display());
                pair.both(|machine| machine.run_frame(true));
                pair.check_everything(&at);
            }
        }
    }
}

fn frames_after_a_load_are_the_same_byte_for_byte() {
    compare_frames_after_a_load(&[busy_image()]);
}

fn frames_of_real_games_after_a_load_are_the_same_byte_for_byte(data: &Path) {
    let images: Vec<_> = games(data).iter().map(|path| std::fs::read(path).unwrap()).collect();
    compare_frames_after_a_load(&images);
}

fn compare_frames_after_a_load(images: &[Vec<u8>]) {
    for (number, image) in images.iter().enumerate() {
        for profile in PROFILES {
            let mut choices = Choices(number as u64);
            let mut machine = common::insert(image, profile);
            machine.run_cycles(60 * FRAME + choices.below(60 * FRAME));
            let state = machine.save_state();
            let mut loaded = stranger(&machine, &mut choices);
            loaded.load_state(&state).unwrap();
            assert!(loaded.save_state() == state, "image {number}: saving again gives other bytes");
            for frame in 0..120 {
                let buttons = choices.next() as u8;
                for machine in [&mut machine, &mut loaded] {
                    machine.set_buttons(buttons);
                    machine.run_frame(frame % 3 == 0);
                }
                assert!(
                    loaded.picture() == machine.picture(),
                    "image {number} {profile:?} frame {frame}: picture"
                );
            }
            assert!(loaded.save_state() == machine.save_state(), "image {number} {profile:?}");
        }
    }
}

fn a_copy_is_the_same_machine() {
    let mut machine = common::insert(&busy_image(), Profile::Hardware);
    machine.run_cycles(12_345_678);
    let mut copy = common::insert(&busy_image(), Profile::Hardware);
    copy.copy_from(&machine).unwrap();
    let mut pair = Pair { straight: machine, moved: copy };
    for frame in 0..60 {
        pair.both(|machine| machine.run_frame(true));
        pair.check_everything(&format!("frame {frame}"));
    }
    let mut other = busy_image();
    other[0x7FFF] = 1;
    let stranger = common::insert(&other, Profile::Hardware);
    assert!(pair.straight.copy_from(&stranger).is_err());
}

/// Loads `bytes`, which must be refused without a change, and returns the message.
fn refusal(machine: &mut GameBoy, bytes: &[u8]) -> String {
    let before = machine.save_state();
    let message = machine.load_state(bytes).map_err(|e| e.to_string()).unwrap_err();
    assert!(machine.save_state() == before, "a refused state changed the machine: {message}");
    message
}

fn damaged_states_are_refused() {
    let mut machine = common::insert(&busy_image(), Profile::Hardware);
    machine.run_cycles(1_000_000);
    let good = machine.save_state();
    machine.run_cycles(1_000_000);
    let mut refused = 0;
    let step = (good.len() / 400).max(1);
    for at in (0..48.min(good.len())).chain((48..good.len()).step_by(step)) {
        for bit in [0, 7] {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            refusal(&mut machine, &bad);
            refused += 1;
        }
        refusal(&mut machine, &good[..at]);
    }
    assert!(refused > 800);
    let mut longer = good.clone();
    longer.push(0);
    refusal(&mut machine, &longer);
    machine.load_state(&good).unwrap();
    assert!(machine.save_state() == good);
}

fn states_of_another_rom_are_refused() {
    let mut other = busy_image();
    other[0x7FFF] = 1;
    let mut machine = common::insert(&busy_image(), Profile::Hardware);
    let foreign = common::insert(&other, Profile::Hardware).save_state();
    let message = refusal(&mut machine, &foreign);
    assert!(message.to_lowercase().contains("rom"), "{message}");
}

fn states_of_another_version_profile_or_origin_are_refused_by_name() {
    let mut machine = common::insert(&busy_image(), Profile::Hardware);
    let good = machine.save_state();
    let mut newer = good.clone();
    newer[6..8].copy_from_slice(&(STATE_VERSION + 1).to_le_bytes());
    seal(&mut newer);
    assert_eq!(machine.load_state(&newer), Err(StateError::Version { got: STATE_VERSION + 1 }));
    assert!(refusal(&mut machine, &newer).contains(&format!("expected {STATE_VERSION}")));
    let other = common::insert(&busy_image(), Profile::PyBoy).save_state();
    assert!(refusal(&mut machine, &other).contains("profile \"pyboy\", expected \"hardware\""));
    assert!(refusal(&mut machine, b"").contains("truncated"));
    assert!(refusal(&mut machine, &vec![0x42; good.len()]).contains("magic"));
}

/// Bytes of a state that are neither memory nor picture: those that stay when all of these are filled
/// with something else.
fn fields(machine: &GameBoy) -> Vec<usize> {
    let filled = |fill: u8| {
        let mut machine = machine.clone();
        // An endless loop in HRAM, and the LCD on.
        machine.poke(0xFF80, 0x18);
        machine.poke(0xFF81, 0xFE);
        machine.poke(0xFF40, 0x91);
        machine.set_registers(Registers { pc: 0xFF80, ime: false, ..machine.registers() });
        (0x8000..=0x9FFF).for_each(|addr| machine.poke(addr, fill));
        (0..3).for_each(|_| machine.run_frame(true));
        machine.poke(0x0000, 0x0A);
        for addr in (0xA000..=0xFE9F).chain(0xFF30..=0xFF3F).chain(0xFF80..=0xFFFE) {
            machine.poke(addr, fill);
        }
        machine.save_state()
    };
    let (zeros, ones) = (filled(0x00), filled(0xFF));
    (ENVELOPE..zeros.len()).filter(|&at| zeros[at] == ones[at]).collect()
}

/// Loads a sealed state with strange contents: refused, or a machine that runs.
fn survive(machine: &GameBoy, state: &mut [u8]) -> bool {
    seal(state);
    let mut victim = machine.clone();
    let loaded = victim.load_state(state).is_ok();
    if loaded {
        for frame in 0..3 {
            victim.set_buttons(frame);
            victim.run_frame(frame != 1);
        }
        let again = victim.save_state();
        victim.load_state(&again).unwrap();
    }
    loaded
}

fn strange_values_in_sealed_states_are_refused_or_run() {
    for profile in PROFILES {
        let mut machine = common::insert(&busy_image(), profile);
        machine.run_cycles(2_345_678);
        let good = machine.save_state();
        let fields = fields(&machine);
        let (mut accepted, mut refused) = (0, 0);
        let mut count = |loaded| if loaded { accepted += 1 } else { refused += 1 };
        for &at in &fields {
            for value in [0x00, 0x80, 0xFF, good[at] ^ 0x11] {
                let mut state = good.clone();
                state[at] = value;
                count(survive(&machine, &mut state));
            }
            let mut state = good.clone();
            let end = (at + 8).min(state.len());
            state[at..end].fill(0xFF);
            count(survive(&machine, &mut state));
        }
        let subjects = fields.len();
        assert!(
            subjects > 150 && subjects < 1000 && accepted > 300 && refused > 300,
            "{profile:?}: {subjects} field bytes, {accepted} accepted, {refused} refused"
        );
    }
}

fn random_bodies_in_sealed_states_are_refused_or_run() {
    let mut choices = Choices(3);
    let mut accepted = 0;
    for round in 0..RANDOM_BODIES {
        let profile = PROFILES[round % 2];
        let mut machine = common::insert(&busy_image(), profile);
        machine.run_cycles(choices.below(40 * FRAME));
        let mut state = machine.save_state();
        if round % 8 == 0 {
            for byte in &mut state[ENVELOPE..] {
                *byte = choices.next() as u8;
            }
        } else {
            let fields = fields(&machine);
            for _ in 0..=choices.below(4) {
                let at = fields[choices.below(fields.len() as u64) as usize];
                state[at] = choices.next() as u8;
            }
        }
        accepted += usize::from(survive(&machine, &mut state));
    }
    assert!(accepted > RANDOM_BODIES / 10, "{accepted} accepted");
}
