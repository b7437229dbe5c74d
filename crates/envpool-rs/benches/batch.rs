//! What a batch costs beyond the emulation in it: compare `step` with `bare`.
#![allow(missing_docs)] // Criterion's macros write functions.

use std::path::Path;
use std::sync::Arc;

use criterion::{criterion_group, criterion_main, Criterion};
use envpool_rs::{
    never, Batch, Config, Encoding, Field, Format, Observation, Program, Term, DEFAULT_PALETTE,
};
use gb_core::{screen, GameBoy, Profile, Rom};

const N: usize = 128;
const FRAME_SKIP: u32 = 24;
const START: u8 = 0x80;

fn embedded_game() -> Arc<Rom> {
    let path = "../../python/hybridenv/data/polar_post.gb";
    let image = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    Arc::new(Rom::parse(&image.expect("the embedded game is built")).expect("it is a cartridge"))
}

/// Buttons and frames that lead from power-on into a game.
const WARM_UP: [(u8, u32); 3] = [(0, 60), (START, 4), (0, 120)];

fn batch(threads: usize) -> Batch {
    let score = Field { address: 0xC005, size: 2, big_endian: false, encoding: Encoding::Uint };
    let delta = Term::Delta { field: 0, weight: 1.0, low: 0.0, high: f64::INFINITY };
    let config = Config {
        roms: vec![embedded_game(); N],
        profile: Profile::Hardware,
        model: None,
        frame_skip: FRAME_SKIP,
        press_frames: FRAME_SKIP,
        noop_max: 0,
        observation: Observation { format: Format::Shades, palette: DEFAULT_PALETTE },
        threads: Some(threads),
        seed: None,
        program: Program {
            fields: vec![score],
            reward: vec![delta],
            info: vec![0],
            ..Program::default()
        },
        warm_up: WARM_UP.to_vec(),
        opening: Vec::new(),
    };
    let mut batch = Batch::new(config, &mut never).expect("the options are right");
    batch.reset(None, None, &mut never).expect("the game starts");
    batch
}

/// The same machines without a batch around them.
fn bare_machines() -> Vec<GameBoy> {
    let mut machine = GameBoy::new(embedded_game(), Profile::Hardware);
    for (buttons, frames) in WARM_UP {
        machine.set_buttons(buttons);
        (0..frames).for_each(|_| machine.run_frame(false));
    }
    vec![machine; N]
}

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("step of 128 machines, 24 frames");
    group.sample_size(20);
    let mut machines = bare_machines();
    let mut picture = vec![0; screen::WIDTH * screen::HEIGHT];
    group.bench_function("bare, one thread", |b| {
        b.iter(|| {
            for machine in &mut machines {
                machine.set_buttons(0);
                for frame in 1..=FRAME_SKIP {
                    machine.run_frame(frame == FRAME_SKIP);
                }
                machine.picture().shades_into(&mut picture);
            }
        });
    });
    for (name, threads) in [("batch, one thread", 1), ("batch, two threads", 2)] {
        let mut batch = batch(threads);
        group.bench_function(name, |b| b.iter(|| batch.step(&[0; N], None, &mut never)));
    }
    group.finish();
}

fn copies(c: &mut Criterion) {
    let mut batch = batch(2);
    let state = batch.save_state(0).expect("env 0 is there");
    let states = batch.save_states(None, &mut never).expect("all are in an episode");
    batch.set_start(Some(&state), None).expect("it is a state of this game");
    c.bench_function("reset of 128 machines from a state", |b| {
        b.iter(|| batch.reset(None, None, &mut never));
    });
    c.bench_function("save_states of 128 machines", |b| {
        b.iter(|| batch.save_states(None, &mut never));
    });
    c.bench_function("load_states of 128 machines", |b| {
        b.iter(|| batch.load_states(&states, None, &mut never));
    });
    c.bench_function("save_state", |b| b.iter(|| batch.save_state(0)));
    c.bench_function("load_state", |b| b.iter(|| batch.load_state(0, &state)));
}

criterion_group!(benches, steps, copies);
criterion_main!(benches);
