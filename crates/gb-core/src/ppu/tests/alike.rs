//! A lazy PPU against one that sends every line through the pipeline, while a processor and an OAM DMA
//! do random things to them: equal in every bit of the state between lines, and in all that is read.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::state::{State, Writer};
use crate::Revision;

/// When the LCD of each example is switched on.
const START: u64 = 0x1_0000;

/// What a processor or a transfer does.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// Writes FF00 + this.
    Register(u8, u8),
    /// Writes VRAM.
    Vram(u16, u8),
    /// Writes OAM.
    Oam(u8, u8),
    /// A byte is copied to OAM, whoever owns it.
    Copy(u8, u8),
    /// Reads FF00 + this.
    Read(u8),
    /// Reads whether VRAM and OAM are free.
    Free,
}

/// A PPU and what befalls it.
#[derive(Clone, Debug)]
struct Example {
    color: Option<(bool, Revision)>,
    rendering: bool,
    /// Dots of an M-cycle.
    step: u64,
    /// X of the sprites on the first lines.
    xs: Vec<u8>,
    lcdc: u8,
    scx: u8,
    wx: u8,
    wy: u8,
    seed: u64,
    /// Deeds, each so many M-cycles after the last.
    deeds: Vec<(u64, Deed)>,
}

fn any_deed() -> impl Strategy<Value = Deed> {
    let v = any::<u8>();
    prop_oneof![
        3 => (0..0x40u8).prop_map(|v| Deed::Register(0x40, lcdc::ON | v)),
        3 => (0x42..0x44u8, v).prop_map(|(to, v)| Deed::Register(to, v)),
        2 => (0x47..0x4Au8, v).prop_map(|(to, v)| Deed::Register(to, v)),
        2 => (0x4A..0x4Bu8, 0..12u8).prop_map(|(to, v)| Deed::Register(to, v)),
        2 => (0x4B..0x4Cu8, v).prop_map(|(to, v)| Deed::Register(to, v)),
        1 => (0x41..0x42u8, v).prop_map(|(to, v)| Deed::Register(to, v)),
        1 => (0x45..0x46u8, 0..12u8).prop_map(|(to, v)| Deed::Register(to, v)),
        1 => v.prop_map(|v| Deed::Register(0x40, v)),
        2 => (0..0x2000u16, v).prop_map(|(at, v)| Deed::Vram(at, v)),
        2 => (0..160u8, v).prop_map(|(at, v)| Deed::Oam(at, v)),
        2 => (0..160u8, v).prop_map(|(at, v)| Deed::Copy(at, v)),
        2 => (0x40..0x4Cu8).prop_map(Deed::Read),
        1 => Just(Deed::Free),
    ]
}

fn any_example() -> impl Strategy<Value = Example> {
    let color = prop_oneof![
        Just(None),
        (any::<bool>(), proptest::sample::select(Revision::ALL.to_vec())).prop_map(Some),
    ];
    // The Color's double speed, too.
    let made = (color, any::<bool>(), any::<bool>()).prop_map(|(color, rendering, double)| {
        (color, rendering, if double && color.is_some() { 2 } else { 4 })
    });
    let gap = prop_oneof![4 => 1..12u64, 2 => 1..130u64, 1 => 1..600u64];
    (
        made,
        vec(0..176u8, 0..14),
        (0..0x40u8, any::<u8>(), any::<u8>(), 0..6u8),
        any::<u64>(),
        vec((gap, any_deed()), 1..60),
    )
        .prop_map(|((color, rendering, step), xs, (lcdc, scx, wx, wy), seed, deeds)| {
            let lcdc = lcdc::ON | lcdc;
            Example { color, rendering, step, xs, lcdc, scx, wx, wy, seed, deeds }
        })
}

impl Example {
    /// The PPU just after the LCD was switched on.
    fn ppu(&self) -> Ppu {
        let mut below = choices(self.seed);
        let mut ppu = Ppu::new(false);
        if let Some((compatible, revision)) = self.color {
            ppu.set_color(Box::new(Color::new(compatible, revision)));
        }
        ppu.vram.fill_with(|| below(256) as u8);
        if let Some(color) = &mut ppu.color {
            color.vram.fill_with(|| below(256) as u8);
        }
        for (i, &x) in self.xs.iter().enumerate() {
            let entry = [10 + below(14) as u8, x, below(256) as u8, below(256) as u8];
            ppu.write_oam_run(4 * i as u8, &entry, START);
        }
        ppu.regs =
            Registers { scx: self.scx, wx: self.wx, bgp: 0xE4, obp: [0x1B, 0x93], ..ppu.regs };
        ppu.wy = self.wy;
        ppu.set_rendering(self.rendering);
        ppu.write(0xFF40, self.lcdc, START);
        ppu.first_frame = self.seed % 4 == 0;
        ppu
    }
}

/// Does something in the M-cycle of `step` dots that ends at `clock`; returns what is read.
fn perform(ppu: &mut Ppu, deed: Deed, clock: u64, step: u64) -> u8 {
    let seen = clock - step / 2;
    match deed {
        Deed::Register(to, v) => {
            ppu.sync(if to == 0x41 { seen } else { clock });
            ppu.write(0xFF00 | u16::from(to), v, clock);
        }
        Deed::Vram(at, v) => {
            ppu.sync(seen);
            if ppu.vram_free(seen) {
                ppu.write_vram(at, v);
            }
        }
        Deed::Oam(at, v) => {
            ppu.sync(seen);
            if ppu.oam_free(seen) {
                ppu.write_oam(at, v, seen);
            }
        }
        Deed::Copy(at, v) => {
            ppu.sync(clock - 1);
            ppu.write_oam(at, v, clock);
        }
        Deed::Read(from) => {
            ppu.sync(clock);
            return ppu.read(0xFF00 | u16::from(from));
        }
        Deed::Free => {
            ppu.sync(clock);
            return u8::from(ppu.vram_free(clock)) | u8::from(ppu.oam_free(clock)) << 1;
        }
    }
    0
}

fn state(ppu: &Ppu) -> Vec<u8> {
    let mut w = Writer::default();
    ppu.save(&mut w);
    w.bytes
}

/// All but the memories and the picture, in words.
fn words(ppu: &Ppu) -> String {
    let mut rest = ppu.clone();
    rest.vram.fill(0);
    (rest.planes, rest.color) = (None, None);
    rest.set_always_fifo(false);
    format!("{rest:#?}")
}

/// Where two states differ, in words.
fn difference(lazy: &Ppu, strict: &Ppu) -> Option<String> {
    (state(lazy) != state(strict)).then(|| {
        let (a, b) = (words(lazy), words(strict));
        match a.lines().zip(b.lines()).find(|(a, b)| a != b) {
            Some((a, b)) => format!("lazy {}, strict {}", a.trim(), b.trim()),
            None => "the picture".into(),
        }
    })
}

/// Runs an example on both; returns whether a line's pipeline ran on the lazy side.
fn compare(example: &Example) -> Result<bool, TestCaseError> {
    let step = example.step;
    let mut lazy = example.ppu();
    let mut strict = lazy.clone();
    strict.set_always_fifo(true);
    let (mut clock, mut piped) = (START, false);
    for &(gap, deed) in &example.deeds {
        for _ in 1..gap {
            clock += step;
            strict.sync(clock);
        }
        clock += step;
        let read = [&mut lazy, &mut strict].map(|ppu| perform(ppu, deed, clock, step));
        prop_assert_eq!(read[0], read[1], "{:?} at {}", deed, clock - START);
        piped |= lazy.fifo_at != NEVER;
        if strict.fifo_at == NEVER {
            for ppu in [&mut lazy, &mut strict] {
                ppu.sync(clock);
                ppu.finish_picture();
            }
            if let Some(different) = difference(&lazy, &strict) {
                let at = clock - START;
                return Err(TestCaseError::fail(format!("{deed:?} at {at}: {different}")));
            }
        }
    }
    Ok(piped)
}

/// The same examples each time, or with `HYBRIDENV_FUZZ=N` (`make fuzz`) N new ones.
fn config() -> ProptestConfig {
    let asked = std::env::var("HYBRIDENV_FUZZ").ok().filter(|value| !value.is_empty());
    let bounded = if cfg!(debug_assertions) { 400 } else { 2_000 };
    ProptestConfig {
        cases: asked.as_ref().map_or(bounded, |cases| cases.parse().unwrap()),
        rng_seed: if asked.is_some() { RngSeed::Random } else { RngSeed::Fixed(1) },
        failure_persistence: None,
        max_shrink_iters: 4_096,
        ..ProptestConfig::default()
    }
}

#[test]
fn a_lazy_ppu_equals_one_that_runs_every_pipeline() {
    let piped = std::cell::Cell::new(0);
    let config = config();
    let cases = config.cases;
    proptest!(config, |(example in any_example())| {
        piped.set(piped.get() + u32::from(compare(&example)?));
    });
    assert!(piped.get() * 2 > cases, "{} of {cases} examples need a pipeline", piped.get());
}
