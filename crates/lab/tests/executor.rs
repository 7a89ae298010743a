//! Where studies run: what Slurm says, and how many members a GPU holds.

use invitro_lab::executor::queue::{Task, task};
use invitro_lab::executor::training::{MOST_ON_GPU, Training, fitting};
use invitro_lab::population::TrainingSlots;
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
fn a_gpu_has_two_populations_under_way_and_a_cpu_one() {
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
    let journal = Mutex::new(Vec::new());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for name in ["one", "other"] {
            let (slots, journal) = (&slots, &journal);
            scope.spawn(move || {
                for _ in 0..3 {
                    let slot = slots.take();
                    journal.lock().unwrap().push((name, begun.elapsed()));
                    std::thread::sleep(Duration::from_millis(20));
                    journal.lock().unwrap().push((name, begun.elapsed()));
                    drop(slot);
                }
            });
        }
    });
    let journal = journal.into_inner().unwrap();
    // Each is in and out before the next is in, and whoever waits comes before who was just there.
    let names: Vec<&str> = journal.chunks(2).map(|visit| visit[0].0).collect();
    assert!(journal.chunks(2).all(|visit| visit[0].0 == visit[1].0), "{journal:?}");
    assert_eq!(names[1..5].iter().filter(|name| **name == "one").count(), 2, "{journal:?}");
    assert!(names[1..5].windows(2).all(|pair| pair[0] != pair[1]), "{journal:?}");
    assert!(slots.busy() >= Duration::from_millis(120) && slots.busy() <= begun.elapsed());
    // Of two slots, both can be taken.
    let two = TrainingSlots::new(2);
    let _held = (two.take(), two.take());
}
