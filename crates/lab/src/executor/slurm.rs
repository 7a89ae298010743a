//! A study on a cluster: one job array per submission, one population per task. Slurm and the shared folder are all
//! it needs; there is no daemon.
//!
//! A submission is a folder `slurm/0001/` with the populations of its tasks, the script as it was submitted, the job's
//! number, and the tasks' logs. A task sees to the cells of its population, under leases like any other worker, so a
//! requeued task, an orphan on a lost node and a second submission cannot run a cell twice at once. Before its time is
//! up Slurm sends SIGUSR1, on preemption SIGTERM: the task saves, and exits with [`REQUEUE`].

use super::queue;
use crate::error::{At, Error, Result};
use crate::study::folder::StudyFolder;
use crate::study::grouping::{Open, populations};
use invitro_results::folder::{read_json, write_file, write_json};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The exit status of a task that was interrupted and is to be queued again (`EX_TEMPFAIL`).
pub const REQUEUE: u8 = 75;

/// Slurm signals a task this many seconds before its time limit, or a quarter of the limit before, if less. It saves then.
const WARNING: u64 = 120;

/// What the user asks of Slurm.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SlurmRequest {
    pub partition: Option<String>,
    pub time: Option<Duration>,
    pub gres: Option<String>,
    /// Further lines for the script's head and body, from a profile file: `#SBATCH --account=x`, `module load y`.
    pub profile: Option<String>,
    /// Tasks at once, at most.
    pub at_once: Option<usize>,
    /// Cells per task.
    pub population: usize,
    /// The program, and the arguments of each task's `study run` beside its folder: `--device`, `--jobs`, …
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

/// The file of a submission that says what was asked for.
const REQUEST: &str = "request.json";

/// One job array.
#[derive(Debug, Clone)]
pub struct Submission {
    pub folder: PathBuf,
    /// The ids of the cells of each task.
    pub tasks: Vec<Vec<String>>,
    pub script: String,
    /// For the rounds of a study that plans itself.
    pub request: SlurmRequest,
    pub job: Option<u64>,
}

/// Plans the arrays for `open` cells; nothing is written. Slurm limits the length of an array to `longest`.
pub fn plan(folder: &StudyFolder, open: &[Open], request: &SlurmRequest, longest: usize) -> Result<Vec<Submission>> {
    let base = std::path::absolute(&folder.path).reading(&folder.path)?;
    let first = submissions(&folder.path)?.last().map_or(1, |(number, _)| number + 1);
    let tasks: Vec<Vec<String>> = populations(open.iter().copied(), |_| request.population)
        .into_iter()
        .map(|members| members.into_iter().map(|open| open.cell.id.clone()).collect())
        .collect();
    let arrays = tasks.chunks(longest.max(1)).zip(first..);
    Ok(arrays
        .map(|(tasks, number)| {
            let place = base.join("slurm").join(format!("{number:04}"));
            let script = script(&folder.plan.name, &base, &place, tasks.len(), request);
            Submission { folder: place, tasks: tasks.to_vec(), script, request: request.clone(), job: None }
        })
        .collect())
}

/// The script of an array of `tasks` tasks.
fn script(name: &str, study: &Path, place: &Path, tasks: usize, request: &SlurmRequest) -> String {
    let mut lines = vec!["#!/bin/bash".to_owned()];
    let mut option = |name: &str, value: String| lines.push(format!("#SBATCH --{name}={value}"));
    option("job-name", format!("invitro-{name}"));
    let at_once = request.at_once.map(|most| format!("%{most}")).unwrap_or_default();
    option("array", format!("0-{}{at_once}", tasks.saturating_sub(1)));
    option("output", quoted_option(&place.join("task-%a.log")));
    option("open-mode", "append".into());
    let warning = request.time.map_or(WARNING, |time| WARNING.min(time.as_secs().max(60) / 4));
    option("signal", format!("B:USR1@{warning}"));
    if let Some(partition) = &request.partition {
        option("partition", partition.clone());
    }
    if let Some(time) = request.time {
        option("time", clock(time));
    }
    if let Some(gres) = &request.gres {
        option("gres", gres.clone());
    }
    lines.push("#SBATCH --requeue".to_owned());
    let profile = request.profile.as_deref().unwrap_or_default();
    // Slurm reads its options only up to the first command: those of the profile go before its other lines.
    let (options, commands): (Vec<&str>, Vec<&str>) =
        profile.lines().filter(|line| !line.starts_with("#!")).partition(|line| line.starts_with("#SBATCH"));
    lines.extend(options.into_iter().map(str::to_owned));
    lines.push(String::new());
    // A signal that comes before the program listens must not end the task.
    lines.push("trap '' USR1".to_owned());
    lines.extend(commands.into_iter().map(str::to_owned));
    let arguments: String = request.arguments.iter().map(|argument| format!(" {}", quote(argument))).collect();
    // `exec`, so that the signals meant for the script reach the program.
    lines.push(format!(
        "exec {} study run {} --task {}{arguments}",
        quote(&request.program.to_string_lossy()),
        quote(&study.to_string_lossy()),
        quote(&place.to_string_lossy())
    ));
    lines.join("\n") + "\n"
}

/// Writes the submission and hands it to `sbatch`.
pub fn submit(submission: &mut Submission) -> Result<()> {
    let place = &submission.folder;
    std::fs::create_dir_all(place).writing(place)?;
    write_json(&place.join("tasks.json"), &submission.tasks)?;
    write_json(&place.join(REQUEST), &submission.request)?;
    let script = place.join("script.sh");
    write_file(&script, submission.script.as_bytes())?;
    let output = Command::new("sbatch").arg("--parsable").arg(&script).output();
    let output = output.map_err(|error| Error::Slurm { why: format!("sbatch cannot be run: {error}") })?;
    let text = String::from_utf8_lossy(&output.stdout);
    // `123` or `123;cluster`
    let job = text.trim().split(';').next().and_then(|number| number.parse().ok());
    let Some(job) = job.filter(|_| output.status.success()) else {
        let _ = std::fs::remove_dir_all(place);
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::Slurm { why: format!("sbatch refused the script: {why}") });
    };
    write_file(&place.join("job"), format!("{job}\n").as_bytes())?;
    submission.job = Some(job);
    Ok(())
}

/// The submissions of a study folder, in order.
pub fn submissions(study: &Path) -> Result<Vec<(u32, PathBuf)>> {
    let Ok(entries) = std::fs::read_dir(study.join("slurm")) else { return Ok(Vec::new()) };
    let numbered = |path: PathBuf| Some((path.file_name()?.to_str()?.parse().ok()?, path));
    let mut all: Vec<(u32, PathBuf)> = entries.flatten().filter_map(|entry| numbered(entry.path())).collect();
    all.sort();
    Ok(all)
}

/// The cells of each task of a submission.
pub fn tasks(place: &Path) -> Result<Vec<Vec<String>>> {
    let path = place.join("tasks.json");
    let tasks = read_json(&path)?;
    tasks.ok_or_else(|| Error::Read { path, why: "there is no such file".into() })
}

/// What was asked for with a submission.
pub fn request(place: &Path) -> Result<SlurmRequest> {
    let path = place.join(REQUEST);
    read_json(&path)?.ok_or_else(|| Error::Read { path, why: "there is no such file".into() })
}

/// The job of a submission; `None` if it never got one.
pub fn job(place: &Path) -> Option<u64> {
    std::fs::read_to_string(place.join("job")).ok()?.trim().parse().ok()
}

/// The cells that tasks in the queue, running or waiting, will see to.
pub fn covered(study: &Path, queue: &[queue::Task]) -> Result<HashSet<String>> {
    let mut covered = HashSet::new();
    for (_, place) in submissions(study)? {
        let Some(job) = job(&place) else { continue };
        let live: HashSet<usize> = queue.iter().filter(|task| task.job == job).map(|task| task.index).collect();
        if !live.is_empty() {
            let of_live = |(index, cells)| live.contains(&index).then_some(cells);
            covered.extend(tasks(&place)?.into_iter().enumerate().filter_map(of_live).flatten());
        }
    }
    Ok(covered)
}

/// `1-02:03:04`, as Slurm writes times; never less than a minute, its unit.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs().max(60);
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    format!("{days}-{hours:02}:{:02}:{:02}", seconds / 60 % 60, seconds % 60)
}

fn quote(text: &str) -> String {
    let needs_no_quotes = |char: char| char.is_ascii_alphanumeric() || "-_./=:,+@%".contains(char);
    if !text.is_empty() && text.chars().all(needs_no_quotes) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// `#SBATCH` values take double quotes.
fn quoted_option(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.contains(char::is_whitespace) { format!("\"{text}\"") } else { text.into_owned() }
}
