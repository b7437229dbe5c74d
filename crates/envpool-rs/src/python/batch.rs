//! `hybridenv._native.Batch` and `States`.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use gb_core::{Model, Profile, Registers, Rom, RtcTime};
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use super::arrays::{copy_vector, wrap, wrap_flags};
use super::errors::{ActionError, ArgumentError, CallError};
use super::task::RawTask;
use crate::batch::{Batch, Config, Step};
use crate::error::BatchError;
use crate::export::{Format, Observation, Palette};
use crate::states::States;
use crate::task::Program;
use crate::trace;

type Poll<'a> = &'a mut dyn FnMut() -> bool;
type Pictures<'py> = Bound<'py, PyArrayDyn<u8>>;

/// What `reset` may be given as seeds.
#[derive(FromPyObject)]
pub enum Seeds {
    /// Environment `i` gets this plus `i`.
    Base(u64),
    /// One for each environment, or none.
    Each(Vec<Option<u64>>),
}

impl Seeds {
    fn each(self, n: usize) -> Vec<Option<u64>> {
        match self {
            Self::Base(seed) => (0..n as u64).map(|i| Some(seed.wrapping_add(i))).collect(),
            Self::Each(seeds) => seeds,
        }
    }
}

/// A batch of Game Boys.
#[pyclass(frozen, name = "Batch", module = "hybridenv._native")]
pub struct PyBatch {
    batch: Mutex<Option<Batch>>,
    closed: AtomicBool,
    owner: u32,
    observation: Observation,
    shape: Vec<usize>,
    num_threads: usize,
}

impl Drop for PyBatch {
    fn drop(&mut self) {
        if self.owner != std::process::id() {
            // The threads stayed in the parent process: nobody would answer their shutdown.
            mem::forget(self.batch.get_mut().map(Option::take));
        }
    }
}

impl PyBatch {
    /// The one door to the batch: detaches from Python, locks, runs `call` with a poll for signals,
    /// and turns errors into exceptions.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Batch, Poll<'_>) -> Result<T, BatchError> + Send,
    ) -> PyResult<T> {
        interruptible(py, |poll| {
            let mut batch = self.lock()?;
            let batch = batch.as_mut().ok_or(CallError::Closed)?;
            Ok(call(batch, poll)?)
        })
    }

    fn lock(&self) -> Result<MutexGuard<'_, Option<Batch>>, CallError> {
        if self.owner != std::process::id() {
            return Err(CallError::Fork { owner: self.owner });
        }
        match self.batch.try_lock() {
            Ok(batch) => Ok(batch),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(CallError::Busy),
        }
    }

    fn n(&self) -> usize {
        self.shape[0]
    }

    fn mask(&self, mask: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<Option<Vec<bool>>> {
        let copy = |mask| copy_vector(mask, what, Some(self.n())).map_err(ArgumentError::new_err);
        mask.map(copy).transpose()
    }
}

/// Runs `call` detached from Python. An exception of a signal handler, such as `KeyboardInterrupt`,
/// makes the poll answer true and then goes before whatever `call` returns.
fn interruptible<T: Send>(
    py: Python<'_>,
    call: impl FnOnce(Poll<'_>) -> Result<T, CallError> + Send,
) -> PyResult<T> {
    let mut raised: Option<PyErr> = None;
    let result = py.detach(|| {
        call(&mut || {
            #[allow(clippy::redundant_closure_for_method_calls)] // A path has but one lifetime.
            let checked = Python::attach(|py| py.check_signals());
            raised = checked.err();
            raised.is_some()
        })
    });
    match raised {
        Some(raised) => Err(raised),
        None => Ok(result?),
    }
}

#[pymethods]
#[allow(clippy::needless_pass_by_value)] // PyO3 hands sequences over by value.
impl PyBatch {
    #[new]
    #[pyo3(signature = (images, env_images, *, frame_skip, press_frames, noop_max, obs, palette,
                        num_threads, profile, model, seed, task, warm_up, opening))]
    #[allow(clippy::too_many_arguments)] // All by keyword; Python checks and names them.
    fn new(
        py: Python<'_>,
        images: Vec<Bound<'_, PyBytes>>,
        env_images: Vec<usize>,
        frame_skip: u32,
        press_frames: u32,
        noop_max: u32,
        obs: &str,
        palette: Palette,
        num_threads: Option<usize>,
        profile: &str,
        model: &str,
        seed: Option<u64>,
        task: Option<RawTask>,
        warm_up: Vec<(u8, u32)>,
        opening: Vec<(u8, u32)>,
    ) -> PyResult<Self> {
        let config = Config {
            roms: parse_roms(&images, &env_images)?,
            profile: profile_named(profile)?,
            model: model_named(model)?,
            frame_skip,
            press_frames,
            noop_max,
            observation: Observation { format: format_named(obs)?, palette },
            threads: num_threads,
            seed,
            program: task.map_or_else(|| Ok(Program::default()), RawTask::compile)?,
            warm_up,
            opening,
        };
        let batch = interruptible(py, |poll| Ok(Batch::new(config, poll)?))?;
        Ok(Self {
            closed: AtomicBool::new(false),
            owner: std::process::id(),
            observation: batch.observation(),
            shape: [&[batch.n()], batch.observation().shape()].concat(),
            num_threads: batch.threads(),
            batch: Mutex::new(Some(batch)),
        })
    }

    #[getter]
    fn obs_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    #[getter]
    fn num_threads(&self) -> usize {
        self.num_threads
    }

    #[getter]
    fn closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let batch = self.lock()?.take();
        self.closed.store(true, Ordering::Relaxed);
        py.detach(|| drop(batch));
        Ok(())
    }

    #[pyo3(signature = (seed, mask))]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        seed: Option<Seeds>,
        mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Pictures<'py>> {
        let mask = self.mask(mask, "mask")?;
        let seeds = seed.map(|seed| seed.each(self.n()));
        let obs = self.with(py, |b, poll| b.reset(seeds.as_deref(), mask.as_deref(), poll))?;
        wrap(py, obs, &self.shape)
    }

    #[pyo3(signature = (buttons, restart))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        buttons: &Bound<'py, PyAny>,
        restart: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let buttons: Vec<u8> =
            copy_vector(buttons, "buttons", Some(self.n())).map_err(ActionError::new_err)?;
        let restart = self.mask(restart, "restart")?;
        let step = self.with(py, |b, poll| b.step(&buttons, restart.as_deref(), poll))?;
        let Step { obs, reward, terminated, truncated, info } = step;
        let each = &self.shape[..1];
        let info: Vec<_> =
            info.into_iter().map(|column| wrap(py, column, each)).collect::<PyResult<_>>()?;
        (
            wrap(py, obs, &self.shape)?,
            wrap(py, reward, each)?,
            wrap_flags(py, terminated, each)?,
            wrap_flags(py, truncated, each)?,
            info,
        )
            .into_pyobject(py)
    }

    #[pyo3(signature = (obs))]
    fn screen<'py>(&self, py: Python<'py>, obs: Option<&str>) -> PyResult<Pictures<'py>> {
        let format = obs.map(format_named).transpose()?;
        let shape = self.observation.with_format(format).shape();
        let pictures = self.with(py, |b, poll| b.screen(format, poll))?;
        wrap(py, pictures, &[&[self.n()], shape].concat())
    }

    fn picture<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Pictures<'py>> {
        let picture = self.with(py, |b, _| b.picture(i))?;
        wrap(py, picture, self.observation.with_format(Some(Format::Rgb)).shape())
    }

    fn read_memory<'py>(
        &self,
        py: Python<'py>,
        addresses: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        let addresses: Vec<u16> =
            copy_vector(addresses, "addresses", None).map_err(ArgumentError::new_err)?;
        let bytes = self.with(py, |b, _| b.read_memory(&addresses))?;
        wrap(py, bytes, &[self.n(), addresses.len()])
    }

    fn clocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
        let clocks = self.with(py, |b, _| b.gather(gb_core::GameBoy::clock))?;
        wrap(py, clocks, &self.shape[..1])
    }

    fn cycles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
        let cycles = self.with(py, |b, _| b.gather(gb_core::GameBoy::cycles))?;
        wrap(py, cycles, &self.shape[..1])
    }

    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
        let frames = self.with(py, |b, _| b.gather(gb_core::GameBoy::frames))?;
        wrap(py, frames, &self.shape[..1])
    }

    fn models(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        let model = |machine: &gb_core::GameBoy| u8::from(machine.model() == Model::Cgb);
        let models = self.with(py, |b, _| b.gather(model))?;
        Ok(models.as_slice().iter().map(|&cgb| if cgb == 0 { "dmg" } else { "cgb" }).collect())
    }

    fn stuck<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        let stuck = self.with(py, |b, _| b.gather(|machine| u8::from(machine.stuck())))?;
        wrap_flags(py, stuck, &self.shape[..1])
    }

    fn read_range<'py>(
        &self,
        py: Python<'py>,
        i: usize,
        start: usize,
        stop: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |b, _| b.read_range(i, start..stop))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn write_range(&self, py: Python<'_>, i: usize, start: usize, values: &[u8]) -> PyResult<()> {
        self.with(py, |b, _| b.write_range(i, start, values))
    }

    fn registers<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyTuple>> {
        let r = self.with(py, |b, _| Ok(b.machine(i)?.registers()))?;
        let Registers { a, f, b, c, d, e, h, l, sp, pc, ime, halted } = r;
        (a, f, b, c, d, e, h, l, sp, pc, ime, halted).into_pyobject(py)
    }

    fn trace_frame<'py>(
        &self,
        py: Python<'py>,
        i: usize,
        buttons: u8,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let rows = self.with(py, |b, _| Ok(trace::frame(b.machine(i)?, buttons)))?;
        let flat = PyArray1::from_slice(py, rows.as_flattened());
        flat.reshape([rows.len(), trace::COLUMNS])
    }

    fn header<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyDict>> {
        let rom = self.with(py, |b, _| Ok(Arc::clone(b.machine(i)?.rom())))?;
        header_dict(py, &rom)
    }

    fn save_state<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.with(py, |b, _| b.save_state(i))?;
        Ok(PyBytes::new(py, &state))
    }

    fn load_state(&self, py: Python<'_>, i: usize, state: &[u8]) -> PyResult<()> {
        self.with(py, |b, _| b.load_state(i, state))
    }

    #[pyo3(signature = (state, mask))]
    fn set_start(
        &self,
        py: Python<'_>,
        state: Option<&[u8]>,
        mask: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mask = self.mask(mask, "mask")?;
        self.with(py, |b, _| b.set_start(state, mask.as_deref()))
    }

    #[pyo3(signature = (mask))]
    fn save_states(&self, py: Python<'_>, mask: Option<&Bound<'_, PyAny>>) -> PyResult<PyStates> {
        let mask = self.mask(mask, "mask")?;
        self.with(py, |b, poll| b.save_states(mask.as_deref(), poll)).map(PyStates)
    }

    #[pyo3(signature = (states, mask))]
    fn load_states(
        &self,
        py: Python<'_>,
        states: &PyStates,
        mask: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mask = self.mask(mask, "mask")?;
        self.with(py, |b, poll| b.load_states(&states.0, mask.as_deref(), poll))
    }

    fn copy(&self, py: Python<'_>, src: Vec<usize>, dst: Vec<usize>) -> PyResult<()> {
        self.with(py, |b, _| b.copy(&src, &dst))
    }

    fn cart_ram<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyBytes>> {
        let ram = self.with(py, |b, _| Ok(b.machine(i)?.cart_ram().to_vec()))?;
        Ok(PyBytes::new(py, &ram))
    }

    fn load_cart_ram(&self, py: Python<'_>, i: usize, ram: &[u8]) -> PyResult<()> {
        self.with(py, |b, _| b.load_cart_ram(i, ram))
    }

    fn rtc<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let time = self.with(py, |b, _| Ok(b.machine(i)?.rtc()))?;
        let tuple = |t: RtcTime| {
            (t.days, t.hours, t.minutes, t.seconds, t.carry, t.halted, t.cycles).into_pyobject(py)
        };
        time.map(tuple).transpose()
    }

    fn set_rtc(
        &self,
        py: Python<'_>,
        i: usize,
        time: (u16, u8, u8, u8, bool, bool, u32),
    ) -> PyResult<()> {
        let (days, hours, minutes, seconds, carry, halted, cycles) = time;
        let time = RtcTime { seconds, minutes, hours, days, carry, halted, cycles };
        self.with(py, |b, _| b.set_rtc(i, time))
    }

    fn freeze_rtc(&self, py: Python<'_>, i: usize, frozen: bool) -> PyResult<()> {
        self.with(py, |b, _| b.freeze_rtc(i, frozen))
    }

    #[pyo3(signature = (sample_rate))]
    fn set_audio(&self, py: Python<'_>, sample_rate: Option<u32>) -> PyResult<()> {
        self.with(py, |b, _| {
            b.set_audio(sample_rate);
            Ok(())
        })
    }

    fn take_audio<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyArray2<i16>>> {
        let samples = self.with(py, |b, _| Ok(b.machine_mut(i)?.take_audio()))?;
        let flat = PyArray1::from_slice(py, samples.as_flattened());
        flat.reshape([samples.len(), 2])
    }

    fn inject_crash(&self, py: Python<'_>, i: usize) -> PyResult<()> {
        self.with(py, |b, _| b.inject_crash(i))
    }
}

/// Copies of machines, held in memory.
#[pyclass(frozen, name = "States", module = "hybridenv._native")]
pub struct PyStates(States);

#[pymethods]
impl PyStates {
    fn held<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        PyArray1::from_vec(py, self.0.held())
    }
}

fn parse_roms(images: &[Bound<'_, PyBytes>], env_images: &[usize]) -> PyResult<Vec<Arc<Rom>>> {
    let mut roms = Vec::with_capacity(images.len());
    for (k, image) in images.iter().enumerate() {
        let env = env_images.iter().position(|&index| index == k).unwrap_or(0);
        let rom = Rom::parse(image.as_bytes()).map_err(|source| BatchError::Rom { env, source });
        roms.push(Arc::new(rom.map_err(CallError::from)?));
    }
    let rom = |&k: &usize| roms.get(k).map(Arc::clone);
    env_images.iter().map(rom).collect::<Option<_>>().ok_or_else(|| {
        ArgumentError::new_err(format!("env_images: expected indices below {}", roms.len()))
    })
}

fn profile_named(name: &str) -> PyResult<Profile> {
    match name {
        "hardware" => Ok(Profile::Hardware),
        "pyboy" => Ok(Profile::PyBoy),
        _ => Err(unknown("profile", name, "'hardware' or 'pyboy'")),
    }
}

fn model_named(name: &str) -> PyResult<Option<Model>> {
    match name {
        "auto" => Ok(None),
        "dmg" => Ok(Some(Model::Dmg)),
        "cgb" => Ok(Some(Model::Cgb)),
        _ => Err(unknown("model", name, "'auto', 'dmg' or 'cgb'")),
    }
}

fn format_named(name: &str) -> PyResult<Format> {
    match name {
        "shades" => Ok(Format::Shades),
        "rgb" => Ok(Format::Rgb),
        "packed" => Ok(Format::Packed),
        _ => Err(unknown("obs", name, "'shades', 'rgb' or 'packed'")),
    }
}

fn unknown(what: &str, got: &str, expected: &str) -> PyErr {
    ArgumentError::new_err(format!("{what}: got {got:?}, expected {expected}"))
}

fn header_dict<'py>(py: Python<'py>, rom: &Rom) -> PyResult<Bound<'py, PyDict>> {
    let header = rom.header();
    let dict = PyDict::new(py);
    dict.set_item("title", &header.title)?;
    dict.set_item("manufacturer", &header.manufacturer)?;
    dict.set_item("cgb", format!("{:?}", header.cgb).to_lowercase())?;
    dict.set_item("sgb", header.sgb)?;
    dict.set_item("kind", header.kind.to_string())?;
    dict.set_item("kind_code", header.kind.code)?;
    dict.set_item("battery", header.kind.battery)?;
    dict.set_item("rtc", header.kind.rtc)?;
    dict.set_item("rumble", header.kind.rumble)?;
    dict.set_item("rom_size", header.rom_size)?;
    dict.set_item("ram_size", header.ram_size)?;
    dict.set_item("overseas", header.overseas)?;
    dict.set_item("licensee", &header.licensee)?;
    dict.set_item("version", header.version)?;
    dict.set_item("logo_valid", header.logo_valid)?;
    dict.set_item("header_checksum", header.header_checksum)?;
    dict.set_item("global_checksum", header.global_checksum)?;
    dict.set_item("computed_global_checksum", header.computed_global_checksum)?;
    dict.set_item("hash", rom.hash())?;
    Ok(dict)
}
