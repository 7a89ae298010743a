//! Weights on the GPU: the nearest bf16, which matmuls read, and the residual bits that complete it to an f32.

/// The bits of a bfloat16: the upper half of an f32's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl Bf16 {
    /// The upper half of the bits, rounded towards zero.
    pub fn truncated(value: f32) -> Self {
        Bf16((value.to_bits() >> 16) as u16)
    }

    pub fn f32(self) -> f32 {
        f32::from_bits((self.0 as u32) << 16)
    }
}

/// A weight as its nearest bf16 and its residual bits, the signed difference of the two as integers.
pub fn split(value: f32) -> (Bf16, u16) {
    // Rounding a NaN could carry into its sign, so it becomes the canonical NaN.
    let bits = if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() };
    let rounded = (bits.wrapping_add(0x8000) >> 16) as u16;
    (Bf16(rounded), bits.wrapping_sub((rounded as u32) << 16) as u16)
}

/// The weight again.
pub fn join(bf16: Bf16, residual_bits: u16) -> f32 {
    f32::from_bits(((bf16.0 as u32) << 16).wrapping_add(residual_bits as i16 as u32))
}
