//! Where studies run: what Slurm says, and how many members a GPU holds.

use invitro_lab::executor::queue::{Task, task};
use invitro_lab::executor::training::{MOST_ON_GPU, fitting};

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
