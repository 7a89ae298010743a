//! A finite corpus: the same rows in every epoch, in a new order.

use invitro_base::random::Stream;

/// A finite corpus of `sentences` fixed rows, shuffled anew in every epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FiniteCorpus {
    pub sentences: u64,
    pub batch: u64,
    pub order: Stream,
}

impl FiniteCorpus {
    /// The key (step, row) of the sentence for a training row.
    pub fn key(&self, step: u64, row: u64) -> (u64, u64) {
        let index = step * self.batch + row;
        let (epoch, i) = (index / self.sentences, index % self.sentences);
        (0, permute(i, self.sentences, &self.order, epoch))
    }
}

/// The i-th element of a permutation of `0..n` that depends on `epoch` and is never stored: a Feistel network on the
/// next even number of bits, iterated until the result is below `n`.
pub(crate) fn permute(i: u64, n: u64, stream: &Stream, epoch: u64) -> u64 {
    let half = (64 - (n.max(2) - 1).leading_zeros()).div_ceil(2);
    let mask = (1u64 << half) - 1;
    let mut at = i;
    loop {
        let (mut left, mut right) = (at >> half, at & mask);
        for round in 0..4u64 {
            let noise = u64::from(stream.at(epoch * 4 + round, right).bits());
            (left, right) = (right, left ^ (noise & mask));
        }
        at = (left << half) | right;
        if at < n {
            return at;
        }
    }
}
