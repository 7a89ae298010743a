//! How fast training goes: tokens per second, the time left, and when a log is due its next line.

use std::time::{Duration, Instant};

/// Between two lines of a log.
const EVERY: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub struct Pace {
    from: u64,
    pub step: u64,
    pub steps: u64,
    /// Tokens and time since the training set out, evaluations left out.
    tokens: u64,
    busy: Duration,
    last: Option<Instant>,
    /// When the first step began; an evaluation before it says nothing of how long the steps will take.
    begun: Option<Instant>,
    told: Option<Instant>,
}

impl Pace {
    /// A training that sets out after step `from`.
    pub fn start(&mut self, from: u64, steps: u64, now: Instant) {
        *self = Pace { from, step: from, steps, last: Some(now), begun: Some(now), told: self.told, ..Pace::default() };
    }

    /// So many tokens more, up to this step.
    pub fn stepped(&mut self, step: u64, tokens: u64, now: Instant) {
        self.busy += self.last.map_or(Duration::ZERO, |last| now - last);
        self.last = Some(now);
        self.step = step;
        self.tokens += tokens;
    }

    /// Something else than training has taken the time until now.
    pub fn resume(&mut self, now: Instant) {
        self.last = Some(now);
        if self.step == self.from {
            self.begun = Some(now);
        }
    }

    pub fn tokens_per_second(&self) -> f64 {
        self.tokens as f64 / self.busy.as_secs_f64().max(1e-9)
    }

    /// Seconds until the last step, evaluations included; unknown before the first.
    pub fn left(&self, now: Instant) -> Option<f64> {
        let done = self.step.saturating_sub(self.from);
        let elapsed = now.saturating_duration_since(self.begun?).as_secs_f64();
        (done > 0).then(|| elapsed / done as f64 * self.steps.saturating_sub(self.step) as f64)
    }

    /// Whether a log is due a line: the first at once, then one every few seconds.
    pub fn due(&mut self, now: Instant) -> bool {
        let due = self.told.is_none_or(|told| now.saturating_duration_since(told) >= EVERY);
        if due {
            self.told = Some(now);
        }
        due
    }
}
