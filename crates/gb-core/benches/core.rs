//! Instruction, frame, picture and state, on the embedded game and every timing from the same
//! restored state.

#![allow(missing_docs)] // `criterion_group!` makes an undocumented function

use std::{hint::black_box, sync::Arc};

use criterion::{criterion_group, criterion_main, BatchSize, Criterion, Throughput};
use gb_core::{
    cpu::{Bus, Cpu, Pair},
    screen, GameBoy, Profile, Rom,
};

/// The game after two seconds of play.
fn playing() -> GameBoy {
    let rom = include_bytes!("../../../python/hybridenv/data/polar_post.gb");
    let rom = Rom::parse(rom).expect("the embedded game is a good image");
    let mut gb = GameBoy::new(Arc::new(rom), Profile::Hardware);
    for frame in 0..150 {
        gb.set_buttons(if (30..38).contains(&frame) { 0x80 } else { 0 });
        gb.run_frame(true);
    }
    gb
}

/// 64 KiB of memory without anything behind it.
struct Flat {
    memory: Vec<u8>,
    clock: u64,
}

impl Bus for Flat {
    fn read(&mut self, addr: u16) -> u8 {
        self.clock += 4;
        self.memory[usize::from(addr)]
    }
    fn write(&mut self, addr: u16, value: u8) {
        self.clock += 4;
        self.memory[usize::from(addr)] = value;
    }
    fn idle(&mut self) {
        self.clock += 4;
    }
    fn pending(&mut self) -> u8 {
        0
    }
    fn acknowledge(&mut self, _: u8) {}
    fn attention(&mut self) {}
    fn stop(&mut self) -> bool {
        false
    }
}

/// A loop of six instructions: `ld a,(hl+); add a,b; ld (de),a; inc e; dec c; jr -7`.
fn instructions(c: &mut Criterion) {
    const RUN: u64 = 6_000;
    let mut memory = vec![0; 0x1_0000];
    memory[..7].copy_from_slice(&[0x2A, 0x80, 0x12, 0x1C, 0x0D, 0x18, 0xF9]);
    let mut bus = Flat { memory, clock: 0 };
    let mut group = c.benchmark_group("instruction");
    group.throughput(Throughput::Elements(RUN));
    group.bench_function("loop", |b| {
        b.iter(|| {
            let mut cpu = Cpu { de: Pair::new(0xC000), hl: Pair::new(0xD000), ..Cpu::default() };
            for _ in 0..RUN {
                cpu.step(&mut bus);
            }
            black_box(cpu.a)
        });
    });
    group.finish();
}

fn frames(c: &mut Criterion) {
    let start = playing();
    let mut group = c.benchmark_group("frame");
    group.throughput(Throughput::Elements(24));
    for (name, drawn) in [("24, none drawn", 0), ("24, last drawn", 1), ("24, all drawn", 24)] {
        group.bench_function(name, |b| {
            b.iter_batched_ref(
                || start.clone(),
                |gb| (0..24).for_each(|i| gb.run_frame(i >= 24 - drawn)),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn pictures(c: &mut Criterion) {
    let gb = playing();
    let mut out = vec![0; screen::WIDTH * screen::HEIGHT * 3];
    let mut group = c.benchmark_group("export");
    let pixels = screen::WIDTH * screen::HEIGHT;
    group.bench_function("shades", |b| {
        b.iter(|| gb.picture().shades_into(&mut out[..pixels]));
    });
    group.bench_function("packed", |b| {
        b.iter(|| gb.picture().packed_into(&mut out[..pixels / 4]));
    });
    let palette = [[255; 3], [170; 3], [85; 3], [0; 3]];
    group.bench_function("rgb", |b| {
        b.iter(|| gb.picture().rgb_into(&palette, &mut out));
    });
    group.finish();
}

fn states(c: &mut Criterion) {
    let mut gb = playing();
    let bytes = gb.save_state();
    let mut other = gb.clone();
    let mut group = c.benchmark_group("state");
    group.bench_function("save", |b| b.iter(|| gb.save_state()));
    group.bench_function("load", |b| b.iter(|| gb.load_state(&bytes)));
    group.bench_function("copy", |b| b.iter(|| other.copy_from(&gb)));
    group.finish();
}

criterion_group!(benches, instructions, frames, pictures, states);
criterion_main!(benches);
