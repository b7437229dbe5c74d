//! Where episodes start.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use gb_core::{GameBoy, Model, Profile, Rom};

use crate::seed::SplitMix64;

/// Masks of buttons, each with the number of frames for which it is held.
pub type Script = [(u8, u32)];

/// The number of frames that a script takes.
pub fn length(script: &Script) -> u64 {
    script.iter().map(|&(_, frames)| u64::from(frames)).sum()
}

/// Runs frames, at most the last one with a picture; false when `stop` came first.
pub fn run_frames(machine: &mut GameBoy, frames: u32, picture: bool, stop: &AtomicBool) -> bool {
    for left in (0..frames).rev() {
        machine.run_frame(picture && left == 0);
        if left > 0 && stop.load(Ordering::Relaxed) {
            return false;
        }
    }
    true
}

/// Plays a script, drawing its last frame only, and lets all buttons go. Stops early when `stop` is
/// up.
fn play(machine: &mut GameBoy, script: &Script, stop: &AtomicBool) {
    for (index, &(buttons, frames)) in script.iter().enumerate() {
        machine.set_buttons(buttons);
        let last = index + 1 == script.len();
        run_frames(machine, frames, last, stop);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    machine.set_buttons(0);
}

/// What the episodes of an environment start from. Environments share one where they can.
pub struct Start {
    /// What a seed varies.
    base: GameBoy,
    /// What is played after that.
    opening: Vec<(u8, u32)>,
    /// The start without a seed, unless it is `base` itself: `base` after the opening.
    opened: Option<GameBoy>,
}

impl Start {
    /// Powers a machine on and plays the warm-up; the opening follows at every start. Without a
    /// `model`, it is the one that the cartridge asks for. Stops early when `stop` is up.
    pub fn power_on(
        rom: &Arc<Rom>,
        profile: Profile,
        model: Option<Model>,
        warm_up: &Script,
        opening: &Script,
        stop: &AtomicBool,
    ) -> Self {
        let model = model.unwrap_or_else(|| Model::of(rom));
        let mut base = GameBoy::with_model(Arc::clone(rom), profile, model);
        play(&mut base, warm_up, stop);
        let opened = (!opening.is_empty()).then(|| {
            let mut machine = base.clone();
            play(&mut machine, opening, stop);
            machine
        });
        Self { base, opening: opening.to_vec(), opened }
    }

    /// Exactly this machine, without an opening.
    pub fn at(machine: GameBoy) -> Self {
        Self { base: machine, opening: Vec::new(), opened: None }
    }

    /// The machine that a seed varies.
    pub fn base(&self) -> &GameBoy {
        &self.base
    }

    /// The machine at the start of every episode without a seed.
    pub fn plain(&self) -> &GameBoy {
        self.opened.as_ref().unwrap_or(&self.base)
    }

    /// The most frames that [`Start::vary`] runs.
    pub fn most_frames(&self, noop_max: u32) -> u64 {
        u64::from(noop_max) + length(&self.opening)
    }

    /// Makes a copy of the base the next seeded start, but for what the task overwrites: sets the divider, lets 0 to `noop_max`
    /// frames pass, plays the opening. Stops early when `stop` is up.
    pub fn vary(
        &self,
        machine: &mut GameBoy,
        stream: &mut SplitMix64,
        noop_max: u32,
        stop: &AtomicBool,
    ) {
        machine.set_div(stream.next_u64() as u16);
        let idle = stream.next_up_to(noop_max);
        run_frames(machine, idle, self.opening.is_empty(), stop);
        play(machine, &self.opening, stop);
    }
}
