//! Named ChaCha streams: one purpose, one stream, so that a draw added in one place moves nothing elsewhere.
//!
//! `stream("sign flips")` gives the same numbers today, tomorrow and on any number of threads.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The stream of that name. The key is four FNV-1a hashes of the name with different offsets.
pub fn stream(name: &str) -> ChaCha8Rng {
    let mut key = [0u8; 32];
    for (lane, chunk) in key.chunks_exact_mut(8).enumerate() {
        let mut hash = 0xcbf2_9ce4_8422_2325u64 ^ (lane as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        chunk.copy_from_slice(&hash.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// A uniform draw from 0 to `bound` - 1, without bias: draws past the last whole multiple are thrown away.
pub fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    let bound = bound as u64;
    let limit = u64::MAX - u64::MAX % bound;
    loop {
        let draw = rng.next_u64();
        if draw < limit {
            return (draw % bound) as usize;
        }
    }
}

/// Fisher and Yates.
pub fn shuffle<T>(rng: &mut ChaCha8Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last + 1));
    }
}
