//! What Slurm says of a study's jobs. Its commands may hang while the controller is away, so each is given a time.

use crate::error::{Error, Result};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A task of a job array that is waiting or running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub job: u64,
    pub index: usize,
    /// `PENDING`, `RUNNING`, `COMPLETING`, …
    pub state: String,
    /// Where it runs, or why it waits.
    pub place: String,
}

/// The user's array tasks in the queue.
pub fn tasks() -> Result<Vec<Task>> {
    let text = ask("squeue", &["--me", "--noheader", "--array", "--format=%F|%K|%T|%R"])?;
    Ok(text.lines().filter_map(task).collect())
}

/// `12|3|RUNNING|n0` → task 3 of job 12; jobs that are no arrays have no index and are left out.
pub fn task(line: &str) -> Option<Task> {
    let mut fields = line.splitn(4, '|');
    let job = fields.next()?.trim().parse().ok()?;
    let index = fields.next()?.trim().parse().ok()?;
    let (state, place) = (fields.next()?.trim().to_owned(), fields.next()?.trim().to_owned());
    Some(Task { job, index, state, place })
}

/// The longest array the cluster allows.
pub fn longest_array() -> usize {
    // The highest index is one below it. 1001 is Slurm's default.
    let config = ask("scontrol", &["show", "config"]).unwrap_or_default();
    let value = config.lines().find_map(|line| line.strip_prefix("MaxArraySize")?.split_once('='));
    value.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(1001)
}

/// Puts the array task this process runs in back into the queue.
pub fn requeue() -> Result<()> {
    let variable = |name: &str| std::env::var(name).ok();
    let task = variable("SLURM_ARRAY_JOB_ID").zip(variable("SLURM_ARRAY_TASK_ID"));
    let job = task.map(|(job, index)| format!("{job}_{index}")).or_else(|| variable("SLURM_JOB_ID"));
    let job = job.ok_or_else(|| Error::Slurm { why: "this process is no task of Slurm's".into() })?;
    ask("scontrol", &["requeue", &job]).map(|_| ())
}

fn ask(program: &str, arguments: &[&str]) -> Result<String> {
    let fault = |why: String| Error::Slurm { why: format!("{program} {why}") };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| fault(format!("cannot be run: {error}")))?;
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    // Read beside the wait: a long answer would fill the pipe.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.as_mut().map(|out| out.read_to_string(&mut text)).transpose().map(|_| text)
    });
    let until = Instant::now() + Duration::from_secs(10);
    let status = loop {
        match child.try_wait().map_err(|error| fault(error.to_string()))? {
            Some(status) => break status,
            None if Instant::now() > until => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(fault("did not answer within 10 s".into()));
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let text = reader.join().ok().and_then(|text| text.ok()).unwrap_or_default();
    if status.success() {
        return Ok(text);
    }
    let mut why = String::new();
    let _ = err.as_mut().map(|err| err.read_to_string(&mut why));
    Err(fault(format!("says: {}", why.trim())))
}
