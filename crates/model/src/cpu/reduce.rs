//! Sums and maxima in a fixed order, so that their bits depend on neither the vector width nor the number of threads.

use super::float::Float;

/// Partial sums of a reduction, for any vector width.
pub const LANES: usize = 32;

/// Rows per task. Sums over rows are first taken within a block, so that they do not depend on threads.
pub const ROW_BLOCK: usize = 64;

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

/// total = the sum of blocks of as many numbers, in order.
pub fn sum_blocks<'a, F: Float>(blocks: impl Iterator<Item = &'a [F]>, total: &mut [F]) {
    total.fill(F::ZERO);
    for block in blocks {
        total.iter_mut().zip(block).for_each(|(sum, &part)| *sum += part);
    }
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
