//! Counter-keyed random numbers: one named stream per purpose, and within it one generator per (step, row).
//!
//! Nothing is carried from one draw to the next, so any row of any step can be made alone, in any order, on any
//! thread; and a draw added to one stream moves nothing in another.
//!
//! ```
//! use invitro_base::random::Stream;
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
        Stream { seed, name: hash(name) }
    }

    /// The generator of one row of one step.
    #[inline]
    pub fn at(&self, step: u64, row: u64) -> Rng {
        let mut rng = Rng::from_words([self.seed, self.name, step, 0]);
        rng.0.set_stream(row);
        rng
    }
}

/// FNV-1a: fixed for ever, unlike the standard library's hashers.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Draws from one generator.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    fn from_words(words: [u64; 4]) -> Rng {
        let mut key = [0; 32];
        for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Rng(ChaCha8Rng::from_seed(key))
    }

    /// The generator of a purpose, such as `"init.layers.0.q"`, under three keys.
    pub fn keyed(purpose: &str, keys: [u64; 3]) -> Rng {
        Rng::from_words([hash(purpose), keys[0], keys[1], keys[2]])
    }

    /// The same generator from its `draw`-th [uniform](Rng::uniform) number on.
    pub fn starting_at(mut self, draw: u64) -> Rng {
        self.0.set_word_pos(2 * u128::from(draw));
        self
    }

    /// 32 random bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// 64 random bits.
    #[inline]
    pub fn wide_bits(&mut self) -> u64 {
        self.0.next_u64()
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

    /// Uniform in `[0, 1)`, 53 bits fine.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.wide_bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Two independent standard normals (Box and Muller).
    pub fn normals(&mut self) -> [f64; 2] {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * self.uniform());
        [radius * cos, radius * sin]
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
