//! Counter-keyed random numbers: one named stream per purpose, and within it one generator per (step, row).
//!
//! Nothing is carried from one draw to the next, so any row of any step can be made alone, in any order, on any
//! thread; and a draw added to one stream moves nothing in another.
//!
//! ```
//! use invitro_language::Stream;
//! let rows = Stream::new(7, "train");
//! assert_eq!(rows.at(3, 1).below(1000), rows.at(3, 1).below(1000));
//! ```

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// A named stream under a seed. The ChaCha key is the seed, the name's hash and the step; the row is its nonce.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    seed: u64,
    name: u64,
}

impl Stream {
    /// The stream of a seed and a name.
    pub fn new(seed: u64, name: &str) -> Stream {
        // FNV-1a: fixed for ever, unlike the standard library's hashers.
        let hash =
            name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        Stream { seed, name: hash }
    }

    /// The generator of one row of one step.
    #[inline]
    pub fn at(&self, step: u64, row: u64) -> Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&self.name.to_le_bytes());
        key[16..24].copy_from_slice(&step.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(row);
        Rng(rng)
    }
}

/// Draws from one generator.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// 32 random bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Uniform in `0..n`, without bias (Lemire's method). `n` must not be 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        debug_assert!(n > 0);
        let mut wide = u64::from(self.bits()) * u64::from(n);
        if (wide as u32) < n {
            let floor = n.wrapping_neg() % n;
            while (wide as u32) < floor {
                wide = u64::from(self.bits()) * u64::from(n);
            }
        }
        (wide >> 32) as u32
    }

    /// The same for indices.
    #[inline]
    pub fn index(&mut self, n: usize) -> usize {
        self.below(n as u32) as usize
    }

    /// Uniform in `[0, 1)`, 32 bits fine.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        f64::from(self.bits()) * (1.0 / 4_294_967_296.0)
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Fisher and Yates' shuffle.
    #[inline]
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.index(i + 1));
        }
    }
}
