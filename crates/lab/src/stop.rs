//! A wish to stop, from a signal, a deadline or a caller: whoever trains looks at it between steps, saves, and returns.

use crate::error::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag::{register, register_conditional_default};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

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

    /// Also stops on SIGINT, SIGTERM and SIGUSR1. A second SIGINT or SIGTERM ends the process at once.
    pub fn on_signals(self) -> Result<Stop> {
        let failed = |error: std::io::Error| Error::Signals { why: error.to_string() };
        for signal in [SIGINT, SIGTERM] {
            register_conditional_default(signal, self.asked.clone()).map_err(failed)?;
        }
        for signal in [SIGINT, SIGTERM, SIGUSR1] {
            register(signal, self.asked.clone()).map_err(failed)?;
        }
        Ok(self)
    }

    pub fn request(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    pub fn requested(&self) -> bool {
        self.asked.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
