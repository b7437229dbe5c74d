//! The memory of results: 64-byte aligned, handed out whole, reused only after its last owner let go.

use std::marker::PhantomData;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytemuck::{Pod, Zeroable};

/// Alignment of every result, in bytes: a cache line, and what `jax.device_put` needs to alias it.
pub const ALIGN: usize = mem::size_of::<Line>();

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Free blocks kept of one size: what two steps in flight need.
const PER_SIZE: usize = 2;
/// Free blocks kept in all.
const IN_ALL: usize = 16;

/// A bounded free list of result memory, kept by exact size, oldest first.
///
/// Memory comes back when a [`Memory`] drops, and goes on to the allocator when the list has enough
/// of its size or the pool itself is gone. When the list is full, the oldest block leaves it.
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
    pub fn take<T: Pod>(self: &Arc<Self>, len: usize) -> Buffer<T> {
        let lines = (len * mem::size_of::<T>()).div_ceil(ALIGN);
        let mut free = self.lock();
        let reused =
            free.iter().rposition(|block| block.len() == lines).map(|at| free.remove(at));
        drop(free);
        let lines = reused.unwrap_or_else(|| vec![Line::zeroed(); lines]);
        Buffer { memory: Memory { lines, home: Arc::downgrade(self) }, len, kind: PhantomData }
    }

    /// How many free blocks wait for reuse.
    pub fn free_blocks(&self) -> usize {
        self.lock().len()
    }

    fn give_back(&self, block: Vec<Line>) {
        let mut free = self.lock();
        if free.iter().filter(|other| other.len() == block.len()).count() < PER_SIZE {
            if free.len() == IN_ALL {
                free.remove(0);
            }
            free.push(block);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<Line>>> {
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
    use super::{BufferPool, ALIGN, IN_ALL, PER_SIZE};

    #[test]
    fn blocks_are_aligned_and_hold_exactly_what_was_asked() {
        let pool = BufferPool::new();
        for len in [0, 1, 16, 17, 23040] {
            let mut buffer = pool.take::<f32>(len);
            assert_eq!(buffer.as_mut_slice().len(), len);
            assert_eq!(buffer.as_slice().as_ptr().align_offset(ALIGN), 0);
        }
    }

    #[test]
    fn memory_returns_when_dropped_and_is_used_again_for_its_size() {
        let pool = BufferPool::new();
        let held: Vec<_> = (0..=PER_SIZE).map(|_| pool.take::<u8>(100)).collect();
        assert_eq!(pool.free_blocks(), 0);
        drop(held);
        assert_eq!(pool.free_blocks(), PER_SIZE);
        let again = pool.take::<u8>(100);
        assert_eq!(pool.free_blocks(), PER_SIZE - 1, "a block of this size was free");
        let other = pool.take::<u8>(1000);
        assert_eq!(pool.free_blocks(), PER_SIZE - 1, "no block of this size was free");
        drop((again, other));
        assert_eq!(pool.free_blocks(), PER_SIZE + 1);
    }

    #[test]
    fn a_full_list_forgets_its_oldest_block() {
        let pool = BufferPool::new();
        for k in 1..=2 * IN_ALL {
            drop(pool.take::<u8>(64 * k));
        }
        assert_eq!(pool.free_blocks(), IN_ALL);
        drop(pool.take::<u8>(64 * 2 * IN_ALL));
        let _oldest = pool.take::<u8>(64);
        assert_eq!(pool.free_blocks(), IN_ALL, "the oldest block was still there");
    }

    #[test]
    fn memory_outlives_its_pool() {
        let pool = BufferPool::new();
        let mut buffer = pool.take::<u64>(3);
        drop(pool);
        buffer.as_mut_slice().copy_from_slice(&[1, 2, 3]);
        assert_eq!(buffer.as_slice(), [1, 2, 3]);
    }
}
