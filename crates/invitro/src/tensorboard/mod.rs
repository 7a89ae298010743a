//! `--tensorboard`: what a run measures, as event files that TensorBoard shows while it trains.
//!
//! They are made from the run's own logs, so that a run that goes on, or was done before, has all of it.

mod events;

use crate::terminal;
use events::EventFile;
use invitro_lab::training::Member;
use invitro_results::folder::{METRICS, TENSORBOARD, TRAINING, read_json_lines};
use invitro_results::{metrics, training};
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

pub struct Tensorboard(Vec<Mutex<EventWriter>>);

#[derive(Default)]
struct EventWriter {
    folder: std::path::PathBuf,
    file: Option<EventFile>,
    /// Rows of each log that were written.
    measured: usize,
    trained: usize,
    /// It failed, and was told.
    is_broken: bool,
}

impl Tensorboard {
    pub fn new(members: &[Member]) -> Tensorboard {
        let writer =
            |member: &Member| Mutex::new(EventWriter { folder: member.folder.clone(), ..EventWriter::default() });
        Tensorboard(members.iter().map(writer).collect())
    }

    /// Writes what a member's logs have that was not written yet. A run is not to fail by this: faults are told once.
    pub fn update(&self, member: usize) {
        let mut writer = self.0[member].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if writer.is_broken {
            return;
        }
        if let Err(error) = writer.update() {
            let place = writer.folder.join(TENSORBOARD);
            terminal::warn(&format!("`{}` cannot be written and is left as it is: {error:#}", place.display()));
            writer.is_broken = true;
        }
    }

    pub fn update_all(&self) {
        (0..self.0.len()).for_each(|member| self.update(member));
    }
}

impl EventWriter {
    fn update(&mut self) -> anyhow::Result<()> {
        let rows = metrics::read_lines(&self.folder.join(METRICS))?;
        let steps: Vec<training::Step> = read_json_lines(&self.folder.join(TRAINING))?;
        if rows.is_empty() && steps.is_empty() {
            return Ok(());
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(create(&self.folder.join(TENSORBOARD), now)?),
        };
        for row in &rows[self.measured.min(rows.len())..] {
            // What stands before the first slash is a group.
            let tag = row.quantity.to_string().replacen('.', "/", 1);
            file.scalar(row.step, &tag, row.value, now)?;
        }
        for step in &steps[self.trained.min(steps.len())..] {
            let of_step = [("loss", step.loss), ("lr", Some(step.lr)), ("grad_norm", step.grad_norm)];
            for (name, value) in of_step.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                file.scalar(step.step, &format!("training/{name}"), value, now)?;
            }
        }
        (self.measured, self.trained) = (rows.len(), steps.len());
        Ok(file.flush()?)
    }
}

/// One file, made anew by whoever begins or goes on.
fn create(folder: &Path, now: f64) -> std::io::Result<EventFile> {
    std::fs::create_dir_all(folder)?;
    EventFile::create(&folder.join("events.out.tfevents.invitro"), now)
}
