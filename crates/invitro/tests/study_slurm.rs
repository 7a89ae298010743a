//! A study on a real Slurm of two nodes, with everything going wrong that does: a task killed, a task cancelled, a node
//! lost with its orphans running on, a task whose time is up. In the end every cell is done once, and as in one process.

use crate::slurm_cluster::{Cluster, Task, installed};
use crate::study_cli::write_until;
use crate::study_common::{
    self, CELLS, Sampler, assert_equal, counts, kill, reference, results, study, succeed, write_study,
};
use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;

const STEPS: u64 = 400;

#[test]
fn a_study_survives_its_cluster() {
    if !installed() {
        // Not captured, unlike what a passing test prints.
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "skipped {test}: Slurm is not installed");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let file = write_study(place.path(), STEPS);
    let expected = reference(&file, &place.path().join("alone"));
    let mut cluster = Cluster::start(2);
    let out = place.path().join("out");
    let (file, folder) = (file.to_str().unwrap(), out.to_str().unwrap());
    let submit = |cluster: &Cluster, arguments: &[&str]| {
        let mut command = study(&["run"]);
        command.args(arguments).args(["--executor", "slurm", "--device", "cpu", "--jobs", "1", "--population", "3"]);
        command.args(["--lease", "30s"]);
        cluster.adapt(&mut command);
        succeed(&mut command)
    };
    let said = submit(&cluster, &[file, "--out", folder]);
    assert!(said.starts_with("submitted 24 cells in 8 tasks as job "), "{said}");
    let sampler = Sampler::start(&out);
    // Submitted again, nothing is queued twice.
    let said = submit(&cluster, &[folder]);
    assert!(said.contains("24 cells in the queue already"), "{said}");

    let at_work = |cluster: &Cluster| -> HashMap<String, (u32, Task)> { tasks_at_work(cluster, &out) };
    cluster.wait("four tasks at work", 60, |cluster| at_work(cluster).len() == 4);
    let mut status = study(&["status", folder]);
    cluster.adapt(&mut status);
    let shown = succeed(&mut status);
    assert!(shown.contains("tasks in the queue: ") && shown.contains("4 running"), "{shown}");

    let on = |cluster: &Cluster, node: &str| -> Vec<(u32, Task)> {
        let mut tasks: Vec<_> = at_work(cluster).into_values().filter(|(_, task)| task.node == node).collect();
        tasks.sort_by(|a, b| a.1.name.cmp(&b.1.name));
        tasks
    };
    let (first, second) = (on(&cluster, "n0"), on(&cluster, "n1"));
    assert_eq!((first.len(), second.len()), (2, 2));
    // A node is lost; its tasks run on as orphans.
    cluster.kill_node(1);
    let down = ["update", "NodeName=n1", "State=DOWN", "Reason=lost"];
    assert!(cluster.command("scontrol").args(down).status().unwrap().success());
    assert!(second.iter().all(|(pid, _)| study_common::is_alive(*pid)), "the orphans must still be at work");
    // On the other, one task is killed, one is cancelled, and one of those that follow is told that its time is up.
    kill(first[0].0, "9");
    assert!(cluster.command("scancel").arg(&first[1].1.name).status().unwrap().success());
    let follows = |cluster: &Cluster| {
        let known: Vec<&String> = first.iter().chain(&second).map(|(_, task)| &task.name).collect();
        on(cluster, "n0").into_iter().map(|(_, task)| task.name).find(|name| !known.contains(&name))
    };
    cluster.wait("a further task at work", 60, |cluster| follows(cluster).is_some());
    let timed = follows(&cluster).expect("it was there a moment ago");
    // The log tells when it has come: scancel itself would try again, and signal the task that came back, where the
    // first one is in the queue before it has answered.
    let mut signal = cluster.command("scancel").args(["--signal=USR1", "--batch", &timed]).spawn().unwrap();
    cluster.wait("the task to stop", 60, |_| task_log(&out, &timed).contains("stopped with"));
    signal.kill().unwrap();
    signal.wait().unwrap();

    // What is left in the queue runs on the one node, the lost node's tasks too.
    cluster.wait("an empty queue", 240, |cluster| cluster.queue().is_empty());
    let left = counts(&out);
    assert_ne!(left["done"], CELLS, "the killed and the cancelled task leave cells behind");
    assert_eq!(left["failed"], 0);
    // The task whose time was up saved, came back by itself, and went on.
    let log = task_log(&out, &timed);
    let stopped = log.find("stopped with").expect("the log said so");
    assert!(log[stopped..].contains(" from step "), "it was not taken up again: {log}\n{}", cluster.log());

    // The node comes back, and what is missing is submitted again.
    cluster.start_node(1);
    cluster.wait("two nodes", 60, |cluster| cluster.idle() == 2);
    let said = submit(&cluster, &[folder]);
    assert!(said.starts_with("submitted "), "{said}");
    cluster.wait("an empty queue", 240, |cluster| cluster.queue().is_empty());
    assert_eq!(counts(&out)["done"], CELLS);
    assert!(submit(&cluster, &[folder]).contains("nothing is left to submit"));
    assert_equal(&results(&out), &expected);
    let logs = logs(&out);
    for run in expected.keys() {
        // A worker killed between finishing and saying so says it not at all; none says it twice.
        assert!(logs.matches(&format!("done    {run}")).count() <= 1, "{run} was finished twice");
    }
    sampler.assert_never_twice_at_once(&out);
}

#[test]
fn a_study_plans_itself_on_a_cluster() {
    if !installed() {
        let _ = writeln!(std::io::stderr(), "skipped a_study_plans_itself_on_a_cluster: Slurm is not installed");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let file = write_until(place.path(), 20, "above 2.5");
    let [alone, out] = ["alone", "out"].map(|name| place.path().join(name));
    let [file, alone_folder, folder] = [&file, &alone, &out].map(|path| path.to_str().unwrap());
    let until = ["--until", "decided", "--cap", "9"];
    succeed(study(&["run", file, "--out", alone_folder, "--device", "cpu"]).args(until));
    let cluster = Cluster::start(2);
    let mut command = study(&["run", file, "--out", folder, "--executor", "slurm", "--device", "cpu"]);
    command.args(["--population", "2"]).args(until);
    cluster.adapt(&mut command);
    assert!(succeed(&mut command).starts_with("submitted 6 cells in 3 tasks as job "));
    // Tasks submit those of the next data seed, until the claim is decided.
    let decided = || {
        let text = succeed(&mut study(&["status", folder, "--json"]));
        let status: serde_json::Value = serde_json::from_str(&text).unwrap();
        let next_step = status["claims"]["next_step"].as_str().unwrap_or_default().to_owned();
        next_step.ends_with("every primary claim is decided")
    };
    cluster.wait("a decision", 240, |_| decided());
    cluster.wait("an empty queue", 60, |cluster| cluster.queue().is_empty());
    assert_equal(&results(&out), &results(&alone));
    assert!(logs(&out).contains("submitted 2 cells in 1 task as job "));
}

/// The running tasks that have signed up as workers and hold a cell, by worker.
fn tasks_at_work(cluster: &Cluster, out: &Path) -> HashMap<String, (u32, Task)> {
    let queue = cluster.queue();
    let mut all = HashMap::new();
    for (worker, pid) in study_common::workers_in(&out.join("runs/.workers")) {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let variable = |name: &str| {
            let mut all = environment.split(|byte| *byte == 0).map(String::from_utf8_lossy);
            all.find_map(|line| line.strip_prefix(name).map(str::to_owned))
        };
        let (Some(job), Some(index)) = (variable("SLURM_ARRAY_JOB_ID="), variable("SLURM_ARRAY_TASK_ID=")) else {
            continue;
        };
        let name = format!("{job}_{index}");
        let running = queue.iter().find(|task| task.name == name && task.state == "RUNNING");
        let holds = std::fs::read_dir(out.join("runs/.leases"))
            .unwrap()
            .any(|lease| std::fs::read_to_string(lease.unwrap().path()).is_ok_and(|holder| holder == worker));
        if let (Some(task), true) = (running, holds) {
            all.insert(worker, (pid, task.clone()));
        }
    }
    all
}

/// The log of task `12_3` of the first submission.
fn task_log(out: &Path, name: &str) -> String {
    let index = name.rsplit_once('_').unwrap().1;
    std::fs::read_to_string(out.join(format!("slurm/0001/task-{index}.log"))).unwrap()
}

fn logs(out: &Path) -> String {
    let mut text = String::new();
    for submission in std::fs::read_dir(out.join("slurm")).unwrap() {
        for file in std::fs::read_dir(submission.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "log") {
                text += &String::from_utf8_lossy(&std::fs::read(path).unwrap());
            }
        }
    }
    text
}
