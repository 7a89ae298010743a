//! How fast training goes: tokens per second, the time left, and when a log is due its next line.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Between two lines of a log.
const EVERY: Duration = Duration::from_secs(5);

/// The time whose speed is shown.
const WINDOW: Duration = Duration::from_secs(60);
/// Between two marks in it.
const MARK: Duration = Duration::from_millis(500);

/// One training, evaluations left out of its speed.
#[derive(Debug, Default)]
pub struct Pace {
    from: u64,
    pub step: u64,
    pub steps: u64,
    tokens: u64,
    /// The time that steps took.
    busy: Duration,
    last: Option<Instant>,
    /// When the first step began; an evaluation before it says nothing of how long the steps will take.
    begun: Option<Instant>,
    /// How far it was, over the last minute of training.
    marks: VecDeque<Mark>,
    told: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    step: u64,
    tokens: u64,
    busy: Duration,
}

impl Pace {
    /// A training that sets out after step `from`.
    pub fn start(&mut self, from: u64, steps: u64, now: Instant) {
        let marks = [Mark { step: from, tokens: 0, busy: Duration::ZERO }].into();
        let told = self.told;
        *self = Pace { from, step: from, steps, last: Some(now), begun: Some(now), marks, told, ..Pace::default() };
    }

    /// So many tokens more, up to this step.
    pub fn stepped(&mut self, step: u64, tokens: u64, now: Instant) {
        self.busy += self.last.map_or(Duration::ZERO, |last| now - last);
        self.last = Some(now);
        self.step = step;
        self.tokens += tokens;
        // The first mark is the last one before the minute.
        while self.marks.get(1).is_some_and(|mark| mark.busy + WINDOW <= self.busy) {
            self.marks.pop_front();
        }
        if self.marks.back().is_none_or(|mark| mark.busy + MARK <= self.busy) {
            self.marks.push_back(Mark { step, tokens: self.tokens, busy: self.busy });
        }
    }

    /// Something else than training has taken the time until now.
    pub fn resume(&mut self, now: Instant) {
        self.last = Some(now);
        if self.step == self.from {
            self.begun = Some(now);
        }
    }

    /// Over the last minute of training.
    pub fn tokens_per_second(&self) -> f64 {
        let Some(from) = self.marks.front() else { return 0.0 };
        (self.tokens - from.tokens) as f64 / (self.busy - from.busy).as_secs_f64().max(1e-9)
    }

    /// Over the last minute of training; unknown before the first step.
    fn seconds_per_step(&self) -> Option<f64> {
        let from = self.marks.front()?;
        let steps = self.step.saturating_sub(from.step);
        (steps > 0).then(|| (self.busy - from.busy).as_secs_f64() / steps as f64)
    }

    /// Seconds that evaluations and checkpoints have taken since the first step.
    fn other(&self) -> f64 {
        let since = self.last.zip(self.begun).map_or(Duration::ZERO, |(last, begun)| last - begun);
        since.saturating_sub(self.busy).as_secs_f64()
    }

    /// Seconds until the last step: steps as fast as in the last minute, evaluations as seldom and as long as so far. Unknown
    /// before the first step.
    pub fn left(&self) -> Option<f64> {
        let done = self.step.saturating_sub(self.from);
        let per_step = self.seconds_per_step()? + self.other() / done.max(1) as f64;
        Some(per_step * self.steps.saturating_sub(self.step) as f64)
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

/// The cells of a study that one worker trains at once.
#[derive(Debug, Default)]
pub struct WorkerPace {
    pub members: usize,
    pub pace: Pace,
    pub is_training: bool,
}

impl WorkerPace {
    /// How many cells' worth of it is done.
    fn done(&self) -> f64 {
        self.members as f64 * self.pace.step as f64 / self.pace.steps.max(1) as f64
    }
}

/// All workers on a study.
#[derive(Debug, Default)]
pub struct StudyPace {
    /// Cells that are neither done nor failed.
    pub open: usize,
    pub workers: Vec<WorkerPace>,
    begun: Option<Instant>,
    /// Cells that ended here.
    ended: usize,
    /// Cells' worth of training that was done here, and the seconds that its steps took.
    trained: f64,
    busy: f64,
}

impl StudyPace {
    pub fn new(open: usize, workers: usize) -> StudyPace {
        StudyPace { open, workers: (0..workers).map(|_| WorkerPace::default()).collect(), ..StudyPace::default() }
    }

    /// A worker takes so many cells, and prepares them.
    pub fn taken(&mut self, worker: usize, members: usize, now: Instant) {
        self.begun.get_or_insert(now);
        let worker = &mut self.workers[worker];
        (worker.members, worker.is_training) = (members, false);
    }

    pub fn start(&mut self, worker: usize, from: u64, steps: u64, now: Instant) {
        let worker = &mut self.workers[worker];
        worker.is_training = true;
        worker.pace.start(from, steps, now);
    }

    pub fn stepped(&mut self, worker: usize, step: u64, tokens: u64, now: Instant) {
        let worker = &mut self.workers[worker];
        let (done, busy) = (worker.done(), worker.pace.busy);
        worker.pace.stepped(step, tokens, now);
        self.trained += worker.done() - done;
        self.busy += (worker.pace.busy - busy).as_secs_f64();
    }

    /// A cell of a worker has ended, done or failed.
    pub fn ended(&mut self, worker: usize) {
        let members = &mut self.workers[worker].members;
        *members = members.saturating_sub(1);
        self.open = self.open.saturating_sub(1);
        self.ended += 1;
    }

    pub fn training(&self) -> impl Iterator<Item = &WorkerPace> + Clone {
        self.workers.iter().filter(|worker| worker.is_training)
    }

    /// Seconds until all open cells have ended, by the speed of the last minute. What is not training takes as much of each
    /// cell as it did so far; before a cell has ended, how long its preparation will be worth is unknown.
    pub fn left(&self, now: Instant) -> Option<f64> {
        let per_cell = |worker: &WorkerPace| {
            let per_step = worker.pace.seconds_per_step()?;
            (worker.members > 0).then(|| per_step * worker.pace.steps as f64 / worker.members as f64)
        };
        let (sum, n) = self.training().filter_map(per_cell).fold((0.0, 0.0), |(sum, n), one| (sum + one, n + 1.0));
        if n == 0.0 || self.trained <= 0.0 {
            return None;
        }
        let other = match self.ended {
            0 => self.training().map(|worker| worker.pace.other()).sum(),
            _ => {
                let all = now.saturating_duration_since(self.begun?).as_secs_f64() * self.workers.len() as f64;
                (all - self.busy).max(0.0)
            }
        };
        let open = self.open as f64 - self.training().map(WorkerPace::done).sum::<f64>();
        Some(open.max(0.0) * (sum / n + other / self.trained) / self.workers.len() as f64)
    }
}
