//! A request to stop, from a signal, a deadline or a caller. Training checks it between steps, saves, and returns.

use crate::error::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag::register;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Signals that come within this time are one wish: `timeout` asks its child and then its child's group.
const ONE_WISH: Duration = Duration::from_secs(1);

/// Shared by its clones.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Stop {
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Also stops once this moment has come.
    pub fn at(self, deadline: Instant) -> Stop {
        Stop { deadline: Some(deadline), ..self }
    }

    /// Also stops on SIGINT, SIGTERM, SIGUSR1 and, unless `nohup` has it ignored, SIGHUP. A SIGINT, SIGTERM or SIGHUP more
    /// than a second after the first of them ends the process at once.
    pub fn on_signals(self) -> Result<Stop> {
        let failed = |error: std::io::Error| Error::Signals { why: error.to_string() };
        let ending = ending_signals();
        for signal in ending.iter().copied().chain([SIGUSR1]) {
            register(signal, self.asked.clone()).map_err(failed)?;
        }
        let mut signals = Signals::new(&ending).map_err(failed)?;
        let watch = move || {
            let mut first = None;
            for signal in signals.forever() {
                if first.get_or_insert_with(Instant::now).elapsed() > ONE_WISH {
                    // Whether or not anybody reads it.
                    let _ = writeln!(std::io::stderr(), "asked again to stop: ending at once, without saving");
                    let _ = emulate_default_handler(signal);
                }
            }
        };
        std::thread::Builder::new().name("signals".into()).spawn(watch).map_err(failed)?;
        Ok(self)
    }

    pub fn request(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    pub fn requested(&self) -> bool {
        self.asked.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The signals that ask a process to end: a key, a scheduler, a terminal that is closed. A process under `nohup` outlives
/// its terminal.
pub fn ending_signals() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    signals.extend((!is_ignored(SIGHUP)).then_some(SIGHUP));
    signals
}

/// Whether the process ignores a signal, by its mask of ignored signals, whose lowest bit is signal 1.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
