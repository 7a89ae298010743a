//! The losses of the last steps: every step leaves its own in a ring on the device, which is read now and then.

/// Steps whose losses a device keeps until they are read.
pub const HISTORY: usize = 48;

/// Which places of a ring of [`HISTORY`] hold a step that was not read yet.
#[derive(Clone, Debug, Default)]
pub struct Ring {
    next: usize,
    unread: usize,
}

impl Ring {
    /// The place of the step that comes next.
    pub fn next(&self) -> usize {
        self.next
    }

    /// A step went to its place. Of more than there are places for, the oldest are lost.
    pub fn push(&mut self) {
        self.next = (self.next + 1) % HISTORY;
        self.unread = (self.unread + 1).min(HISTORY);
    }

    /// The places of the steps since this was last called, the oldest first.
    pub fn take(&mut self) -> impl Iterator<Item = usize> + use<> {
        let (first, count) = (self.next + HISTORY - self.unread, std::mem::take(&mut self.unread));
        (first..first + count).map(|place| place % HISTORY)
    }
}
