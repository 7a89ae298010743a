//! Weights as the kernels keep them: the nearest bf16, which products read, and what that lacks of 32 bits.

/// A weight as its nearest bf16 and what that lacks of it, as the kernels keep it.
pub fn split(value: f32) -> (u16, u16) {
    // What is no number stays none in its bf16 copy, too: rounding would carry into its sign.
    let bits = if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() };
    let half = (bits.wrapping_add(0x8000) >> 16) as u16;
    (half, bits.wrapping_sub((half as u32) << 16) as u16)
}

/// The weight again.
pub fn whole(half: u16, rest: u16) -> f32 {
    f32::from_bits(((half as u32) << 16).wrapping_add(rest as i16 as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_comes_back_whole_and_its_half_is_the_nearest() {
        for value in [0.0, -0.0, 1.0, -1.000_061, 3.4e38, -7e-39, f32::INFINITY, f32::MIN_POSITIVE, 0.1, -123.456] {
            let (half, rest) = split(value);
            assert_eq!(whole(half, rest).to_bits(), value.to_bits(), "{value}");
            let near = whole(half, 0);
            assert!(
                near == value || (near - value).abs() <= value.abs() / 256.0 || near.is_infinite(),
                "{value}: {near}"
            );
        }
    }

    #[test]
    fn what_is_no_number_is_none_by_halves_either() {
        for bits in [0x7fff_ffff, 0xffff_ffff, 0x7f80_0001, 0x7fc0_0000] {
            let (half, rest) = split(f32::from_bits(bits));
            assert!(whole(half, 0).is_nan() && whole(half, rest).is_nan(), "{bits:x}");
        }
    }
}
