//! A pool of threads that belongs to one batch, with a caller that stays awake to be interrupted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::BatchError;

/// How often the calling thread asks whether a long call was interrupted.
pub const POLL: Duration = Duration::from_millis(50);

/// How long an interrupted call may go on so that every machine finishes what it was asked for.
pub const GRACE: Duration = Duration::from_millis(500);

/// Work up to this many frames (a few milliseconds) may run on the calling thread.
const INLINE_FRAMES: u64 = 256;

/// What `n` copies of a machine or its picture cost, in frames.
pub(crate) fn copies(n: usize) -> u64 {
    n as u64 / 8
}

/// The answer of a caller that never interrupts.
pub fn never() -> bool {
    false
}

/// Threads that share the machines of one batch by work stealing.
pub struct Pool {
    threads: ThreadPool,
}

impl Pool {
    /// Starts `threads` workers, or one per available core, but never more than `most`.
    ///
    /// # Errors
    /// [`BatchError::Threads`] when the system refuses the threads.
    pub fn new(threads: Option<usize>, most: usize) -> Result<Self, BatchError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = threads.unwrap_or(cores).clamp(1, most.max(1));
        let threads = ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|index| format!("hybridenv-{index}"))
            .build()
            .map_err(|source| BatchError::Threads { count, source })?;
        Ok(Self { threads })
    }

    /// The number of workers.
    pub fn threads(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// Runs `work` once on every item, each item a task of its own, and returns whether the caller
    /// was interrupted meanwhile.
    ///
    /// The calling thread asks `poll` every [`POLL`]. Once that answers true it is not asked again;
    /// the work gets [`GRACE`] to finish, then the flag that `work` sees goes up, and `work`
    /// is to return at its next frame boundary. Short work (`frames` of it in all) that cannot be
    /// shared runs on the calling thread, without the hand-over to a worker and unasked.
    pub fn run<T: Send>(
        &self,
        items: Vec<T>,
        frames: u64,
        poll: &mut dyn FnMut() -> bool,
        work: impl Fn(T, &AtomicBool) + Sync,
    ) -> bool {
        let stop = AtomicBool::new(false);
        if frames <= INLINE_FRAMES && (items.len() <= 1 || self.threads() == 1) {
            for item in items {
                work(item, &stop);
            }
            return false;
        }
        let (running, finished) = mpsc::channel::<()>();
        let mut interrupted: Option<Instant> = None;
        self.threads.in_place_scope(|scope| {
            let (work, stop) = (&work, &stop);
            scope.spawn(move |_| {
                // Dropping the sender is the signal, so that even a panic gives it.
                let _running = running;
                items.into_par_iter().with_max_len(1).for_each(|item| work(item, stop));
            });
            while finished.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                match interrupted {
                    None if poll() => interrupted = Some(Instant::now()),
                    Some(since) if since.elapsed() >= GRACE => stop.store(true, Ordering::Relaxed),
                    _ => {}
                }
            }
        });
        interrupted.is_some()
    }

    /// [`Pool::run`] for work that copies machines and runs no frames.
    pub(crate) fn run_copies<T: Send>(
        &self,
        items: Vec<T>,
        poll: &mut dyn FnMut() -> bool,
        work: impl Fn(T) + Sync,
    ) -> bool {
        let frames = copies(items.len());
        self.run(items, frames, poll, |item, _| work(item))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::{never, Duration, Instant, Pool, GRACE};

    #[test]
    fn every_item_runs_once_whatever_the_threads() {
        for threads in [1, 2, 8] {
            let pool = Pool::new(Some(threads), 100).unwrap();
            assert_eq!(pool.threads(), threads);
            for frames in [1, 1_000_000] {
                let mut out = vec![0; 100];
                let items: Vec<_> = out.iter_mut().enumerate().collect();
                let interrupted =
                    pool.run(items, frames, &mut never, |(i, slot), _| *slot += i + 1);
                assert!(!interrupted);
                assert!(out.iter().enumerate().all(|(i, &value)| value == i + 1));
            }
        }
    }

    #[test]
    fn never_more_threads_than_items() {
        assert_eq!(Pool::new(Some(8), 3).unwrap().threads(), 3);
    }

    #[test]
    fn short_work_of_one_item_stays_on_the_calling_thread() {
        let pool = Pool::new(Some(1), 1).unwrap();
        let caller = thread::current().id();
        pool.run(vec![()], 1, &mut never, |(), _| assert_eq!(thread::current().id(), caller));
        pool.run(vec![()], u64::MAX, &mut never, |(), _| {
            assert_ne!(thread::current().id(), caller);
        });
    }

    #[test]
    fn an_interrupt_waits_for_grace_then_raises_the_flag() {
        let pool = Pool::new(Some(2), 2).unwrap();
        let polls = AtomicU32::new(0);
        let start = Instant::now();
        let mut poll = || polls.fetch_add(1, Ordering::Relaxed) == 0;
        let interrupted = pool.run(vec![(), ()], u64::MAX, &mut poll, |(), stop| {
            while !stop.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
                assert!(start.elapsed() < Duration::from_secs(30), "the flag never went up");
            }
        });
        assert!(interrupted);
        assert!(start.elapsed() >= GRACE);
        assert_eq!(polls.load(Ordering::Relaxed), 1, "asked again after it answered");
    }
}
