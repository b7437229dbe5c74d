//! One environment: a machine, where it starts, and what its task remembers.

use std::any::Any;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use gb_core::{GameBoy, Model, Profile, Rom, StateError};

use crate::seed::SplitMix64;
use crate::task::{Outcome, Program, Tracker};

/// How an environment plays, the same for all of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Frames a step.
    pub frame_skip: u32,
    /// For how many of them, from the first, the buttons are held.
    pub press_frames: u32,
    /// The most idle frames that a seeded start waits.
    pub noop_max: u32,
}

/// Whether an environment can be stepped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Powered on, never reset.
    Fresh,
    /// In an episode.
    Ready,
    /// It panicked, saying this; its machine is not to be trusted.
    Crashed(String),
}

/// One machine of a batch.
pub struct Env {
    /// The machine.
    pub machine: GameBoy,
    /// What the task remembers of the episode.
    pub tracker: Tracker,
    /// Whether it can be stepped.
    pub status: Status,
    /// The seeded variation of its starts; without one every start is the same.
    pub stream: Option<SplitMix64>,
    /// Where an episode starts.
    pub start: Arc<GameBoy>,
    /// Where an episode starts unless the user says otherwise: power-on and the warm-up.
    pub origin: Arc<GameBoy>,
    /// Samples a second of the sound, if any.
    pub audio: Option<u32>,
    /// The next step panics (fault injection).
    pub doomed: bool,
}

/// Powers a machine on and plays the warm-up, each entry a mask of buttons and a number of frames.
/// Without a `model`, it is the one that the cartridge asks for. Stops early when `stop` is up.
pub fn power_on(
    rom: &Arc<Rom>,
    profile: Profile,
    model: Option<Model>,
    warm_up: &[(u8, u32)],
    stop: &AtomicBool,
) -> GameBoy {
    let mut machine =
        GameBoy::with_model(Arc::clone(rom), profile, model.unwrap_or_else(|| Model::of(rom)));
    for (index, &(buttons, frames)) in warm_up.iter().enumerate() {
        machine.set_buttons(buttons);
        let last = index + 1 == warm_up.len();
        run_frames(&mut machine, frames, last, stop);
    }
    machine.set_buttons(0);
    machine
}

/// Runs frames, at most the last one with a picture; false when `stop` came first.
fn run_frames(machine: &mut GameBoy, frames: u32, picture: bool, stop: &AtomicBool) -> bool {
    for left in (0..frames).rev() {
        machine.run_frame(picture && left == 0);
        if left > 0 && stop.load(Ordering::Relaxed) {
            return false;
        }
    }
    true
}

impl Env {
    /// An environment that stands at `origin`, not started.
    pub fn new(origin: Arc<GameBoy>, seed: Option<u64>) -> Self {
        Self {
            machine: GameBoy::clone(&origin),
            tracker: Tracker::default(),
            status: Status::Fresh,
            stream: seed.map(SplitMix64::new),
            start: Arc::clone(&origin),
            origin,
            audio: None,
            doomed: false,
        }
    }

    /// Runs `work`; a panic or an error in it marks this environment crashed and goes no further.
    pub fn guard(&mut self, work: impl FnOnce(&mut Self) -> Result<(), StateError>) {
        let result = catch(|| work(self)).and_then(|done| done.map_err(|e| e.to_string()));
        if let Err(payload) = result {
            self.status = Status::Crashed(payload);
        }
    }

    /// Starts an episode, from the start of `seed`'s stream if one is given.
    ///
    /// # Errors
    /// Never for a start of this machine's own ROM, which is all that a batch lets in.
    pub fn restart(
        &mut self,
        seed: Option<u64>,
        pace: Pace,
        program: &Program,
        stop: &AtomicBool,
    ) -> Result<(), StateError> {
        if let Some(seed) = seed {
            self.stream = Some(SplitMix64::new(seed));
        }
        let start = Arc::clone(&self.start);
        self.replace_machine(&start)?;
        if let Some(stream) = &mut self.stream {
            self.machine.set_div(stream.next_u64() as u16);
            let idle = stream.next_up_to(pace.noop_max);
            run_frames(&mut self.machine, idle, true, stop);
        }
        self.begin(program);
        Ok(())
    }

    /// Makes the machine a copy of `other` but for the sound setting.
    ///
    /// # Errors
    /// When `other` runs another ROM or profile.
    pub fn replace_machine(&mut self, other: &GameBoy) -> Result<(), StateError> {
        if matches!(self.status, Status::Crashed(_)) {
            self.machine = self.spare();
        }
        self.machine.copy_from(other)
    }

    /// A new machine for this environment, as a panic may have left any part of the old one half
    /// done.
    pub fn spare(&self) -> GameBoy {
        let mut machine = GameBoy::clone(&self.start);
        machine.set_audio(self.audio);
        machine
    }

    /// Goes on from a copy of `machine`: in the episode of `tracker`, or else in a new one.
    ///
    /// # Errors
    /// When `machine` runs another ROM.
    pub fn resume(
        &mut self,
        machine: &GameBoy,
        tracker: Option<&Tracker>,
        program: &Program,
    ) -> Result<(), StateError> {
        self.replace_machine(machine)?;
        self.begin(program);
        if let Some(tracker) = tracker {
            self.tracker.clone_from(tracker);
        }
        Ok(())
    }

    /// Begins an episode at the machine's present state.
    pub fn begin(&mut self, program: &Program) {
        self.tracker.begin(program, &self.machine);
        self.status = Status::Ready;
        self.doomed = false;
    }

    /// Plays one step. When `stop` goes up it returns at the next frame boundary instead, with the
    /// step unfinished and nothing counted.
    pub fn step(
        &mut self,
        buttons: u8,
        pace: Pace,
        program: &Program,
        stop: &AtomicBool,
    ) -> Outcome {
        if self.doomed {
            // Like `panic!`, without the report of the panic hook.
            resume_unwind(Box::new("injected crash"));
        }
        let machine = &mut self.machine;
        machine.set_buttons(buttons);
        let released = pace.frame_skip - pace.press_frames;
        let mut whole = run_frames(machine, pace.press_frames, released == 0, stop);
        if whole && released > 0 {
            machine.set_buttons(0);
            whole = run_frames(machine, released, true, stop);
        }
        if whole {
            self.tracker.advance(program, &self.machine)
        } else {
            Outcome::default()
        }
    }
}

/// Runs `work`.
///
/// # Errors
/// What a panic in it said.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload: Box<dyn Any + Send>| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic without a message".to_owned())
    })
}
