//! A training in a thread of its own, while this one tells Python about it and looks for Ctrl-C.

use crate::errors::{catch, py_error};
use crate::experiment::PyExperiment;
use invitro_lab::training::progress::{Headline, Progress, Started};
use invitro_lab::training::{self, MemberOutcome, TrainingOptions};
use invitro_lab::{Error, Result, Stop};
use invitro_model::Device;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long Ctrl-C may go unnoticed.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);
/// Shortest time between two reported steps.
const STEPS: Duration = Duration::from_millis(200);

/// Trains to the end, or until interrupted, from where the folder is; returns the folder. `tell` is called with what
/// happens, as JSON.
#[pyfunction]
pub fn train(
    py: Python<'_>,
    experiment: &Bound<'_, PyExperiment>,
    out: Option<PathBuf>,
    device: &str,
    force: bool,
    tell: Py<PyAny>,
) -> PyResult<PathBuf> {
    let PyExperiment { experiment, cache } = experiment.get();
    let device = Device::parse(device).map_err(py_error)?;
    let members = training::members(experiment, out.as_deref());
    let stop = Stop::new();
    let (sender, events) = channel();
    let events = Mutex::new(events);
    let work = |sender: Sender<Value>| -> Result<MemberOutcome> {
        let teller = ProgressSender { sender, steps: experiment.train.steps, last_step: Mutex::new(None) };
        let options = TrainingOptions { device, force, stop: &stop, progress: &teller };
        let mut outcomes = training::run_with(&members, &options, cache, None)?;
        outcomes.pop().ok_or_else(|| Error::Inputs("there was no run".into()))
    };
    let mut raised: Option<PyErr> = None;
    let outcome = std::thread::scope(|scope| {
        let work = &work;
        let training = scope.spawn(move || catch(|| work(sender)));
        loop {
            let next = py.detach(|| {
                events.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv_timeout(SIGNAL_INTERVAL)
            });
            let answered = match next {
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Ok(event) => tell.call1(py, (event.to_string(),)).map(drop),
            };
            if let Err(error) = answered.and_then(|()| py.check_signals()) {
                stop.request();
                // The first is the one to raise; a second wish changes nothing.
                raised.get_or_insert(error);
            }
        }
        py.detach(|| training.join())
            .unwrap_or_else(|_| Err(py_error("the training ended by a fault in invitro itself")))
    });
    if let Some(raised) = raised {
        return Err(raised);
    }
    match outcome? {
        MemberOutcome::Done => Ok(members[0].folder.clone()),
        MemberOutcome::Stopped { step } => Err(py_error(format!("stopped at step {step}"))),
        MemberOutcome::Failed { error } | MemberOutcome::Unwritten { error } => Err(py_error(error)),
        MemberOutcome::Busy | MemberOutcome::Lost => {
            Err(py_error(format!("another process is writing to the run folder `{}`", members[0].folder.display())))
        }
    }
}

/// Tells the other thread, which may have left.
struct ProgressSender {
    sender: Sender<Value>,
    steps: u64,
    /// When a step was last told.
    last_step: Mutex<Option<Instant>>,
}

impl ProgressSender {
    fn send(&self, kind: &str, step: u64, more: Value) {
        let mut event = json!({ "kind": kind, "step": step, "steps": self.steps });
        if let (Value::Object(event), Value::Object(more)) = (&mut event, more) {
            event.extend(more);
        }
        let _ = self.sender.send(event);
    }

    fn send_note(&self, step: u64, message: String) {
        self.send("note", step, json!({ "message": message }));
    }
}

impl Progress for ProgressSender {
    fn preparing(&self, what: &str) {
        self.send_note(0, format!("making {what}"));
    }

    fn started(&self, start: &Started) {
        let from = if start.from > 0 { format!(", resuming after step {}", start.from) } else { String::new() };
        self.send_note(start.from, format!("a model of {} parameters on {}{from}", start.parameters, start.device));
    }

    fn note(&self, _member: usize, note: &str) {
        self.send_note(0, format!("note: {note}"));
    }

    fn damaged(&self, _member: usize, from: u64, why: &str) {
        self.send_note(from, format!("{why}; resuming after step {from}"));
    }

    fn mended(&self, _member: usize, why: &str) {
        self.send_note(self.steps, format!("{why}; written again"));
    }

    fn stepped(&self, step: u64, losses: &[f64], _tokens: u64) {
        let mut last_step = self.last_step.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if last_step.is_none_or(|last| last.elapsed() >= STEPS) {
            *last_step = Some(Instant::now());
            self.send("step", step, json!({ "loss": losses.first() }));
        }
    }

    fn evaluated(&self, _member: usize, step: u64, headline: &Headline) {
        let mut scores = Map::new();
        for (condition, of) in &headline.conditions {
            let one = json!({
                "grammatical": of.grammatical, "types": of.types, "facts": of.facts, "contrast": of.contrast,
            });
            scores.insert(condition.to_string(), one);
        }
        self.send("evaluation", step, json!({ "loss": headline.loss, "scores": scores }));
    }
}
