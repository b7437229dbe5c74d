//! `n` machines and everything that happens to all of them at once.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use gb_core::{GameBoy, Model, Profile, Rom};

use crate::buffers::{Buffer, BufferPool};
use crate::env::{catch, Env, Pace, Status};
use crate::error::BatchError;
use crate::export::{Format, Observation};
use crate::pool::{copies, Pool};
use crate::start::{length, Start};
use crate::task::{Outcome, Program};

/// Everything that a batch is built from.
pub struct Config {
    /// One cartridge per environment; environments may share one.
    pub roms: Vec<Arc<Rom>>,
    /// Which machine they imitate.
    pub profile: Profile,
    /// Which console; none means the one that each cartridge asks for.
    pub model: Option<Model>,
    /// Frames a step, at least 1.
    pub frame_skip: u32,
    /// For how many of them the buttons are held, 1 to `frame_skip`.
    pub press_frames: u32,
    /// The most idle frames that a seeded start waits.
    pub noop_max: u32,
    /// How pictures leave.
    pub observation: Observation,
    /// Worker threads; none means one per available core.
    pub threads: Option<usize>,
    /// Environment `i` gets this seed plus `i`; none means that every start is the same.
    pub seed: Option<u64>,
    /// What pays and ends episodes.
    pub program: Program,
    /// Masks of buttons, each with a number of frames: played once after power-on.
    pub warm_up: Vec<(u8, u32)>,
    /// The same, played at every start: after the warm-up and what a seed changes.
    pub opening: Vec<(u8, u32)>,
}

/// The results of one step of all environments.
pub struct Step {
    /// The pictures, `n` times [`Observation::bytes`].
    pub obs: Buffer<u8>,
    /// The rewards.
    pub reward: Buffer<f32>,
    /// Episodes at their end, 0 or 1.
    pub terminated: Buffer<u8>,
    /// Episodes cut off, 0 or 1.
    pub truncated: Buffer<u8>,
    /// One column per field of [`Program::info`].
    pub info: Vec<Buffer<i64>>,
}

/// What one task of a step works on.
struct Seat<'a> {
    env: &'a mut Env,
    picture: &'a mut [u8],
    outcome: &'a mut Outcome,
    report: &'a mut [i64],
}

/// A batch of Game Boys. See the crate's documentation.
pub struct Batch {
    pub(crate) envs: Vec<Env>,
    pub(crate) program: Arc<Program>,
    pub(crate) pool: Pool,
    buffers: Arc<BufferPool>,
    pace: Pace,
    observation: Observation,
}

impl Batch {
    /// Powers the machines on and plays the warm-up and the opening, once per cartridge.
    ///
    /// # Errors
    /// [`BatchError::Argument`], [`BatchError::Threads`], [`BatchError::Memory`],
    /// [`BatchError::Interrupted`], or
    /// [`BatchError::Crashed`] when one of the scripts panicked.
    pub fn new(config: Config, poll: &mut dyn FnMut() -> bool) -> Result<Self, BatchError> {
        let n = config.roms.len();
        check(n > 0, || "n: got 0, expected at least 1".to_owned())?;
        check(config.threads != Some(0), || "num_threads: got 0, expected at least 1".to_owned())?;
        check(config.frame_skip > 0, || "frame_skip: got 0, expected at least 1".to_owned())?;
        check((1..=config.frame_skip).contains(&config.press_frames), || {
            format!(
                "press_frames: got {}, expected 1 <= press_frames <= frame_skip = {}",
                config.press_frames, config.frame_skip
            )
        })?;
        let pool = Pool::new(config.threads, n)?;
        let origins = origins(&pool, &config, poll)?;
        let env = |(i, rom): (usize, &Arc<Rom>)| {
            let seed = config.seed.map(|seed| seed.wrapping_add(i as u64));
            Env::new(Arc::clone(&origins[&Arc::as_ptr(rom)]), seed)
        };
        let mut envs: Vec<Env> = Vec::new();
        let bytes = n.saturating_mul(mem::size_of::<Env>());
        envs.try_reserve_exact(n).map_err(|_| BatchError::Memory { what: "n", bytes })?;
        envs.extend(config.roms.iter().enumerate().map(env));
        Ok(Self {
            envs,
            program: Arc::new(config.program),
            buffers: BufferPool::new(),
            pool,
            pace: Pace {
                frame_skip: config.frame_skip,
                press_frames: config.press_frames,
                noop_max: config.noop_max,
            },
            observation: config.observation,
        })
    }

    /// The number of environments.
    pub fn n(&self) -> usize {
        self.envs.len()
    }

    /// The number of worker threads.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// How pictures leave.
    pub fn observation(&self) -> Observation {
        self.observation
    }

    /// Starts an episode in the environments of `mask` (in all without one) and returns the pictures
    /// of all. `seeds` has an entry per environment; one without a seed goes on in its stream.
    ///
    /// # Errors
    /// [`BatchError::Argument`] for lengths other than `n`; [`BatchError::Crashed`];
    /// [`BatchError::Interrupted`], after which every masked environment has restarted, perhaps
    /// with fewer frames of idling and opening.
    pub fn reset(
        &mut self,
        seeds: Option<&[Option<u64>]>,
        mask: Option<&[bool]>,
        poll: &mut dyn FnMut() -> bool,
    ) -> Result<Buffer<u8>, BatchError> {
        self.check_len("seed", seeds.map(<[_]>::len))?;
        self.check_len("mask", mask.map(<[_]>::len))?;
        let (pace, program, observation) = (self.pace, &self.program, self.observation);
        let chosen = |i: usize| mask.is_none_or(|mask| mask[i]);
        let seed = |i: usize| seeds.and_then(|seeds| seeds[i]);
        let mut obs = self.buffers.take(self.envs.len() * observation.bytes())?;
        let pictures = obs.as_mut_slice().chunks_mut(observation.bytes());
        let restarting = self.envs.iter().enumerate().filter(|(i, _)| chosen(*i));
        let frames = copies(self.envs.len())
            + restarting.map(|(i, env)| env.restart_frames(seed(i), pace)).sum::<u64>();
        let items = self.envs.iter_mut().zip(pictures).enumerate().collect();
        let interrupted = self.pool.run(items, frames, poll, |(i, (env, picture)), stop| {
            if chosen(i) {
                env.guard(|env| env.restart(seed(i), pace, program, stop));
            }
            observation.write(env.machine.picture(), picture);
        });
        self.outcome(interrupted, chosen)?;
        Ok(obs)
    }

    /// Plays one step in every environment, `buttons` having a mask for each. Environments of
    /// `restart` start an episode instead: their picture is the start's, they earn nothing.
    ///
    /// # Errors
    /// [`BatchError::Argument`] for lengths other than `n`; [`BatchError::NotReset`] and
    /// [`BatchError::Crashed`] before anything ran if an environment cannot be stepped;
    /// [`BatchError::Crashed`] when one crashed in this step, which the others finished;
    /// [`BatchError::Interrupted`] when the others may have stopped at any frame of the step.
    pub fn step(
        &mut self,
        buttons: &[u8],
        restart: Option<&[bool]>,
        poll: &mut dyn FnMut() -> bool,
    ) -> Result<Step, BatchError> {
        self.check_len("buttons", Some(buttons.len()))?;
        self.check_len("restart", restart.map(<[_]>::len))?;
        let restarts = |i: usize| restart.is_some_and(|mask| mask[i]);
        self.check_ready(|i| !restarts(i))?;

        let (pace, program, observation) = (self.pace, &self.program, self.observation);
        let (n, fields) = (self.envs.len(), program.info.len());
        let mut obs = self.buffers.take(n * observation.bytes())?;
        let mut outcomes = vec![Outcome::default(); n];
        let mut reports = vec![0; n * fields];
        let mut rows = reports.chunks_mut(fields.max(1));
        let pictures = obs.as_mut_slice().chunks_mut(observation.bytes());
        let seat = |((env, picture), outcome)| {
            let report = rows.next().unwrap_or_default();
            Seat { env, picture, outcome, report }
        };
        let frames_of = |(i, env): (usize, &Env)| {
            if restarts(i) {
                env.restart_frames(None, pace)
            } else {
                u64::from(pace.frame_skip)
            }
        };
        let frames = self.envs.iter().enumerate().map(frames_of).sum();
        let seats = self.envs.iter_mut().zip(pictures).zip(&mut outcomes).map(seat);
        let items: Vec<_> = seats.enumerate().collect();
        let interrupted = self.pool.run(items, frames, poll, |(i, seat), stop| {
            let Seat { env, picture, outcome, report } = seat;
            env.guard(|env| {
                if restarts(i) {
                    env.restart(None, pace, program, stop)?;
                } else {
                    *outcome = env.step(buttons[i], pace, program, stop);
                }
                env.tracker.report(program, report);
                Ok(())
            });
            observation.write(env.machine.picture(), picture);
        });
        self.outcome(interrupted, |_| true)?;
        self.columns(obs, &outcomes, &reports)
    }

    /// The pictures as they are, in the layout of `format` or the batch's own; of a crashed
    /// environment the last one.
    ///
    /// # Errors
    /// [`BatchError::Interrupted`].
    pub fn screen(
        &self,
        format: Option<Format>,
        poll: &mut dyn FnMut() -> bool,
    ) -> Result<Buffer<u8>, BatchError> {
        let observation = self.observation.with_format(format);
        let mut obs = self.buffers.take(self.envs.len() * observation.bytes())?;
        let pictures = obs.as_mut_slice().chunks_mut(observation.bytes());
        let items = self.envs.iter().zip(pictures).collect();
        let write = |(env, picture): (&Env, &mut [u8])| {
            observation.write(env.machine.picture(), picture);
        };
        let interrupted = self.pool.run_copies(items, poll, write);
        self.outcome(interrupted, |_| false)?;
        Ok(obs)
    }

    /// The picture of environment `i` in colours.
    ///
    /// # Errors
    /// [`BatchError::Index`]; [`BatchError::Crashed`].
    pub fn picture(&self, i: usize) -> Result<Buffer<u8>, BatchError> {
        let picture = self.machine(i)?.picture();
        let observation = self.observation.with_format(Some(Format::Rgb));
        let mut out = self.buffers.take(observation.bytes())?;
        observation.write(picture, out.as_mut_slice());
        Ok(out)
    }

    /// The bytes at `addresses` in every environment, a row each.
    ///
    /// # Errors
    /// [`BatchError::Crashed`] when an environment has crashed.
    pub fn read_memory(&mut self, addresses: &[u16]) -> Result<Buffer<u8>, BatchError> {
        self.check_crashed(|_| true)?;
        let mut out = self.buffers.take(self.envs.len() * addresses.len())?;
        let mut slots = out.as_mut_slice().iter_mut();
        for env in &mut self.envs {
            env.guard(|env| {
                for (&address, slot) in addresses.iter().zip(&mut slots) {
                    *slot = env.machine.peek(address);
                }
                Ok(())
            });
        }
        self.check_crashed(|_| true)?;
        Ok(out)
    }

    /// One number per environment.
    ///
    /// # Errors
    /// [`BatchError::Memory`].
    pub fn gather<T: bytemuck::Pod>(
        &self,
        read: impl Fn(&GameBoy) -> T,
    ) -> Result<Buffer<T>, BatchError> {
        self.column(self.envs.iter().map(|env| read(&env.machine)))
    }

    /// Makes the next step of environment `i` panic, so that recovery from a crash can be tested.
    ///
    /// # Errors
    /// [`BatchError::Index`].
    pub fn inject_crash(&mut self, i: usize) -> Result<(), BatchError> {
        self.check_index(i)?;
        self.envs[i].doomed = true;
        Ok(())
    }

    fn columns(
        &self,
        obs: Buffer<u8>,
        outcomes: &[Outcome],
        reports: &[i64],
    ) -> Result<Step, BatchError> {
        let fields = self.program.info.len();
        let column = |k: usize| self.column(reports.iter().skip(k).step_by(fields).copied());
        Ok(Step {
            obs,
            reward: self.column(outcomes.iter().map(|outcome| outcome.reward))?,
            terminated: self.column(outcomes.iter().map(|outcome| outcome.terminated.into()))?,
            truncated: self.column(outcomes.iter().map(|outcome| outcome.truncated.into()))?,
            info: (0..fields).map(column).collect::<Result<_, _>>()?,
        })
    }

    /// A result with one value per environment.
    fn column<T: bytemuck::Pod>(
        &self,
        values: impl Iterator<Item = T>,
    ) -> Result<Buffer<T>, BatchError> {
        let mut out = self.buffers.take(self.envs.len())?;
        for (slot, value) in out.as_mut_slice().iter_mut().zip(values) {
            *slot = value;
        }
        Ok(out)
    }

    /// What a call that ran on the `chosen` environments reports.
    pub(crate) fn outcome(
        &self,
        interrupted: bool,
        chosen: impl Fn(usize) -> bool,
    ) -> Result<(), BatchError> {
        if interrupted {
            return Err(BatchError::Interrupted);
        }
        self.check_crashed(chosen)
    }

    pub(crate) fn check_len(&self, what: &str, got: Option<usize>) -> Result<(), BatchError> {
        let n = self.envs.len();
        check(got.is_none_or(|got| got == n), || {
            format!("{what}: got {} entries, expected one per env, n = {n}", got.unwrap_or(0))
        })
    }

    pub(crate) fn check_index(&self, env: usize) -> Result<(), BatchError> {
        let n = self.envs.len();
        if env < n {
            Ok(())
        } else {
            Err(BatchError::Index { env, n })
        }
    }

    /// None of the `chosen` environments has crashed.
    pub(crate) fn check_crashed(&self, chosen: impl Fn(usize) -> bool) -> Result<(), BatchError> {
        let crashed = |(i, env): (usize, &Env)| match &env.status {
            Status::Crashed(payload) if chosen(i) => Some((i, payload.clone())),
            _ => None,
        };
        let mut found = self.envs.iter().enumerate().filter_map(crashed);
        match found.next() {
            None => Ok(()),
            Some((env, payload)) => Err(BatchError::Crashed {
                env,
                count: 1 + found.count(),
                n: self.envs.len(),
                payload,
            }),
        }
    }

    /// All of the `chosen` environments are in an episode.
    pub(crate) fn check_ready(&self, chosen: impl Fn(usize) -> bool) -> Result<(), BatchError> {
        let fresh = |i: &usize| chosen(*i) && self.envs[*i].status == Status::Fresh;
        let mut found = (0..self.envs.len()).filter(fresh);
        if let Some(env) = found.next() {
            return Err(BatchError::NotReset { env, count: 1 + found.count(), n: self.envs.len() });
        }
        self.check_crashed(chosen)
    }
}

pub(crate) fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), BatchError> {
    if holds {
        Ok(())
    } else {
        Err(BatchError::Argument(message()))
    }
}

/// The start of each distinct cartridge, by its address.
fn origins(
    pool: &Pool,
    config: &Config,
    poll: &mut dyn FnMut() -> bool,
) -> Result<HashMap<*const Rom, Arc<Start>>, BatchError> {
    let mut first_env = HashMap::new();
    for (i, rom) in config.roms.iter().enumerate() {
        first_env.entry(Arc::as_ptr(rom)).or_insert(i);
    }
    let mut started: Vec<(usize, Result<Start, String>)> =
        first_env.values().map(|&i| (i, Err(String::new()))).collect();
    let (warm_up, opening) = (&config.warm_up, &config.opening);
    let per_rom = length(warm_up) + length(opening);
    let frames = copies(started.len()) + started.len() as u64 * per_rom;
    let interrupted = pool.run(started.iter_mut().collect(), frames, poll, |(i, out), stop| {
        let rom = &config.roms[*i];
        let (profile, model) = (config.profile, config.model);
        *out = catch(|| Start::power_on(rom, profile, model, warm_up, opening, stop));
    });
    if interrupted {
        return Err(BatchError::Interrupted);
    }
    let n = config.roms.len();
    let origin = |(env, start): (usize, Result<Start, String>)| match start {
        Ok(start) => Ok((Arc::as_ptr(&config.roms[env]), Arc::new(start))),
        Err(payload) => Err(BatchError::Crashed { env, count: 1, n, payload }),
    };
    started.into_iter().map(origin).collect()
}
