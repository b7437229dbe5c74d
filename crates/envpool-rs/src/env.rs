//! One environment: a machine, where it starts, and what its task remembers.

use std::any::Any;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use gb_core::{GameBoy, StateError};

use crate::seed::SplitMix64;
use crate::start::{run_frames, Start};
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
    pub start: Arc<Start>,
    /// Where an episode starts unless the user says otherwise: power-on, warm-up and opening.
    pub origin: Arc<Start>,
    /// Samples a second of the sound, if any.
    pub audio: Option<u32>,
    /// The next step panics (fault injection).
    pub doomed: bool,
}

impl Env {
    /// An environment whose machine has warmed up and waits for its first start.
    pub fn new(origin: Arc<Start>, seed: Option<u64>) -> Self {
        Self {
            machine: origin.base().clone(),
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
        let seeded = self.stream.is_some();
        self.replace_machine(if seeded { start.base() } else { start.plain() })?;
        if let Some(stream) = &mut self.stream {
            start.vary(&mut self.machine, stream, pace.noop_max, stop);
            program.randomize(&mut self.machine, stream);
        }
        self.begin(program);
        Ok(())
    }

    /// The most frames that [`Env::restart`] runs.
    pub fn restart_frames(&self, seed: Option<u64>, pace: Pace) -> u64 {
        if seed.is_some() || self.stream.is_some() {
            self.start.most_frames(pace.noop_max)
        } else {
            0
        }
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
        let mut machine = self.start.base().clone();
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
