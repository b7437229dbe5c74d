//! The memory of results: 64-byte aligned, handed out whole, reused only after its last owner let go.

use std::marker::PhantomData;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{Pod, Zeroable};

use crate::error::BatchError;

/// Alignment of every result, in bytes: a cache line, and what `jax.device_put` needs to alias it.
pub const ALIGN: usize = mem::size_of::<Line>();

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Blocks below this size are left to the allocator, which is as fast for them.
const POOLED_BYTES: usize = 64 << 10;
/// Free memory that is kept, unless [`KEPT_BLOCKS`] blocks alone are more.
const KEPT_BYTES: usize = 128 << 20;
/// Free blocks that are kept whatever their size: what two steps in flight need.
const KEPT_BLOCKS: usize = 2;

/// A bounded free list of result memory, by exact size, oldest first.
///
/// Memory comes back when a [`Memory`] drops; a list that holds too much gives its oldest blocks to
/// the allocator. Touching fresh pages costs several times what writing a picture does, which is
/// why blocks are kept.
#[derive(Default)]
pub struct BufferPool {
    free: Mutex<Vec<Vec<Line>>>,
}

impl BufferPool {
    /// An empty pool.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Room for `len` values of `T`. The values are zero or left over from an earlier result: the
    /// caller overwrites all of them.
    ///
    /// # Errors
    /// [`BatchError::Memory`] when the system gives none.
    pub fn take<T: Pod>(self: &Arc<Self>, len: usize) -> Result<Buffer<T>, BatchError> {
        let bytes = len.saturating_mul(mem::size_of::<T>());
        let lines = bytes.div_ceil(ALIGN);
        let mut free = self.lock();
        let reused = free.iter().rposition(|block| block.len() == lines).map(|at| free.remove(at));
        drop(free);
        let lines = reused
            .map_or_else(|| try_zeroed_vec(lines), Ok)
            .map_err(|()| BatchError::Memory { what: "result", bytes })?;
        Ok(Buffer { memory: Memory { lines, home: Arc::downgrade(self) }, len, kind: PhantomData })
    }

    /// How many free blocks wait for reuse.
    pub fn free_blocks(&self) -> usize {
        self.lock().len()
    }

    fn give_back(&self, block: Vec<Line>) {
        if block.len() * ALIGN < POOLED_BYTES {
            return;
        }
        let bytes = |block: &Vec<Line>| block.len() * ALIGN;
        let mut free = self.lock();
        free.push(block);
        let mut kept: usize = free.iter().map(bytes).sum();
        let mut gone = 0;
        while kept > KEPT_BYTES && free.len() - gone > KEPT_BLOCKS {
            kept -= bytes(&free[gone]);
            gone += 1;
        }
        let gone: Vec<_> = free.drain(..gone).collect();
        // Unmapping takes time: not under the lock.
        drop(free);
        drop(gone);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<Line>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One block of result memory; dropping it gives it back to its pool.
pub struct Memory {
    lines: Vec<Line>,
    home: Weak<BufferPool>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(home) = self.home.upgrade() {
            home.give_back(mem::take(&mut self.lines));
        }
    }
}

/// `len` values of `T` in a block of their own.
pub struct Buffer<T> {
    memory: Memory,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// The values.
    pub fn as_slice(&self) -> &[T] {
        &bytemuck::cast_slice(&self.memory.lines)[..self.len]
    }

    /// The values, to be written before the buffer is handed out.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut bytemuck::cast_slice_mut(&mut self.memory.lines)[..self.len]
    }

    /// The block, for an owner that keeps its own pointer to the values.
    pub fn into_memory(self) -> Memory {
        self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::{BufferPool, ALIGN, KEPT_BLOCKS, KEPT_BYTES, POOLED_BYTES};

    #[test]
    fn blocks_are_aligned_and_hold_exactly_what_was_asked() {
        let pool = BufferPool::new();
        for len in [0, 1, 16, 17, 23040] {
            let mut buffer = pool.take::<f32>(len).unwrap();
            assert_eq!(buffer.as_mut_slice().len(), len);
            assert_eq!(buffer.as_slice().as_ptr().align_offset(ALIGN), 0);
        }
    }

    #[test]
    fn memory_returns_when_dropped_and_is_used_again_for_its_size() {
        let pool = BufferPool::new();
        let held: Vec<_> = (0..3).map(|_| pool.take::<u8>(POOLED_BYTES).unwrap()).collect();
        assert_eq!(pool.free_blocks(), 0);
        drop(held);
        assert_eq!(pool.free_blocks(), 3);
        let again = pool.take::<u8>(POOLED_BYTES).unwrap();
        assert_eq!(pool.free_blocks(), 2, "a block of this size was free");
        let other = pool.take::<u8>(2 * POOLED_BYTES).unwrap();
        assert_eq!(pool.free_blocks(), 2, "no block of this size was free");
        drop((again, other, pool.take::<u8>(POOLED_BYTES - ALIGN).unwrap()));
        assert_eq!(pool.free_blocks(), 4, "a small block was kept");
    }

    #[test]
    fn a_list_that_holds_too_much_forgets_its_oldest_blocks() {
        let pool = BufferPool::new();
        let quarter = KEPT_BYTES / 4;
        drop((0..6).map(|k| pool.take::<u8>(quarter + k * ALIGN).unwrap()).collect::<Vec<_>>());
        assert_eq!(pool.free_blocks(), 3);
        let newest = pool.take::<u8>(quarter + 5 * ALIGN).unwrap();
        assert_eq!(pool.free_blocks(), 2, "the newest block was gone");
        drop(newest);
        drop((0..3).map(|_| pool.take::<u8>(KEPT_BYTES).unwrap()).collect::<Vec<_>>());
        assert_eq!(pool.free_blocks(), KEPT_BLOCKS);
    }

    #[test]
    fn more_than_there_can_be_is_refused() {
        let pool = BufferPool::new();
        for len in [usize::MAX / 8, usize::MAX] {
            let refused = pool.take::<u64>(len).err().map(|error| error.to_string()).unwrap();
            assert!(refused.starts_with("result: got no memory for"), "{refused}");
        }
        assert_eq!(pool.take::<u64>(1).unwrap().as_slice(), [0]);
    }

    #[test]
    fn memory_outlives_its_pool() {
        let pool = BufferPool::new();
        let mut buffer = pool.take::<u64>(3).unwrap();
        drop(pool);
        buffer.as_mut_slice().copy_from_slice(&[1, 2, 3]);
        assert_eq!(buffer.as_slice(), [1, 2, 3]);
    }
}
