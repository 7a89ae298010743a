//! The floating-point types of the CPU: f32 to train with, f64 as its twin for finite differences.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A floating-point type of the CPU loops.
pub trait Float:
    Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + 'static
{
    const ZERO: Self;
    const ONE: Self;
    const NEG_INFINITY: Self;

    fn from_f64(value: f64) -> Self;
    fn f64(self) -> f64;
    fn mul_add(self, factor: Self, term: Self) -> Self;
    fn sqrt(self) -> Self;
    /// The natural logarithm of a sum of at least 1.
    fn ln(self) -> Self;
    /// The exponential, in a form that vectorises.
    fn exp(self) -> Self;
}

/// Implements [`Float`], given the exponential.
macro_rules! float {
    ($float:ident, $exp:expr) => {
        impl Float for $float {
            const ZERO: $float = 0.0;
            const ONE: $float = 1.0;
            const NEG_INFINITY: $float = $float::NEG_INFINITY;

            #[inline(always)]
            fn from_f64(value: f64) -> $float {
                value as $float
            }

            #[inline(always)]
            fn f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn mul_add(self, factor: $float, term: $float) -> $float {
                $float::mul_add(self, factor, term)
            }

            #[inline(always)]
            fn sqrt(self) -> $float {
                $float::sqrt(self)
            }

            /// glibc's versions for CPUs with and without fused multiply-adds agree on every f32 from 1 to 65,536.
            #[inline(always)]
            fn ln(self) -> $float {
                $float::ln(self)
            }

            #[inline(always)]
            fn exp(self) -> $float {
                $exp(self)
            }
        }
    };
}

float!(f32, exp_f32);
float!(f64, f64::exp);

/// Accurate to 2 units in the last place on [-87, 88], clamped outside: x = n ln 2 + r, a polynomial
/// (Cephes) in r, and n into the exponent's bits.
#[inline(always)]
fn exp_f32(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2^23: adding it rounds to an integer held in the low bits
    let x = if x > -87.0 { x } else { -87.0 };
    let x = if x < 88.0 { x } else { 88.0 };
    let shifted = f32::mul_add(x, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = f32::mul_add(n, -0.693_359_4, x);
    let r = f32::mul_add(n, 2.121_944_4e-4, r);
    let mut p = 1.987_569_1e-4;
    p = f32::mul_add(p, r, 1.398_199_9e-3);
    p = f32::mul_add(p, r, 8.333_452e-3);
    p = f32::mul_add(p, r, 4.166_579_6e-2);
    p = f32::mul_add(p, r, 1.666_666_5e-1);
    p = f32::mul_add(p, r, 0.5);
    let y = f32::mul_add(p, r * r, r) + 1.0;
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    y * scale
}
