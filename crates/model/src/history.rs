//! The losses of the last steps, in a ring on the device that is read occasionally.

/// The number of steps whose losses a device stores.
pub const HISTORY: usize = 48;

/// The positions of a ring of [`HISTORY`] with unread steps.
#[derive(Clone, Debug, Default)]
pub struct Ring {
    next: usize,
    unread: usize,
}

impl Ring {
    /// The position of the next step.
    pub fn next(&self) -> usize {
        self.next
    }

    /// Records a step; if the ring is full, it overwrites the oldest.
    pub fn push(&mut self) {
        self.next = (self.next + 1) % HISTORY;
        self.unread = (self.unread + 1).min(HISTORY);
    }

    /// The positions of the steps since the last call, the oldest first.
    pub fn take(&mut self) -> impl Iterator<Item = usize> + use<> {
        let (first, count) = (self.next + HISTORY - self.unread, std::mem::take(&mut self.unread));
        (first..first + count).map(|place| place % HISTORY)
    }
}
