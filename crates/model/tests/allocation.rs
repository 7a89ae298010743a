//! A training step allocates nothing: memory is laid out once.

mod common;

use common::{sequences, small};
use invitro_model::cpu::Cpu;
use invitro_model::{Batch, TrainConfig, Transformer, Update};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// What this thread has allocated: the test harness has threads of its own.
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: the system's allocator does the work; this only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size());
        // SAFETY: as the caller vouches.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller vouches.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// On one thread, so that no scheduler's queue grows while counting.
#[test]
fn a_step_allocates_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let shape = small();
        let batches: Vec<Batch> = (0..4)
            .map(|seed| Batch::pack(&[sequences(&shape, &[64, 20, 3], seed)], 1, shape.context).unwrap())
            .collect();
        let mut model = Transformer::new(Cpu::<f32>::new(&shape, 1, 87).unwrap(), 87).unwrap();
        let train = TrainConfig::default();
        model.train_step(&batches[0], &[Update::at(&train, 1)]).unwrap();
        let before = BYTES.get();
        for (step, batch) in batches.iter().enumerate() {
            model.train_step(batch, &[Update::at(&train, step as u64 + 2)]).unwrap();
        }
        assert_eq!(BYTES.get() - before, 0, "bytes were allocated in a step");
    });
}
