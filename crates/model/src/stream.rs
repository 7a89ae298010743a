//! Named streams of random numbers: what is drawn depends on a purpose and up to three keys, and on nothing else.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// One stream. Drawing more from one moves no other.
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of a purpose, such as `"init.layers.0.q"`, under three keys.
    pub fn new(purpose: &str, keys: [u64; 3]) -> Self {
        // FNV-1a: purposes are short and few, and the cipher does the mixing.
        let name = purpose.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ b as u64).wrapping_mul(0x0100_0000_01b3));
        let mut seed = [0; 32];
        for (bytes, word) in seed.chunks_exact_mut(8).zip([name, keys[0], keys[1], keys[2]]) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Stream(ChaCha8Rng::from_seed(seed))
    }

    /// The same stream from its `draw`-th uniform number on.
    pub fn at(mut self, draw: u64) -> Self {
        self.0.set_word_pos(2 * draw as u128);
        self
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Two independent standard normals (Box and Muller).
    pub fn normals(&mut self) -> [f64; 2] {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * self.uniform());
        [radius * cos, radius * sin]
    }
}
