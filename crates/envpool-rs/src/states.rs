//! Saving, loading and copying machines.

use std::collections::HashMap;
use std::sync::Arc;

use gb_core::{GameBoy, StateError};

use crate::batch::{check, Batch};
use crate::env::{Env, Status};
use crate::error::BatchError;
use crate::start::Start;
use crate::task::{Program, Tracker};

/// One environment's machine and episode.
struct Snapshot {
    machine: GameBoy,
    tracker: Tracker,
}

impl Snapshot {
    fn of(env: &Env) -> Self {
        Self { machine: env.machine.clone(), tracker: env.tracker.clone() }
    }
}

/// Copies of some of a batch's environments, taken by [`Batch::save_states`].
pub struct States {
    slots: Vec<Option<Snapshot>>,
    program: Arc<Program>,
}

impl States {
    /// The size of the batch that they came from.
    pub fn n(&self) -> usize {
        self.slots.len()
    }

    /// Which environments are held.
    pub fn held(&self) -> Vec<bool> {
        self.slots.iter().map(Option::is_some).collect()
    }
}

impl Batch {
    /// The state of environment `i` as bytes that outlive the process.
    ///
    /// # Errors
    /// [`BatchError::Index`]; [`BatchError::Crashed`].
    pub fn save_state(&self, i: usize) -> Result<Vec<u8>, BatchError> {
        Ok(self.machine(i)?.save_state())
    }

    /// Puts a saved state into environment `i`, which begins an episode there.
    ///
    /// # Errors
    /// [`BatchError::Index`]; [`BatchError::State`], the environment being as before.
    pub fn load_state(&mut self, i: usize, state: &[u8]) -> Result<(), BatchError> {
        self.check_index(i)?;
        let env = &mut self.envs[i];
        let mut spare = matches!(env.status, Status::Crashed(_)).then(|| env.spare());
        let machine = spare.as_mut().unwrap_or(&mut env.machine);
        machine.load_state(state).map_err(|source| BatchError::State { env: i, source })?;
        if let Some(loaded) = spare {
            env.machine = loaded;
        }
        env.begin(&self.program);
        Ok(())
    }

    /// Makes `state` the start of every later episode in the environments of `mask` (all without
    /// one), exactly but for what a seed varies (divider, idle frames, fields of
    /// [`Program::randomized`]): no opening follows it. Without a state the start
    /// is power-on, warm-up and opening again.
    ///
    /// # Errors
    /// [`BatchError::Argument`] for a length other than `n`; [`BatchError::State`] when an
    /// environment cannot take the state; no start has changed then.
    pub fn set_start(
        &mut self,
        state: Option<&[u8]>,
        mask: Option<&[bool]>,
    ) -> Result<(), BatchError> {
        self.check_len("mask", mask.map(<[_]>::len))?;
        let mut starts = HashMap::new();
        let chosen = |i: usize| mask.is_none_or(|mask| mask[i]);
        if let Some(state) = state {
            for (i, env) in self.envs.iter().enumerate().filter(|(i, _)| chosen(*i)) {
                let rom = Arc::as_ptr(env.origin.base().rom());
                if let std::collections::hash_map::Entry::Vacant(slot) = starts.entry(rom) {
                    let mut machine = env.origin.base().clone();
                    machine
                        .load_state(state)
                        .map_err(|source| BatchError::State { env: i, source })?;
                    slot.insert(Arc::new(Start::at(machine)));
                }
            }
        }
        for (_, env) in self.envs.iter_mut().enumerate().filter(|(i, _)| chosen(*i)) {
            let rom = Arc::as_ptr(env.origin.base().rom());
            env.start = Arc::clone(starts.get(&rom).unwrap_or(&env.origin));
        }
        Ok(())
    }

    /// Copies the environments of `mask` (all without one), for [`Batch::load_states`].
    ///
    /// # Errors
    /// [`BatchError::Argument`] for a length other than `n`; [`BatchError::NotReset`] and
    /// [`BatchError::Crashed`] when one of them is not in an episode; [`BatchError::Interrupted`].
    pub fn save_states(
        &mut self,
        mask: Option<&[bool]>,
        poll: &mut dyn FnMut() -> bool,
    ) -> Result<States, BatchError> {
        self.check_len("mask", mask.map(<[_]>::len))?;
        let chosen = |i: usize| mask.is_none_or(|mask| mask[i]);
        self.check_ready(chosen)?;
        let mut slots: Vec<Option<Snapshot>> = Vec::new();
        slots.resize_with(self.envs.len(), || None);
        let pairs = self.envs.iter().zip(&mut slots).enumerate();
        let items = pairs.filter(|(i, _)| chosen(*i)).map(|(_, pair)| pair).collect();
        let copy = |(env, slot): (&Env, &mut Option<Snapshot>)| *slot = Some(Snapshot::of(env));
        let interrupted = self.pool.run_copies(items, poll, copy);
        self.outcome(interrupted, |_| false)?;
        Ok(States { slots, program: Arc::clone(&self.program) })
    }

    /// Puts copies back into the environments of `mask`, by default all that `states` holds. Episodes
    /// go on as they were (under another task they begin anew); the streams of seeds stay.
    ///
    /// # Errors
    /// [`BatchError::Argument`] for another `n` or an environment that `states` does not hold;
    /// [`BatchError::State`] for another ROM or profile; [`BatchError::Interrupted`], when all are loaded.
    pub fn load_states(
        &mut self,
        states: &States,
        mask: Option<&[bool]>,
        poll: &mut dyn FnMut() -> bool,
    ) -> Result<(), BatchError> {
        self.check_len("states", Some(states.n()))?;
        self.check_len("mask", mask.map(<[_]>::len))?;
        let mut items = Vec::new();
        for (i, (env, slot)) in self.envs.iter_mut().zip(&states.slots).enumerate() {
            match slot {
                Some(saved) if mask.is_none_or(|mask| mask[i]) => {
                    check_same_kind(i, &env.machine, &saved.machine)?;
                    items.push((env, saved));
                }
                None if mask.is_some_and(|mask| mask[i]) => {
                    return Err(BatchError::Argument(format!(
                        "mask: got env {i}, which the states do not hold, expected only envs that were saved"
                    )));
                }
                _ => {}
            }
        }
        let program = &self.program;
        let same_task = Arc::ptr_eq(program, &states.program) || **program == *states.program;
        let load = |(env, saved): (&mut Env, &Snapshot)| {
            let tracker = same_task.then_some(&saved.tracker);
            env.guard(|env| env.resume(&saved.machine, tracker, program));
        };
        let interrupted = self.pool.run_copies(items, poll, load);
        self.outcome(interrupted, |i| states.slots[i].is_some() && mask.is_none_or(|mask| mask[i]))
    }

    /// Makes environment `to[k]` a copy of environment `from[k]` as it was before the call, episode
    /// and all but the stream of seeds.
    ///
    /// # Errors
    /// [`BatchError::Argument`] for unequal lengths or a target named twice; [`BatchError::Index`];
    /// [`BatchError::State`] for another ROM or profile; [`BatchError::NotReset`] and [`BatchError::Crashed`]
    /// for a source that is not in an episode.
    pub fn copy(&mut self, from: &[usize], to: &[usize]) -> Result<(), BatchError> {
        check(from.len() == to.len(), || {
            let (sources, targets) = (from.len(), to.len());
            format!("copy: got {sources} sources and {targets} targets, expected as many of each")
        })?;
        let mut is_source = vec![false; self.envs.len()];
        let mut is_target = vec![false; self.envs.len()];
        for (&source, &target) in from.iter().zip(to) {
            self.check_index(source)?;
            self.check_index(target)?;
            check(!is_target[target], || {
                format!("copy: got target {target} twice, expected each target once")
            })?;
            is_source[source] = true;
            is_target[target] = true;
            check_same_kind(target, &self.envs[target].machine, &self.envs[source].machine)?;
        }
        self.check_ready(|i| is_source[i])?;
        // Sources that are overwritten themselves are needed as they were.
        let kept: HashMap<usize, Snapshot> = (0..self.envs.len())
            .filter(|&i| is_source[i] && is_target[i])
            .map(|i| (i, Snapshot::of(&self.envs[i])))
            .collect();
        for (&source, &target) in from.iter().zip(to).filter(|(source, target)| source != target) {
            let program = &self.program;
            let (source_env, env) = two(&mut self.envs, source, target);
            let (machine, tracker) = match kept.get(&source) {
                Some(saved) => (&saved.machine, &saved.tracker),
                None => (&source_env.machine, &source_env.tracker),
            };
            env.guard(|env| env.resume(machine, Some(tracker), program));
        }
        self.outcome(false, |i| is_target[i])
    }
}

/// Two different environments at once.
fn two(envs: &mut [Env], a: usize, b: usize) -> (&mut Env, &mut Env) {
    let (low, high) = envs.split_at_mut(a.max(b));
    if a < b {
        (&mut low[a], &mut high[0])
    } else {
        (&mut high[0], &mut low[b])
    }
}

/// Whether `own` can become a copy of `other`.
fn check_same_kind(env: usize, own: &GameBoy, other: &GameBoy) -> Result<(), BatchError> {
    let (got, expected) = (other.rom().hash(), own.rom().hash());
    if got != expected {
        return Err(BatchError::State { env, source: StateError::OtherRom { got, expected } });
    }
    let (got, expected) = (other.profile(), own.profile());
    if got != expected {
        return Err(BatchError::State { env, source: StateError::OtherProfile { got, expected } });
    }
    let (got, expected) = (other.model(), own.model());
    if got != expected {
        return Err(BatchError::State { env, source: StateError::OtherModel { got, expected } });
    }
    Ok(())
}
