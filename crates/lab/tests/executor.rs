//! Where studies run: what Slurm says, and how many members a GPU holds.

use invitro_lab::executor::queue::{Task, task};
use invitro_lab::executor::training::{MOST_ON_GPU, Training, fitting};
use invitro_lab::training::TrainingSlots;
use invitro_model::Device;
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[test]
fn lines_of_squeue() {
    let expected = Task { job: 12, index: 3, state: "PENDING".into(), place: "(Resources)".into() };
    assert_eq!(task("12|3|PENDING|(Resources)"), Some(expected));
    assert_eq!(task("13|N/A|RUNNING|n0"), None);
    assert_eq!(task(""), None);
}

#[test]
fn a_population_is_sized_to_the_memory() {
    let gigabyte = |members: usize| members as u64 * 1_000_000_000;
    assert_eq!(fitting(10_000_000_000, gigabyte), 9);
    assert_eq!(fitting(500_000_000, gigabyte), 1);
    assert_eq!(fitting(1_000_000_000_000, gigabyte), MOST_ON_GPU);
}

#[test]
fn a_gpu_has_several_populations_under_way_and_a_cpu_one() {
    let populations = |devices: &[Device], at_once, per_gpu| -> Vec<(Device, usize)> {
        Training::on(devices, at_once, per_gpu).iter().map(|one| (one.device, one.populations)).collect()
    };
    let [first, second] = [0, 1].map(Device::Cuda);
    assert_eq!(populations(&[Device::Cpu], None, 2), [(Device::Cpu, 1)]);
    assert_eq!(populations(&[second, first], None, 2), [(first, 2), (second, 2)]);
    assert_eq!(populations(&[first, first], None, 2), [(first, 4)], "named twice, it has twice as many");
    assert_eq!(populations(&[first], Some(1), 2), [(first, 1)], "one cell at once is one population");
}

#[test]
fn populations_that_share_a_device_train_in_turn() {
    let slots = TrainingSlots::new(1);
    let wait_for = |others: usize| {
        while slots.waiting() < others {
            std::thread::yield_now();
        }
    };
    let journal = Mutex::new(Vec::new());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let held = slots.take(0.0);
        for (before, name) in ["one", "other"].into_iter().enumerate() {
            wait_for(before);
            let (slots, journal, wait_for) = (&slots, &journal, &wait_for);
            scope.spawn(move || {
                for visit in 0..3 {
                    let slot = slots.take(0.0);
                    journal.lock().unwrap().push(name);
                    // The other one is back before this one leaves, but for the end of its last visit.
                    wait_for(usize::from(visit < 2 || name == "one"));
                    assert!(!slot.should_yield(), "by one that is no further");
                    journal.lock().unwrap().push(name);
                    drop(slot);
                }
            });
        }
        wait_for(2);
        std::thread::sleep(Duration::from_millis(20));
        drop(held);
    });
    // Each is in and out before the next is in, and of those that are as far, whoever waits comes before who was just there.
    assert_eq!(journal.into_inner().unwrap(), ["one", "one", "other", "other"].repeat(3));
    assert_eq!(slots.waiting(), 0);
    assert!(slots.busy() >= Duration::from_millis(20) && slots.busy() <= begun.elapsed());
    // Of two slots, both can be taken.
    let two = TrainingSlots::new(2);
    let _held = (two.take(0.0), two.take(0.5));
}

#[test]
fn who_is_further_ahead_trains_first() {
    let slots = TrainingSlots::new(1);
    let order = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let held = slots.take(0.3);
        for (before, done) in [0.1, 0.2, 0.3, 0.4].into_iter().enumerate() {
            let (slots, order) = (&slots, &order);
            scope.spawn(move || {
                let _slot = slots.take(done);
                order.lock().unwrap().push(done);
            });
            while slots.waiting() <= before {
                std::thread::yield_now();
            }
            assert_eq!(held.should_yield(), done > 0.3, "by {done}");
        }
        drop(held);
    });
    assert_eq!(order.into_inner().unwrap(), [0.4, 0.3, 0.2, 0.1]);
}
