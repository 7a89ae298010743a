//! The number types of the CPU: f32 to train with, f64 as its twin for finite differences.

use super::tile::Kernel;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// What the loops need of a number.
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

    fn of(value: f64) -> Self;
    fn f64(self) -> f64;
    fn mul_add(self, factor: Self, term: Self) -> Self;
    fn sqrt(self) -> Self;
    fn ln(self) -> Self;
    /// e to the power of this, in a form that loops of it vectorise.
    fn exp(self) -> Self;
    /// The matrix product's inner kernels for this machine.
    fn kernel() -> Kernel<Self>;
}

impl Float for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    const NEG_INFINITY: f32 = f32::NEG_INFINITY;

    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn f64(self) -> f64 {
        self as f64
    }

    #[inline(always)]
    fn mul_add(self, factor: f32, term: f32) -> f32 {
        f32::mul_add(self, factor, term)
    }

    #[inline(always)]
    fn sqrt(self) -> f32 {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn ln(self) -> f32 {
        f32::ln(self)
    }

    /// Within 2 units in the last place on [-87, 88], and clamped to its ends outside: x = n ln 2 + r, a polynomial
    /// (Cephes) in r, and n into the exponent's bits.
    #[inline(always)]
    fn exp(self) -> f32 {
        const ROUND: f32 = 12_582_912.0; // 1.5 · 2^23: adding it rounds to an integer held in the low bits
        let x = if self > -87.0 { self } else { -87.0 };
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

    fn kernel() -> Kernel<f32> {
        Kernel::<f32>::pick()
    }
}

impl Float for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const NEG_INFINITY: f64 = f64::NEG_INFINITY;

    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn mul_add(self, factor: f64, term: f64) -> f64 {
        f64::mul_add(self, factor, term)
    }

    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn ln(self) -> f64 {
        f64::ln(self)
    }

    #[inline(always)]
    fn exp(self) -> f64 {
        f64::exp(self)
    }

    fn kernel() -> Kernel<f64> {
        Kernel::<f64>::pick()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_accurate_over_its_range() {
        let mut worst = 0.0f64;
        for i in -870_000..880_000 {
            let x = i as f32 * 1e-4;
            let exact = (x as f64).exp();
            let ulp = f32::EPSILON as f64 * exact;
            worst = worst.max((Float::exp(x) as f64 - exact).abs() / ulp);
        }
        assert!(worst < 2.0, "off by {worst} units in the last place");
        assert_eq!(Float::exp(0.0f32), 1.0);
        assert!(Float::exp(-1e30f32) < 1e-37);
        assert!(Float::exp(1e30f32).is_finite());
    }
}
