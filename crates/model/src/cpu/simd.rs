//! One binary for every machine: hot loops are compiled for several instruction sets, and one is picked at run time.
//!
//! Loops are plain Rust over fixed-size arrays, which the compiler vectorises; nothing here is written for one
//! processor. Every reduction has [`LANES`] partial sums whatever the vector width, and every multiply-add is fused, so
//! the results are the same bits on every instruction set that fuses. The one exception is the tile unit of some Xeons
//! ([`Level::Amx`]), whose products are as exact but round elsewhere; `INVITRO_SIMD=avx512` does without it, and with
//! `avx2` or `base` every machine can be held to what others have.

use super::Float;
use crate::{Error, Result};
use std::sync::atomic::{AtomicU8, Ordering};

/// Partial sums of a reduction.
pub const LANES: usize = 32;

/// Instruction sets that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// What the target always has: NEON on aarch64, SSE2 on x86-64.
    Base = 1,
    /// AVX2 with fused multiply-add.
    V3 = 2,
    /// AVX-512.
    V4 = 3,
    /// AVX-512, and a tile unit for the products of linear layers.
    Amx = 4,
}

impl Level {
    pub const ALL: [Level; 4] = [Level::Base, Level::V3, Level::V4, Level::Amx];

    pub fn name(self) -> &'static str {
        match self {
            Level::Base => "base",
            Level::V3 => "avx2",
            Level::V4 => "avx512",
            Level::Amx => "amx",
        }
    }
}

static LEVEL: AtomicU8 = AtomicU8::new(0);

/// The best instruction set of this machine.
#[inline]
pub fn level() -> Level {
    match LEVEL.load(Ordering::Relaxed) {
        1 => Level::Base,
        2 => Level::V3,
        3 => Level::V4,
        4 => Level::Amx,
        _ => {
            let best = detect().min(asked().unwrap_or(Level::Amx));
            LEVEL.store(best as u8, Ordering::Relaxed);
            best
        }
    }
}

/// The best level this machine has.
pub fn detect() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512vl")
        {
            return if super::amx::available() { Level::Amx } else { Level::V4 };
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return Level::V3;
        }
    }
    Level::Base
}

/// The level that the environment holds this process to, if it names one.
pub fn asked() -> Result<Level> {
    let Ok(name) = std::env::var("INVITRO_SIMD") else { return Ok(Level::Amx) };
    let level = Level::ALL.into_iter().find(|level| level.name() == name);
    level.ok_or_else(|| {
        let names = Level::ALL.map(Level::name).join(", ");
        Error::Device(format!("INVITRO_SIMD={name}: there are {names}"))
    })
}

/// Holds all loops to a lower level than this machine's, to compare them.
pub fn restrict(to: Level) {
    LEVEL.store(to.min(detect()) as u8, Ordering::Relaxed);
}

/// Compiles the body of a function once per [`Level`] and calls the one for this machine.
macro_rules! per_level {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident<$F:ident>($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block)*) => {$(
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name<$F: crate::cpu::Float>($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<$F: crate::cpu::Float>($($arg: $ty),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn v4<$F: crate::cpu::Float>($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn v3<$F: crate::cpu::Float>($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                match crate::cpu::simd::level() {
                    // Sound: `level` returns these only where the processor has them.
                    crate::cpu::simd::Level::V4 | crate::cpu::simd::Level::Amx => return unsafe { v4($($arg),*) },
                    crate::cpu::simd::Level::V3 => return unsafe { v3($($arg),*) },
                    crate::cpu::simd::Level::Base => {}
                }
            }
            body($($arg),*)
        }
    )*};
}
pub(crate) use per_level;

/// Sums partial sums in a fixed tree.
#[inline(always)]
pub fn fold<F: Float>(mut lanes: [F; LANES]) -> F {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}

/// Sum of `term(i)` over `0..len`, in [`LANES`] partial sums.
#[inline(always)]
pub fn sum<F: Float>(len: usize, term: impl Fn(usize) -> F) -> F {
    let mut lanes = [F::ZERO; LANES];
    let whole = len / LANES * LANES;
    let mut at = 0;
    while at < whole {
        for (j, lane) in lanes.iter_mut().enumerate() {
            *lane += term(at + j);
        }
        at += LANES;
    }
    for i in whole..len {
        lanes[i - whole] += term(i);
    }
    fold(lanes)
}

/// The largest of a non-empty slice.
#[inline(always)]
pub fn max<F: Float>(values: &[F]) -> F {
    let mut lanes = [values[0]; LANES];
    let mut chunks = values.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = if x > *lane { x } else { *lane };
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = if x > *lane { x } else { *lane };
    }
    lanes.into_iter().fold(values[0], |a, b| if b > a { b } else { a })
}
