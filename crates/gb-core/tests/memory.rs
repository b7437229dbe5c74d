//! What a machine takes of the host's memory, counted by the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use gb_core::{GameBoy, Model, Profile, Rom};

thread_local! {
    /// Bytes that this thread has allocated and not given back.
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting.
struct Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get().wrapping_add(layout.size()));
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().wrapping_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const KIB: usize = 1024;

/// A cartridge with 32 KiB of RAM that jumps on the spot.
fn rom() -> Arc<Rom> {
    let mut image = vec![0; 0x8000];
    image[0x100..0x102].copy_from_slice(&[0x18, 0xFE]);
    (image[0x143], image[0x147], image[0x149]) = (0x80, 0x1B, 3);
    let sum = |sum: u8, byte: &u8| sum.wrapping_sub(*byte).wrapping_sub(1);
    image[0x14D] = image[0x134..0x14D].iter().fold(0, sum);
    Arc::new(Rom::parse(&image).unwrap())
}

/// Bytes of a machine beside its ROM, once it has run.
fn bytes(rom: &Arc<Rom>, profile: Profile, model: Model) -> usize {
    let before = LIVE.get();
    let mut machine = Box::new(GameBoy::with_model(Arc::clone(rom), profile, model));
    machine.run_frame(true);
    machine.run_frame_strict(true);
    let taken = LIVE.get() - before;
    let copy = machine.clone();
    assert_eq!(LIVE.get() - before, 2 * taken, "a copy takes as much");
    drop((machine, copy));
    assert_eq!(LIVE.get(), before, "all of it comes back");
    taken
}

/// The promise is 128 KiB for any cartridge with up to 32 KiB of RAM; what is left of them belongs to the
/// batch around the machine.
#[test]
fn a_machine_with_32_kib_of_cartridge_ram_keeps_to_its_size() {
    let rom = rom();
    for profile in [Profile::Hardware, Profile::PyBoy] {
        for (model, most) in [(Model::Dmg, 57 * KIB), (Model::Cgb, 123 * KIB)] {
            let taken = bytes(&rom, profile, model);
            assert!(taken > 32 * KIB, "{taken} bytes cannot be all of a machine");
            assert!(
                taken <= most,
                "{profile:?}, {model:?}: {taken} bytes, expected {most} at most"
            );
            println!("{profile:?} {model:?}: {taken} bytes");
        }
    }
}
