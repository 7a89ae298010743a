//! One binary for every machine: hot loops are compiled for several instruction sets, and one is selected at run time.
//!
//! Loops are Rust over fixed-size arrays, which the compiler vectorises. Every reduction has the same partial sums for any
//! vector width, and every multiply-add is fused, in software if necessary. Elementary functions are implemented here or
//! come from `libm`, since the system's f64 functions differ between CPUs in their last bits. So all CPUs give the same
//! bits. `INVITRO_SIMD=avx2` or `base` restricts a machine to a lower level.

use crate::{Error, Result};
use std::sync::atomic::{AtomicU8, Ordering};

/// An instruction set that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// The target's baseline: NEON on aarch64, SSE2 on x86-64, where multiply-adds are fused in software.
    Base = 1,
    /// AVX2 with fused multiply-add.
    Avx2 = 2,
    /// AVX-512.
    Avx512 = 3,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Base, Level::Avx2, Level::Avx512];

    /// Its name in `INVITRO_SIMD`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Base => "base",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }
}

static LEVEL: AtomicU8 = AtomicU8::new(0);

/// The current level: the best of this machine, or the restricted one.
#[inline]
pub fn level() -> Level {
    match LEVEL.load(Ordering::Relaxed) {
        0 => {
            let best = detect().min(configured().unwrap_or(Level::Avx512));
            LEVEL.store(best as u8, Ordering::Relaxed);
            best
        }
        known => Level::ALL[known as usize - 1],
    }
}

/// The best level of this machine.
pub fn detect() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512vl")
        {
            return Level::Avx512;
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return Level::Avx2;
        }
    }
    Level::Base
}

/// The level of `INVITRO_SIMD`; the highest if it is unset.
pub fn configured() -> Result<Level> {
    let Ok(name) = std::env::var("INVITRO_SIMD") else { return Ok(Level::Avx512) };
    let level = Level::ALL.into_iter().find(|level| level.name() == name);
    level.ok_or_else(|| {
        let names = Level::ALL.map(Level::name).join(", ");
        Error::Device(format!("INVITRO_SIMD={name}: there are {names}"))
    })
}

/// Restricts all loops to a level, for comparisons.
pub fn restrict(to: Level) {
    LEVEL.store(to.min(detect()) as u8, Ordering::Relaxed);
}

/// Compiles a function once per [`Level`] and calls the version for the current level.
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
                fn avx512<$F: crate::cpu::Float>($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn avx2<$F: crate::cpu::Float>($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                match crate::cpu::simd::level() {
                    // SAFETY: `level` is at most what `detect` found.
                    crate::cpu::simd::Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    crate::cpu::simd::Level::Avx2 => return unsafe { avx2($($arg),*) },
                    crate::cpu::simd::Level::Base => {}
                }
            }
            body($($arg),*)
        }
    )*};
}
pub(crate) use per_level;
