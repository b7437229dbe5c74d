//! Batches of a tiny cartridge whose memory shows what reached the machine.

use std::sync::Arc;

use envpool_rs::{
    never, Batch, BatchError, Config, Encoding, Field, Format, Observation, Op, Program,
    SplitMix64, Step, Term, Test, DEFAULT_PALETTE,
};
use gb_core::{Profile, Rom};

/// Counts its rounds at C000, the buttons A, B, Select and Start as read at C001, DIV at C002.
const CODE: [u8; 20] = [
    0x21, 0x00, 0xC0, // ld hl, C000
    0x34, // loop: inc (hl)
    0x3E, 0x10, 0xE0, 0x00, 0xF0, 0x00, 0xEA, 0x01, 0xC0, // C001 = P1 with action buttons
    0xF0, 0x04, 0xEA, 0x02, 0xC0, // C002 = DIV
    0x18, 0xEF, // jr loop
];
const ROUNDS: u16 = 0xC000;
const PAD: u16 = 0xC001;
const A: u8 = 0x10;

/// The cartridge, `mark` telling one image from another.
fn rom(mark: u8) -> Arc<Rom> {
    let mut image = vec![0; 0x8000];
    image[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
    image[0x150..0x150 + CODE.len()].copy_from_slice(&CODE);
    image[0x14C] = mark;
    let sum = image[0x134..0x14D].iter().fold(0u8, |sum, &b| sum.wrapping_sub(b).wrapping_sub(1));
    image[0x14D] = sum;
    Arc::new(Rom::parse(&image).unwrap())
}

fn config(n: usize) -> Config {
    Config {
        roms: vec![rom(0); n],
        profile: Profile::Hardware,
        model: None,
        frame_skip: 2,
        press_frames: 2,
        noop_max: 0,
        observation: Observation { format: Format::Shades, palette: DEFAULT_PALETTE },
        threads: Some(2),
        seed: None,
        program: Program::default(),
        warm_up: Vec::new(),
        opening: Vec::new(),
    }
}

/// Pays for every change of the round counter, and ends when button A is seen.
fn program() -> Program {
    let byte = |address| Field { address, size: 1, big_endian: false, encoding: Encoding::Uint };
    let pressed = Field { encoding: Encoding::Bit(0), ..byte(PAD) };
    Program {
        fields: vec![byte(ROUNDS), pressed],
        reward: vec![
            Term::Value { field: 0, weight: 1.0 },
            Term::When { test: Test { field: 0, op: Op::Changed }, weight: 1000.0 },
        ],
        terminated: vec![Test { field: 1, op: Op::Equal(0.0) }],
        truncated: vec![],
        max_steps: Some(3),
        info: vec![1, 0],
        randomized: vec![],
    }
}

fn start(config: Config) -> Batch {
    let mut batch = Batch::new(config, &mut never).unwrap();
    batch.reset(None, None, &mut never).unwrap();
    batch
}

fn step(batch: &mut Batch, buttons: &[u8]) -> Step {
    batch.step(buttons, None, &mut never).unwrap()
}

fn memory(batch: &Batch) -> Vec<Vec<u8>> {
    (0..batch.n()).map(|i| batch.read_range(i, 0xC000..0xE000).unwrap()).collect()
}

/// Everything of a step that a caller can see, as bytes.
fn seen(step: &Step) -> Vec<Vec<u8>> {
    let mut columns = vec![
        step.obs.as_slice().to_vec(),
        bytemuck::cast_slice(step.reward.as_slice()).to_vec(),
        step.terminated.as_slice().to_vec(),
        step.truncated.as_slice().to_vec(),
    ];
    columns.extend(step.info.iter().map(|column| bytemuck::cast_slice(column.as_slice()).to_vec()));
    columns
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let play = |threads| {
        let seed = Some(7);
        let program = program();
        let mut batch =
            start(Config { threads: Some(threads), seed, noop_max: 5, program, ..config(9) });
        let steps: Vec<_> = (0..6)
            .map(|t| {
                let buttons: Vec<u8> =
                    (0..9).map(|i| if (i + t) % 4 == 0 { A } else { 0 }).collect();
                seen(&step(&mut batch, &buttons))
            })
            .collect();
        (steps, memory(&batch))
    };
    let alone = play(1);
    assert!(alone.1.windows(2).any(|pair| pair[0] != pair[1]), "seeds made no difference");
    assert_eq!(play(2), alone);
    assert_eq!(play(8), alone);
}

#[test]
fn a_crash_stays_in_its_environment_until_it_is_revived() {
    let mut batch = start(config(4));
    let mut other = start(config(4));
    batch.inject_crash(2).unwrap();
    let crash = batch.step(&[0; 4], None, &mut never).err();
    let Some(BatchError::Crashed { env: 2, count: 1, n: 4, payload }) = crash else {
        panic!("{crash:?}");
    };
    assert_eq!(payload, "injected crash");
    step(&mut other, &[0; 4]);
    for i in [0, 1, 3] {
        assert_eq!(
            batch.read_range(i, 0xC000..0xE000).unwrap(),
            other.read_range(i, 0xC000..0xE000).unwrap(),
            "env {i} did not finish the step"
        );
    }
    assert!(matches!(batch.read_range(2, 0..1), Err(BatchError::Crashed { env: 2, .. })));
    assert!(batch.step(&[0; 4], None, &mut never).is_err(), "stepped with a crashed env");
    batch.screen(None, &mut never).unwrap();

    let only = [false, false, true, false];
    batch.reset(None, Some(&only), &mut never).unwrap();
    step(&mut batch, &[0; 4]);

    batch.inject_crash(0).unwrap();
    assert!(batch.step(&[0; 4], None, &mut never).is_err());
    let state = batch.save_state(1).unwrap();
    assert!(batch.load_state(0, &state[1..]).is_err());
    assert!(batch.read_range(0, 0..1).is_err(), "revived by a state that was refused");
    batch.load_state(0, &state).unwrap();
    assert_eq!(
        batch.read_range(0, 0..0x1_0000).unwrap(),
        batch.read_range(1, 0..0x1_0000).unwrap()
    );

    batch.inject_crash(3).unwrap();
    assert!(batch.step(&[0; 4], None, &mut never).is_err());
    assert!(matches!(batch.copy(&[3], &[0]), Err(BatchError::Crashed { env: 3, .. })));
    batch.copy(&[0], &[3]).unwrap();
    step(&mut batch, &[0; 4]);
}

#[test]
fn restarted_environments_do_not_play_the_step() {
    let mut batch = start(Config { program: program(), ..config(3) });
    let first = memory(&batch);
    step(&mut batch, &[A; 3]);
    let moved = memory(&batch);
    let result = batch.step(&[A; 3], Some(&[false, true, false]), &mut never).unwrap();
    assert_eq!(memory(&batch)[1], first[1]);
    assert_ne!(memory(&batch)[0], moved[0]);
    assert_eq!(result.terminated.as_slice(), [1, 0, 1]);
    assert_eq!(result.reward.as_slice()[1].to_bits(), 0);
    assert_eq!(result.info[1].as_slice()[1], i64::from(first[1][0]));
}

#[test]
fn tasks_count_steps_and_compare_with_their_own_past_only() {
    let frozen = Program {
        fields: vec![Field {
            address: 0xD000,
            size: 1,
            big_endian: false,
            encoding: Encoding::Uint,
        }],
        reward: vec![Term::Delta { field: 0, weight: 1.0, low: -9.0, high: 9.0 }],
        max_steps: Some(3),
        ..Program::default()
    };
    let mut batch = start(Config { program: frozen, ..config(2) });
    let pay = |batch: &mut Batch| {
        let result = step(batch, &[0; 2]);
        (result.reward.as_slice().to_vec(), result.truncated.as_slice().to_vec())
    };
    batch.write_range(0, 0xD000, &[5]).unwrap();
    batch.write_range(1, 0xD000, &[200]).unwrap();
    assert_eq!(pay(&mut batch), (vec![5.0, 9.0], vec![0, 0]));
    assert_eq!(pay(&mut batch), (vec![0.0, 0.0], vec![0, 0]));
    let states = batch.save_states(None, &mut never).unwrap();
    assert_eq!(pay(&mut batch), (vec![0.0, 0.0], vec![1, 1]));

    // A reset env begins at zero; that is no change from 5.
    batch.reset(None, Some(&[true, false]), &mut never).unwrap();
    assert_eq!(pay(&mut batch), (vec![0.0, 0.0], vec![0, 1]));
    // Snapshots go on in their episode: two steps were counted.
    batch.load_states(&states, Some(&[true, false]), &mut never).unwrap();
    assert_eq!(pay(&mut batch), (vec![0.0, 0.0], vec![1, 1]));
    // A copy takes memory, past and count of its source.
    batch.reset(None, Some(&[false, true]), &mut never).unwrap();
    batch.copy(&[1], &[0]).unwrap();
    assert_eq!(pay(&mut batch), (vec![0.0, 0.0], vec![0, 0]));
    // A state of bytes begins an episode.
    batch.write_range(0, 0xD000, &[7]).unwrap();
    let state = batch.save_state(0).unwrap();
    batch.load_state(1, &state).unwrap();
    assert_eq!(pay(&mut batch), (vec![7.0, 0.0], vec![0, 0]));
}

#[test]
fn copies_read_all_sources_before_they_write() {
    let mut batch = start(config(4));
    for i in 0..4 {
        batch.write_range(i, 0xD000, &[i as u8]).unwrap();
    }
    let marks = |batch: &Batch| -> Vec<u8> {
        (0..4).map(|i| batch.read_range(i, 0xD000..0xD001).unwrap()[0]).collect()
    };
    batch.copy(&[1, 0, 3, 2], &[0, 1, 2, 2]).unwrap_err();
    assert_eq!(marks(&batch), [0, 1, 2, 3], "a refused copy changed something");
    batch.copy(&[1, 0, 3, 3], &[0, 1, 2, 3]).unwrap();
    assert_eq!(marks(&batch), [1, 0, 3, 3]);
    batch.copy(&[0, 1, 2], &[1, 2, 3]).unwrap();
    assert_eq!(marks(&batch), [1, 1, 0, 3]);
}

#[test]
fn starts_are_power_on_and_warm_up_or_a_given_state() {
    let mut batch = start(Config { warm_up: vec![(A, 3), (0, 2)], ..config(2) });
    assert!(batch
        .gather(gb_core::GameBoy::frames)
        .unwrap()
        .as_slice()
        .iter()
        .all(|&frames| frames == 5));
    let origin = memory(&batch);
    step(&mut batch, &[A; 2]);
    let state = batch.save_state(0).unwrap();
    let later = memory(&batch);
    batch.set_start(Some(&state), Some(&[false, true])).unwrap();
    batch.reset(None, None, &mut never).unwrap();
    assert_eq!(memory(&batch), [origin[0].clone(), later[0].clone()]);
    assert!(batch.set_start(Some(&state[..50]), None).is_err());
    batch.set_start(None, None).unwrap();
    batch.reset(None, None, &mut never).unwrap();
    assert_eq!(memory(&batch), origin);
}

/// What a seed makes of a state, step by step: divider, idle frames, opening.
fn varied(state: &[u8], seed: u64, noop_max: u32, opening: &[(u8, u32)]) -> Vec<u8> {
    let mut batch = start(Config { frame_skip: 1, press_frames: 1, ..config(1) });
    batch.load_state(0, state).unwrap();
    let mut stream = SplitMix64::new(seed);
    batch.machine_mut(0).unwrap().set_div(stream.next_u64() as u16);
    for (buttons, frames) in [&[(0, stream.next_up_to(noop_max))], opening].concat() {
        (0..frames).for_each(|_| drop(step(&mut batch, &[buttons])));
    }
    batch.save_state(0).unwrap()
}

fn states(batch: &Batch) -> Vec<Vec<u8>> {
    (0..batch.n()).map(|i| batch.save_state(i).unwrap()).collect()
}

#[test]
fn openings_follow_what_a_seed_changes() {
    let (warm_up, opening) = (vec![(0, 4)], vec![(A, 3), (0, 2)]);
    let scripted = || Config { warm_up: warm_up.clone(), opening: opening.clone(), ..config(3) };
    // Without a seed the opening is no more than a longer warm-up.
    let mut batch = start(scripted());
    let longer = start(Config { warm_up: [&warm_up[..], &opening].concat(), ..config(3) });
    let plain = states(&batch);
    assert_eq!(plain, states(&longer));
    assert!(batch
        .gather(gb_core::GameBoy::frames)
        .unwrap()
        .as_slice()
        .iter()
        .all(|&frames| frames == 9));
    step(&mut batch, &[A, 0, A]);
    batch.reset(None, None, &mut never).unwrap();
    assert_eq!(states(&batch), plain);

    // With one it follows the divider and the idle frames.
    let mut seeded = start(Config { seed: Some(30), noop_max: 6, ..scripted() });
    let base = start(Config { warm_up: warm_up.clone(), ..config(1) }).save_state(0).unwrap();
    let expected: Vec<_> = (30..33).map(|seed| varied(&base, seed, 6, &opening)).collect();
    assert_eq!(states(&seeded), expected);
    seeded.step(&[0; 3], Some(&[true; 3]), &mut never).unwrap();
    assert_ne!(states(&seeded), expected, "the second start repeats the first");
}

#[test]
fn a_given_start_has_no_opening() {
    let mut batch = start(Config { opening: vec![(A, 3), (0, 2)], noop_max: 6, ..config(3) });
    let opened = states(&batch);
    step(&mut batch, &[0; 3]);
    let given = batch.save_state(0).unwrap();
    batch.set_start(Some(&given), None).unwrap();
    batch.reset(Some(&[None, Some(1), None]), None, &mut never).unwrap();
    assert_eq!(states(&batch), [given.clone(), varied(&given, 1, 6, &[]), given]);
    batch.set_start(None, None).unwrap();
    batch.reset(None, Some(&[true, false, false]), &mut never).unwrap();
    assert_eq!(batch.save_state(0).unwrap(), opened[0]);
}

#[test]
fn tasks_compare_with_the_state_after_the_opening() {
    let opening = vec![(A, 3)];
    let pad = Field { address: PAD, size: 1, big_endian: false, encoding: Encoding::Uint };
    let program = Program {
        fields: vec![pad],
        reward: vec![Term::When { test: Test { field: 0, op: Op::Changed }, weight: 1.0 }],
        ..Program::default()
    };
    let mut batch = start(Config { opening, program, seed: Some(1), ..config(2) });
    assert_eq!(step(&mut batch, &[A, 0]).reward.as_slice(), [0.0, 1.0]);
}

#[test]
fn seeded_starts_overwrite_fields_by_chance() {
    const SPARE: u16 = 0xC100;
    let opening = vec![(A, 3)];
    let spare =
        |address, size, big_endian| Field { address, size, big_endian, encoding: Encoding::Uint };
    let program = Program {
        fields: vec![spare(SPARE, 4, false), spare(SPARE + 4, 2, true)],
        reward: vec![Term::Delta { field: 1, weight: 1.0, low: -1e9, high: 1e9 }],
        randomized: vec![1, 0],
        ..Program::default()
    };
    let plain = |seed| Config { seed, opening: opening.clone(), noop_max: 6, ..config(3) };
    let random = |seed| Config { program: program.clone(), ..plain(seed) };

    // After divider, idle frames and opening, in the order of `randomized`, and nothing else.
    let mut batch = start(random(Some(8)));
    let mut expected = start(plain(Some(8)));
    for i in 0..3 {
        let mut stream = SplitMix64::new(8 + i as u64);
        stream.next_u64();
        stream.next_up_to(6);
        let second = stream.next_up_to(0xFFFE) as u16 + 1;
        let first = stream.next_up_to(0xFFFF_FFFE) + 1;
        let bytes = [&first.to_le_bytes()[..], &second.to_be_bytes()].concat();
        expected.write_range(i, SPARE.into(), &bytes).unwrap();
    }
    assert_eq!(states(&batch), states(&expected));
    assert_eq!(step(&mut batch, &[0; 3]).reward.as_slice(), [0.0; 3], "compared with before");

    // A given start is varied alike; a start without a seed is not.
    let given = start(config(1)).save_state(0).unwrap();
    batch.set_start(Some(&given), None).unwrap();
    batch.reset(Some(&[Some(8), Some(9), Some(10)]), None, &mut never).unwrap();
    let numbers = |batch: &Batch| -> Vec<Vec<u8>> {
        let range = usize::from(SPARE)..usize::from(SPARE) + 6;
        (0..3).map(|i| batch.read_range(i, range.clone()).unwrap()).collect()
    };
    assert_eq!(numbers(&batch), numbers(&expected));
    assert_eq!(states(&start(random(None))), states(&start(plain(None))));
}

#[test]
fn seeds_belong_to_environments_and_streams_go_on() {
    let seeded = |seed| Config { seed, noop_max: 40, ..config(3) };
    let mut batch = start(seeded(Some(5)));
    let first = memory(&batch);
    batch.reset(None, None, &mut never).unwrap();
    assert_ne!(memory(&batch), first, "the second start repeats the first");
    batch.reset(Some(&[Some(5), Some(6), Some(7)]), None, &mut never).unwrap();
    assert_eq!(memory(&batch), first);
    let mut shifted = start(seeded(Some(6)));
    assert_eq!(memory(&shifted)[..2], first[1..]);
    shifted.reset(Some(&[None, None, Some(5)]), Some(&[false, false, true]), &mut never).unwrap();
    assert_eq!(memory(&shifted)[2], first[0]);
    let plain = start(seeded(None));
    assert!(plain
        .gather(gb_core::GameBoy::frames)
        .unwrap()
        .as_slice()
        .iter()
        .all(|&frames| frames == 0));
}

#[test]
fn cartridges_may_differ_and_do_not_mix() {
    let roms = vec![rom(1), rom(2), rom(1)];
    let mut batch = start(Config { roms, ..config(3) });
    let state = batch.save_state(0).unwrap();
    batch.load_state(2, &state).unwrap();
    assert!(matches!(batch.load_state(1, &state), Err(BatchError::State { env: 1, .. })));
    assert!(matches!(batch.copy(&[0], &[1]), Err(BatchError::State { env: 1, .. })));
    assert!(matches!(batch.set_start(Some(&state), None), Err(BatchError::State { env: 1, .. })));
    batch.set_start(Some(&state), Some(&[true, false, true])).unwrap();
    let mut same = start(config(3));
    let states = same.save_states(None, &mut never).unwrap();
    let before = memory(&batch);
    let refused = batch.load_states(&states, None, &mut never);
    assert!(matches!(refused, Err(BatchError::State { env: 0, .. })));
    assert_eq!(memory(&batch), before);
}

#[test]
fn an_interrupted_step_stops_at_a_frame_and_leaves_the_batch_usable() {
    let mut long = start(Config { frame_skip: u32::MAX, press_frames: 1, ..config(4) });
    let interrupted = long.step(&[0; 4], None, &mut || true);
    assert!(matches!(interrupted, Err(BatchError::Interrupted)));
    let frames = long.gather(gb_core::GameBoy::frames).unwrap();
    assert!(frames.as_slice().iter().all(|&frames| frames < u64::from(u32::MAX)));
    assert!(frames.as_slice().iter().any(|&frames| frames > 1), "nothing ran in the grace time");
    long.save_state(0).unwrap();
    long.reset(None, None, &mut never).unwrap();
    assert_eq!(memory(&long)[0], memory(&start(config(1)))[0]);
    let endless = vec![(0, u32::MAX); 9];
    for (warm_up, opening) in [(vec![], endless.clone()), (endless, vec![])] {
        let built = Batch::new(Config { warm_up, opening, ..config(1) }, &mut || true);
        assert!(matches!(built, Err(BatchError::Interrupted)));
    }
}

#[test]
fn bad_arguments_are_refused_before_anything_happens() {
    let refused = |config: Config| match Batch::new(config, &mut never) {
        Err(BatchError::Argument(message)) => message,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    };
    assert!(refused(config(0)).contains("n: got 0"));
    assert!(refused(Config { threads: Some(0), ..config(1) }).contains("num_threads"));
    assert!(refused(Config { frame_skip: 0, ..config(1) }).contains("frame_skip"));
    assert!(refused(Config { press_frames: 3, ..config(1) }).contains("press_frames"));

    let mut batch = Batch::new(config(2), &mut never).unwrap();
    assert!(matches!(
        batch.step(&[0; 2], None, &mut never),
        Err(BatchError::NotReset { env: 0, count: 2, n: 2 })
    ));
    batch.reset(None, Some(&[true, false]), &mut never).unwrap();
    assert!(matches!(
        batch.step(&[0; 2], None, &mut never),
        Err(BatchError::NotReset { env: 1, count: 1, n: 2 })
    ));
    batch.reset(None, None, &mut never).unwrap();
    let before = memory(&batch);
    assert!(batch.step(&[0; 3], None, &mut never).is_err());
    assert!(batch.step(&[0; 2], Some(&[true]), &mut never).is_err());
    assert!(batch.reset(Some(&[None]), None, &mut never).is_err());
    assert!(batch.reset(None, Some(&[]), &mut never).is_err());
    assert!(batch.read_range(0, 0xFFFF..0x1_0001).is_err());
    assert!(batch.write_range(0, 0xFFFF, &[0; 2]).is_err());
    assert!(batch.write_range(2, 0xC000, &[0]).is_err());
    assert!(batch.load_cart_ram(0, &[1]).is_err());
    assert!(batch.set_rtc(0, gb_core::RtcTime::default()).is_err());
    assert!(batch.freeze_rtc(0, true).is_err());
    assert_eq!(memory(&batch), before);
}
